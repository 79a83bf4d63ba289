# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""State of lanes between the phases of a search, and the iteration from which each lane counts.

Most lanes need few iterations, and a few need hundreds. A search in phases lists the lanes that
are still running after a phase, and the next phase continues only these. Problems that are still
unsolved get more lanes from phase to phase, as they become fewer.
"""

import functools
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.row_list import row_list_functions

# Larger than any number of iterations: the end of a phase that is the last one, and the iterations
# of a problem that no lane has solved.
NEVER = 2**31 - 1


@no_type_check
@functools.cache
def phase_struct(scalar: type) -> Any:
    """Return the struct of a phase. Its arrays are empty for a search in a single phase."""
    Rows = row_list_functions().Rows

    @wp.struct
    class Phase:
        begin: int  # number of iterations at which the phase before ended
        end: int  # number of iterations after which a lane pauses
        lanes: int  # of a problem that begin in a phase without a list, from the first on
        rows: Rows  # lanes to continue or to begin; without a list, those of all problems begin
        running: wp.array(dtype=wp.int32)  # [n_problems * lanes], 1 for lanes that paused
        q: wp.array2d(dtype=scalar)  # [n_problems * lanes, m]
        mark: wp.array(dtype=scalar)  # [n_problems * lanes], cost at the last test of the progress
        attempt: wp.array(dtype=wp.int32)  # [n_problems * lanes]
        step: wp.array(dtype=wp.int32)  # [n_problems * lanes]
        random: wp.array(dtype=wp.uint32)  # [n_problems * lanes], state of the generator

    return Phase


@functools.cache
@no_type_check
def lane_start_function() -> wp.Function:
    """Build ``lane_start(lane, head_start, first_lanes, next_start, delay) -> iterations``.

    Iterations of a lane count from there. The attempt from the seed of the problem is that of lane
    0, with a head start. Others begin together up to ``first_lanes``. The number of lanes doubles
    at ``next_start``, and each ``delay`` iterations later.
    """

    @wp.func
    def lane_start(
        lane: int, head_start: int, first_lanes: int, next_start: int, delay: int
    ) -> int:
        if lane == 0:
            return 0
        if lane < first_lanes:
            return head_start
        start = int(next_start)
        begun = 2 * first_lanes
        while lane >= begun:
            begun *= 2
            start += delay
        return start

    return lane_start


@no_type_check
@functools.cache
def mark_lanes_kernel() -> wp.Kernel:
    """Build the kernel that marks the lanes which the next phase continues or begins."""
    lane_start = lane_start_function()

    @compiled_kernel()
    def mark_lanes(
        lanes: int,
        head_start: int,
        first_lanes: int,
        next_start: int,
        delay: int,
        n_rows: int,  # lanes of the problems at hand
        begin: int,  # iterations at which the next phase begins
        end: int,  # iterations at which it ends
        solved: wp.array(dtype=wp.int32),  # [n_problems]
        iterations: wp.array(dtype=wp.int32),  # [n_problems * lanes]
        running: wp.array(dtype=wp.int32),  # [n_problems * lanes]
        marked: wp.array(dtype=wp.int32),  # [n_problems * lanes]
    ):
        row = wp.tid()
        mark = bool(False)
        if row < n_rows:
            total = lane_start(row % lanes, head_start, first_lanes, next_start, delay)
            mark = total < end
            if total < begin:
                mark = running[row] != 0
                total = iterations[row]
            mark = mark and total < solved[row // lanes]
        marked[row] = wp.where(mark, 1, 0)

    return mark_lanes
