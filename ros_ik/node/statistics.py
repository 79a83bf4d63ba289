# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Durations of the last ticks: written by the control thread, summed up by another."""

from __future__ import annotations

import numpy as np

_LENGTH = 10_000


class TickStatistics:
    """A ring of durations.

    Attributes:
        ticks: Number of ticks since the last reset.
        missed: Number of deadlines missed since the last reset.
        p50: Median [ms] at the last :meth:`update`, NaN before.
        p99: 99th percentile [ms] at the last :meth:`update`, NaN before.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._durations = np.zeros(_LENGTH)
        self.reset()

    def reset(self) -> None:
        """Start again."""
        self.ticks = self.missed = 0
        self.p50 = self.p99 = float('nan')

    def add(self, duration: float, missed: int) -> None:
        """Note a tick.

        Args:
            duration: Its duration [ms].
            missed: Number of deadlines missed since the tick before.
        """
        self._durations[self.ticks % _LENGTH] = duration
        self.ticks += 1
        self.missed += missed

    def update(self) -> None:
        """Compute the percentiles; too slow for every tick."""
        count = min(self.ticks, _LENGTH)
        if count:
            self.p50, self.p99 = np.percentile(self._durations[:count], (50.0, 99.0)).tolist()
