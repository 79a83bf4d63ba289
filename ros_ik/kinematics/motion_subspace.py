# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motion subspace, the twist of the links that each degree of freedom moves, at unit velocity.

Twists are in world axes at the world origin, linear part first, as ``joint_S_s`` in newton.ik.
The angular degrees of freedom of a free joint rotate about its anchor on the parent.
"""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.joint_motion import joint_functions
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.kinematics.tree import tree_struct
from ros_ik.model.conventions.joint_type import JointType


@no_type_check
@functools.cache
def move_links_function(scalar: type) -> wp.Function:
    """Build ``move_links(tree, row, joint_q, body_q, joint_S_s)``: twists of one configuration."""
    types, joints = spatial_functions(scalar), joint_functions(scalar)
    transform, twist = types.transform, types.twist
    axis_twist, slide_twist = types.axis_twist, types.slide_twist
    axis_column, write_floating = joints.axis_column, joints.write_floating
    Tree = tree_struct(scalar)

    @wp.func
    def write_d6(
        tree: Tree,
        joint: int,
        row: int,
        anchor: transform,
        joint_q: wp.array2d(dtype=scalar),
        joint_S_s: wp.array2d(dtype=twist),
    ):
        q = tree.joint_q_start[joint]
        dof = tree.joint_qd_start[joint]
        linear = tree.joint_dof_dim[joint, 0]
        pivot = wp.transform_get_translation(anchor)
        rotation = wp.transform_get_rotation(anchor)
        # Warp computes wrong gradients through loops that it cannot unroll, so the length is
        # fixed.
        for k in range(3):
            if k < linear:
                axis = wp.quat_rotate(rotation, tree.joint_axis[dof + k])
                joint_S_s[row, dof + k] = slide_twist(axis)
                pivot += axis * joint_q[row, q + k]
        for k in range(3):
            if k < tree.joint_dof_dim[joint, 1]:
                angular = linear + k
                local = tree.joint_axis[dof + angular]
                joint_S_s[row, dof + angular] = axis_twist(wp.quat_rotate(rotation, local), pivot)
                rotation = rotation * wp.quat_from_axis_angle(local, joint_q[row, q + angular])

    @wp.func
    def move_links(
        tree: Tree,
        row: int,
        joint_q: wp.array2d(dtype=scalar),
        body_q: wp.array2d(dtype=transform),
        joint_S_s: wp.array2d(dtype=twist),
    ):
        for k in range(tree.joint_order.shape[0]):
            joint = tree.joint_order[k]
            kind = tree.joint_type[joint]
            dof = tree.joint_qd_start[joint]
            anchor = tree.joint_X_p[joint]
            parent = tree.joint_parent[joint]
            if parent >= 0:
                anchor = body_q[row, parent] * anchor
            if kind == wp.static(int(JointType.REVOLUTE)):
                joint_S_s[row, dof] = axis_column(False, anchor, tree.joint_axis[dof])
            elif kind == wp.static(int(JointType.PRISMATIC)):
                joint_S_s[row, dof] = axis_column(True, anchor, tree.joint_axis[dof])
            elif kind == wp.static(int(JointType.D6)):
                write_d6(tree, joint, row, anchor, joint_q, joint_S_s)
            elif kind == wp.static(int(JointType.BALL)):
                write_floating(row, dof, False, anchor, joint_S_s)
            elif kind == wp.static(int(JointType.FREE)) or kind == wp.static(
                int(JointType.DISTANCE)
            ):
                write_floating(row, dof, True, anchor, joint_S_s)

    return move_links


@no_type_check
@functools.cache
def _motion_subspace_kernel(scalar: type, differentiable: bool) -> wp.Kernel:
    types = spatial_functions(scalar)
    transform, twist = types.transform, types.twist
    move_links = move_links_function(scalar)
    Tree = tree_struct(scalar)

    @compiled_kernel(differentiable=differentiable)
    def motion_subspace(
        tree: Tree,
        joint_q: wp.array2d(dtype=scalar),  # [n, joint_coord_count]
        body_q: wp.array2d(dtype=transform),  # [n, body_count]
        joint_S_s: wp.array2d(dtype=twist),  # [n, joint_dof_count]
    ):
        move_links(tree, wp.tid(), joint_q, body_q, joint_S_s)

    return motion_subspace


def launch_motion_subspace(
    tree: KinematicTree,
    joint_q: wp.array,
    body_q: wp.array,
    joint_S_s: wp.array,
    *,
    differentiable: bool = False,
) -> None:
    """Compute motion subspaces; allocates nothing, so a graph can capture it.

    Args:
        tree: The tree.
        joint_q: Coordinates, shape [n, joint_coord_count], in the type of the tree.
        body_q: Link poses at ``joint_q``, shape [n, body_count].
        joint_S_s: Output: twists, shape [n, joint_dof_count].
        differentiable: Use the kernel with a backward pass, for a ``wp.Tape``.
    """
    launch(
        _motion_subspace_kernel(tree.scalar, differentiable),
        dim=joint_q.shape[0],
        inputs=[tree.arrays, joint_q, body_q],
        outputs=[joint_S_s],
        device=tree.device,
    )
