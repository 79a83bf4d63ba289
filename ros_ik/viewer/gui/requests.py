# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Wishes of those who look at the page, on their way to the thread that serves ROS."""

from __future__ import annotations

from collections.abc import Callable
import threading
import time
from typing import Any

import numpy as np

# A browser that has not moved a target for so long holds it no longer [s]: the release of the
# mouse may have got lost, with the connection or outside of the window.
HOLD_TIME = 5.0


class Requests:
    """The newest wish of each kind, and the targets that are held; any thread may call it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with none.

        Args:
            clock: Returns a time that never goes back [s].
        """
        self._lock, self._clock = threading.Lock(), clock
        self._wishes: dict[str, Any] = {}
        self._held: dict[str, tuple[int | None, np.ndarray, float]] = {}

    def ask(self, kind: str, value: Any = None) -> None:
        """Ask for something; a newer wish takes the place of one of its kind."""
        with self._lock:
            self._wishes[kind] = value

    def take(self) -> dict[str, Any]:
        """Return the wishes since the last call, oldest kind first."""
        with self._lock:
            wishes, self._wishes = self._wishes, {}
        return wishes

    def hold(self, task: str, client: int | None, pose: np.ndarray) -> None:
        """Hold the target of a task; who held it before does no longer.

        Args:
            task: Its name.
            client: Browser that holds it; None for a program, which holds it until it lets go.
            pose: Pose in the world [7].
        """
        with self._lock:
            self._held[task] = client, pose, self._clock()

    def move(self, task: str, client: int | None, pose: np.ndarray) -> None:
        """Move the target of a task, if this browser was the last to take hold of it."""
        with self._lock:
            if task in self._held and self._held[task][0] == client:
                self._held[task] = client, pose, self._clock()

    def release(self, task: str, client: int | None) -> None:
        """Hold the target of a task no longer, if this browser held it."""
        with self._lock:
            if task in self._held and self._held[task][0] == client:
                del self._held[task]

    def release_client(self, client: int) -> None:
        """Hold no target any more that a browser held, which has gone."""
        with self._lock:
            self._held = {task: held for task, held in self._held.items() if held[0] != client}

    def release_all(self) -> None:
        """Hold no target any more."""
        with self._lock:
            self._held.clear()

    def held(self) -> dict[str, np.ndarray]:
        """Return the poses of the targets that are held by task [7]."""
        since = self._clock() - HOLD_TIME
        with self._lock:
            return {
                task: pose
                for task, (client, pose, moved) in self._held.items()
                if client is None or moved >= since
            }
