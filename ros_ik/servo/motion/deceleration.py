# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Deceleration to rest: each joint brakes within its limits, then stays or returns.

Each joint returns independently: a joint that was outside its position limits when the halt began
stays where it stops, and the others return.
"""

from __future__ import annotations

import numpy as np

from ros_ik.servo.motion.approach import joint_step

# Distance within which a joint has returned [rad or m].
_ARRIVED = 1e-9


class Deceleration:
    """Steps of the joints from motion to rest."""

    def __init__(self) -> None:
        """Start without a halt."""
        self._position: np.ndarray | None = None
        # A fact of its own: return_to() sets the position in each tick and must not end it.
        self._is_blocked = False

    def end(self) -> None:
        """End the halt; the next one begins at its own position."""
        self._position, self._is_blocked = None, False

    def return_to(self, position: np.ndarray) -> None:
        """Return to a given position instead of the position at which the halt began.

        Args:
            position: Positions of the controlled joints [rad or m].
        """
        self._position = position

    @property
    def is_blocked(self) -> bool:
        """True if the motion is blocked, so that the joints only brake."""
        return self._is_blocked

    def block(self) -> None:
        """Stop returning, because the motion is blocked."""
        self._is_blocked = True

    def is_away(self, position: np.ndarray) -> bool:
        """Return True if a joint is still to return.

        Args:
            position: Commanded positions.
        """
        if self._position is None or self._is_blocked:
            return False
        return bool((np.abs(self._position - position) >= _ARRIVED).any())

    def return_displacement(
        self, position: np.ndarray, *, returns: bool | np.ndarray
    ) -> np.ndarray | None:
        """Return the remaining displacement of each returning joint [rad or m], or None.

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
            last: Previous step.
            position: Commanded positions.
            speed: Velocity limits [rad/s or m/s].
            acceleration: Acceleration limits [rad/s^2 or m/s^2].
            dt: Duration of a tick [s].
            returns: True to return to the position at which the halt began, instead of staying. An
                array has one entry per joint; that of the first step of the halt is used.
        """
        slowdown = acceleration * dt**2
        displacement = self.return_displacement(position, returns=returns)
        if displacement is None:
            return np.sign(last) * np.maximum(np.abs(last) - slowdown, 0.0)
        # Needed even if no joint returns.
        displacement[~(np.abs(displacement) >= _ARRIVED)] = 0.0
        back = joint_step(displacement, speed, acceleration, dt)
        return np.clip(back, last - slowdown, last + slowdown)
