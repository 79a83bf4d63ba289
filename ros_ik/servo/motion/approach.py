# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Approach of a target in one tick: bounded speed and acceleration, exact arrival.

    step = min(v_max dt, v dt + u, brake(d), gain d),    u = a dt^2
    brake(d) = u (k / 2 + D / (k + 1)),    D = d / u,    k = floor((sqrt(1 + 8 D) - 1) / 2)

v is the speed requested last, but no more than 1.25 times the one achieved: where the robot cannot
follow, at a barrier or a stretched arm, it is not asked for more and more. brake(d) is the largest
step s from which braking covers d and no more: s, s - u, ..., s - k u sum to d. (The continuous
sqrt(2 a d) dt goes up to u / 8 too far.)

Where the jerk of the joints is limited, speeds change by
:mod:`ros_ik.servo.motion.ramped_approach`.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

from ros_ik.servo.motion.pose_math import float_less
from ros_ik.servo.motion.pose_math import float_scaled
from ros_ik.servo.motion.pose_math import Vector
from ros_ik.servo.motion.pose_math import ZERO
from ros_ik.servo.motion.ramped_approach import ApproachLimits
from ros_ik.servo.motion.ramped_approach import braking_length
from ros_ik.servo.motion.ramped_approach import ramped_approach

# How much more than what was achieved may be asked for [1]: damping always costs a part.
_SPARE = 1.25


def braking_step(distance: np.ndarray, acceleration: np.ndarray, dt: float) -> np.ndarray:
    """Return the largest step from which braking ends at ``distance``.

    Args:
        distance: What is left [rad or m], NaN where nothing is to be reached.
        acceleration: Acceleration limits [rad/s^2 or m/s^2], inf if none, 0 for what cannot
            move, same shape.
        dt: Duration of a tick [s].
    """
    loss = acceleration * (dt * dt)
    with np.errstate(invalid='ignore', divide='ignore'):
        # Without a limit the ratio is 0, and the step is the distance.
        ratio = distance / loss
        ticks = np.floor((np.sqrt(1.0 + 8.0 * ratio) - 1.0) / 2.0)
        step = loss * (ticks / 2.0) + distance / (ticks + 1.0)
    step = np.where(loss > 0.0, step, 0.0)
    return np.where(np.isfinite(acceleration), step, distance)


def braking_distance(velocity: np.ndarray, acceleration: np.ndarray, dt: float) -> np.ndarray:
    """Return how far ahead a target is that :func:`braking_step` nears at a velocity.

    Args:
        velocity: The velocity [rad/s or m/s], with its sign.
        acceleration: Acceleration limits [rad/s^2 or m/s^2], above 0 and finite, same shape.
        dt: Duration of a tick [s].
    """
    step, loss = velocity * dt, acceleration * (dt * dt)
    ticks = np.floor(np.abs(step) / loss)
    return (ticks + 1.0) * (step - 0.5 * np.sign(step) * ticks * loss)


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


class Approach:
    """Motion of one vector towards zero remaining difference; keeps the velocity between ticks.

    Attributes:
        velocity: Velocity requested last [m/s or rad/s], three numbers.
    """

    def __init__(self, dt: float) -> None:
        """Start at rest; ``dt`` is the duration of a tick [s]."""
        self._dt = dt
        self.velocity = self._change = ZERO

    def reset(self) -> None:
        """Forget the velocity."""
        self.velocity = self._change = ZERO

    def step(
        self, difference: Sequence[float], achieved: Sequence[float], limits: ApproachLimits
    ) -> Vector:
        """Return the displacement of this tick.

        Args:
            difference: Vector to the target, three numbers, m or rad.
            achieved: Displacement in the previous tick, three numbers, m or rad.
            limits: Bounds on the motion.
        """
        dt = self._dt
        x, y, z = difference
        distance = math.sqrt(x * x + y * y + z * z)
        if limits.is_ramped(dt):
            last = (achieved[0], achieved[1], achieved[2])
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
        # A velocity that points elsewhere does not count: the joints' own limits smooth the turn.
        asked, kept = u * x + v * y + w * z, _SPARE * (a * x + b * y + c * z) / dt
        before = max(min(asked, kept), 0.0)
        gain, near = limits.acceleration * dt, min(distance, limits.max_distance)
        length = min(
            limits.speed * dt,
            (before + gain) * dt,
            braking_length(near, gain * dt),
            limits.gain * near,
        )
        speed = length / dt
        self.velocity = (x * speed, y * speed, z * speed)
        return x * length, y * length, z * length
