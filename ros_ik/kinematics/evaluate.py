# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kinematics of a batch of configurations in one call, for scripts and planners.

These functions allocate; a control loop uses the launch functions instead. Arrays of any supported
library are read and written in place. Inside a ``wp.Tape``, gradients flow through Warp arrays
that require them.
"""

from __future__ import annotations

from typing import Any

import warp as wp

from ros_ik.kinematics.cached_values import cached_link_dofs
from ros_ik.kinematics.cached_values import cached_tree
from ros_ik.kinematics.chain import require_link
from ros_ik.kinematics.forward import launch_forward_kinematics
from ros_ik.kinematics.jacobian import launch_frame_jacobian
from ros_ik.kinematics.motion_subspace import launch_motion_subspace
from ros_ik.kinematics.runtime.arguments import checked_link
from ros_ik.kinematics.runtime.arguments import checked_model
from ros_ik.kinematics.runtime.batch_arrays import batch_input
from ros_ik.kinematics.runtime.batch_arrays import batch_output
from ros_ik.kinematics.runtime.batch_arrays import copy_back
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.launch_lock import shares_launch_lock


@shares_launch_lock
def eval_fk(model: Any, joint_q: Any, body_q: Any) -> None:
    """Compute the pose of every link.

    Args:
        model: A :class:`Model`, or any object with Newton's joint arrays.
        joint_q: Coordinates, shape [n, joint_coord_count], float32 or float64.
        body_q: Output, written in place: poses in the world, as a Warp array [n, body_count] of
            transforms, or plain numbers [n, body_count, 7], x y z qx qy qz qw; same precision.

    Raises:
        ArgumentError: A wrong shape, type or device, naming the argument.
    """
    checked_model(model)
    coordinates, scalar = batch_input('joint_q', joint_q, model.joint_coord_count, model.device)
    n = coordinates.shape[0]
    transform = spatial_functions(scalar).transform
    poses = batch_output('body_q', body_q, (n, model.body_count), transform, model.device)
    launch_forward_kinematics(
        cached_tree(model, scalar), coordinates, poses, differentiable=coordinates.requires_grad
    )
    copy_back(poses, body_q)


@shares_launch_lock
def eval_jacobian(model: Any, joint_q: Any, link_index: int, jacobian: Any) -> None:
    """Compute the Jacobian of a link's origin.

    Args:
        model: A :class:`Model`, or any object with Newton's joint arrays.
        joint_q: Coordinates, shape [n, joint_coord_count], float32 or float64.
        link_index: The link.
        jacobian: Output, written in place, shape [n, 6, joint_dof_count], same precision: linear
            rows first, in world axes at the link's origin.

    Raises:
        ArgumentError: A wrong shape, type or device, naming the argument, or an unknown link.
    """
    checked_model(model)
    link_index = checked_link('link_index', link_index)
    coordinates, scalar = batch_input('joint_q', joint_q, model.joint_coord_count, model.device)
    n, device = coordinates.shape[0], model.device
    require_link(link_index)
    chain = cached_link_dofs(model, link_index)
    result = batch_output('jacobian', jacobian, (n, 6, model.joint_dof_count), scalar, device)
    body_q, joint_S_s = link_motions(cached_tree(model, scalar), coordinates)
    result.zero_()
    launch_frame_jacobian(
        body_q, joint_S_s, link_index, chain, result, differentiable=coordinates.requires_grad
    )
    copy_back(result, jacobian)


def link_motions(tree: KinematicTree, joint_q: wp.array) -> tuple[wp.array, wp.array]:
    """Compute link poses [n, body_count] and motion subspaces [n, joint_dof_count].

    Args:
        tree: The tree.
        joint_q: Coordinates, in the type of the tree; differentiable if they require gradients.
    """
    types, n, grad = spatial_functions(tree.scalar), joint_q.shape[0], joint_q.requires_grad

    def zeros(width: int, dtype: type) -> wp.array:
        return wp.zeros((n, width), dtype=dtype, device=tree.device, requires_grad=grad)

    body_q = zeros(tree.body_count, types.transform)
    joint_S_s = zeros(tree.joint_dof_count, types.twist)
    launch_forward_kinematics(tree, joint_q, body_q, differentiable=grad)
    launch_motion_subspace(tree, joint_q, body_q, joint_S_s, differentiable=grad)
    return body_q, joint_S_s
