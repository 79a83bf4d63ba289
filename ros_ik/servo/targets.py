# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""From the content of messages to valid targets, or to the reason why they are refused."""

from __future__ import annotations

from collections.abc import Sequence
import itertools
import math

import numpy as np

from ros_ik.servo.codes import Rejection
from ros_ik.servo.command import JointTarget
from ros_ik.servo.command import PoseTarget
from ros_ik.servo.robot import ControlledRobot

# Shorter quaternions have no direction that could be trusted.
_LEAST_NORM = 1e-6
_numbers = itertools.count(1)


class TargetReader:
    """Checks targets for one robot. Refusals are counted by whoever reads."""

    def __init__(self, robot: ControlledRobot) -> None:
        """Keep what names mean in ``robot``."""
        self._robot = robot
        model = robot.model
        self._links = {label: index for index, label in enumerate(model.body_label)}
        self._variables = {name: k for k, name in enumerate(robot.group.joint_names)}
        dofs = robot.group.variable_dof
        self._lower, self._upper = robot.lower[dofs], robot.upper[dofs]

    def pose(
        self,
        task: int,
        frame_id: str,
        position: Sequence[float],
        quaternion: Sequence[float],
        received: float,
    ) -> PoseTarget | Rejection:
        """Check a pose.

        Args:
            task: Index of the frame task.
            frame_id: Link in which the pose is given; '' is the reference link of the task.
            position: x y z [m].
            quaternion: x y z w of any length that is not zero.
            received: Time of receipt [s].
        """
        values = (*position, *quaternion)
        if len(values) != 7:
            return Rejection.WRONG_SIZE
        if not all(map(math.isfinite, values)):
            return Rejection.NON_FINITE
        norm = math.sqrt(sum(value * value for value in quaternion))
        if not norm > _LEAST_NORM:
            return Rejection.ZERO_QUATERNION
        link = self._robot.task_references[task] if frame_id == '' else self._links.get(frame_id)
        if link is None:
            return Rejection.UNKNOWN_FRAME
        pose = np.array(values, dtype=np.float64)
        pose[3:] /= norm
        return PoseTarget(pose, link, received, next(_numbers))

    def joints(
        self, names: Sequence[str], positions: Sequence[float], received: float
    ) -> JointTarget | Rejection:
        """Check positions of some joints; those outside the limits are moved to the limit.

        Args:
            names: Controlled joints, each at most once.
            positions: One per name [rad or m].
            received: Time of receipt [s].
        """
        if not names or len(names) != len(positions) or len(set(names)) != len(names):
            return Rejection.WRONG_SIZE
        if not all(map(math.isfinite, positions)):
            return Rejection.NON_FINITE
        target = np.full(len(self._variables), np.nan)
        for name, position in zip(names, positions, strict=True):
            variable = self._variables.get(name)
            if variable is None:
                return Rejection.UNKNOWN_JOINT
            target[variable] = min(max(position, self._lower[variable]), self._upper[variable])
        return JointTarget(target, received, next(_numbers))
