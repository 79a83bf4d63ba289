# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Jerk limits of a robot: limit of the program, damper before position limits, single steps."""

from __future__ import annotations

import numpy as np

from ros_ik.limits import AccelerationLimit
from ros_ik.limits import JerkLimit
from ros_ik.limits import MotionLimit
from ros_ik.limits.position_damper import PositionDamper
from ros_ik.servo.motion.viable_steps import ViableSteps
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.settings import Settings

# Time constant of the damper before position limits, in durations of an acceleration ramp. If a
# joint brakes in less, the jerk limits of the others do not let them replace it.
_DAMPER_RAMPS = 3.0


class JerkLimits:
    """Everything that a robot with jerk limits has in addition to one without.

    Attributes:
        of_program: Limit of the quadratic program; a strict one enforces positions and velocities
            too, as they depend on the jerk limits.
        damper: Damper before position limits.
        viable: Steps of single joints within the limits.
    """

    def __init__(
        self,
        robot: ControlledRobot,
        settings: Settings,
        acceleration: AccelerationLimit,
        margin: np.ndarray,
    ) -> None:
        """Set up the limits from the settings.

        Args:
            robot: The robot.
            settings: The settings.
            acceleration: Acceleration limit of the program.
            margin: Margin to the position limits [joint_dof_count].
        """
        self.of_program: JerkLimit | MotionLimit
        if settings.limits_jerk == 'strict':
            self.of_program = MotionLimit(
                robot.velocity, robot.acceleration, robot.jerk, position_margin=margin
            )
        else:
            self.of_program = JerkLimit(robot.jerk, velocity=robot.velocity)
        time = _DAMPER_RAMPS * max(robot.ramp, settings.period)
        self.damper = PositionDamper(time, acceleration, position_margin=margin)
        self.viable = ViableSteps(robot, settings.period)

    def set_margin(self, margin: np.ndarray) -> None:
        """Set the margin to the position limits [joint_dof_count]."""
        for limit in self._motion_limits():
            limit.set_position_margin(margin)
        self.damper.set_position_margin(margin)

    def set_scales(self, velocity: float, acceleration: float) -> None:
        """Set the scales of velocities and accelerations."""
        for limit in self._motion_limits():
            limit.set_scales(velocity, acceleration)

    def _motion_limits(self) -> list[MotionLimit]:
        """Return the limit of single steps and, if it is strict, that of the program."""
        limits = self.viable.limit, self.of_program
        return [limit for limit in limits if isinstance(limit, MotionLimit)]
