# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels that map seeds of a chain to its completions, and candidates back."""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel


@no_type_check
@functools.cache
def scatter_kernel() -> wp.Kernel:
    """Build the kernel that copies joint values of a chain to its completion."""

    @compiled_kernel()
    def scatter(
        values: wp.array2d(dtype=wp.float64),  # [n_problems, n]
        real: wp.array(dtype=wp.int32),  # [n]
        completed: wp.array2d(dtype=wp.float64),  # [n_problems, 6]
    ):
        problem, j = wp.tid()
        completed[problem, real[j]] = values[problem, j]

    return scatter


@no_type_check
@functools.cache
def gather_kernel() -> wp.Kernel:
    """Build the kernel that copies candidates of a completion to its chain."""

    @compiled_kernel()
    def gather(
        completed: wp.array3d(dtype=wp.float64),  # [n_problems, room, 6]
        completed_misses: wp.array2d(dtype=wp.float64),  # [n_problems, room]
        real: wp.array(dtype=wp.int32),  # [n]
        locked: wp.array(dtype=wp.int32),
        first: int,  # index of the first one
        candidates: wp.array3d(dtype=wp.float64),  # [n_problems, all rooms, n]
        misses: wp.array2d(dtype=wp.float64),  # [n_problems, all rooms]
    ):
        problem, slot = wp.tid()
        miss = completed_misses[problem, slot]
        for k in range(locked.shape[0]):
            miss += wp.abs(completed[problem, slot, locked[k]])
        for j in range(real.shape[0]):
            candidates[problem, first + slot, j] = completed[problem, slot, real[j]]
        misses[problem, first + slot] = miss

    return gather
