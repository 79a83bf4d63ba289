# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A gate at which threads wait for the end of a tick before they hold the interpreter for long.

A call that makes a large message holds the interpreter for 0.3 ms, and Python does not interrupt
a call. If it began during a tick, the tick would end later by as much.
"""

from __future__ import annotations

import math
import threading
import time

# Time before the next tick for which it is worth to begin at once [s].
_ENOUGH = 0.001
# Longest wait [s]: where ticks are slow or stand still, nothing else stands still with them.
_LONGEST = 0.01


class TickGap:
    """Opened by the control thread at the end of each tick; one other thread waits at it."""

    def __init__(self) -> None:
        """Stay open until the first tick."""
        self._opened = threading.Event()
        self._until = math.inf
        self._is_wanted = False

    def open(self, pause: float) -> bool:
        """Announce the next tick after ``pause`` [s]; return whether a thread was waiting."""
        self._until = time.monotonic() + pause
        if not self._is_wanted or pause <= 0.0:
            return False
        self._is_wanted = False
        self._opened.set()
        return True

    def wait(self) -> None:
        """Return at the end of a tick, or at once where the next one is far away."""
        if self._until - time.monotonic() > _ENOUGH:
            return
        self._opened.clear()
        self._is_wanted = True
        self._opened.wait(_LONGEST)
