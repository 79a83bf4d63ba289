# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Latency from a pose in one process to its trajectory in another, and duration of ticks.

Poses come at the control rate, each at a random moment of its period. Now and then they change
from one far to the left to one far to the right, or back; the first trajectory that accelerates
the base joint the other way is the answer. Beside it an echo node answers as many poses, with
trajectories of the same size.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
from importlib import metadata
import itertools
import math
import sys
import time

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
import numpy as np
from trajectory_msgs.msg import JointTrajectory

from benchmarks.harness.table import our_versions
from benchmarks.harness.table import row
from benchmarks.harness.table import Side
from benchmarks.node import idle
from benchmarks.node.client import busy_core
from benchmarks.node.client import Client
from benchmarks.node.client import ModuleProcess
from benchmarks.node.client import node_process
from benchmarks.node.client import PoseStream

NODE, ECHO = 'ros_ik.node.ros_ik_node', 'benchmarks.node.echo'
FRAMES: dict[str, object] = {
    'ee.frame': 'panda_hand_tcp',
    'ee.reference_frame': 'panda_link0',
    # Tells trajectories that follow each other from those with a lost one between them.
    'outputs.default.stamp': 'now',
}
# Of SCHED_FIFO: above everything that has none.
_PRIORITY = 50
RATES, _QUICK_RATES = (100.0, 500.0, 1000.0), (100.0, 1000.0)
# Time of each measurement [s]: the node, the node idle at the highest rate, the echo node.
_TIMES, _QUICK_TIMES = (25.0, 60.0, 10.0), (2.0, 2.0, 1.0)
# How far to the left and to the right the poses lie [m]: never reached between two changes.
_REACH = 0.2
# Ticks from an answer to the next change, and poses after which one without answer is lost.
_HOLD, _LOST = 12, 100
# An acceleration above rounding [rad/s^2]: speeding up takes several times as much.
_TURN = 0.5
# Trajectories as many periods apart have a lost one between them.
_GAP = 1.5
# Time for the loop to settle, and at most for kernels to compile [s].
_SETTLE, _START = 1.0, 300.0


@dataclasses.dataclass(frozen=True)
class Timing:
    """Measurement of one node.

    Attributes:
        latency: From each pose to its answer [s].
        sent: Number of poses that wanted an answer.
        figures: Diagnostics of the loop at the end, by name; empty for the echo node.
        worst: Largest 99.9th percentile of the tick [ms], of windows of at most 10,000 ticks.
        stolen: See :func:`benchmarks.node.idle.stolen` [ms], meanwhile.
    """

    latency: np.ndarray
    sent: int
    figures: dict[str, str] = dataclasses.field(default_factory=dict)
    worst: float = float('nan')
    stolen: float = float('nan')


class TurnDetector:
    """Detects the trajectories in which the base joint reverses."""

    def __init__(self, period: float) -> None:
        """Start without a history; ``period`` is that of the control loop [s]."""
        self._least, self._longest = _TURN * period * period, _GAP * period
        self._positions: list[float] = []
        self._stamp = 0.0
        self._direction = 0
        #: When the answer came, 0 while it has not.
        self.answered = 0.0

    def expect(self, direction: int) -> None:
        """Start to wait for an acceleration with this sign."""
        self._direction, self.answered = direction, 0.0

    def on_trajectory(self, message: JointTrajectory, now: float) -> None:
        """Take a trajectory received at ``now`` [s]."""
        stamp, before = message.header.stamp, self._stamp
        self._stamp = stamp.sec + 1e-9 * stamp.nanosec
        if self._stamp - before > self._longest:
            self._positions = []
        self._positions = [*self._positions[-2:], message.points[0].positions[0]]
        if self.answered or len(self._positions) < 3:
            return
        before, middle, after = self._positions
        if self._direction * (after - 2.0 * middle + before) > self._least:
            self.answered = now


def time_node(process: ModuleProcess, rate: float, duration: float) -> Timing:
    """Let a running node follow poses and time its answers.

    Args:
        process: The node.
        rate: Rate of its loop and of the poses [Hz].
        duration: For how long [s].
    """
    with contextlib.closing(Client(process, 'ros_ik')) as client:
        client.describe()
        poses = poses_beside(client.current_pose(_START))
        detector = TurnDetector(1.0 / rate)
        client.on_trajectory = detector.on_trajectory
        stream, side = PoseStream(client, rate), 1
        stream.follow(poses[side], _SETTLE)
        client.start_anew(_START)
        before = idle.stolen()
        stream.follow(poses[side], _SETTLE)
        latency, sent, worst = [], 0, []
        end = time.perf_counter() + duration
        while time.perf_counter() < end:
            side, sent = -side, sent + 1
            answered = _turn_round(stream, poses[side], detector, side)
            latency += [answered] if answered is not None else []
            worst.append(float(client.figures.get('tick p99.9 ms', 'nan')))
        process.check()
        stolen = idle.stolen() - before
        figures = dict(client.figures)
        return Timing(np.array(latency), sent, figures, float(np.nanmax(worst)), stolen)


def _turn_round(
    stream: PoseStream, pose: PoseStamped, detector: TurnDetector, side: int
) -> float | None:
    """Send a pose on the other side until it is answered; return the latency [s]."""
    begin = stream.send(pose)
    detector.expect(side)
    for _ in range(_LOST):
        stream.send(pose)
        if detector.answered:
            break
    # The joints accelerate before the next reversal.
    for _ in range(_HOLD):
        stream.send(pose)
    return detector.answered - begin if detector.answered else None


def time_echo(process: ModuleProcess, rate: float, duration: float) -> Timing:
    """Let a running echo node answer poses; arguments as of :func:`time_node`."""
    sent: dict[int, float] = {}
    latency: list[float] = []

    def on_trajectory(message: JointTrajectory, now: float) -> None:
        begin = sent.pop(message.header.stamp.sec, None)
        if begin is not None:
            latency.append(now - begin)

    with contextlib.closing(Client(process, 'echo')) as client:
        client.on_trajectory = on_trajectory
        stream, pose, end = PoseStream(client, rate), PoseStamped(), math.inf
        give_up = time.perf_counter() + _START
        while time.perf_counter() < min(end, give_up):
            pose.header.stamp.sec += 1
            sent[pose.header.stamp.sec] = stream.send(pose)
            if latency and end == math.inf:
                stream.follow(pose, _SETTLE)
                end = time.perf_counter() + duration
                sent.clear()
                latency.clear()
        number = len(sent) + len(latency)
        client.turn(time.perf_counter() + _SETTLE)
        return Timing(np.array(latency), number)


def measure(quick: bool) -> list[dict]:
    """Return the rows of latency and of the tick."""
    times = _QUICK_TIMES if quick else _TIMES
    rows = []
    for busy, rate in itertools.product((False, True), _QUICK_RATES if quick else RATES):
        problem = f'{rate:,.0f} Hz, {"one core busy" if busy else "idle"}'
        duration = times[1] if rate == RATES[-1] and not busy else times[0]
        with busy_core(busy):
            with node_process(ECHO, {}) as process:
                echo = time_echo(process, rate, times[2])
            for priority in (0, _PRIORITY):
                name = problem + (', real-time' if priority else '')
                print(f'  {name}', file=sys.stderr, flush=True)
                given = {**FRAMES, 'control_rate': rate, 'rt.priority': priority}
                with node_process(NODE, given) as process:
                    ours = time_node(process, rate, duration)
                    permitted = 'is not permitted' not in process.log
                if permitted:
                    rows += _rows(rate, name, ours, echo)
                if permitted and rate == RATES[-1]:
                    rows += _beside(rate, duration, priority, name, rows[-1]['ours'])
    return rows


def _beside(
    rate: float, duration: float, priority: int, name: str, tick: float | None
) -> list[dict]:
    """Return the rows of loops without ROS, of which one computes as long as a tick [ms]."""
    rows = [idle.measure(rate, duration, priority, f'{name}: only sleeping')]
    if tick is not None:
        computing = f'{name}: only computing'
        rows.append(idle.measure(rate, duration, priority, computing, tick))
    return rows


def poses_beside(home: PoseStamped) -> dict[int, PoseStamped]:
    """Return the poses on the right and on the left, by the sign of the motion to them."""
    poses = {}
    for side in (-1, 1):
        poses[side] = copy.deepcopy(home)
        # Time zero is the time of receipt.
        poses[side].header.stamp = Time()
        poses[side].pose.position.y += side * _REACH
    return poses


def _rows(rate: float, problem: str, ours: Timing, echo: Timing) -> list[dict]:
    side, peer = _side(ours, our_versions()), _side(echo, {})
    if side.value is not None and peer.value is not None:
        # A pose waits half a period for its tick, on average.
        side.details['added'] = side.value - peer.value - 500.0 / rate
    latency = row(
        'node_latency', 'panda', problem, len(ours.latency), '', side,
        'rclpy echo', peer, unit='ms',
    )  # fmt: skip
    figures = ours.figures
    if not figures:
        missing = Side(None, error='no diagnostics were heard')
        return [latency, row('node_tick', 'panda', problem, 0, '', missing, '', Side(None))]
    ticks, missed = int(figures['ticks']), int(figures['missed ticks'])
    details = {
        'p99': float(figures['tick p99 ms']),
        'p999': ours.worst,
        'longest': float(figures['longest tick ms']),
        'missed': missed,
        'stolen': ours.stolen,
    }
    tick = Side(float(figures['tick p50 ms']), ticks / (ticks + missed), details, our_versions())
    return [
        latency,
        row('node_tick', 'panda', problem, ticks, '', tick, '', Side(None), unit='ms'),
    ]


def _side(timing: Timing, versions: dict[str, str]) -> Side:
    versions = {**versions, 'rclpy': metadata.version('ros-rclpy')}
    if not len(timing.latency):
        return Side(None, versions=versions, error='no pose was answered')
    p50, p99, p999 = np.percentile(1e3 * timing.latency, (50.0, 99.0, 99.9)).tolist()
    details = {'p99': p99, 'p999': p999, 'n': len(timing.latency)}
    return Side(p50, len(timing.latency) / timing.sent, details, versions)
