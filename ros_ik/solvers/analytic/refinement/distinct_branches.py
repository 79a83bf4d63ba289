# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions from the candidates of a pose to its distinct branches, polished."""

import functools
from types import SimpleNamespace
from typing import no_type_check
import zlib

import warp as wp

from ros_ik.solvers.analytic.refinement.bit_mask import marked
from ros_ik.solvers.analytic.refinement.branch_functions import branch_functions
from ros_ik.solvers.analytic.refinement.polish import polish_functions
from ros_ik.solvers.analytic.refinement.solution_functions import solution_functions

# Distances at which to search a twin of a nearly singular solution [rad].
_TWIN_DISTANCES = wp.types.vector(6, wp.float64)(0.001, 0.01, 0.03, 0.1, 0.3, 1.0)


@no_type_check
@functools.cache
def distinct_branch_functions(
    n: int, has_slides: bool, has_free_turns: bool, lanes: int
) -> SimpleNamespace:
    """Build the functions for a kind of chain and pose; see ``polish_functions``.

    ``lanes`` is the number of candidates that are examined together.

    Returns:
        The functions

        - ``distinct_branches(chain, refinement, R_t, p_t, problem, seed, candidates, misses) ->
          branches, beyond, regular, allowed``;
        - ``add_twins(chain, refinement, R_t, p_t, problem, count, seed, candidates) ->
          branches``.
    """
    kind = n, has_slides, has_free_turns
    structure = zlib.crc32(repr((*kind, lanes)).encode()) & 0x7FFFFFFF
    polishing = polish_functions(*kind)
    units, examine = polishing.units, polishing.examine
    polish, weakest_direction = polishing.polish, polishing.weakest_direction
    nearest_turns, vecm = polishing.nearest_turns, polishing.vecm
    Chain, Refinement = polishing.Chain, polishing.Refinement
    solutions = solution_functions(*kind)
    read, least_outside = solutions.read, solutions.least_outside
    outside, far_outside = solutions.outside, solutions.far_outside
    is_new = branch_functions(*kind).is_new
    LaneNumbers = wp.types.vector(lanes, wp.float64)
    LaneAngles = wp.types.matrix((n, lanes), wp.float64)
    LaneSlots = wp.types.vector(lanes, wp.int32)

    @wp.func
    def next_group(
        problem: int, first: int, slack: wp.float64, candidates: wp.array3d(dtype=wp.float64),
        misses: wp.array2d(dtype=wp.float64),
    ):  # fmt: skip
        """Return the next candidates within ``slack``, their slots, number, and the slot after."""
        starts = LaneAngles()
        slots = LaneSlots()
        taken = int(0)
        slot = int(first)
        while slot < candidates.shape[1] and taken < wp.static(lanes):
            if misses[problem, slot] <= slack:
                for j in range(n):
                    starts[j, taken] = candidates[problem, slot, j]
                slots[taken] = slot
                taken += 1
            slot += 1
        return starts, slots, taken, slot

    @wp.func
    def examine_group(
        chain: Chain, refinement: Refinement, R_t: wp.mat33d, p_t: wp.vec3d, problem: int,
        seed: wp.array2d(dtype=wp.float64), starts: LaneAngles,
    ):  # fmt: skip
        """Turn candidates next to the seed and examine them, all together on a CPU.

        Returns:
            The candidates; 1 for each that is far outside the limits, that needs no polishing and
            that is far from singular; and how far each is outside the limits.
        """
        _structure = wp.static(structure)
        turned = LaneAngles()
        far = LaneNumbers()
        fine = LaneNumbers()
        safe = LaneNumbers()
        off_of = LaneNumbers()
        lane = int(0)
        while lane < wp.static(lanes):
            q = vecm()
            for j in range(n):
                q[j] = starts[j, lane]
            q = nearest_turns(chain, q, problem, seed, refinement.at_limit)
            q = least_outside(chain, refinement.at_limit, q)
            for j in range(n):
                turned[j, lane] = q[j]
            is_fine, is_regular = examine(chain, refinement, q, R_t, p_t)
            is_far = far_outside(chain, refinement, refinement.margin, q)
            far[lane] = wp.where(is_far, wp.float64(1.0), wp.float64(0.0))
            fine[lane] = wp.where(is_fine, wp.float64(1.0), wp.float64(0.0))
            safe[lane] = wp.where(is_regular, wp.float64(1.0), wp.float64(0.0))
            off_of[lane] = outside(chain, q)
            lane += 1
        return turned, far, fine, safe, off_of

    @wp.func
    def distinct_branches(
        chain: Chain, refinement: Refinement, R_t: wp.mat33d, p_t: wp.vec3d, problem: int,
        seed: wp.array2d(dtype=wp.float64), candidates: wp.array3d(dtype=wp.float64),
        misses: wp.array2d(dtype=wp.float64),
    ):  # fmt: skip
        """Move the distinct branches of a pose to the front of its candidates, polished.

        Returns:
            The number of branches, the number of candidates far outside the limits, and bit masks
            of the branches far from singular and of those within the limits.
        """
        _structure = wp.static(structure)
        branches = int(0)
        beyond = int(0)
        regular = int(0)
        allowed = int(0)
        slot = int(0)
        while slot < candidates.shape[1]:
            starts, slots, taken, slot_after = next_group(
                problem, slot, refinement.slack, candidates, misses
            )
            slot = slot_after
            if taken > 0:
                turned, far, fine, safe, off_of = examine_group(
                    chain, refinement, R_t, p_t, problem, seed, starts
                )
                lane = int(0)
                while lane < taken:
                    q = vecm()
                    for j in range(n):
                        q[j] = turned[j, lane]
                    solves = fine[lane] > wp.float64(0.0)
                    if far[lane] > wp.float64(0.0):
                        beyond += 1
                        solves = False
                    elif not solves:
                        q, _cost, solves = polish(
                            chain, refinement, q, R_t, p_t, refinement.steps, False
                        )
                        q = nearest_turns(chain, q, problem, seed, refinement.at_limit)
                        safe[lane] = wp.float64(0.0)
                        off_of[lane] = outside(chain, q)
                    if solves and is_new(chain, q, problem, branches, refinement, candidates):
                        # Entries up to this one have been read.
                        vacated = slots[lane]
                        for j in range(n):
                            change = candidates[problem, branches, j]
                            candidates[problem, vacated, j] = change
                            candidates[problem, branches, j] = q[j]
                        misses[problem, vacated] = misses[problem, branches]
                        if safe[lane] > wp.float64(0.0):
                            regular = marked(regular, branches)
                        if off_of[lane] <= wp.float64(0.0):
                            allowed = marked(allowed, branches)
                        branches += 1
                    lane += 1
        return branches, beyond, regular, allowed

    @wp.func
    def add_twins(
        chain: Chain, refinement: Refinement, R_t: wp.mat33d, p_t: wp.vec3d, problem: int,
        count: int, seed: wp.array2d(dtype=wp.float64), candidates: wp.array3d(dtype=wp.float64),
    ) -> int:  # fmt: skip
        """Append the twins of nearly singular branches; return the number of branches.

        Branches of the actual arm may be farther apart than both candidates if those of the
        idealised axes meet, so the twin is searched along the weakest direction.
        """
        _structure = wp.static(structure)
        branches = int(count)
        branch = int(0)
        while branch < branches and refinement.fold_value > wp.float64(0.0):
            q = read(problem, branch, candidates)
            x, value = weakest_direction(chain, refinement, q)
            side = int(0)
            while side < wp.static(2 * len(_TWIN_DISTANCES)) and value < refinement.fold_value:
                offset = wp.float64(_TWIN_DISTANCES[side // 2]) * wp.float64(1 - 2 * (side % 2))
                twin, _cost, solves = polish(
                    chain, refinement, q + offset * wp.cw_mul(x, units(chain, refinement)), R_t,
                    p_t, refinement.steps, False,
                )
                if (
                    solves
                    and branches < candidates.shape[1]
                    and is_new(chain, twin, problem, branches, refinement, candidates)
                ):
                    twin = nearest_turns(chain, twin, problem, seed, refinement.at_limit)
                    for j in range(n):
                        candidates[problem, branches, j] = twin[j]
                    branches += 1
                side += 1
            branch += 1
        return branches

    return SimpleNamespace(distinct_branches=distinct_branches, add_twins=add_twins)
