# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Velocities for controllers of velocities, whose robots go on from wherever they are.

A robot driven by positions only goes to its command. One driven by velocities repeats the motion
of the command, also if it did not make the motion before it. If its drives start to work while
the command returns to a robot that stood still, it would move backwards, past any barrier. So

- while the command returns to the robot, all joints get zero, until the command is at rest;
- a joint that the command has left gets no velocity towards itself, until the command is back.

Afterwards the velocity of a joint rises from zero within its acceleration limit.
"""

from __future__ import annotations

import numpy as np

from ros_ik.servo.robot.controlled_robot import ControlledRobot


class DriveVelocities:
    """Part of each step that drives may make; owned by the control thread."""

    def __init__(self, robot: ControlledRobot) -> None:
        """Start at rest."""
        self._group = robot.group
        self._sent = np.zeros(len(robot.group.variable_dof))
        # True if the motion of the command has been a return since it was at rest.
        self._returns = False
        # Joints that get less than their step.
        self._late = np.zeros(len(self._sent), dtype=bool)

    def begin(self, step: np.ndarray) -> None:
        """Start a motion, or rest, with a step [joint_dof_count] that drives make already."""
        self._sent = step[self._group.variable_dof]
        self._returns = False
        self._late[:] = False

    def limit(
        self, step: np.ndarray, left: np.ndarray, change: np.ndarray, *, returns: bool
    ) -> np.ndarray:
        """Return the part of a step that drives may make [joint_dof_count].

        Args:
            step: Step of the command [joint_dof_count].
            left: Direction in which the command has left each joint, 0 if it has not
                [n_variables].
            change: Largest rise of the step of each joint [n_variables], rad or m.
            returns: True if the command returns to the robot.
        """
        self._returns = self._returns or returns
        wanted = step[self._group.variable_dof]
        withheld = (left * wanted < 0.0) | self._returns
        limited = withheld | self._late
        if not limited.any():
            self._sent = wanted
            return step
        size, direction = np.abs(wanted), np.sign(wanted)
        most = np.where(withheld, 0.0, np.maximum(direction * self._sent, 0.0) + change)
        self._sent = np.where(limited, direction * np.minimum(size, most), wanted)
        self._late = np.abs(self._sent) < size
        part = np.zeros_like(step)
        self._group.write_steps(self._sent, part)
        return part
