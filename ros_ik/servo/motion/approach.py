# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Approach of a target in one tick: bounded speed and acceleration, exact arrival.

    step = min(v_max dt, v dt + u, brake(d), gain d),    u = a dt^2
    brake(d) = u (k / 2 + D / (k + 1)),    D = d / u,    k = floor((sqrt(1 + 8 D) - 1) / 2)

v is the speed requested last, with a bound, so that the request does not grow while the robot
cannot follow, at a barrier or with a stretched arm. The bound is the larger of

- 1.25 times the achieved speed;
- the achieved speed plus ``excess`` - u / dt. The posture takes a little of every step. Where u
  is no larger than that, the first bound alone would end a motion short of its target.

brake(d) is the largest step s from which braking covers no more than d: s, s - u, ..., s - k u sum
to d. (The continuous sqrt(2 a d) dt overshoots by up to u / 8.)

With jerk limits, :mod:`ros_ik.servo.motion.ramped_approach` is used instead. It starts from the
last requested step, moved to within ``excess`` dt - u / 2 of the achieved one; if that is not
positive, from the achieved one.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

from ros_ik.servo.motion.pose_math import float_length
from ros_ik.servo.motion.pose_math import float_less
from ros_ik.servo.motion.pose_math import float_scaled
from ros_ik.servo.motion.pose_math import float_sum
from ros_ik.servo.motion.pose_math import Vector
from ros_ik.servo.motion.pose_math import ZERO
from ros_ik.servo.motion.ramped_approach import ApproachLimits
from ros_ik.servo.motion.ramped_approach import braking_length
from ros_ik.servo.motion.ramped_approach import ramped_approach

# Largest ratio of the requested to the achieved speed [1]: damping always reduces the speed.
_SPARE = 1.25


def braking_step(distance: np.ndarray, acceleration: np.ndarray, dt: float) -> np.ndarray:
    """Return the largest step from which braking ends within ``distance``.

    Args:
        distance: Remaining distance [rad or m]; NaN without a target.
        acceleration: Acceleration limits [rad/s^2 or m/s^2], same shape; inf without a limit, 0
            for joints that cannot move.
        dt: Duration of a tick [s].
    """
    slowdown = acceleration * (dt * dt)
    with np.errstate(invalid='ignore', divide='ignore'):
        # Without a limit the ratio is 0, and the step is the distance.
        ratio = distance / slowdown
        ticks = np.floor((np.sqrt(1.0 + 8.0 * ratio) - 1.0) / 2.0)
        step = slowdown * (ticks / 2.0) + distance / (ticks + 1.0)
    step = np.where(slowdown > 0.0, step, 0.0)
    return np.where(np.isfinite(acceleration), step, distance)


def braking_distance(velocity: np.ndarray, acceleration: np.ndarray, dt: float) -> np.ndarray:
    """Return the distance at which :func:`braking_step` starts to limit a velocity.

    Args:
        velocity: The velocity [rad/s or m/s], with its sign.
        acceleration: Acceleration limits [rad/s^2 or m/s^2], finite, same shape; 0 for joints that
            cannot move, whose distance is 0.
        dt: Duration of a tick [s].
    """
    step, slowdown = velocity * dt, acceleration * (dt * dt)
    moves = slowdown > 0.0
    ticks = np.floor(np.abs(step) / np.where(moves, slowdown, 1.0))
    distance = (ticks + 1.0) * (step - 0.5 * np.sign(step) * ticks * slowdown)
    return np.where(moves, distance, 0.0)


def joint_step(
    displacement: np.ndarray, speed: np.ndarray, acceleration: np.ndarray, dt: float
) -> np.ndarray:
    """Return the steps of joints towards their targets in one tick, braking in time.

    Args:
        displacement: Remaining displacements [rad or m]; NaN for joints without a target.
        speed: Velocity limits [rad/s or m/s].
        acceleration: Acceleration limits [rad/s^2 or m/s^2].
        dt: Duration of the tick [s].
    """
    longest = np.minimum(braking_step(np.abs(displacement), acceleration, dt), speed * dt)
    return np.sign(displacement) * longest


class Approach:
    """Motion of a vector towards zero; keeps the velocity between ticks.

    Attributes:
        velocity: Velocity requested last [m/s or rad/s], three numbers.
        excess: Speed by which a request may always exceed the achieved one [m/s or rad/s].
    """

    def __init__(self, dt: float) -> None:
        """Start at rest; ``dt`` is the duration of a tick [s]."""
        self._dt, self.excess = dt, 0.0
        self.velocity = self._change = ZERO

    def reset(self) -> None:
        """Reset the velocity."""
        self.velocity = self._change = ZERO

    def step(
        self, difference: Sequence[float], achieved: Sequence[float], limits: ApproachLimits
    ) -> Vector:
        """Return the displacement of this tick.

        Args:
            difference: Displacement to the target, three numbers, m or rad.
            achieved: Displacement of the previous tick, three numbers, m or rad.
            limits: Bounds on the motion.
        """
        dt = self._dt
        x, y, z = difference
        distance = math.sqrt(x * x + y * y + z * z)
        if limits.is_ramped(dt):
            last = self._last_step((achieved[0], achieved[1], achieved[2]), limits)
            step = ramped_approach((x, y, z), last, self._change, limits, dt)
            self._change = float_less(step, last)
            self.velocity = float_scaled(step, 1.0 / dt)
            return step
        if distance == 0.0:
            self.velocity = ZERO
            return ZERO
        x, y, z = x / distance, y / distance, z / distance
        u, v, w = self.velocity
        a, b, c = achieved
        # A velocity across this direction is ignored: the limits of the joints smooth the turn.
        asked, moved = u * x + v * y + w * z, (a * x + b * y + c * z) / dt
        speed_change, near = limits.acceleration * dt, min(distance, limits.max_distance)
        start = max(min(asked, max(_SPARE * moved, moved + self.excess - speed_change)), 0.0)
        length = min(
            limits.speed * dt,
            (start + speed_change) * dt,
            braking_length(near, speed_change * dt),
            limits.gain * near,
        )
        speed = length / dt
        self.velocity = (x * speed, y * speed, z * speed)
        return x * length, y * length, z * length

    def step_with_target(
        self, displacement: Vector, difference: Vector, achieved: Vector, limits: ApproachLimits
    ) -> Vector:
        """Return the displacement of this tick along with a moving target, and towards it.

        Args:
            displacement: Displacement of the target in this tick [m or rad].
            difference: Vector to the target before it.
            achieved: Displacement in the previous tick.
            limits: Bounds on the motion towards the target; its speed bounds the sum.
        """
        if displacement == ZERO:
            return self.step(difference, achieved, limits)
        dt = self._dt
        pace = x, y, z = float_scaled(displacement, 1.0 / dt)
        self.velocity = float_less(self.velocity, pace)
        a, b, c = self.step(difference, float_less(achieved, displacement), limits)
        u, v, w = self.velocity
        self.velocity = u + x, v + y, w + z
        step = a + displacement[0], b + displacement[1], c + displacement[2]
        length, longest = float_length(step), limits.speed * dt
        return step if length <= longest else float_scaled(step, longest / length)

    def _last_step(self, achieved: Vector, limits: ApproachLimits) -> Vector:
        """Return the displacement requested last, or one near the achieved displacement."""
        dt = self._dt
        most = (self.excess - 0.5 * limits.acceleration * dt) * dt
        if most <= 0.0:
            return achieved
        lag = float_less(float_scaled(self.velocity, dt), achieved)
        size = float_length(lag)
        return float_sum(achieved, lag if size <= most else float_scaled(lag, most / size))
