# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Velocity limits of controlled joints that are implausible or 0, and ranges that are 0."""

from __future__ import annotations

import numpy as np

from ros_ik.model.conventions.labels import listed
from ros_ik.servo.robot.controlled_robot import ControlledRobot

# Above these a limit is a placeholder [rad/s, m/s]. The fastest actuators of example-robot-data
# have 52 rad/s (Laikago) and 59.9 (a gripper of Romeo), placeholders 100, 1000 and 10,000.
_PLAUSIBLE_ANGULAR, _PLAUSIBLE_LINEAR = 60.0, 5.0


def implausible(robot: ControlledRobot) -> np.ndarray:
    """Return which controlled joints have a velocity limit that no actuator reaches, bool [n]."""
    speed = robot.velocity[robot.group.variable_dof]
    most = np.where(robot.is_linear, _PLAUSIBLE_LINEAR, _PLAUSIBLE_ANGULAR)
    return np.isfinite(speed) & (speed > most)


def immobile(robot: ControlledRobot) -> np.ndarray:
    """Return which controlled joints have a velocity limit of 0, bool [n]."""
    return ~robot.can_move


def rangeless(robot: ControlledRobot) -> np.ndarray:
    """Return which controlled joints have equal position limits, bool [n]."""
    dofs = robot.group.variable_dof
    return np.asarray(robot.lower[dofs] == robot.upper[dofs])


def speed_warnings(robot: ControlledRobot) -> list[str]:
    """Return messages about velocity limits of controlled joints, one for each value."""
    speed, wrong = robot.velocity[robot.group.variable_dof], implausible(robot)
    found = []
    for linear, unit in ((False, 'rad/s'), (True, 'm/s')):
        for value in np.unique(speed[wrong & (robot.is_linear == linear)]):
            names = _named(robot, wrong & (speed == value) & (robot.is_linear == linear))
            found.append(
                f'{names}: a velocity limit of {value:g} {unit} is implausible; '
                'joint_limits.<joint>.max_velocity lowers it'
            )
    still = immobile(robot)
    if still.any():
        found.append(
            f'{_named(robot, still)}: a velocity limit of 0 lets nothing move, and no parameter '
            'raises it; correct the description, or name the joint in locked_joints'
        )
    return found


def _named(robot: ControlledRobot, rows: np.ndarray) -> str:
    """Return the names of some controlled joints."""
    names = [robot.group.joint_names[row] for row in np.flatnonzero(rows)]
    return listed(names, len(names))
