# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that selects the best seed of each problem."""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.status import SolveStatus


@no_type_check
@functools.cache
def select_kernel() -> wp.Kernel:
    """Build ``select_best``, which selects the result of least cost, or the input."""
    non_finite = wp.constant(int(SolveStatus.NON_FINITE_INPUT))

    @compiled_kernel()
    def select_best(
        joint_q: wp.array2d(dtype=wp.float32),  # [n_problems * n_seeds, joint_coord_count]
        cost: wp.array(dtype=wp.float32),  # [n_problems * n_seeds]
        seed_status: wp.array(dtype=wp.int32),  # [n_problems * n_seeds]
        joint_q_in: wp.array2d(dtype=wp.float32),  # [n_problems, joint_coord_count]
        n_seeds: int,
        best_index: wp.array(dtype=wp.int32),  # [n_problems]
        status: wp.array(dtype=wp.int32),  # [n_problems]
        best: wp.array2d(dtype=wp.float32),  # [n_problems, joint_coord_count]
    ):
        problem = wp.tid()
        first = problem * n_seeds
        index = int(0)
        for seed in range(1, n_seeds):
            if cost[first + seed] < cost[first + index]:
                index = seed
        best_index[problem] = index
        status[problem] = seed_status[first + index]
        for c in range(best.shape[1]):
            if status[problem] == non_finite:
                best[problem, c] = joint_q_in[problem, c]
            else:
                best[problem, c] = joint_q[first + index, c]

    return select_best
