# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Controlled joints that can move the frame of a task, or the centre of mass."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses

import numpy as np
import warp as wp

from ros_ik.kinematics.chain import axes_in_child_frames
from ros_ik.kinematics.chain import dofs_of_links
from ros_ik.kinematics.chain import relative_chain
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.model.conventions.poses import cross
from ros_ik.model.conventions.poses import rotate
from ros_ik.servo.motion.pose_math import quat_rotate
from ros_ik.servo.motion.pose_math import rotation_matrix
from ros_ik.servo.robot.controlled_robot import ControlledRobot


@dataclasses.dataclass(frozen=True)
class TaskJoints:
    """Joints of one task, with one degree of freedom each, in some order.

    Attributes:
        joints: Indices in the model [n].
        dofs: Degrees of freedom [n].
        signs: 1.0 for a joint that moves the frame, -1.0 for one that moves the reference link
            [n].
    """

    joints: np.ndarray
    dofs: np.ndarray
    signs: np.ndarray

    def __len__(self) -> int:
        """Return the number of joints."""
        return len(self.joints)


def chain_joints(robot: ControlledRobot, link: int, reference: int) -> TaskJoints:
    """Return the joints from a reference link to a link, in this order."""
    model = robot.model
    dofs, signs = relative_chain(model, link, reference)
    child, joints = model.joint_child.numpy(), _joints_of(robot, dofs)
    depth = np.array(
        [len(moved) for moved in dofs_of_links(model, child[joints].tolist())], dtype=int
    )
    order = np.argsort(signs * depth, kind='stable')
    return _controlled(robot, dofs[order], signs[order])


def center_joints(robot: ControlledRobot) -> TaskJoints:
    """Return the joints that move the centre of mass or its reference link."""
    dofs = np.arange(robot.model.joint_dof_count)
    return _controlled(robot, dofs, np.ones(len(dofs)))


@shares_launch_lock
def joint_axes(
    robot: ControlledRobot, joints: np.ndarray, dofs: np.ndarray, signs: np.ndarray
) -> list[wp.array]:
    """Return the links that joints move, their axes and points on these, and joint types.

    Args:
        robot: The robot.
        joints: Indices of the joints [n].
        dofs: Their degrees of freedom [n].
        signs: Signs of the axes [n].

    Returns:
        Arrays on the device: int32, vec3, vec3 [m] and int32 (1 for prismatic joints), [n] each.
    """
    device, vec3 = wp.get_device(robot.model.device), spatial_functions(wp.float64).vec3
    child, axes, points, slides = _axes(robot, joints, dofs, signs)

    def indices(values: np.ndarray) -> wp.array:
        return wp.array(values.astype(np.int32), dtype=wp.int32, device=device)

    return [
        indices(child),
        wp.array(axes, dtype=vec3, device=device),
        wp.array(points, dtype=vec3, device=device),
        indices(slides),
    ]


class ChainMotion:
    """Motion of a point of a link per joint of a chain, on the host.

    Attributes:
        variables: Index of each joint among the controlled joints [n].
        factors: Motion of the joint per motion of its controlled joint, for mimic joints [n].
    """

    def __init__(self, robot: ControlledRobot, link: int, reference: int) -> None:
        """Find the joints."""
        self._link, self._reference = link, reference
        chain = chain_joints(robot, link, reference)
        child, axes, points, slides = _axes(robot, chain.joints, chain.dofs, chain.signs)
        # Axes and points in one array, so that they are rotated together.
        self._child, self._vectors = np.concatenate([child] * 2), np.concatenate([axes, points])
        self._slides = slides[:, None]
        self.variables = robot.group.dof_variable[chain.dofs]
        self.factors = robot.group.dof_scale[chain.dofs]

    def at(
        self, poses: np.ndarray, offset: Sequence[float] = (0.0, 0.0, 0.0)
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return linear and angular velocity per joint, along the axes of the reference, [n, 3].

        Args:
            poses: Link poses [body_count, 7].
            offset: Point in the frame of the link [m].
        """
        reference, link = poses[self._reference], poses[self._link]
        child = poses.take(self._child, 0)
        # The columns are the axes of the reference link.
        turn = rotation_matrix(reference[3:].tolist())
        vectors = rotate(child[:, 3:], self._vectors) @ turn
        count = len(self.variables)
        axes, to_points = vectors[:count], vectors[count:]
        frame = link[:3] + quat_rotate(link[3:].tolist(), list(offset))
        arms = (frame - child[:count, :3]) @ turn - to_points
        linear = np.where(self._slides, axes, cross(axes, arms))
        return linear, np.where(self._slides, 0.0, axes)


def _axes(
    robot: ControlledRobot, joints: np.ndarray, dofs: np.ndarray, signs: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the results of :func:`joint_axes` on the host."""
    axes, points, slides = axes_in_child_frames(robot.model, joints, dofs)
    child = robot.model.joint_child.numpy()[joints]
    return child, axes * signs[:, None], points, slides


def _joints_of(robot: ControlledRobot, dofs: np.ndarray) -> np.ndarray:
    starts = robot.model.joint_qd_start.numpy()
    return np.searchsorted(starts, dofs, side='right') - 1


def _controlled(robot: ControlledRobot, dofs: np.ndarray, signs: np.ndarray) -> TaskJoints:
    """Return the degrees of freedom that the servo can move."""
    joints, starts = _joints_of(robot, dofs), robot.model.joint_qd_start.numpy()
    moved = (robot.group.dof_variable[dofs] >= 0) & (starts[joints + 1] - starts[joints] == 1)
    moved &= robot.velocity[dofs] > 0.0
    return TaskJoints(joints[moved], dofs[moved], np.array(signs, dtype=float)[moved])
