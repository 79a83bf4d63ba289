# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that adds starts of the search for the nearest pose to the candidates of six axes."""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel

# Residual of a start. It is finite, but too large for a candidate that is polished.
START_MISS = 1e9


@no_type_check
@functools.cache
def start_kernel() -> wp.Kernel:
    """Build the kernel, which fills unused entries of a pose without any candidate."""

    @compiled_kernel()
    def add_starts(
        starts: wp.array2d(dtype=wp.float64),  # [k, 6]
        slack: wp.float64,  # largest residual of a candidate that is polished
        candidates: wp.array3d(dtype=wp.float64),  # [n_problems, room, 6]
        misses: wp.array2d(dtype=wp.float64),  # [n_problems, room]
    ):
        problem = wp.tid()
        for slot in range(misses.shape[1]):
            if misses[problem, slot] <= slack:
                return
        start = int(0)
        for slot in range(misses.shape[1]):
            if start < starts.shape[0] and not wp.isfinite(misses[problem, slot]):
                for j in range(6):
                    candidates[problem, slot, j] = starts[start, j]
                misses[problem, slot] = wp.static(wp.float64(START_MISS))
                start += 1

    return add_starts
