# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Times of the status on a fixed grid, which late ticks do not shift."""

from __future__ import annotations

import math


class StatusTimer:
    """Selection of the ticks that publish a status."""

    def __init__(self) -> None:
        """Make the first status due at once."""
        self._last = -math.inf

    def is_due(self, now: float, period: float, tick: float = 0.0) -> bool:
        """Return True if this tick is the one nearest to the next status, or a later one.

        Args:
            now: Current time [s].
            period: Time between two statuses [s].
            tick: Time between two ticks [s].
        """
        return now - self._last >= period - 0.5 * tick

    def note(self, now: float, period: float = 0.0) -> None:
        """Record a status at this time, one period after the previous one on the grid.

        A status that is a whole period late, or one without a period, starts a new grid.
        """
        grid = self._last + period
        self._last = grid if abs(now - grid) < period else now
