# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Missed deadlines of the last ticks, as a part of them that is worth a status code."""

from __future__ import annotations

# Part of missed deadlines in a window of this many ticks from which on it is.
MISSED_PART, _WINDOW = 0.1, 100


class DeadlineMonitor:
    """Counts missed deadlines in windows of ticks.

    Attributes:
        many_missed: True if more than ``MISSED_PART`` were missed in the last whole window.
    """

    def __init__(self) -> None:
        """Start with nothing missed."""
        self.reset()

    def reset(self) -> None:
        """Start again."""
        self._missed = self._ticks = 0
        self.many_missed = False

    def add(self, missed: int) -> None:
        """Note a tick, and how many deadlines passed before the next one."""
        self._missed += missed
        self._ticks += 1
        if self._ticks >= _WINDOW:
            self.many_missed = self._missed > MISSED_PART * _WINDOW
            self._missed = self._ticks = 0
