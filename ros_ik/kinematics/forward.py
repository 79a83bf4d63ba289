# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Forward kinematics, X_wc = X_wp X_p X_j(q) X_c^-1 for each joint from parent p to child c.

Joint transforms are those of Newton. A D6 joint first translates along its linear axes, then turns
about its angular axes; each axis moves with those before it. Ball and free joints have quaternions
x, y, z, w.
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
def joint_transform_function(scalar: type) -> wp.Function:
    """Build ``joint_transform(tree, joint, row, joint_q) -> transform``."""
    types, joints = spatial_functions(scalar), joint_functions(scalar)
    vec3, transform = types.vec3, types.transform
    axis_motion, floating_motion = joints.axis_motion, joints.floating_motion
    Tree = tree_struct(scalar)

    @wp.func
    def joint_transform(
        tree: Tree, joint: int, row: int, joint_q: wp.array2d(dtype=scalar)
    ) -> transform:
        kind = tree.joint_type[joint]
        q = tree.joint_q_start[joint]
        dof = tree.joint_qd_start[joint]
        motion = wp.transform_identity(dtype=scalar)
        if kind == wp.static(int(JointType.REVOLUTE)):
            motion = axis_motion(False, tree.joint_axis[dof], joint_q[row, q])
        elif kind == wp.static(int(JointType.PRISMATIC)):
            motion = axis_motion(True, tree.joint_axis[dof], joint_q[row, q])
        elif kind == wp.static(int(JointType.BALL)):
            motion = floating_motion(row, q, False, joint_q)
        elif kind == wp.static(int(JointType.FREE)) or kind == wp.static(int(JointType.DISTANCE)):
            motion = floating_motion(row, q, True, joint_q)
        elif kind == wp.static(int(JointType.D6)):
            linear = tree.joint_dof_dim[joint, 0]
            position = vec3()
            rotation = wp.quat_identity(dtype=scalar)
            # Loops of fixed length unroll: a backward pass through others is wrong in Warp.
            for k in range(3):
                if k < linear:
                    position += tree.joint_axis[dof + k] * joint_q[row, q + k]
            for k in range(3):
                if k < tree.joint_dof_dim[joint, 1]:
                    angular = linear + k
                    rotation = rotation * wp.quat_from_axis_angle(
                        tree.joint_axis[dof + angular], joint_q[row, q + angular]
                    )
            motion = transform(position, rotation)
        return motion

    return joint_transform


@no_type_check
@functools.cache
def place_links_function(scalar: type) -> wp.Function:
    """Build ``place_links(tree, row, joint_q, body_q)``, the link poses of one configuration."""
    joint_transform = joint_transform_function(scalar)
    transform = spatial_functions(scalar).transform
    Tree = tree_struct(scalar)

    @wp.func
    def place_links(
        tree: Tree,
        row: int,
        joint_q: wp.array2d(dtype=scalar),
        body_q: wp.array2d(dtype=transform),
    ):
        for k in range(tree.still_body.shape[0]):
            body_q[row, tree.still_body[k]] = tree.still_pose[k]
        for k in range(tree.joint_order.shape[0]):
            joint = tree.joint_order[k]
            pose = tree.joint_X_p[joint] * joint_transform(tree, joint, row, joint_q)
            parent = tree.joint_parent[joint]
            if parent >= 0:
                pose = body_q[row, parent] * pose
            body_q[row, tree.joint_child[joint]] = pose * tree.joint_X_c_inverse[joint]

    return place_links


@no_type_check
@functools.cache
def forward_kernel(scalar: type, differentiable: bool) -> wp.Kernel:
    """Build the kernel that computes the link poses of each robot."""
    place_links = place_links_function(scalar)
    transform = spatial_functions(scalar).transform
    Tree = tree_struct(scalar)

    @compiled_kernel(differentiable=differentiable)
    def forward_kinematics(
        tree: Tree,
        joint_q: wp.array2d(dtype=scalar),  # [n, joint_coord_count]
        body_q: wp.array2d(dtype=transform),  # [n, body_count]
    ):
        place_links(tree, wp.tid(), joint_q, body_q)

    return forward_kinematics


def launch_forward_kinematics(
    tree: KinematicTree, joint_q: wp.array, body_q: wp.array, *, differentiable: bool = False
) -> None:
    """Compute link poses; allocates nothing, so a graph can capture it.

    Args:
        tree: The tree.
        joint_q: Coordinates, shape [n, joint_coord_count], in the type of the tree.
        body_q: Output: link poses in the world, shape [n, body_count].
        differentiable: Use the kernel with a backward pass, for a ``wp.Tape``.
    """
    launch(
        forward_kernel(tree.scalar, differentiable),
        dim=joint_q.shape[0],
        inputs=[tree.arrays, joint_q],
        outputs=[body_q],
        device=tree.device,
    )
