# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The demonstration: a robot follows pose targets over ROS 2, inside its limits and a box.

    python -m ros_ik.demo --robot panda

It starts a publisher of the robot description, a mock robot and the node, each in a process of its
own, and sends targets for half a minute. Then it evaluates the measured motion and writes a table,
a picture and, as the last line, one JSON object. The exit code is 0 if every phase met its
requirement, box and limits were kept, and no trajectory was rejected. Missed deadlines are only
counted.

With ``--running`` it moves a robot whose node is already running, as in demo.launch.py, without
the box and without an evaluation, and prints commands to try next.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import os
from pathlib import Path
import signal
import sys
import tempfile

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args

from ros_ik.demo.next_commands import next_commands
from ros_ik.demo.processes.children import ChildProcesses
from ros_ik.demo.processes.loop_options import add_loop_options
from ros_ik.demo.processes.nodes import choose_domain
from ros_ik.demo.processes.nodes import start_nodes
from ros_ik.demo.report.evaluation import evaluate
from ros_ik.demo.report.plot import save_plot
from ros_ik.demo.report.report import last_line
from ros_ik.demo.report.report import succeeded
from ros_ik.demo.report.report import summary
from ros_ik.demo.report.report import table
from ros_ik.demo.robots import mesh_environment
from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.demo.scenario.client import DemoClient
from ros_ik.demo.scenario.phase import Scenario
from ros_ik.demo.scenario.scenario import make_scenario
from ros_ik.errors import ArgumentError
from ros_ik.errors import RosIkError
from ros_ik.node.execution.executor import interrupts_raised
from ros_ik.node.execution.fastdds_profile import set_fastdds_profile
from ros_ik.node.execution.warp_programs import prepare_warp

# Longest wait for the first start, with every kernel to compile [s].
_START_TIMEOUT = 90.0
# Phases with a box, which a running node does not have.
_OF_THE_BOX = ('box', 'back', 'out of reach')
# Period of the mock robot's count of rejected trajectories [s].
_SETTLE_TIME = 1.2


def main(args: Sequence[str] | None = None) -> int:
    """Run the demonstration and return the exit code.

    Args:
        args: Command line; None for that of the process.
    """
    options = _parse(args)
    try:
        with interrupts_raised():
            prepare_warp()
            return _tour(options) if options.running else _run(options)
    except RosIkError as error:
        print(f'demo: {error}', file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        # A tour may be interrupted at any time.
        return 0 if options.running else 128 + signal.SIGINT
    except ExternalShutdownException:
        return 0 if options.running else 128 + signal.SIGTERM


def _parse(args: Sequence[str] | None) -> argparse.Namespace:
    summary_line = (__doc__ or '').splitlines()[0]
    parser = argparse.ArgumentParser(prog='ros_ik_demo', description=summary_line)
    parser.add_argument('--robot', default='panda', help='name, or path of a URDF or xacro file')
    add_loop_options(parser, rate=100.0, device='auto')
    parser.add_argument('--output', type=Path, default='demo_output', help='folder of the picture')
    parser.add_argument('--seed', type=_seed, default=0, help='seed of the random targets')
    parser.add_argument('--running', action='store_true', help='move a robot that runs already')
    words = sys.argv[1:] if args is None else list(args)
    options = parser.parse_args(remove_ros_args(words))
    options.ros_arguments = words
    return options


def _seed(text: str) -> int:
    """Return the seed of the random targets."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f'expected a whole number >= 0, got {text!r}')
    return int(text)


def _run(options: argparse.Namespace) -> int:
    """Run the scenario and evaluate it; return the exit code."""
    robot = DemoRobot.load(options.robot)
    _make_folder(options.output)
    print(f'{robot.files.name}: {robot.group.n_variables} joints of the chain {robot.chain}')
    scenario = make_scenario(robot, options.seed)
    if not scenario.uses_orientation:
        print('fewer than six joints: positions count, orientations do not')
    if robot.files.srdf_path is None:
        print('no SRDF: meshes, the ball and the fold are omitted')
    choose_domain()
    with (
        _made_client(options, robot, scenario, []) as client,
        tempfile.TemporaryDirectory() as folder,
    ):
        # Without an SRDF it is unknown which links touch by design. Shapes around their meshes
        # would then block reachable targets.
        found = mesh_environment(robot.files, Path(folder)) if robot.files.srdf_path else None
        with ChildProcesses(found) as children:
            _start(children, Path(folder), options, robot, scenario)
            problem = _play(client, children, scenario)
    if problem:
        print(f'demo: {problem}', file=sys.stderr)
        return 1
    return _evaluate_run(options, robot, scenario, client)


def _make_folder(folder: Path) -> None:
    """Make the folder of the picture before the robot moves.

    Raises:
        ArgumentError: It cannot be made, or nothing can be written to it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArgumentError(f"the folder '{folder}' cannot be made: {error}") from error
    if not os.access(folder, os.W_OK):
        raise ArgumentError(f"nothing can be written to the folder '{folder}'")


@contextlib.contextmanager
def _made_client(
    options: argparse.Namespace, robot: DemoRobot, scenario: Scenario, ros_arguments: Sequence[str]
) -> Iterator[DemoClient]:
    """Yield a client on the graph, and destroy it afterwards."""
    set_fastdds_profile()
    rclpy.init(
        args=list(ros_arguments),
        signal_handler_options=SignalHandlerOptions.SIGTERM,  # type: ignore[attr-defined]
    )
    client = DemoClient(
        robot,
        uses_orientation=scenario.uses_orientation,
        ball_radius=scenario.ball_radius,
        control_rate=options.rate,
    )
    try:
        yield client
    finally:
        client.close()
        rclpy.try_shutdown()


def _tour(options: argparse.Namespace) -> int:
    """Send a running node the targets that need no box; then print commands to try next."""
    robot = DemoRobot.load(options.robot)
    scenario = make_scenario(robot, options.seed)
    phases = [phase for phase in scenario.phases if phase.name not in _OF_THE_BOX]
    with _made_client(options, robot, scenario, options.ros_arguments) as client:
        namespace = client.get_namespace()
        problem = client.wait_until_ready(_START_TIMEOUT, lambda: '', lambda text: None)
        for number, phase in enumerate(phases, start=1):
            if problem:
                break
            print(f'[{number:2}/{len(phases)}] {phase.name}: {phase.expectation}', flush=True)
            problem = client.play(phase)
    if problem:
        print(f'demo: {problem}', file=sys.stderr)
        return 1
    print(next_commands(namespace), flush=True)
    return 0


def _start(
    children: ChildProcesses,
    folder: Path,
    options: argparse.Namespace,
    robot: DemoRobot,
    scenario: Scenario,
) -> None:
    """Start the three processes with their parameters."""
    given = {
        'control_rate': options.rate,
        # Enough for the evaluation; a status in every tick would cost more time than the tick.
        'status_rate': 50.0,
        'device': options.device,
        'barriers.position.demo_box.frame': robot.tip_link,
        'barriers.position.demo_box.min': scenario.box_min.tolist(),
        'barriers.position.demo_box.max': scenario.box_max.tolist(),
    }
    start_nodes(children, folder, robot, given)


def _play(client: DemoClient, children: ChildProcesses, scenario: Scenario) -> str:
    """Wait for the node and run every phase; return an error text, or ''."""
    problem = client.wait_until_ready(
        _START_TIMEOUT, children.ended_child, lambda text: print(f'  the node: {text}', flush=True)
    )
    for number, phase in enumerate(scenario.phases, start=1):
        if problem:
            return problem
        print(f'  [{number:2}/{len(scenario.phases)}] {phase.name}', flush=True)
        silence = client.play(phase)
        # A process that ended explains missing messages.
        problem = children.ended_child() or silence
    client.settle(_SETTLE_TIME)
    return problem


def _evaluate_run(
    options: argparse.Namespace, robot: DemoRobot, scenario: Scenario, client: DemoClient
) -> int:
    """Evaluate the recording, write table, picture and last line; return the exit code."""
    recording, name = client.recording, robot.files.name
    evaluation = evaluate(robot, scenario, recording)
    # For the node, 'auto' is the CPU, which is the fastest for one robot.
    device = 'cpu' if options.device == 'auto' else options.device
    figures = summary(name, device, options.rate, evaluation, recording)
    print()
    print(table(evaluation))
    picture = options.output / f'{name}.png'
    title = (
        f'{name}: {figures["reached"]} of {figures["targets"]} targets reached, '
        'nothing touched, no limit passed'
        if succeeded(figures, evaluation)
        else f'{name}: {figures["reached"]} of {figures["targets"]} targets reached'
    )
    save_plot(picture, title, robot, scenario, recording, evaluation)
    print(f'\npicture: {picture}')
    print(last_line(figures), flush=True)
    return 0 if succeeded(figures, evaluation) else 1


if __name__ == '__main__':
    sys.exit(main())
