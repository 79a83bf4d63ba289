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
    n: int, has_slides: bool, has_free_turns: bool, all_turns: bool, lanes: int
) -> SimpleNamespace:
    """Build the functions for a kind of chain and pose; see ``polish_functions``.

    ``lanes`` is the number of candidates that are examined together.

    Returns:
        The functions

        - ``distinct_branches(chain, refinement, R_t, p_t, problem, seed, candidates, misses,
          solutions, distances, branch_of) -> branches, beyond, regular, allowed, count``;
        - ``add_twins(chain, refinement, R_t, p_t, problem, count, seed, candidates) ->
          branches``;
        - ``next_group(problem, first, slack, candidates, misses) -> starts, slots, taken, slot``;
        - ``turned_group(chain, refinement, problem, seed, starts) -> turned, far, off_of,
          distance_of``;
        - ``ordered_group(chain, refinement, taken, turned, far, fine, safe, off_of, distance_of)
          -> branches, beyond, count, place``,

        and the types ``LaneNumbers`` and ``LaneAngles`` of a number and a configuration for each
        candidate of a group.
    """
    kind = n, has_slides, has_free_turns
    structure = zlib.crc32(repr((*kind, all_turns, lanes)).encode()) & 0x7FFFFFFF
    may_insert_groups = lanes > 1 and not all_turns
    polishing = polish_functions(*kind)
    units, examine = polishing.units, polishing.examine
    polish, weakest_direction = polishing.polish, polishing.weakest_direction
    nearest_turns, vecm = polishing.nearest_turns, polishing.vecm
    Chain, Refinement = polishing.Chain, polishing.Refinement
    solutions = solution_functions(*kind)
    read, least_outside = solutions.read, solutions.least_outside
    outside, far_outside = solutions.outside, solutions.far_outside
    differs, distance_to = solutions.differs, solutions.distance_to
    is_new = branch_functions(*kind).is_new
    LaneNumbers = wp.types.vector(lanes, wp.float64)
    LaneAngles = wp.types.matrix((n, lanes), wp.float64)
    LaneSlots = wp.types.vector(lanes, wp.int32)

    @wp.func
    def next_group(
        problem: int, first: int, slack: wp.float64, candidates: wp.array3d(dtype=wp.float64),
        misses: wp.array2d(dtype=wp.float64),
    ):  # fmt: skip
        """Return the next candidates within ``slack``, their slots, number, and a slot after.

        It is the number of slots if no candidates are left, where groups may be inserted.
        """
        starts = LaneAngles()
        slots = LaneSlots()
        taken = int(0)
        slot = int(first)
        while slot < candidates.shape[1] and taken < wp.static(lanes):
            if misses[problem, slot] <= slack:
                candidate = candidates[problem, slot]
                for j in range(n):
                    starts[j, taken] = candidate[j]
                slots[taken] = slot
                taken += 1
            slot += 1
        while (
            wp.static(may_insert_groups)
            and slot < candidates.shape[1]
            and not (misses[problem, slot] <= slack)
        ):
            slot += 1
        return starts, slots, taken, slot

    @wp.func
    def turned_group(
        chain: Chain, refinement: Refinement, problem: int, seed: wp.array2d(dtype=wp.float64),
        starts: LaneAngles,
    ):  # fmt: skip
        """Turn candidates next to the seed, all together on a CPU.

        Returns:
            The candidates; 1 for each that is far outside the limits; how far each is outside the
            limits; and its squared distance to the seed.
        """
        _structure = wp.static(structure)
        turned = LaneAngles()
        far = LaneNumbers()
        off_of = LaneNumbers()
        distance_of = LaneNumbers()
        lane = int(0)
        while lane < wp.static(lanes):
            q = vecm()
            for j in range(n):
                q[j] = starts[j, lane]
            q = nearest_turns(chain, q, problem, seed, refinement.at_limit)
            q = least_outside(chain, refinement.at_limit, q)
            for j in range(n):
                turned[j, lane] = q[j]
            is_far = far_outside(chain, refinement, refinement.margin, q)
            far[lane] = wp.where(is_far, wp.float64(1.0), wp.float64(0.0))
            off_of[lane] = outside(chain, q)
            distance_of[lane] = distance_to(q, problem, seed)
            lane += 1
        return turned, far, off_of, distance_of

    @wp.func
    def examine_group(
        chain: Chain, refinement: Refinement, R_t: wp.mat33d, p_t: wp.vec3d, turned: LaneAngles
    ):
        """Examine candidates, all together on a CPU.

        Returns:
            1 for each that needs no polishing and that is far from singular.
        """
        _structure = wp.static(structure)
        fine = LaneNumbers()
        safe = LaneNumbers()
        lane = int(0)
        while lane < wp.static(lanes):
            q = vecm()
            for j in range(n):
                q[j] = turned[j, lane]
            is_fine, is_regular = examine(chain, refinement, q, R_t, p_t)
            fine[lane] = wp.where(is_fine, wp.float64(1.0), wp.float64(0.0))
            safe[lane] = wp.where(is_regular, wp.float64(1.0), wp.float64(0.0))
            lane += 1
        return fine, safe

    @wp.func
    def places(numbers: LaneNumbers) -> LaneNumbers:
        """Return the place of each number in ascending order; equal ones keep their order."""
        place = LaneNumbers()
        other = int(0)
        while other < wp.static(lanes):
            lane = int(0)
            while lane < wp.static(lanes):
                before = wp.where(
                    other < lane, numbers[other] <= numbers[lane], numbers[other] < numbers[lane]
                )
                place[lane] += wp.where(before, wp.float64(1.0), wp.float64(0.0))
                lane += 1
            other += 1
        return place

    @wp.func
    def ordered_group(
        chain: Chain, refinement: Refinement, taken: int, turned: LaneAngles, far: LaneNumbers,
        fine: LaneNumbers, safe: LaneNumbers, off_of: LaneNumbers, distance_of: LaneNumbers,
    ):  # fmt: skip
        """Order the only candidates of a pose by distance, in the usual case.

        This is the case of distinct candidates which need no polishing, are far from singular and
        not at a limit.

        Returns:
            The number of branches, of candidates far outside the limits, and of solutions; no
            solutions in any other case. The place of each candidate that is a solution; those of
            the others come later.
        """
        _structure = wp.static(structure)
        branches = int(0)
        beyond = int(0)
        count = int(0)
        usual = refinement.fold_value == wp.float64(0.0)
        usual = usual and (refinement.least_error != 0 or refinement.beside == wp.float64(0.0))
        keys = LaneNumbers()
        lane = int(0)
        while lane < wp.static(lanes):
            keys[lane] = wp.float64(wp.inf)
            if lane < taken and far[lane] > wp.float64(0.0):
                beyond += 1
            elif lane < taken:
                off = off_of[lane]
                usual = usual and fine[lane] * safe[lane] > wp.float64(0.0)
                if off <= wp.float64(0.0):
                    keys[lane] = distance_of[lane]
                    count += 1
                elif off <= refinement.at_limit:
                    usual = False
                branches += 1
            lane += 1
        lane = int(0)
        while usual and lane < taken:
            other = int(0)
            while other < lane and far[lane] == wp.float64(0.0):
                apart = far[other] > wp.float64(0.0)
                for j in range(n):
                    # Most branches differ in the first joint.
                    if not apart:
                        apart = differs(chain, refinement, j, turned[j, lane] - turned[j, other])
                usual = usual and apart
                other += 1
            lane += 1
        if not usual:
            count = 0
        return branches, beyond, count, places(keys)

    @wp.func
    def insert_group(
        problem: int, taken: int, count: int, place: LaneNumbers, turned: LaneAngles,
        far: LaneNumbers, distance_of: LaneNumbers, solutions: wp.array3d(dtype=wp.float64),
        distances: wp.array2d(dtype=wp.float64), branch_of: wp.array2d(dtype=wp.int32),
    ):  # fmt: skip
        """Insert the solutions of a pose at their places."""
        _structure = wp.static(structure)
        branch = int(0)
        lane = int(0)
        while lane < taken:
            at = int(place[lane])
            if at < wp.min(count, distances.shape[1]):
                solution = solutions[problem, at]
                for j in range(n):
                    solution[j] = turned[j, lane]
                distances[problem, at] = distance_of[lane]
                branch_of[problem, at] = branch
            if far[lane] == wp.float64(0.0):
                branch += 1
            lane += 1

    @wp.func
    def distinct_branches(
        chain: Chain, refinement: Refinement, R_t: wp.mat33d, p_t: wp.vec3d, problem: int,
        seed: wp.array2d(dtype=wp.float64), candidates: wp.array3d(dtype=wp.float64),
        misses: wp.array2d(dtype=wp.float64), solutions: wp.array3d(dtype=wp.float64),
        distances: wp.array2d(dtype=wp.float64), branch_of: wp.array2d(dtype=wp.int32),
    ):  # fmt: skip
        """Move the distinct branches of a pose to the front of its candidates, polished.

        Returns:
            The number of branches, the number of candidates far outside the limits, and bit masks
            of the branches far from singular and of those within the limits. The last is the
            number of solutions if they are inserted, too, which leaves the candidates as they
            were; otherwise 0.
        """
        _structure = wp.static(structure)
        branches = int(0)
        beyond = int(0)
        regular = int(0)
        allowed = int(0)
        count = int(0)
        slot = int(0)
        groups = int(0)
        while slot < candidates.shape[1]:
            starts, slots, taken, slot_after = next_group(
                problem, slot, refinement.slack, candidates, misses
            )
            slot = slot_after
            groups += 1
            if taken > 0:
                turned, far, off_of, distance_of = turned_group(
                    chain, refinement, problem, seed, starts
                )
                fine, safe = examine_group(chain, refinement, R_t, p_t, turned)
                if wp.static(may_insert_groups) and groups == 1 and slot == candidates.shape[1]:
                    branches, beyond, count, place = ordered_group(
                        chain, refinement, taken, turned, far, fine, safe, off_of, distance_of
                    )
                    if count > 0:
                        insert_group(
                            problem, taken, count, place, turned, far, distance_of, solutions,
                            distances, branch_of,
                        )  # fmt: skip
                        regular = (1 << branches) - 1
                        taken = 0
                    else:
                        branches = 0
                        beyond = 0
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
        return branches, beyond, regular, allowed, count

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

    return SimpleNamespace(
        distinct_branches=distinct_branches, add_twins=add_twins, next_group=next_group,
        turned_group=turned_group, ordered_group=ordered_group, LaneNumbers=LaneNumbers,
        LaneAngles=LaneAngles,
    )  # fmt: skip
