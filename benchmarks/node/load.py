# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Cost of floods of targets, parameters and poses to solve for a running control loop.

A node at 500 Hz follows poses back and forth, alone and with each of the floods, each time in a
new process. Missed deadlines are those that it reports; pauses are between the stamps of its
trajectories.
"""

from __future__ import annotations

import contextlib
import dataclasses
from importlib import metadata
import sys
import time

from geometry_msgs.msg import PoseStamped
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from trajectory_msgs.msg import JointTrajectory

from benchmarks.harness.table import our_versions
from benchmarks.harness.table import row
from benchmarks.harness.table import Side
from benchmarks.node.client import Client
from benchmarks.node.client import node_process
from benchmarks.node.client import PoseStream
from benchmarks.node.latency import FRAMES
from benchmarks.node.latency import NODE
from benchmarks.node.latency import poses_beside
from benchmarks.node.planner import PlannerProcess

_RATE = 500.0
_POSES, _QUICK_POSES = 100_000, 5_000
# The loop settles, then is measured; it keeps the last 10,000 of its ticks [s].
_TIMES, _QUICK_TIMES = (2.0, 12.0), (0.5, 1.0)
# How long a pose is followed before the other one is [s].
_TURN = 0.5
_PATIENCE = 300.0
# What each request changes.
_CHANGES = (('ee.max_linear_speed', 0.3), ('ee.max_linear_speed', 0.5))


class Flood:
    """Base class: no flood.

    Attributes:
        rate: Rate of the poses to follow [Hz].
    """

    rate = 100.0

    def __init__(self, client: Client, quick: bool) -> None:
        """Prepare the flood, a smaller one if ``quick`` is set."""

    def begin(self) -> None:
        """Start the flood."""

    def go_on(self) -> None:
        """Continue after each answer; called with each pose."""

    def done(self, poses: int) -> str:
        """Return a description of the work done while a number of poses was sent."""
        return f'{poses:,} poses to follow'

    def close(self) -> None:
        """End the flood."""


class TargetFlood(Flood):
    """A thousand targets a second."""

    rate = 1000.0


class ParameterFlood(Flood):
    """Changes of parameters, each request as soon as the previous one is answered."""

    def __init__(self, client: Client, quick: bool) -> None:
        """Create the client of the service."""
        self._caller = client.node.create_client(SetParameters, 'ros_ik/set_parameters')
        client.wait_for(self._caller.service_is_ready, 'service', _PATIENCE)
        changes = [Parameter(name, value=value).to_parameter_msg() for name, value in _CHANGES]
        self._request = SetParameters.Request(parameters=changes)
        self._answered = 0

    def begin(self) -> None:
        """Send a request."""
        self._future = self._caller.call_async(self._request)

    def go_on(self) -> None:
        """Send the next one."""
        if self._future.done():
            if not all(result.successful for result in self._future.result().results):
                raise RuntimeError('a change of a parameter was refused')
            self._answered += 1
            self.begin()

    def done(self, poses: int) -> str:
        """Return the number of answers."""
        return f'{self._answered:,} requests'


class PlannerFlood(Flood):
    """Requests of many poses to ~/solve_ik, each as soon as the previous one is answered."""

    def __init__(self, client: Client, quick: bool) -> None:
        """Start a planner."""
        self._number, self._asked = _QUICK_POSES if quick else _POSES, 0
        self._planner = PlannerProcess(self._number, client.node.context.get_domain_id())
        client.wait_for(lambda: self._planner.ready, 'planner', _PATIENCE)

    def begin(self) -> None:
        """Send the first request."""
        self._planner.ask()
        self._asked += 1

    def go_on(self) -> None:
        """Send another request after each answer."""
        reports = self._planner.reports
        if not self._planner.is_alive():
            raise RuntimeError('the planner has ended')
        if len(reports) == self._asked:
            if reports[-1]['solved'] != self._number:
                raise RuntimeError(f'not every pose was solved: {reports[-1]}')
            self.begin()

    def done(self, poses: int) -> str:
        """Return the number of requests and how long the answers took."""
        times = [report['answered'] - report['asked'] for report in self._planner.reports]
        longest = f', at most {max(times):.1f} s each' if times else ''
        return f'{self._asked} of {self._number:,} poses{longest}'

    def close(self) -> None:
        """End the process."""
        self._planner.end()


FLOODS: dict[str, type[Flood]] = {
    'alone': Flood,
    '1,000 targets a second': TargetFlood,
    'set_parameters without a break': ParameterFlood,
    'solve_ik without a break': PlannerFlood,
}


@dataclasses.dataclass
class Load:
    """Measurement with one flood.

    Attributes:
        ticks: Ticks in the time measured.
        missed: Deadlines missed in it.
        p50: Median of the last ticks [ms].
        p99: Their 99th percentile [ms].
        pause: Longest time between the stamps of two trajectories [ms].
        done: What the flood has done.
    """

    ticks: int
    missed: int
    p50: float
    p99: float
    pause: float
    done: str


class PauseMeter:
    """Measures the longest time between the stamps of two trajectories.

    Attributes:
        longest: That time [s].
    """

    def __init__(self) -> None:
        """Start without a history."""
        self.longest = self._stamp = 0.0

    def on_trajectory(self, message: JointTrajectory, _: float) -> None:
        """Take a trajectory."""
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        if self._stamp:
            self.longest = max(self.longest, stamp - self._stamp)
        self._stamp = stamp


def measure(quick: bool) -> list[dict]:
    """Return the rows."""
    rows = []
    for problem, kind in FLOODS.items():
        print(f'  {problem}', file=sys.stderr, flush=True)
        given = {**FRAMES, 'control_rate': _RATE, 'services.timeout': _PATIENCE}
        with (
            node_process(NODE, given) as process,
            contextlib.closing(Client(process, 'ros_ik')) as client,
        ):
            client.describe()
            poses = list(poses_beside(client.current_pose(_PATIENCE)).values())
            with contextlib.closing(kind(client, quick)) as flood:
                load = time_load(client, poses, flood, *(_QUICK_TIMES if quick else _TIMES))
            process.check()
        rows.append(_row(problem, load))
    return rows


def time_load(
    client: Client, poses: list[PoseStamped], flood: Flood, settle: float, duration: float
) -> Load:
    """Let a node follow poses during a flood; return the statistics of its ticks.

    Args:
        client: A client of the node.
        poses: The poses.
        flood: What is done besides.
        settle: For how long poses are followed before [s].
        duration: For how long it is measured [s].
    """
    stream = PoseStream(client, flood.rate)
    stream.follow(poses[-1], settle)
    flood.begin()
    before, meter = _next_figures(client, stream, poses[-1]), PauseMeter()
    client.on_trajectory = meter.on_trajectory
    begin, sent = time.perf_counter(), 0
    while (elapsed := time.perf_counter() - begin) < duration:
        stream.send(poses[int(elapsed / _TURN) % len(poses)])
        flood.go_on()
        sent += 1
    pause, done = meter.longest, flood.done(sent)
    after = _next_figures(client, stream, poses[-1])
    ticks, missed = (int(after[key]) - int(before[key]) for key in ('ticks', 'missed ticks'))
    p50, p99 = (float(after[f'tick {key} ms']) for key in ('p50', 'p99'))
    return Load(ticks, missed, p50, p99, 1e3 * pause, done)


def _next_figures(client: Client, stream: PoseStream, pose: PoseStamped) -> dict[str, str]:
    """Return the next diagnostics of the loop; they come once a second."""
    last, give_up = client.figures, time.monotonic() + _PATIENCE
    while client.figures is last or 'tick p50 ms' not in client.figures:
        if time.monotonic() > give_up:
            raise TimeoutError('no diagnostics were heard')
        stream.send(pose)
    return client.figures


def _row(problem: str, load: Load) -> dict:
    details = {
        'p99': load.p99, 'pause': load.pause, 'missed': load.missed, 'done': load.done,
    }  # fmt: skip
    versions = {**our_versions(), 'rclpy': metadata.version('ros-rclpy')}
    side = Side(load.p50, load.ticks / (load.ticks + load.missed), details, versions)
    return row('node_load', 'panda', problem, load.ticks, '', side, '', Side(None), unit='ms')
