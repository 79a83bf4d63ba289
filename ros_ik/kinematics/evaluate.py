# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kinematics of a batch of configurations in one call, for scripts and planners.

These functions allocate; a control loop uses the launch functions beside them instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.chain import link_dofs
from ros_ik.kinematics.forward import launch_forward_kinematics
from ros_ik.kinematics.jacobian import launch_frame_jacobian
from ros_ik.kinematics.motion_subspace import launch_motion_subspace
from ros_ik.kinematics.runtime.arguments import checked_link
from ros_ik.kinematics.runtime.arguments import checked_model
from ros_ik.kinematics.runtime.batch_arrays import batch_input
from ros_ik.kinematics.runtime.batch_arrays import batch_output
from ros_ik.kinematics.runtime.batch_arrays import copy_back
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import kinematic_tree


def eval_fk(model: Any, joint_q: np.ndarray | wp.array, body_q: np.ndarray | wp.array) -> None:
    """Compute the pose of every link.

    Args:
        model: A :class:`Model`, or any object with Newton's joint arrays.
        joint_q: Coordinates, shape [n, joint_coord_count], float32 or float64.
        body_q: Output, written in place: poses in the world, as a Warp array [n, body_count] of
            transforms, or NumPy [n, body_count, 7], x y z qx qy qz qw; same precision.

    Raises:
        ArgumentError: A wrong shape or type, naming the argument.
    """
    checked_model(model)
    coordinates, scalar = batch_input('joint_q', joint_q, model.joint_coord_count, model.device)
    n = coordinates.shape[0]
    transform = spatial_functions(scalar).transform
    poses = batch_output('body_q', body_q, (n, model.body_count), transform, model.device)
    launch_forward_kinematics(kinematic_tree(model, scalar), coordinates, poses)
    copy_back(poses, body_q)


def eval_jacobian(
    model: Any, joint_q: np.ndarray | wp.array, link_index: int, jacobian: np.ndarray | wp.array
) -> None:
    """Compute the Jacobian of a link's origin.

    Args:
        model: A :class:`Model`, or any object with Newton's joint arrays.
        joint_q: Coordinates, shape [n, joint_coord_count], float32 or float64.
        link_index: The link.
        jacobian: Output, written in place, shape [n, 6, joint_dof_count], same precision: linear
            rows first, in world axes at the link's origin.

    Raises:
        ArgumentError: A wrong shape or type, naming the argument, or an unknown link.
    """
    checked_model(model)
    link_index = checked_link('link_index', link_index)
    coordinates, scalar = batch_input('joint_q', joint_q, model.joint_coord_count, model.device)
    n, device = coordinates.shape[0], model.device
    types = spatial_functions(scalar)
    if link_index < 0:
        raise ArgumentError(f'link_index must name a link of the model, got {link_index}')
    chain = wp.array(link_dofs(model, link_index), dtype=wp.int32, device=device)
    result = batch_output('jacobian', jacobian, (n, 6, model.joint_dof_count), scalar, device)
    body_q = wp.zeros((n, model.body_count), dtype=types.transform, device=device)
    joint_S_s = wp.zeros((n, model.joint_dof_count), dtype=types.twist, device=device)
    tree = kinematic_tree(model, scalar)
    launch_forward_kinematics(tree, coordinates, body_q)
    launch_motion_subspace(tree, coordinates, body_q, joint_S_s)
    result.zero_()
    launch_frame_jacobian(body_q, joint_S_s, link_index, chain, result)
    copy_back(result, jacobian)
