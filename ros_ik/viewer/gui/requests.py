# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Requests of users, on their way to the ROS thread."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
import threading
import time
from typing import Any

import numpy as np

# Time without a motion after which a browser releases a target [s]. The release of the mouse may
# be lost, with the connection or outside of the window. Joints may rest short of their target.
HOLD_TIME = 5.0
# Time without an event after which the button of a velocity is released [s].
HELD_TIME = 0.25


class Requests:
    """Newest request of each kind, and motions of users; any thread may call it.

    Motions are held poses of tasks, velocities of tasks, and a joint target. A motion that begins
    ends those that contradict it, because the node follows the kind of its newest message.

    Attributes:
        begun: Number of poses and velocities that have begun.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start empty.

        Args:
            clock: Function that returns a monotonic time [s].
        """
        self._lock, self._clock = threading.Lock(), clock
        self._pending: dict[str, Any] = {}
        self._held: dict[str, tuple[int | None, np.ndarray, float]] = {}
        # The joint target, its browser, and the time of its last motion [s].
        self._joints: tuple[Mapping[str, float], int | None, float] | None = None
        # The velocity of a task, and the time of its last event [s].
        self._twist: tuple[str, np.ndarray, float] | None = None
        self.begun = 0

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
            self._joints = None
            if self._twist is not None and self._twist[0] == task:
                self._twist = None
            self.begun += 1

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

    def set_joints(self, positions: Mapping[str, float], client: int | None) -> None:
        """Set the joint target.

        Args:
            positions: rad or m by joint.
            client: Browser that set it; None for a program.
        """
        with self._lock:
            self._joints = dict(positions), client, self._clock()
            self._held, self._twist = {}, None

    def keep_joints(self) -> None:
        """Note that joints move towards their target."""
        with self._lock:
            if self._joints is not None:
                self._joints = *self._joints[:2], self._clock()

    def release_joints(self) -> None:
        """Release the joint target."""
        with self._lock:
            self._joints = None

    def joints(self) -> dict[str, float]:
        """Return the joint target [rad or m], or an empty dict."""
        with self._lock:
            if self._joints is None or self._clock() - self._joints[2] > HOLD_TIME:
                return {}
            return dict(self._joints[0])

    def push(self, task: str, twist: np.ndarray) -> None:
        """Request a velocity of a task [6], m/s and rad/s, for a moment."""
        with self._lock:
            self._twist = task, twist, self._clock()
            self._joints = None
            self._held.pop(task, None)
            self.begun += 1

    def twist(self) -> tuple[str, np.ndarray | None]:
        """Return a task and its current velocity [6], m/s and rad/s, or None."""
        with self._lock:
            if self._twist is None or self._clock() - self._twist[2] > HELD_TIME:
                return '', None
            return self._twist[:2]

    def release_client(self, client: int) -> None:
        """Release all targets of a disconnected browser."""
        with self._lock:
            self._held = {task: held for task, held in self._held.items() if held[0] != client}
            if self._joints is not None and self._joints[1] == client:
                self._joints = None

    def release_all(self) -> None:
        """Release all targets and velocities."""
        with self._lock:
            self._held, self._joints, self._twist = {}, None, None

    def held(self) -> dict[str, np.ndarray]:
        """Return the poses [7] of held targets, by task."""
        since = self._clock() - HOLD_TIME
        with self._lock:
            return {
                task: pose
                for task, (client, pose, moved) in self._held.items()
                if client is None or moved >= since
            }
