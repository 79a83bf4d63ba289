# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Fraction of missed deadlines in the last ticks, for a status code."""

from __future__ import annotations

# Fraction of missed deadlines in a window, above which the status reports it, and number of ticks
# of the window.
MISSED_PART, _WINDOW = 0.1, 100


class DeadlineMonitor:
    """Counter of missed deadlines in windows of ticks.

    Attributes:
        many_missed: True if more than ``MISSED_PART`` were missed in the last complete window.
    """

    def __init__(self) -> None:
        """Start with nothing missed."""
        self.reset()

    def reset(self) -> None:
        """Restart."""
        self._missed = self._ticks = 0
        self.many_missed = False

    def add(self, missed: int) -> None:
        """Record a tick, and the number of deadlines that passed before the next one."""
        self._missed += missed
        self._ticks += 1
        if self._ticks >= _WINDOW:
            self.many_missed = self._missed > MISSED_PART * _WINDOW
            self._missed = self._ticks = 0
