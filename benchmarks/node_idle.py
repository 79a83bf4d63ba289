# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A loop that only sleeps, on the schedule of the node: how late the machine itself wakes it.

``python -m benchmarks.node_idle RATE SECONDS PRIORITY`` prints one line of JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import numpy as np

from benchmarks.process import ROOT
from benchmarks.table import our_versions
from benchmarks.table import row
from benchmarks.table import Side
from ros_ik.node.realtime import schedule_thread
from ros_ik.node.schedule import SteadySchedule

_PATIENCE = 30.0


def main(rate: float, duration: float, priority: int) -> dict[str, float]:
    """Return how late the wake-ups were [ms], and how many deadlines passed meanwhile."""
    schedule_thread(threading.current_thread(), priority, -1)
    number = int(rate * duration)
    late, missed = np.zeros(number), 0
    schedule = SteadySchedule(1.0 / rate)
    for k in range(number):
        missed += schedule.wait()
        # Until the next deadline there is a whole period, less what this one was late.
        late[k] = 1e3 * (1.0 / rate - schedule.pause())
    p50, p99, p999 = np.percentile(late, (50.0, 99.0, 99.9)).tolist()
    return {
        'ticks': number, 'missed': missed, 'p50': p50, 'p99': p99, 'p999': p999,
        'longest': float(late.max()),
    }  # fmt: skip


def measure(rate: float, duration: float, priority: int, problem: str) -> dict:
    """Run the loop in a process of its own and return its row beside those of the node."""
    done = subprocess.run(
        [sys.executable, '-m', 'benchmarks.node_idle', str(rate), str(duration), str(priority)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        timeout=duration + _PATIENCE,
        check=True,
    )
    found = json.loads(done.stdout)
    ticks, missed, p50 = found.pop('ticks'), found['missed'], found.pop('p50')
    side = Side(p50, ticks / (ticks + missed), found, our_versions())
    return row('node_tick', '-', problem, ticks, '', side, '', Side(None), unit='ms')


if __name__ == '__main__':
    print(json.dumps(main(float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))))
