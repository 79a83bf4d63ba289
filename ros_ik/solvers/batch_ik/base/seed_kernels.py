# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels that bring seeds and steps into the search space of a batch solver."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.least_squares.search_space import space_struct


@no_type_check
@functools.cache
def confine_function() -> wp.Function:
    """Build ``confine(space, row, joint_q)``, which applies quaternions, limits and mimics."""
    Space = space_struct()

    @wp.func
    def confine(space: Space, row: int, joint_q: wp.array2d(dtype=wp.float32)):
        for k in range(space.quaternion.shape[0]):
            c = space.quaternion[k]
            q = wp.quat(
                joint_q[row, c], joint_q[row, c + 1], joint_q[row, c + 2], joint_q[row, c + 3]
            )
            length = wp.length(q)
            if not (length > 1.0e-12 and wp.isfinite(length)):
                q = wp.quat_identity()
                length = float(1.0)
            for i in range(4):
                joint_q[row, c + i] = q[i] / length
        for c in range(space.coord_lower.shape[0]):
            if space.coord_frozen[c] == 0:
                joint_q[row, c] = wp.clamp(
                    joint_q[row, c], space.coord_lower[c], space.coord_upper[c]
                )
        for k in range(space.follower_coord.shape[0]):
            c = space.follower_coord[k]
            if space.coord_frozen[c] == 0:
                value = space.coef0[k] + space.coef1[k] * joint_q[row, space.driver_coord[k]]
                joint_q[row, c] = wp.clamp(value, space.coord_lower[c], space.coord_upper[c])

    return confine


@no_type_check
@functools.cache
def seed_kernels() -> SimpleNamespace:
    """Build ``clean_seeds``, which replaces non-finite seeds, and ``confine_rows``."""
    Space = space_struct()
    confine = confine_function()

    @compiled_kernel()
    def clean_seeds(
        space: Space,
        joint_q: wp.array2d(dtype=wp.float32),  # [n, joint_coord_count], in and out
        refused: wp.array(dtype=wp.int32),  # [n], 1 if the seed was not finite
    ):
        row = wp.tid()
        flag = int(0)
        for c in range(joint_q.shape[1]):
            if not wp.isfinite(joint_q[row, c]):
                flag = int(1)
        refused[row] = flag
        if flag == 1:
            for c in range(joint_q.shape[1]):
                joint_q[row, c] = space.neutral[c]
        confine(space, row, joint_q)

    @compiled_kernel()
    def confine_rows(
        space: Space,
        joint_q: wp.array2d(dtype=wp.float32),  # [n, joint_coord_count], before the step
        joint_q_next: wp.array2d(dtype=wp.float32),  # [n, joint_coord_count], in and out
    ):
        row = wp.tid()
        for c in range(joint_q.shape[1]):
            if space.coord_frozen[c] == 1:
                joint_q_next[row, c] = joint_q[row, c]
        confine(space, row, joint_q_next)

    return SimpleNamespace(clean_seeds=clean_seeds, confine_rows=confine_rows)
