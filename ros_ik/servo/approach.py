# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""How far towards a target one tick may go: bounded speed and acceleration, exact arrival.

    s = min(v_max dt, (v + a dt) dt, dt (sqrt((a dt / 2)^2 + 2 a d) - a dt / 2), gain d)

v is the speed asked for last, but no more than 1.25 times the one achieved: where the robot cannot
follow, at a barrier or a stretched arm, it is not asked for more and more. The third bound is the
largest step after which braking by a dt in each further tick ends at the distance d; the last one
makes the final step arrive.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

# How much more than what was achieved may be asked for [1]: damping always costs a part.
_SPARE = 1.25


def braking_step(distance: np.ndarray, acceleration: np.ndarray, dt: float) -> np.ndarray:
    """Return the largest step from which braking ends within ``distance``; arrays of one shape."""
    half = 0.5 * acceleration * dt
    with np.errstate(invalid='ignore'):
        step = dt * (np.sqrt(half * half + 2.0 * acceleration * distance) - half)
    return np.where(np.isfinite(acceleration), np.minimum(step, distance), distance)


def joint_step(
    way: np.ndarray, speed: np.ndarray, acceleration: np.ndarray, dt: float
) -> np.ndarray:
    """Return how far joints may go towards their targets in one tick, braking in time.

    Args:
        way: What is left to the targets [rad or m], NaN for joints without one.
        speed: Velocity limits [rad/s or m/s].
        acceleration: Acceleration limits [rad/s^2 or m/s^2].
        dt: Duration of the tick [s].
    """
    return np.sign(way) * np.minimum(braking_step(np.abs(way), acceleration, dt), speed * dt)


@dataclasses.dataclass(frozen=True)
class ApproachLimits:
    """Bounds on one kind of motion, linear or angular.

    Attributes:
        speed: Largest speed [m/s or rad/s].
        acceleration: Largest change of speed [m/s^2 or rad/s^2].
        gain: Part of the remaining distance that one tick may cover, in (0, 1].
        max_distance: Distance beyond which the target counts as this far away [m or rad].
    """

    speed: float
    acceleration: float
    gain: float
    max_distance: float


class Approach:
    """Motion of one vector towards zero remaining difference; keeps the velocity between ticks.

    Attributes:
        velocity: Velocity asked for last [m/s or rad/s], shape [3].
    """

    def __init__(self, dt: float) -> None:
        """Start at rest; ``dt`` is the duration of a tick [s]."""
        self._dt = dt
        self.velocity = np.zeros(3)

    def reset(self) -> None:
        """Forget the velocity."""
        self.velocity[:] = 0.0

    def step(
        self, difference: np.ndarray, achieved: np.ndarray, limits: ApproachLimits
    ) -> np.ndarray:
        """Return the displacement of this tick.

        Args:
            difference: Vector to the target, shape [3], m or rad.
            achieved: Displacement in the tick before, shape [3], m or rad.
            limits: Bounds on the motion.
        """
        dt = self._dt
        distance = math.sqrt(float(difference @ difference))
        if distance == 0.0:
            self.reset()
            return np.zeros(3)
        direction = difference / distance
        # A velocity that points elsewhere does not count: the joints' own limits smooth the turn.
        before = min(float(self.velocity @ direction), _SPARE * float(achieved @ direction) / dt)
        before = max(before, 0.0)
        a = limits.acceleration
        near = min(distance, limits.max_distance)
        half = 0.5 * a * dt
        length = min(
            limits.speed * dt,
            (before + a * dt) * dt,
            dt * (math.sqrt(half * half + 2.0 * a * near) - half),
            limits.gain * near,
        )
        self.velocity = direction * (length / dt)
        return direction * length
