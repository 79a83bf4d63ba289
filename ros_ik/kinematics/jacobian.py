# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Frame Jacobian, from joint velocities to the velocity of a link's origin, in world axes.

rows 0-2: v + omega x p,   rows 3-5: omega,   of each degree of freedom that moves the link
"""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.spatial import spatial_functions


@no_type_check
@functools.cache
def _frame_jacobian_kernel(scalar: type, differentiable: bool) -> wp.Kernel:
    types = spatial_functions(scalar)
    transform, twist, point_velocity = types.transform, types.twist, types.point_velocity

    @compiled_kernel(differentiable=differentiable)
    def frame_jacobian(
        body_q: wp.array2d(dtype=transform),  # [n, body_count]
        joint_S_s: wp.array2d(dtype=twist),  # [n, joint_dof_count]
        link: int,
        chain_dof: wp.array(dtype=wp.int32),  # [n_chain]
        jacobian: wp.array3d(dtype=scalar),  # [n, 6, joint_dof_count], zero beforehand
    ):
        row = wp.tid()
        point = wp.transform_get_translation(body_q[row, link])
        for k in range(chain_dof.shape[0]):
            dof = chain_dof[k]
            S = joint_S_s[row, dof]
            velocity = point_velocity(S, point)
            for axis in range(3):
                jacobian[row, axis, dof] = velocity[axis]
                jacobian[row, 3 + axis, dof] = S[3 + axis]

    return frame_jacobian


def launch_frame_jacobian(
    body_q: wp.array,
    joint_S_s: wp.array,
    link_index: int,
    chain_dof: wp.array,
    jacobian: wp.array,
    *,
    differentiable: bool = False,
) -> None:
    """Write the columns of the degrees of freedom that move a link; clear the output beforehand.

    Args:
        body_q: Link poses in the world, shape [n, body_count].
        joint_S_s: Motion subspaces, shape [n, joint_dof_count].
        link_index: The link.
        chain_dof: Degrees of freedom that move it, shape [n_chain].
        jacobian: Output, shape [n, 6, joint_dof_count].
        differentiable: Use the kernel with a backward pass, for a ``wp.Tape``.
    """
    launch(
        _frame_jacobian_kernel(jacobian.dtype, differentiable),
        dim=body_q.shape[0],
        inputs=[body_q, joint_S_s, link_index, chain_dof],
        outputs=[jacobian],
        device=jacobian.device,
    )
