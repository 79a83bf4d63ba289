# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Loops on the schedule of the node without ROS, to measure delays of the machine.

One loop only sleeps and shows the delay of wake-ups. The other one computes as long as a tick and
shows variations of the processor's speed.

``python -m benchmarks.node.idle RATE SECONDS PRIORITY COMPUTING`` prints one line of JSON.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
import subprocess
import sys
import threading
import time

import numpy as np

from benchmarks.harness.process import ROOT
from benchmarks.harness.table import our_versions
from benchmarks.harness.table import row
from benchmarks.harness.table import Side
from ros_ik.node.execution.realtime import schedule_thread
from ros_ik.node.execution.schedule import SteadySchedule

_PATIENCE = 30.0
# Sums by which the speed of the processor is found.
_TRIALS, _TRIAL_TERMS = 200, 1000


def main(rate: float, duration: float, priority: int, computing: float) -> dict[str, float]:
    """Return the times of a loop [ms], and how many deadlines passed meanwhile.

    Args:
        rate: Rate of the loop [Hz].
        duration: For how long [s].
        priority: Priority among real-time threads, 0 if there is none.
        computing: How long to compute each time [ms]: how long that takes is timed. With 0 the
            loop only sleeps, and how late it is woken is timed.
    """
    schedule_thread(threading.current_thread(), priority, -1)
    number = int(rate * duration)
    times, missed = np.zeros(number), 0
    terms = _terms(computing, rate) if computing else 0
    before = stolen()
    schedule = SteadySchedule(1.0 / rate)
    for k in range(number):
        missed += schedule.wait()
        if computing:
            begin = time.perf_counter()
            _compute(terms)
            times[k] = 1e3 * (time.perf_counter() - begin)
        else:
            # Until the next deadline there is a whole period, less what this one was late.
            times[k] = 1e3 * (1.0 / rate - schedule.pause())
    p50, p99, p999 = np.percentile(times, (50.0, 99.0, 99.9)).tolist()
    return {
        'ticks': number, 'missed': missed, 'p50': p50, 'p99': p99, 'p999': p999,
        'longest': float(times.max()), 'stolen': stolen() - before,
    }  # fmt: skip


def stolen() -> float:
    """Return the time for which a hypervisor withheld processors from this machine, so far [ms].

    Of all processors together, as Linux counts it in a virtual machine; NaN elsewhere.
    """
    try:
        numbers = Path('/proc/stat').read_text(encoding='ascii').split('\n', 1)[0].split()
    except OSError:
        return math.nan
    # 'cpu', then user, nice, system, idle, iowait, irq, softirq, steal, ...
    return 1e3 * int(numbers[8]) / os.sysconf('SC_CLK_TCK')


def _terms(computing: float, rate: float) -> int:
    """Return the number of terms that take a given time to add up [ms], by the median of trials.

    Each comes after a pause, as it does in the loop: a processor that was idle is slower.
    """
    trials, schedule = [], SteadySchedule(1.0 / rate)
    for _ in range(_TRIALS):
        schedule.wait()
        begin = time.perf_counter()
        _compute(_TRIAL_TERMS)
        trials.append(1e3 * (time.perf_counter() - begin))
    return round(_TRIAL_TERMS * computing / float(np.median(trials)))


def _compute(terms: int) -> int:
    total = 0
    for term in range(terms):
        total += term
    return total


def measure(
    rate: float, duration: float, priority: int, problem: str, computing: float = 0.0
) -> dict:
    """Run the loop in a process of its own and return its row beside those of the node."""
    arguments = [str(number) for number in (rate, duration, priority, computing)]
    done = subprocess.run(
        [sys.executable, '-m', 'benchmarks.node.idle', *arguments],
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
    rate, duration, priority, computing = sys.argv[1:]
    print(json.dumps(main(float(rate), float(duration), int(priority), float(computing))))
