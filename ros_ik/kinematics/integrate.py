# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Integration of a step from a configuration, q (+) dq.

Coordinates of single degrees of freedom are added. A quaternion is rotated in its parent's axes,
exp(theta) q. A free joint rotates about its anchor and then translates, p' = exp(theta) p + dp,
which is consistent with its motion subspace.
"""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.kinematics.tree import tree_struct
from ros_ik.model.conventions.joint_type import JointType


@no_type_check
@functools.cache
def integrate_function(scalar: type) -> wp.Function:
    """Build ``integrate_row(tree, row, joint_q, step, joint_q_out)`` for one configuration."""
    types = spatial_functions(scalar)
    vec3, quat = types.vec3, types.quat
    rotation_exp = types.rotation_exp
    Tree = tree_struct(scalar)

    @wp.func
    def read3(row: int, start: int, values: wp.array2d(dtype=scalar)) -> vec3:
        return vec3(values[row, start], values[row, start + 1], values[row, start + 2])

    @wp.func
    def turn(
        row: int,
        start: int,
        turned: quat,
        joint_q: wp.array2d(dtype=scalar),
        out: wp.array2d(dtype=scalar),
    ):
        """Write turned * q, normalised."""
        old = quat(
            joint_q[row, start], joint_q[row, start + 1],
            joint_q[row, start + 2], joint_q[row, start + 3],
        )  # fmt: skip
        new = wp.normalize(turned * old)
        for k in range(4):
            out[row, start + k] = new[k]

    @wp.func
    def integrate_row(
        tree: Tree,
        row: int,
        joint_q: wp.array2d(dtype=scalar),
        step: wp.array2d(dtype=scalar),
        joint_q_out: wp.array2d(dtype=scalar),
    ):
        for joint in range(tree.joint_type.shape[0]):
            kind = tree.joint_type[joint]
            q = tree.joint_q_start[joint]
            dof = tree.joint_qd_start[joint]
            if kind == wp.static(int(JointType.BALL)):
                turn(row, q, rotation_exp(read3(row, dof, step)), joint_q, joint_q_out)
            elif kind == wp.static(int(JointType.FREE)) or kind == wp.static(
                int(JointType.DISTANCE)
            ):
                turned = rotation_exp(read3(row, dof + 3, step))
                position = wp.quat_rotate(turned, read3(row, q, joint_q)) + read3(row, dof, step)
                for k in range(3):
                    joint_q_out[row, q + k] = position[k]
                turn(row, q + 3, turned, joint_q, joint_q_out)
            else:
                for k in range(tree.joint_q_start[joint + 1] - q):
                    joint_q_out[row, q + k] = joint_q[row, q + k] + step[row, dof + k]

    return integrate_row


@no_type_check
@functools.cache
def integrate_kernel(scalar: type, differentiable: bool) -> wp.Kernel:
    """Build the kernel that adds a step to the coordinates of each robot."""
    integrate_row = integrate_function(scalar)
    Tree = tree_struct(scalar)

    @compiled_kernel(differentiable=differentiable)
    def integrate(
        tree: Tree,
        joint_q: wp.array2d(dtype=scalar),  # [n, joint_coord_count]
        step: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
        joint_q_out: wp.array2d(dtype=scalar),  # [n, joint_coord_count]
    ):
        integrate_row(tree, wp.tid(), joint_q, step, joint_q_out)

    return integrate


def launch_integrate(
    tree: KinematicTree,
    joint_q: wp.array,
    joint_qd_step: wp.array,
    joint_q_out: wp.array,
    *,
    differentiable: bool = False,
) -> None:
    """Compute q (+) dq; allocates nothing, so a graph can capture it.

    Args:
        tree: The tree.
        joint_q: Coordinates, shape [n, joint_coord_count], in the type of the tree.
        joint_qd_step: Steps, shape [n, joint_dof_count], in rad and m.
        joint_q_out: Output, shape [n, joint_coord_count]; may be ``joint_q`` itself.
        differentiable: Use the kernel with a backward pass, for a ``wp.Tape``; the output must
            then be another array.
    """
    launch(
        integrate_kernel(tree.scalar, differentiable),
        dim=joint_q.shape[0],
        inputs=[tree.arrays, joint_q, joint_qd_step],
        outputs=[joint_q_out],
        device=tree.device,
    )
