# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Halts: each joint brakes as hard as its limits permit, and stays or goes back.

A joint goes back by itself: one that was outside its position limits when the halt began stays
where it comes to rest, and the others go on as they would without it.
"""

from __future__ import annotations

import numpy as np

from ros_ik.servo.motion.approach import joint_step

# Way to the position of the halt that counts as none [rad or m].
_ARRIVED = 1e-9


class Deceleration:
    """Steps of the joints from motion to rest."""

    def __init__(self) -> None:
        """Start without a halt."""
        self._position: np.ndarray | None = None
        self._is_blocked = False

    def end(self) -> None:
        """Forget where the halt began: the next one restarts."""
        self._position, self._is_blocked = None, False

    def aim(self, position: np.ndarray) -> None:
        """Go to a position instead of where the halt began.

        Args:
            position: Positions of the controlled joints [rad or m].
        """
        self._position = position

    def block(self) -> None:
        """Give up going back: something is in the way."""
        self._is_blocked = True

    def way(
        self, position: np.ndarray, *, returns: bool | np.ndarray
    ) -> np.ndarray | None:
        """Return what is left to where each joint goes back to [rad or m], None for nowhere.

        Args:
            position: Commanded positions.
            returns: As in :meth:`step`.

        Returns:
            One per controlled joint, NaN for those that stay.
        """
        if returns is False or self._is_blocked:
            return None
        if self._position is None:
            self._position = np.where(returns, position, np.nan)
        return self._position - position

    def step(
        self,
        last: np.ndarray,
        position: np.ndarray,
        speed: np.ndarray,
        acceleration: np.ndarray,
        dt: float,
        *,
        returns: bool | np.ndarray,
    ) -> np.ndarray:
        """Return the step of each controlled joint [rad or m].

        Args:
            last: The step before.
            position: Commanded positions.
            speed: Velocity limits [rad/s or m/s].
            acceleration: Acceleration limits [rad/s^2 or m/s^2].
            dt: Duration of a tick [s].
            returns: True if to go back to where the halt began, instead of staying; with one
                entry per joint those of the first step of the halt count.
        """
        loss = acceleration * dt**2
        way = self.way(position, returns=returns)
        if way is None:
            return np.sign(last) * np.maximum(np.abs(last) - loss, 0.0)
        # Also where there is nothing to go back to.
        way[~(np.abs(way) >= _ARRIVED)] = 0.0
        back = joint_step(way, speed, acceleration, dt)
        return np.clip(back, last - loss, last + loss)
