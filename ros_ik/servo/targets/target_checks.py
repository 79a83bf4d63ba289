# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Validation of the contents of target messages."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import itertools

import numpy as np

from ros_ik.model.conventions.poses import unit_pose
from ros_ik.servo.interface.codes import Rejection
from ros_ik.servo.interface.number_checks import numbers_rejection
from ros_ik.servo.interface.number_checks import quaternion_rejection
from ros_ik.servo.interface.target import CenterOfMassTarget
from ros_ik.servo.interface.target import JointMotion
from ros_ik.servo.interface.target import JointTarget
from ros_ik.servo.interface.target import JointVelocityTarget
from ros_ik.servo.interface.target import PoseTarget
from ros_ik.servo.interface.target import TwistTarget
from ros_ik.servo.robot.controlled_robot import ControlledRobot

_numbers = itertools.count(1)


def renewed(target: PoseTarget, received: float) -> PoseTarget:
    """Return a target as if it were received now.

    A servo ignores a target with a smaller sequence number than the last one.

    Args:
        target: The target.
        received: Time from which the age of the new one is counted [s].
    """
    return dataclasses.replace(target, received=received, sequence=next(_numbers))


class TargetReader:
    """Validation of targets for one robot. The caller counts rejections."""

    def __init__(self, robot: ControlledRobot) -> None:
        """Look up the names of links and joints of ``robot``."""
        self._robot = robot
        model = robot.model
        self._links = {label: index for index, label in enumerate(model.body_label)}
        self._variables = {name: k for k, name in enumerate(robot.group.joint_names)}
        dofs = robot.group.variable_dof
        self._lower, self._upper = (limit[dofs] for limit in robot.driver_limits)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints that may be commanded."""
        return tuple(self._variables)

    def pose(
        self,
        task: int,
        frame_id: str,
        position: Sequence[float],
        quaternion: Sequence[float],
        received: float,
        *,
        lasting: bool = False,
        stamp: float | None = None,
        sender: bytes | None = None,
        topic: str = '',
    ) -> PoseTarget | Rejection:
        """Validate a target pose.

        Args:
            task: Index of the frame task.
            frame_id: Link in whose frame the pose is given; '' selects the reference link of the
                task.
            position: x y z [m].
            quaternion: x y z w; a norm within [0.99, 1.01] is scaled to 1.
            received: Time from which the age of the target is counted [s].
            lasting: True if the target is valid as long as the command contains it.
            stamp: Time of the message on the clock of its sender [s]; None if unknown.
            sender: Identifier of the publisher; None if unknown.
            topic: Name of its topic, or ''.
        """
        if len(position) != 3 or len(quaternion) != 4:
            return Rejection.WRONG_SIZE
        pose = unit_pose((*position, *quaternion))
        if pose is None:
            return (
                numbers_rejection(position, 3)
                or numbers_rejection(quaternion, 4)
                or quaternion_rejection(quaternion)
            )
        link = self._link(frame_id, self._robot.task_references[task])
        if link is None:
            return Rejection.UNKNOWN_FRAME
        return PoseTarget(pose, link, received, next(_numbers), lasting, stamp, sender, topic)

    def twist(
        self,
        task: int,
        frame_id: str,
        linear: Sequence[float],
        angular: Sequence[float],
        received: float,
        *,
        sender: bytes | None = None,
    ) -> TwistTarget | Rejection:
        """Validate a target velocity.

        Args:
            task: Index of the frame task.
            frame_id: Link along whose axes it is given; '' selects the reference link of the task.
            linear: Linear velocity of the task's frame [m/s].
            angular: Angular velocity of the task's frame [rad/s].
            received: Time from which the age of the target is counted [s].
            sender: Identifier of the publisher; None if unknown.
        """
        rejection = numbers_rejection(linear, 3) or numbers_rejection(angular, 3)
        if rejection is not None:
            return rejection
        link = self._link(frame_id, self._robot.task_references[task])
        if link is None:
            return Rejection.UNKNOWN_FRAME
        return TwistTarget(
            np.array(linear, dtype=np.float64), np.array(angular, dtype=np.float64),
            link, received, next(_numbers), sender,
        )  # fmt: skip

    def center_of_mass(
        self,
        frame_id: str,
        point: Sequence[float],
        received: float,
        *,
        stamp: float | None = None,
        sender: bytes | None = None,
    ) -> CenterOfMassTarget | Rejection:
        """Validate a target position of the centre of mass.

        Args:
            frame_id: Link in whose frame it is given; '' selects the base frame.
            point: x y z [m].
            received: Time from which the age of the target is counted [s].
            stamp: Stamp of its message on the clock of the sender [s]; None if it has none.
            sender: Identifier of the publisher; None if unknown.
        """
        rejection = numbers_rejection(point, 3)
        if rejection is not None:
            return rejection
        link = self._link(frame_id, self._robot.base_link)
        if link is None:
            return Rejection.UNKNOWN_FRAME
        position = np.array(point, dtype=np.float64)
        return CenterOfMassTarget(position, link, received, next(_numbers), stamp, sender)

    def joints(
        self,
        names: Sequence[str],
        positions: Sequence[float],
        received: float,
        *,
        lasting: bool = False,
        sender: bytes | None = None,
        motion: JointMotion | None = None,
    ) -> JointTarget | Rejection:
        """Validate target positions of joints; those outside the limits are clipped.

        Args:
            names: Controlled joints, each at most once.
            positions: One per name [rad or m].
            received: Time from which the age of the target is counted [s].
            lasting: True if the target is valid as long as the command contains it.
            sender: Identifier of the publisher; None if unknown.
            motion: Motion of these joints from these positions; None if the target stays.
        """
        given = self._by_joint(names, positions)
        if isinstance(given, Rejection):
            return given
        # Clipping keeps NaN, which marks joints without a target.
        target = np.minimum(np.maximum(given, self._lower), self._upper)
        return JointTarget(target, received, next(_numbers), lasting, sender, motion)

    def joint_velocities(
        self,
        names: Sequence[str],
        velocities: Sequence[float],
        received: float,
        *,
        sender: bytes | None = None,
    ) -> JointVelocityTarget | Rejection:
        """Validate target velocities of joints.

        Args:
            names: Controlled joints, each at most once.
            velocities: One per name [rad/s or m/s].
            received: Time from which the age of the target is counted [s].
            sender: Identifier of the publisher; None if unknown.
        """
        given = self._by_joint(names, velocities)
        if isinstance(given, Rejection):
            return given
        return JointVelocityTarget(given, received, next(_numbers), sender)

    def _by_joint(self, names: Sequence[str], values: Sequence[float]) -> np.ndarray | Rejection:
        """Return one number per controlled joint; NaN for joints without one."""
        if not names:
            return Rejection.WRONG_SIZE
        if len(set(names)) != len(names):
            return Rejection.REPEATED_JOINT
        rejection = numbers_rejection(values, len(names))
        if rejection is not None:
            return rejection
        given = np.full(len(self._variables), np.nan)
        for name, value in zip(names, values, strict=True):
            variable = self._variables.get(name)
            if variable is None:
                return Rejection.UNKNOWN_JOINT
            given[variable] = value
        return given

    def _link(self, frame_id: str, default: int) -> int | None:
        """Return the index of a link, or None if the model has none of that name."""
        return default if frame_id == '' else self._links.get(frame_id)
