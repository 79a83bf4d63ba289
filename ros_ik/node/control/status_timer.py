# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Times of the status: a grid, which late ticks do not shift."""

from __future__ import annotations

import math


class StatusTimer:
    """Tells the ticks that publish a status."""

    def __init__(self) -> None:
        """Be due at once."""
        self._last = -math.inf

    def is_due(self, now: float, period: float, tick: float = 0.0) -> bool:
        """Return whether the next status is due: half a tick early rather than a whole one late.

        Args:
            now: Time [s].
            period: Time between two statuses [s].
            tick: Time between two ticks [s].
        """
        return now - self._last >= period - 0.5 * tick

    def note(self, now: float, period: float = 0.0) -> None:
        """Note a status of this time, which began a period after the previous one on the grid.

        A status that is a whole period late, or one without a period, begins a new grid.
        """
        grid = self._last + period
        self._last = grid if abs(now - grid) < period else now
