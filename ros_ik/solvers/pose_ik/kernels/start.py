# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that chooses where a search begins: at the first solution of another one, or the seed."""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.pose_ik.kernels.phase import NEVER


@no_type_check
@functools.cache
def start_kernel() -> wp.Kernel:
    """Build the kernel, which is the same for all robots."""

    @compiled_kernel()
    def choose_start(
        lanes: int,
        first: int,  # problem of the first thread
        seed: wp.array2d(dtype=wp.float64),  # [n_problems, m]
        solutions: wp.array3d(dtype=wp.float64),  # [n_problems * lanes, n_solutions, m]
        found_at: wp.array2d(dtype=wp.int32),  # [n_problems * lanes, n_solutions], iterations
        found: wp.array(dtype=wp.int32),  # [n_problems * lanes]
        start_q: wp.array2d(dtype=wp.float64),  # [n_problems, m]
        solved: wp.array(dtype=wp.int32),  # [n_problems], made ready for the next search
    ):
        problem = first + wp.tid()
        earliest = int(wp.static(NEVER))
        row = int(-1)
        for lane in range(lanes):
            at = problem * lanes + lane
            if found[at] > 0 and found_at[at, 0] < earliest:
                earliest = found_at[at, 0]
                row = at
        for j in range(seed.shape[1]):
            if row < 0:
                start_q[problem, j] = seed[problem, j]
            else:
                start_q[problem, j] = solutions[row, 0, j]
        solved[problem] = wp.static(NEVER)

    return choose_start
