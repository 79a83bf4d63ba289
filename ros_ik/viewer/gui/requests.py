# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Requests of users, on their way to the ROS thread."""

from __future__ import annotations

from collections.abc import Callable
import threading
import time
from typing import Any

import numpy as np

# Time without a motion after which a browser releases a target [s]. The release of the mouse may
# be lost, with the connection or outside of the window.
HOLD_TIME = 5.0


class Requests:
    """Newest request of each kind, and held targets; any thread may call it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start empty.

        Args:
            clock: Function that returns a monotonic time [s].
        """
        self._lock, self._clock = threading.Lock(), clock
        self._pending: dict[str, Any] = {}
        self._held: dict[str, tuple[int | None, np.ndarray, float]] = {}

    def add(self, kind: str, value: Any = None) -> None:
        """Add a request; it replaces an older one of its kind."""
        with self._lock:
            self._pending[kind] = value

    def take(self) -> dict[str, Any]:
        """Return the requests since the last call, the oldest kind first."""
        with self._lock:
            pending, self._pending = self._pending, {}
        return pending

    def hold(self, task: str, client: int | None, pose: np.ndarray) -> None:
        """Hold the target of a task; a previous holder loses it.

        Args:
            task: Its name.
            client: Browser that holds it; None for a program, which holds it until it releases it.
            pose: Pose in the world [7].
        """
        with self._lock:
            self._held[task] = client, pose, self._clock()

    def move(self, task: str, client: int | None, pose: np.ndarray) -> None:
        """Move the target of a task, if this browser holds it."""
        with self._lock:
            if task in self._held and self._held[task][0] == client:
                self._held[task] = client, pose, self._clock()

    def release(self, task: str, client: int | None) -> None:
        """Release the target of a task, if this browser holds it."""
        with self._lock:
            if task in self._held and self._held[task][0] == client:
                del self._held[task]

    def release_client(self, client: int) -> None:
        """Release all targets held by a disconnected browser."""
        with self._lock:
            self._held = {task: held for task, held in self._held.items() if held[0] != client}

    def release_all(self) -> None:
        """Release all targets."""
        with self._lock:
            self._held.clear()

    def held(self) -> dict[str, np.ndarray]:
        """Return the poses [7] of held targets, by task."""
        since = self._clock() - HOLD_TIME
        with self._lock:
            return {
                task: pose
                for task, (client, pose, moved) in self._held.items()
                if client is None or moved >= since
            }
