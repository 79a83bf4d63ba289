# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The controlled joints that move a place of the robot: the frame of a task, or its mass."""

from __future__ import annotations

import dataclasses

import numpy as np
import warp as wp

from ros_ik.kinematics.chain import link_dofs
from ros_ik.kinematics.chain import relative_chain
from ros_ik.kinematics.dynamics.center_of_mass import precise_array
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.servo.motion.pose_math import quat_rotate
from ros_ik.servo.robot.controlled_robot import ControlledRobot


@dataclasses.dataclass(frozen=True)
class PlaceJoints:
    """Joints of one degree of freedom each, in some order.

    Attributes:
        joints: Their indices in the model [n].
        dofs: Their degrees of freedom [n].
        signs: 1.0 where a joint moves the place, -1.0 where it moves the reference link [n].
    """

    joints: np.ndarray
    dofs: np.ndarray
    signs: np.ndarray

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.joints)


def frame_joints(robot: ControlledRobot, task: int) -> PlaceJoints:
    """Return the joints on the way from the reference link of a frame task to its frame."""
    model = robot.model
    dofs, signs = relative_chain(model, robot.task_links[task], robot.task_references[task])
    child, joints = model.joint_child.numpy(), _joints_of(robot, dofs)
    depth = np.array([len(link_dofs(model, child[joint])) for joint in joints], dtype=int)
    order = np.argsort(signs * depth, kind='stable')
    return _controlled(robot, dofs[order], signs[order])


def center_joints(robot: ControlledRobot) -> PlaceJoints:
    """Return the joints that move any link, and so the centre of mass or what it is seen from."""
    dofs = np.arange(robot.model.joint_dof_count)
    return _controlled(robot, dofs, np.ones(len(dofs)))


def joint_axes(
    robot: ControlledRobot, joints: np.ndarray, dofs: np.ndarray, signs: np.ndarray
) -> list[wp.array]:
    """Return the links that joints move, axes and points on them in these, and which slide.

    Args:
        robot: The robot.
        joints: Indices of the joints [n].
        dofs: Their degrees of freedom [n].
        signs: Factors on the axes [n].

    Returns:
        Arrays on the device: int32, vec3, vec3 [m] and int32, [n] each.
    """
    model = robot.model
    device, vec3 = wp.get_device(model.device), spatial_functions(wp.float64).vec3
    poses = precise_array(model, 'joint_X_c').reshape(-1, 7)[joints]
    axes = precise_array(model, 'joint_axis').reshape(-1, 3)[dofs]
    turned = [quat_rotate(pose[3:], axis) for pose, axis in zip(poses, axes, strict=True)]
    slides = model.joint_dof_dim.numpy().reshape(-1, 2)[joints, 0] == 1

    def indices(values: np.ndarray) -> wp.array:
        return wp.array(values.astype(np.int32), dtype=wp.int32, device=device)

    return [
        indices(model.joint_child.numpy()[joints]),
        wp.array(np.reshape(turned, (-1, 3)) * signs[:, None], dtype=vec3, device=device),
        wp.array(poses[:, :3], dtype=vec3, device=device),
        indices(slides),
    ]


def _joints_of(robot: ControlledRobot, dofs: np.ndarray) -> np.ndarray:
    starts = robot.model.joint_qd_start.numpy()
    return np.searchsorted(starts, dofs, side='right') - 1


def _controlled(robot: ControlledRobot, dofs: np.ndarray, signs: np.ndarray) -> PlaceJoints:
    """Return those of some degrees of freedom that the servo controls."""
    joints, starts = _joints_of(robot, dofs), robot.model.joint_qd_start.numpy()
    moved = (robot.group.dof_variable[dofs] >= 0) & (starts[joints + 1] - starts[joints] == 1)
    return PlaceJoints(joints[moved], dofs[moved], np.array(signs, dtype=float)[moved])
