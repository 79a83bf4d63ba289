# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The other side of a node under test: its process, and a client that times its answers."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import os
from pathlib import Path
import random
import signal
import subprocess
import sys
import tempfile
import time

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import rclpy
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory
import yaml

from benchmarks.harness.process import ROOT
from ros_ik.demo.robots import find_robot
from ros_ik.node.execution.executor import make_executor
from ros_ik_interfaces.srv import SolveFk
from tools.process_stat import process_stat

JOINTS = tuple(f'panda_joint{k}' for k in range(1, 8))
# Rate of joint_states [Hz], that of the mock robot.
STATE_RATE = 200.0
# A process that does not end within this time is killed [s]; make view ends three others.
_PATIENCE = 10.0
_LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class ModuleProcess:
    """A Python module in a process of its own; a context that ends it.

    Attributes:
        started: When the process was started, on the clock of time.perf_counter [s].
        domain: Its ROS domain, that of this process.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        cache: Path | None = None,
        end_signal: signal.Signals = signal.SIGTERM,
    ) -> None:
        """Start it.

        Args:
            arguments: Module and its arguments.
            folder: Where its output goes.
            cache: Folder of compiled kernels; None for the usual one.
            end_signal: Signal that ends it.
        """
        self.domain = int(os.environ.get('ROS_DOMAIN_ID', '0'))
        environment = dict(os.environ)
        if cache is not None:
            environment['WARP_CACHE_PATH'] = str(cache)
        self._end_signal = end_signal
        self._log = folder / f'{arguments[0].rpartition(".")[2]}.log'
        with self._log.open('w') as log:
            self.started = time.perf_counter()
            self._process = subprocess.Popen(
                [sys.executable, '-m', *arguments],
                cwd=ROOT,
                env=environment,
                stdout=log,
                stderr=log,
            )

    @property
    def processor_time(self) -> float:
        """Processor time that the process has taken, without its children [s]."""
        return process_stat(self._process.pid).processor_time

    @property
    def log(self) -> str:
        """Everything that the process has written."""
        return self._log.read_text(errors='replace')

    def check(self) -> None:
        """Raise RuntimeError if the process has ended."""
        if self._process.poll() is not None:
            tail = '; '.join(self.log.strip().splitlines()[-2:])
            raise RuntimeError(f'the process ended with code {self._process.returncode}: {tail}')

    def __enter__(self) -> ModuleProcess:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.end()

    def end(self) -> int:
        """End the process by its signal; return its exit code."""
        if self._process.poll() is None:
            self._process.send_signal(self._end_signal)
        try:
            return self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


@contextlib.contextmanager
def node_process(
    module: str, parameters: dict[str, object], cache: Path | None = None
) -> Iterator[ModuleProcess]:
    """Run a node while the context lasts.

    Args:
        module: Module to run.
        parameters: Parameters of the node by full name.
        cache: Folder of compiled kernels; None for the usual one.
    """
    with tempfile.TemporaryDirectory(prefix='ros_ik_bench_') as name:
        file = Path(name, 'parameters.yaml')
        file.write_text(yaml.safe_dump({'/**': {'ros__parameters': _nested(parameters)}}))
        arguments = [module, '--ros-args', '--params-file', str(file)]
        with ModuleProcess(arguments, Path(name), cache) as process:
            yield process


class Client:
    """Acts as robot, description publisher and user, in one thread.

    Attributes:
        figures: The newest values of the diagnostics of the loop, by name.
        on_trajectory: Called with each trajectory and the time of its receipt by
            time.perf_counter [s].
    """

    def __init__(
        self,
        process: ModuleProcess,
        node_name: str,
        urdf_path: Path | None = None,
        *,
        plays: bool = True,
    ) -> None:
        """Join the domain of a process.

        Args:
            process: The node under test.
            node_name: Its name.
            urdf_path: Description of its robot; None for that of a Panda.
            plays: True if to publish the joint states of an ideal robot, which starts at home
                and is at once where the newest trajectory begins.
        """
        self._process, self._name = process, node_name
        self._urdf, self._plays = urdf_path or find_robot('panda').urdf_path, plays
        self.figures: dict[str, str] = {}
        self.on_trajectory: Callable[[JointTrajectory, float], None] = lambda *_: None
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=process.domain)
        self.node = rclpy.create_node('bench_client', context=self._context)
        self._executor = make_executor(self._context)
        self._executor.add_node(self.node)
        home = find_robot('panda').home
        self._positions = {joint: home.get(joint, 0.0) for joint in (*JOINTS, *home)}
        self._states = self.node.create_publisher(JointState, 'joint_states', 1)
        self._poses = self.node.create_publisher(PoseStamped, f'{node_name}/target_pose', 1)
        self._joints = self.node.create_publisher(JointState, f'{node_name}/target_joints', 1)
        self._description = self.node.create_publisher(String, 'robot_description', _LATCHED)
        self.node.create_subscription(
            JointTrajectory,
            f'{node_name}/joint_trajectory',
            self._on_trajectory,
            1000,
        )
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        self._next_state = 0.0

    def close(self) -> None:
        """Leave the domain."""
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)

    def describe(self) -> None:
        """Publish the description of the robot, latched."""
        self._description.publish(String(data=self._urdf.read_text()))

    def turn(self, until: float) -> None:
        """Receive, and publish joint states when due, until a time of time.perf_counter."""
        while (now := time.perf_counter()) < until:
            if now >= self._next_state:
                self._next_state = now + 1.0 / STATE_RATE
                if self._plays:
                    self._states.publish(
                        JointState(
                            name=list(self._positions), position=list(self._positions.values())
                        )
                    )
            self._executor.spin_once(timeout_sec=max(0.0, min(until, self._next_state) - now))

    def wait_for(self, condition: Callable[[], bool], what: str, timeout: float) -> None:
        """Turn until a condition holds.

        Raises:
            TimeoutError: The condition does not hold within ``timeout`` s.
            RuntimeError: The process has ended.
        """
        give_up = time.monotonic() + timeout
        while not condition():
            self._process.check()
            if time.monotonic() > give_up:
                raise TimeoutError(f'no {what} within {timeout:g} s')
            self.turn(time.perf_counter() + 0.005)

    def send_pose(self, pose: PoseStamped) -> None:
        """Publish a target pose."""
        self._poses.publish(pose)

    def send_joints(self, **positions: float) -> None:
        """Publish a joint target."""
        self._joints.publish(JointState(name=list(positions), position=list(positions.values())))

    def current_pose(self, timeout: float) -> PoseStamped:
        """Return the frame's current pose as published by the node, once it is."""
        heard: list[PoseStamped] = []
        subscription = self.node.create_subscription(
            PoseStamped, f'{self._name}/ee/current_pose', lambda message: heard.append(message), 1
        )
        try:
            self.wait_for(lambda: bool(heard), 'current pose', timeout)
        finally:
            self.node.destroy_subscription(subscription)
        return heard[-1]

    def wait_for_planning(self, timeout: float) -> None:
        """Wait until planners are answered: the process that does it takes a core to start.

        Args:
            timeout: How long to wait for the service and for its answer [s].

        Raises:
            TimeoutError: There was none.
        """
        planning = self.node.create_client(SolveFk, f'{self._name}/solve_fk')
        self.wait_for(planning.service_is_ready, 'service for planners', timeout)
        future = planning.call_async(SolveFk.Request())
        self.wait_for(future.done, 'answer to a planner', timeout)
        self.node.destroy_client(planning)

    def start_anew(self, timeout: float) -> None:
        """Deactivate and activate the node once planners are answered; resets its statistics.

        Args:
            timeout: How long to wait for each answer [s].

        Raises:
            TimeoutError: There was none.
            RuntimeError: The node refused.
        """
        self.wait_for_planning(timeout)
        change = self.node.create_client(ChangeState, f'{self._name}/change_state')
        for transition in (Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_ACTIVATE):
            request = ChangeState.Request(transition=Transition(id=transition))
            future = change.call_async(request)
            self.wait_for(future.done, 'answer to a transition', timeout)
            if not future.result().success:
                raise RuntimeError(f'the node refused transition {transition}')
        self.node.destroy_client(change)

    def _on_trajectory(self, message: JointTrajectory) -> None:
        now = time.perf_counter()
        self._positions.update(
            zip(message.joint_names, message.points[0].positions, strict=True)
        )
        self.on_trajectory(message, now)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == 'ros_ik: loop':
                self.figures = {entry.key: entry.value for entry in status.values}


class PoseStream:
    """Poses at a rate, each at a random moment of its period, so that no phase is preferred."""

    def __init__(self, client: Client, rate: float) -> None:
        """Start now; ``rate`` in Hz."""
        self._client, self._period = client, 1.0 / rate
        self._begin = time.perf_counter()
        self._random = random.Random(0)

    def send(self, pose: PoseStamped) -> float:
        """Wait for the moment of the next pose and send it; return that moment [s]."""
        self._client.turn(self._begin + self._random.random() * self._period)
        sent = time.perf_counter()
        self._client.send_pose(pose)
        self._begin = max(self._begin + self._period, sent - self._period)
        return sent

    def follow(self, pose: PoseStamped, duration: float) -> None:
        """Send one pose repeatedly; ``duration`` in s."""
        end = time.perf_counter() + duration
        while time.perf_counter() < end:
            self.send(pose)


@contextlib.contextmanager
def busy_core(busy: bool):
    """Keep one core busy within the context, if ``busy`` is set."""
    process = subprocess.Popen([sys.executable, '-c', 'while True: pass']) if busy else None
    try:
        yield
    finally:
        if process is not None:
            process.kill()
            process.wait()


def _nested(values: dict[str, object]) -> dict:
    """Return parameters by dotted name as the tree that a parameter file holds."""
    tree: dict = {}
    for name, value in values.items():
        *sections, leaf = name.split('.')
        branch = tree
        for section in sections:
            branch = branch.setdefault(section, {})
        branch[leaf] = value
    return tree
