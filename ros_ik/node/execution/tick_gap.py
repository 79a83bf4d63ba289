# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Gate at which threads wait for the end of a tick before they hold the interpreter for long.

Creating a large message holds the interpreter for 0.3 ms without interruption. If that began
during a tick, it would delay the tick by the same time.
"""

from __future__ import annotations

import math
import threading
import time

# Time before the next tick for which a thread need not wait [s].
_ENOUGH = 0.001
# Longest wait [s], for slow or stopped ticks.
_LONGEST = 0.01


class TickGap:
    """Gate that the control thread opens at the end of each tick, for one waiting thread."""

    def __init__(self) -> None:
        """Stay open until the first tick."""
        self._opened = threading.Event()
        self._opened.set()
        self._until = math.inf

    def open(self, pause: float) -> bool:
        """Announce the next tick after ``pause`` [s]; return True if a thread was waiting."""
        self._until = time.monotonic() + pause
        if self._opened.is_set() or pause <= 0.0:
            return False
        self._opened.set()
        return True

    def wait(self) -> None:
        """Wait for the end of a tick, unless the next tick is far away."""
        if self._until - time.monotonic() > _ENOUGH:
            return
        self._opened.clear()
        self._opened.wait(_LONGEST)
