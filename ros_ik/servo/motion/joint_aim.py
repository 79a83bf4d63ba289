# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Positions at which a joint target aims, tick by tick; a target with a motion moves.

Ticks begin a little early or late, but each step is one of a whole period. Sampled at the times of
the ticks, a motion at a speed v would change its step by v times that jitter, an acceleration of
v e / dt^2 for a jitter e. The motion is therefore sampled one period after the last time, moved
towards the time of the tick by a small part of the difference:

    t = t_last + dt + c (now - t_last - dt)
"""

from __future__ import annotations

import copy
import math

import numpy as np

from ros_ik.servo.interface.target import JointTarget

# Part c of the difference: a lasting one halves in seven ticks.
_CORRECTION = 0.1
# Largest difference [periods]; beyond it ticks were missed, or the motion has just begun.
_JITTER = 0.5


class JointAim:
    """Aim of the joint target.

    Attributes:
        positions: One per controlled joint [rad or m]; NaN for joints without a target.
    """

    def __init__(self, lower: np.ndarray, upper: np.ndarray) -> None:
        """Start without a target; the limits are those of the controlled joints [rad or m]."""
        self._lower, self._upper = lower, upper
        self.positions = np.full(len(lower), np.nan)
        self._time = -math.inf

    def branch(self) -> JointAim:
        """Return an independent copy."""
        return copy.copy(self)

    def update(
        self, target: JointTarget, now: float, acceleration: np.ndarray, dt: float
    ) -> None:
        """Set the positions to aim at in this tick, inside the limits.

        Args:
            target: The joint target.
            now: Time of the tick [s].
            acceleration: Acceleration limits in force of the controlled joints.
            dt: Duration of a tick [s].
        """
        late = now - self._time - dt
        self._time = now - (1.0 - _CORRECTION) * late if abs(late) < _JITTER * dt else now
        self.positions = target.positions
        if target.motion is not None:
            aim = target.motion.aim(self._time, acceleration, dt)
            # Clipping keeps NaN.
            self.positions = np.minimum(np.maximum(aim, self._lower), self._upper)
