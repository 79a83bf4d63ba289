# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""State of lanes between the phases of a search, and the iteration from which each lane counts.

Most lanes need few iterations, and a few need hundreds. A search in phases lists the lanes that
are still running after a phase, and the next phase continues only these. Problems that are still
unsolved get more lanes from phase to phase, as they become fewer.
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.row_list import row_list_functions
from ros_ik.kinematics.runtime.row_list import spacing_function

# Larger than any number of iterations: the end of a phase that is the last one, and the iterations
# of a problem that no lane has solved.
NEVER = 2**31 - 1


@no_type_check
@functools.cache
def phase_struct() -> Any:
    """Return the struct of a phase. Its arrays are empty for a search in a single phase."""
    Rows = row_list_functions().Rows

    @wp.struct
    class Phase:
        begin: int  # number of iterations at which the phase before ended
        end: int  # number of iterations after which a lane pauses
        rows: Rows  # lanes to continue or to begin; without a list, those of all problems begin
        threads: int  # that share the list
        spacing: int  # threads per lane without a list, of which the first one works
        resident: int  # threads that a GPU works on at a time, 0 for a CPU
        running: wp.array(dtype=wp.int32)  # [n_problems * lanes], 1 for lanes that paused
        q: wp.array2d(dtype=wp.float64)  # [n_problems * lanes, m]
        mark: wp.array(dtype=wp.float64)  # [n_problems * lanes], cost at the last progress test
        attempt: wp.array(dtype=wp.int32)  # [n_problems * lanes]
        step: wp.array(dtype=wp.int32)  # [n_problems * lanes]
        random: wp.array(dtype=wp.uint32)  # [n_problems * lanes], state of the generator

    return Phase


@no_type_check
@functools.cache
def entry_functions() -> SimpleNamespace:
    """Build the functions that assign lanes to threads.

    Returns:
        ``entries(phase, thread) -> first, last, step``, the entries of a thread, and
        ``row_of_entry(phase, lanes, first, count, entry) -> row``, that of a lane, for ``count``
        problems from ``first`` on.
    """
    Phase, Lanes = phase_struct(), lanes_struct()
    spacing = spacing_function()

    @wp.func
    def entries(phase: Phase, thread: int):
        size = phase.rows.row.shape[0]
        if size == 0:
            first = thread // phase.spacing
            return first, wp.where(thread % phase.spacing == 0, first, -1), 1
        n = phase.rows.ends[size - 1]
        spaced = spacing(n, phase.resident)
        last = wp.where(thread % spaced == 0, n - 1, -1)
        return thread // spaced, last, phase.threads // spaced

    @wp.func
    def row_of_entry(phase: Phase, lanes: Lanes, first: int, count: int, entry: int) -> int:
        if phase.rows.row.shape[0] > 0:
            return phase.rows.row[entry]
        # A warp has the same lane of successive problems, which do the same at the same time.
        return (first + entry % count) * lanes.count + entry // count

    return SimpleNamespace(entries=entries, row_of_entry=row_of_entry)


@functools.cache
def lanes_struct() -> Any:
    """Return the struct of the lanes of a problem; see ``LanePlan``."""

    @wp.struct
    class Lanes:
        count: int  # lanes of a problem
        head_start: int  # iterations from which attempts other than that from the seed count
        first: int  # number of lanes that begin together
        next_start: int  # iterations at which as many again begin
        delay: int  # iterations after which the number of lanes doubles from then on

    return Lanes


@functools.cache
@no_type_check
def lane_start_function() -> wp.Function:
    """Build ``lane_start(lanes, lane) -> iterations``, from which those of a lane count.

    The attempt from the seed of the problem is that of lane 0, with a head start.
    """
    Lanes = lanes_struct()

    @wp.func
    def lane_start(lanes: Lanes, lane: int) -> int:
        if lane == 0:
            return 0
        if lane < lanes.first:
            return lanes.head_start
        start = int(lanes.next_start)
        begun = 2 * lanes.first
        while lane >= begun:
            begun *= 2
            start += lanes.delay
        return start

    return lane_start


@no_type_check
@functools.cache
def mark_lanes_kernel() -> wp.Kernel:
    """Build the kernel that marks the lanes which the next phase continues or begins."""
    Lanes, lane_start = lanes_struct(), lane_start_function()

    @compiled_kernel()
    def mark_lanes(
        lanes: Lanes,
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
            total = lane_start(lanes, row % lanes.count)
            mark = total < end
            if total < begin:
                mark = running[row] != 0
                total = iterations[row]
            mark = mark and total < solved[row // lanes.count]
        marked[row] = wp.where(mark, 1, 0)

    return mark_lanes
