# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motion of joints by target velocities; joints without one are held where they stop.

    aim = q + f v dt,    f = min(1, v_max / |v|) over all joints

A common factor keeps the path. Joints with a velocity limit of 0 stand still. The step
solver accelerates each joint within its limits and stops it at its position limits.
"""

from __future__ import annotations

from collections.abc import Callable
import copy

import numpy as np


class JointJogMotion:
    """Positions to reach in each tick; all arrays have one entry per controlled joint.

    Attributes:
        aim: Position to reach in the last tick [rad or m].
    """

    def __init__(self, dt: float) -> None:
        """Start at rest; ``dt`` is the duration of a tick [s]."""
        self._dt = dt
        self.rest()

    def branch(self) -> JointJogMotion:
        """Return an independent copy."""
        return copy.copy(self)

    def rest(self) -> None:
        """Forget the held positions."""
        self.aim = np.zeros(0)
        self._previous: np.ndarray | None = None
        # Held positions of joints without a velocity; NaN for joints in motion.
        self._held: np.ndarray | None = None

    def step(
        self,
        q: np.ndarray,
        velocity: np.ndarray,
        speed: np.ndarray,
        acceleration: np.ndarray,
        towards: Callable[[np.ndarray, np.ndarray], np.ndarray],
    ) -> np.ndarray:
        """Return the positions to reach in this tick [rad or m].

        Args:
            q: Commanded positions [rad or m].
            velocity: Target velocities [rad/s or m/s]; NaN for joints without one.
            speed: Velocity limits [rad/s or m/s].
            acceleration: Acceleration limits [rad/s^2 or m/s^2].
            towards: Function that returns steps towards held positions from the remaining
                displacements, NaN for other joints, and the steps of those others, all in rad or
                m.
        """
        dt, velocity = self._dt, np.where(speed > 0.0, np.nan_to_num(velocity, nan=0.0), 0.0)
        moves = velocity != 0.0
        factor = np.min(speed[moves] / np.abs(velocity[moves]), initial=1.0)
        held = np.full_like(q, np.nan) if self._held is None else self._held
        moved = np.full_like(q, np.inf) if self._previous is None else np.abs(q - self._previous)
        # A joint that can stop within this tick is held from now on, against barriers too.
        stops = np.isnan(held) & (moved <= acceleration * dt**2)
        held = np.where(moves, np.nan, np.where(stops, q, held))
        shift = towards(held - q, factor * velocity * dt)
        self._previous, self._held, self.aim = q.copy(), held, q + shift
        return self.aim
