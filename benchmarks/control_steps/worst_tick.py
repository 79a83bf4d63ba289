# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The longest of 100,000 control steps, beside Oink's.

The problems are those of ``self_collision``. A machine that does other things too stretches single
steps far beyond what the solver needs, so the same steps are made several times and the least
time of each counts. Where a solver does not make the same steps again, `repeats` false, its least
times are those of steps that are only alike. The longest of all times is in the rows as well, and
so is the longest of as many waits that do nothing but look at the clock.
"""

import time

import numpy as np

from benchmarks.control_steps import self_collision
from benchmarks.harness.measure import Runner
from benchmarks.harness.process import PEER_PYTHON
from benchmarks.harness.table import our_versions
from benchmarks.harness.table import row
from benchmarks.harness.table import Side

PROBLEMS = {
    'limits': 'frame + posture + limits',
    'spheres': '+ self-collision, 27 sphere pairs, 4 closest',
    'box_spheres': '+ box + self-collision, 27 sphere pairs, 4 closest',
}
REPEATS = 5


def measure(runner: Runner, quick: bool) -> list[dict]:
    """Return a row for each problem."""
    steps, variants = 5_000 if quick else 100_000, list(PROBLEMS)
    theirs = self_collision.run(
        runner, 'benchmarks.peers.step_oink_collision', variants, steps, PEER_PYTHON, 'ticks',
        REPEATS,
    )  # fmt: skip
    ours = self_collision.run(
        runner, 'benchmarks.ours.step_collision', variants, steps, None, 'ticks', REPEATS
    )
    idle = _longest_of_nothing(steps)
    return [
        row(
            'worst_tick', 'panda', problem, steps, 'longest step',
            _side(ours[variant], our_versions(), idle_worst=idle), 'roboplan Oink',
            _side(theirs[variant], {}),
        )
        for variant, problem in PROBLEMS.items()
    ]  # fmt: skip


def _side(answer, versions, **details):
    versions = {**answer.versions, **versions}
    if answer.error:
        return Side(None, versions=versions, error=answer.error)
    each = 1e6 * answer.seconds
    least = each.min(axis=0)
    median, worst = float(np.median(least)), float(least.max())
    details |= {
        'median': median,
        'p99_9': float(np.percentile(least, 99.9)),
        'over_median': worst / median,
        'longest_of_all': float(each.max()),
        'repeats': answer.repeats,
    }
    return Side(worst, None, details, versions)


def _longest_of_nothing(steps):
    """Return the longest of as many waits of 10 us [us]."""
    longest = 0
    for _ in range(steps):
        begin = now = time.perf_counter_ns()
        while now - begin < 10_000:
            now = time.perf_counter_ns()
        longest = max(longest, now - begin)
    return 1e-3 * longest
