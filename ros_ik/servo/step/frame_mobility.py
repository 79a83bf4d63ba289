# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Mobility of one frame: how fast its joints let it near a singularity, and how it accelerates.

What a frame is asked for along its path is what its joints can do. Asked for more, some joints
would lag behind the others: the frame would leave its path, brake too late, and swing about its
target.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ros_ik.servo.motion.pose_math import float_length
from ros_ik.servo.motion.pose_math import Vector
from ros_ik.servo.motion.singular_approach import SingularDirection
from ros_ik.servo.motion.singular_approach import slowed_approach

# Part of the acceleration limits that a path is planned with: the rest turns the joints about
# each other, which a path needs too, and grows with its speed.
_PLANNED = 0.7
# Part of the acceleration asked for below which a joint holds the path back.
_HELD_BACK = 0.5


@dataclasses.dataclass(frozen=True)
class MeasuredChain:
    """Measurement of the chain of a frame; views that each measurement renews.

    Attributes:
        found: What :mod:`ros_ik.servo.step.conditioning_kernel` finds of a frame [FOUND].
        demand: Part of its acceleration limit that each joint needs, per acceleration of the
            frame, linear first, [n, 6].
        joints: Index of each joint among the controlled ones, [n].
    """

    found: np.ndarray
    demand: np.ndarray
    joints: np.ndarray


class FrameMobility:
    """Bounds on the motion of one frame at the configuration measured last.

    Attributes:
        weights: Weights of its axes, the largest 1, six numbers.
        is_damped: Whether the approach of a singularity is slowed.
        acceleration_scale: Part of the acceleration limits that is in force [1].
        slows: Whether the last step was slowed.
        held_back_by: Index of the controlled joint that holds the path back, -1 for none.
    """

    def __init__(self, chain: MeasuredChain, ramp: float, dt: float) -> None:
        """Keep the measurement.

        Args:
            chain: The measurement.
            ramp: Time in which an acceleration is there, 0 for at once [s].
            dt: Duration of a tick [s].
        """
        self._chain, self._ramp, self._dt = chain, ramp, dt
        self.weights = [1.0] * 6
        self.is_damped, self.acceleration_scale = True, 1.0
        self.slows, self.held_back_by = False, -1
        # Columns of a linear and an angular acceleration.
        self._wished = np.zeros((6, 2))

    def direction(self) -> SingularDirection:
        """Return the direction in which the frame moves the least."""
        sigma, slope, acceleration, _, _, *lost = self._chain.found.tolist()
        return SingularDirection(lost, sigma, slope, acceleration * self.acceleration_scale)

    def slowed(self, shift: Vector, turn: Vector) -> tuple[Vector, Vector]:
        """Return a step, slowed where it nears a singularity faster than the joints can brake.

        Args:
            shift: Displacement of the frame [m].
            turn: Its rotation vector [rad]; both along the axes of the reference link.
        """
        self.slows = False
        if not self.is_damped:
            return shift, turn
        step = slowed_approach(shift, turn, self.weights, self.direction(), self._ramp, self._dt)
        self.slows = step is not None
        return step or (shift, turn)

    def acceleration_part(self, linear: Vector, angular: Vector) -> float:
        """Return the part of accelerations of the frame that its joints have, in (0, 1].

        Args:
            linear: Linear acceleration asked for [m/s^2].
            angular: Angular acceleration [rad/s^2]; both along the axes of the reference link.
        """
        self.held_back_by = -1
        limit = _PLANNED * self.acceleration_scale
        most_linear, most_angular = self._chain.found[3:5].tolist()
        most = most_linear * float_length(linear) + most_angular * float_length(angular)
        # The approach of a singularity has a bound of its own.
        if self.slows or most <= limit:
            return 1.0
        self._wished[:3, 0], self._wished[3:, 1] = linear, angular
        # They need not point the same way at the same time.
        needed = np.abs(self._chain.demand @ self._wished).sum(axis=1)
        joint = int(needed.argmax())
        part = min(limit / float(needed[joint]), 1.0)
        if part < _HELD_BACK:
            self.held_back_by = int(self._chain.joints[joint])
        return part
