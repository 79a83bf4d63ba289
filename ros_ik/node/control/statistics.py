# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Durations of the last ticks, with percentiles."""

from __future__ import annotations

from array import array

import numpy as np

# Number of ticks that the statistics cover: ten seconds at 1 kHz.
_LENGTH = 10_000


class TickStatistics:
    """Ring buffer of durations, written by the control thread and evaluated by another.

    Attributes:
        ticks: Number of ticks since the last reset.
        missed: Number of deadlines missed since the last reset.
        p50: Median [ms] at the last :meth:`update`, NaN before.
        p99: 99th percentile [ms] at the last :meth:`update`, NaN before.
        p999: 99.9th percentile [ms] at the last :meth:`update`, NaN before.
        longest: Longest tick since the last reset [ms].
        recorded: Number of graphs recorded by ticks since the start; 0 unless a tick builds
            something.
    """

    def __init__(self) -> None:
        """Start empty."""
        # An array of Python, because writing a float to it is faster than to one of NumPy.
        self._durations = array('d', bytes(8 * _LENGTH))
        self.recorded = 0
        self.reset()

    def reset(self) -> None:
        """Restart."""
        self.ticks = self.missed = 0
        self.p50 = self.p99 = self.p999 = float('nan')
        self.longest = 0.0

    def add(self, duration: float) -> None:
        """Record a tick; ``duration`` in ms."""
        self._durations[self.ticks % _LENGTH] = duration
        self.ticks += 1
        self.longest = max(self.longest, duration)

    def miss(self, count: int) -> None:
        """Record missed deadlines."""
        self.missed += count

    def update(self) -> None:
        """Compute the percentiles; too slow for every tick."""
        count = min(self.ticks, _LENGTH)
        if count:
            self.p50, self.p99, self.p999 = np.percentile(
                np.frombuffer(self._durations)[:count], (50.0, 99.0, 99.9)
            ).tolist()
