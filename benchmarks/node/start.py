# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Time from the start of the process to the first trajectory, and from SIGTERM to its end.

Description, joint states and joint targets are published before the node starts.
"""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path
import tempfile
import time

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from benchmarks.harness.table import our_versions
from benchmarks.harness.table import row
from benchmarks.harness.table import Side
from benchmarks.node.client import Client
from benchmarks.node.client import ModuleProcess
from benchmarks.node.client import node_process
from benchmarks.node.latency import FRAMES
from benchmarks.node.latency import NODE

_WARM, _QUICK_WARM = 5, 2
_PATIENCE = 300.0
_TARGET_PERIOD = 0.02


@dataclasses.dataclass(frozen=True)
class Start:
    """One run of the node.

    Attributes:
        first: From the start of the process to the first trajectory [s].
        built: What the node says of the building of its model.
        ended: From SIGTERM to the end of the process [s].
        code: Its exit code.
    """

    first: float
    built: str
    ended: float
    code: int


def measure(quick: bool) -> list[dict]:
    """Return the rows of a start without compiled kernels, and of starts with them."""
    with tempfile.TemporaryDirectory(prefix='ros_ik_cache_') as folder:
        cache = Path(folder)
        # A quick run has no time to compile: it takes the kernels that are there.
        cold = [] if quick else [start_and_end(cache)]
        count = _QUICK_WARM if quick else _WARM
        warm = [start_and_end(None if quick else cache) for _ in range(count)]
    rows = [_row('cold: every kernel compiled', cold)] if cold else []
    return [*rows, _row('warm: kernels from the cache', warm), _end_row(cold + warm)]


def start_and_end(cache: Path | None) -> Start:
    """Start the node with a folder of kernels, wait for its first trajectory, and end it."""
    heard: list[float] = []

    def on_trajectory(_: JointTrajectory, now: float) -> None:
        heard.append(now)

    with node_process(NODE, FRAMES, cache) as process:
        with contextlib.closing(Client(process, 'ros_ik')) as client:
            client.on_trajectory = on_trajectory
            client.describe()
            client.wait_for(lambda: _target(client, heard), 'trajectory', _PATIENCE)
        return _end(process, heard[0])


def _target(client: Client, heard: list[float]) -> bool:
    """Publish a joint target; return True if a trajectory has come."""
    client.send_joints(panda_joint1=0.3)
    client.turn(time.perf_counter() + _TARGET_PERIOD)
    return bool(heard)


def _end(process: ModuleProcess, first: float) -> Start:
    begin = time.perf_counter()
    code = process.end()
    built = [line for line in process.log.splitlines() if 'built in ' in line]
    return Start(
        first=first - process.started,
        built=built[-1].partition(']: ')[2].partition(' in /')[0] if built else '',
        ended=time.perf_counter() - begin,
        code=code,
    )


def _row(problem: str, starts: list[Start]) -> dict:
    times = [start.first for start in starts]
    details = {'longest': max(times), 'built': starts[-1].built}
    side = Side(float(np.median(times)), 1.0, details, our_versions())
    return row('node_start', 'panda', problem, len(starts), '', side, '', Side(None), unit='s')


def _end_row(starts: list[Start]) -> dict:
    times = [start.ended for start in starts]
    in_order = sum(start.code == 0 for start in starts) / len(starts)
    side = Side(float(np.median(times)), in_order, {'longest': max(times)}, our_versions())
    problem = 'SIGTERM in motion to the end with code 0'
    return row('node_start', 'panda', problem, len(starts), '', side, '', Side(None), unit='s')
