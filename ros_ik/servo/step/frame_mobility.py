# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Mobility of one frame: its acceleration limits and its speed limit near a singularity."""

from __future__ import annotations

import numpy as np

from ros_ik.servo.motion.pose_math import Vector
from ros_ik.servo.motion.ramped_approach import ApproachLimits
from ros_ik.servo.motion.singular_approach import SingularDirection
from ros_ik.servo.motion.singular_approach import slowed_approach
from ros_ik.servo.step.joint_demand import TaskDemand


class FrameMobility:
    """Limits of the motion of one frame at the last measured configuration.

    Attributes:
        demand: Accelerations that the joints allow.
        weights: Weights of its axes, relative to the largest, six numbers.
        is_damped: True if the approach of a singularity is slowed.
        slows: True if the last step was slowed.
    """

    def __init__(self, found: np.ndarray, demand: TaskDemand, ramp: float, dt: float) -> None:
        """Keep references to the measurement.

        Args:
            found: Results of :mod:`ros_ik.servo.step.singularity_kernel` for the frame [FOUND];
                updated in place.
            demand: Accelerations that the joints allow.
            ramp: Time in which an acceleration builds up, 0 for immediate changes [s].
            dt: Duration of a tick [s].
        """
        self._found, self._ramp, self._dt = found, ramp, dt
        self.demand = demand
        self.weights = [1.0] * 6
        self.is_damped, self.slows = True, False

    def direction(self) -> SingularDirection:
        """Return the direction in which the frame moves least."""
        sigma, _free, slope, acceleration, *lost = self._found.tolist()
        return SingularDirection(lost, sigma, slope, acceleration * self.demand.acceleration_scale)

    def slowed(self, shift: Vector, turn: Vector) -> tuple[Vector, Vector]:
        """Return a step, slowed if it approaches a singularity faster than the joints can brake.

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

    def limits_along(
        self,
        limits: tuple[ApproachLimits, ApproachLimits],
        displacements: tuple[Vector, Vector],
        achieved: tuple[Vector, Vector],
        *,
        ends: bool = False,
    ) -> tuple[ApproachLimits, ApproachLimits]:
        """Return limits that the joints can keep; see :meth:`TaskDemand.limits_along`.

        They do not count where a motion ends at a singularity, such as the edge of the reach of
        an arm. Its end is the slowed approach, and joints keep no acceleration along it.
        """
        if not (self.slows and self.direction().dominates(*displacements, self.weights)):
            limits = self.demand.limits_along(limits, displacements, achieved, ends=ends)
        if self.slows:
            # The singularity slows the motion, and is reported.
            self.demand.limiting_joint = -1
        return limits
