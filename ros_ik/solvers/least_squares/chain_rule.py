# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Chain rule of reverse-mode differentiation, from link poses and coordinates to dq.

The tape of an objective ends at its inputs, the link poses (p, q) and coordinates. Their
derivatives with respect to a degree of freedom are known in closed form,

    dp/dx = v + omega x p,   dq/dx = 1/2 (omega, 0) q   for the bodies that the joint moves,

with the column (v, omega) of the motion subspace. There is no division by an angle, and therefore
no NaN at zero rotation.
"""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import tree_struct
from ros_ik.model.conventions.joint_type import JointType


@no_type_check
@functools.cache
def chain_rule_kernel() -> wp.Kernel:
    """Build the kernel."""
    point_velocity = spatial_functions(wp.float32).point_velocity
    Tree = tree_struct(wp.float32)

    @wp.func
    def pose_term(S: wp.spatial_vector, pose: wp.transform, adjoint: wp.transform) -> float:
        v = point_velocity(S, wp.transform_get_translation(pose))
        spin = wp.quat(0.5 * S[3], 0.5 * S[4], 0.5 * S[5], 0.0) * wp.transform_get_rotation(pose)
        total = float(0.0)
        for k in range(3):
            total += adjoint[k] * v[k]
        for k in range(4):
            total += adjoint[3 + k] * spin[k]
        return total

    @wp.func
    def read3(row: int, c: int, values: wp.array2d(dtype=wp.float32)) -> wp.vec3:
        return wp.vec3(values[row, c], values[row, c + 1], values[row, c + 2])

    @wp.func
    def quaternion_term(
        row: int,
        c: int,
        axis: wp.vec3,
        joint_q: wp.array2d(dtype=wp.float32),
        adjoint: wp.array2d(dtype=wp.float32),
    ) -> float:
        v = read3(row, c, joint_q)
        spin = wp.quat(0.5 * axis[0], 0.5 * axis[1], 0.5 * axis[2], 0.0) * wp.quat(
            v[0], v[1], v[2], joint_q[row, c + 3]
        )
        total = float(0.0)
        for k in range(4):
            total += adjoint[row, c + k] * spin[k]
        return total

    @compiled_kernel()
    def chain_rule(
        tree: Tree,
        dof_joint: wp.array(dtype=wp.int32),  # [joint_dof_count]
        moved_start: wp.array(dtype=wp.int32),  # [joint_count + 1]
        moved_body: wp.array(dtype=wp.int32),  # bodies behind each joint
        joint_S_s: wp.array2d(dtype=wp.spatial_vector),  # [n, joint_dof_count]
        body_q: wp.array2d(dtype=wp.transform),  # [n, body_count]
        joint_q: wp.array2d(dtype=wp.float32),  # [n, joint_coord_count]
        adjoint_body_q: wp.array2d(dtype=wp.transform),  # [n, body_count]
        adjoint_joint_q: wp.array2d(dtype=wp.float32),  # [n, joint_coord_count]
        adjoint_dq: wp.array2d(dtype=wp.float32),  # [n, joint_dof_count]
    ):
        row, dof = wp.tid()
        joint = dof_joint[dof]
        total = float(0.0)
        for k in range(moved_start[joint], moved_start[joint + 1]):
            body = moved_body[k]
            total += pose_term(joint_S_s[row, dof], body_q[row, body], adjoint_body_q[row, body])
        kind = tree.joint_type[joint]
        c = tree.joint_q_start[joint]
        local = dof - tree.joint_qd_start[joint]
        axis = wp.vec3()
        axis[local % 3] = 1.0
        if kind == wp.static(int(JointType.BALL)):
            total += quaternion_term(row, c, axis, joint_q, adjoint_joint_q)
        elif kind == wp.static(int(JointType.FREE)) or kind == wp.static(int(JointType.DISTANCE)):
            if local < 3:
                total += adjoint_joint_q[row, c + local]
            else:
                swing = wp.cross(axis, read3(row, c, joint_q))
                total += wp.dot(swing, read3(row, c, adjoint_joint_q))
                total += quaternion_term(row, c + 3, axis, joint_q, adjoint_joint_q)
        else:
            total += adjoint_joint_q[row, c + local]
        adjoint_dq[row, dof] = total

    return chain_rule
