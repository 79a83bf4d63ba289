# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Deceleration to rest along the path of the frames, in the time of the slowest joint.

If each joint braked independently, some would rest before others, and a frame would leave the line
of its velocity. Here all joints slow down by one factor: that by which the slowest can brake.

While a frame moves along its line, the velocities of the joints change with its displacement s.
With q' the derivative at s of the coordinates, and q'' that of q', a step from s to s + p is

    p (q'(s) + p q'' / 2)

q' and q'' are those of the last two steps, in lengths of the last step.
"""

from __future__ import annotations

import math

import numpy as np

from ros_ik.servo.motion.approach import braking_step

# Length of the step before the last one, relative to the last one, above which the two are a
# motion along a path. Otherwise it has just begun.
_SHORTEST = 0.5
# Rounding error of a step, relative to the decrease in a tick.
_ROUNDING = 1e-9


class PathDeceleration:
    """Steps of the joints from motion along a path to rest."""

    def __init__(self) -> None:
        """Start without a halt."""
        # q' and q''.
        self._tangent = self._curvature = np.zeros(0)
        self.end()

    def end(self) -> None:
        """End the halt; the next one begins with its own path."""
        # Length of the last step, relative to that at the beginning; 0 before the beginning.
        self._length = 0.0
        # Number of ticks that are left.
        self._left = 0

    def step(
        self,
        last: np.ndarray,
        before_last: np.ndarray,
        ahead: np.ndarray,
        acceleration: np.ndarray,
        dt: float,
    ) -> np.ndarray:
        """Return the step of each controlled joint [rad or m].

        No joint moves faster than before, brakes harder than its limit, or needs longer than the
        slowest does alone. One before its position limit brakes in time.

        Args:
            last: Previous step.
            before_last: The step before it.
            ahead: Distances to the position limits in the direction of ``last`` [rad or m], 0
                beyond them, inf without a limit.
            acceleration: Acceleration limits [rad/s^2 or m/s^2].
            dt: Duration of a tick [s].
        """
        size, slowdown = np.abs(last), acceleration * dt**2
        slowest = np.where(size > (1.0 + _ROUNDING) * slowdown, size - slowdown, 0.0)
        moving = size > 0.0
        part = float((slowest[moving] / size[moving]).max(initial=0.0))
        if part == 0.0:
            return np.zeros_like(last)
        if self._length == 0.0:
            self._begin(last, before_last)
            self._left = math.ceil((size[moving] / slowdown[moving]).max() - _ROUNDING)
        self._left -= 1
        length = part * self._length
        self._tangent = self._tangent + 0.5 * (self._length + length) * self._curvature
        self._length = length
        direction = np.sign(last)
        wanted = direction * length * self._tangent
        fastest = np.minimum(size, self._left * slowdown)
        # Without a position limit this is NaN.
        fastest = np.fmin(fastest, braking_step(ahead, acceleration, dt))
        stepped: np.ndarray = direction * np.clip(wanted, slowest, np.maximum(fastest, slowest))
        return stepped

    def _begin(self, last: np.ndarray, before_last: np.ndarray) -> None:
        """Find the path of the last two steps."""
        self._length, self._tangent = 1.0, last
        before = float(np.linalg.norm(before_last) / np.linalg.norm(last))
        self._curvature = np.zeros_like(last)
        if before > _SHORTEST:
            self._curvature = (last - before_last / before) / (0.5 * (1.0 + before))
