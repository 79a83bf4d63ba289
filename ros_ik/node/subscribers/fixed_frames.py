# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Poses in moving links, expressed in a link that is fixed to the world.

An obstacle stays where it was on arrival. Its pose in a link that moves would be another place for
each process and each model that reads it later. It is evaluated at the measured configuration,
where it is in the world; targets are evaluated at the commanded one (``accepted_targets``).

While a joint without a state moves the link, its place in the world is unknown. Then the pose is
expressed in the base, if no such joint is between the two, or it stays in its link.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ros_ik.kinematics.link_poses import link_poses
from ros_ik.model.shapes.collision_geometry import rigid_parts
from ros_ik.servo import Measurement
from ros_ik.servo.motion.pose_math import pose_inverse
from ros_ik.servo.motion.pose_math import pose_multiply
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.state.measured_state import measured_coords


class FixedFrames:
    """Conversion of poses for one robot, at its measured state."""

    def __init__(self, robot: ControlledRobot, measured: Callable[[], Measurement]) -> None:
        """Find the links that move.

        Args:
            robot: The robot.
            measured: Function that returns its measured state.
        """
        self._robot, self._measured = robot, measured
        model = robot.model
        world = rigid_parts(model)[: model.body_count] == model.body_count
        self._moves = {
            label: index for index, label in enumerate(model.body_label) if not world[index]
        }
        if not world[robot.base_link]:
            self._moves[''] = robot.base_link
        fixed = np.flatnonzero(world).tolist()
        # A robot whose root moves has no such link; its base is used if it can be.
        self._fixed = robot.base_link if world[robot.base_link] else next(iter(fixed), -1)
        # Mask of the coordinates that had a state at the last call of have_states_changed.
        self._known: np.ndarray | None = None

    def have_states_changed(self) -> bool:
        """Return True if joints have their first state since the last call."""
        known, before = self._measured().known, self._known
        self._known = known
        return before is None or not np.array_equal(known, before)

    def express(self, link: str, pose: np.ndarray) -> tuple[str, np.ndarray]:
        """Return a pose [7] in a link that does not move, with the name of that link.

        The pose stays in its link, '' for the base, if the link does not move, if every link
        moves, or before the joints have a state. It may be in the base, which moves, see above.
        """
        index = self._moves.get(link)
        if index is None or self._fixed < 0:
            return link, pose
        model = self._robot.model
        measurement = self._measured()
        joint_q = measured_coords(self._robot, measurement, model.neutral_joint_q())
        if joint_q is None:
            return link, pose
        anchor = self._anchor(index, measurement.known)
        if anchor == index:
            return link, pose
        poses = link_poses(model, joint_q)
        in_world = pose_multiply(poses[index], pose)
        return model.body_label[anchor], pose_multiply(pose_inverse(poses[anchor]), in_world)

    def _anchor(self, link: int, known: np.ndarray) -> int:
        """Return the link in which a pose in another link is known: fixed, base or that link."""
        joints = self._robot.link_joints
        unknown = joints.without_state(known)
        for anchor in (self._fixed, self._robot.base_link):
            if not (unknown & joints.between(np.array([[link, anchor]]))).any():
                return anchor
        return link
