# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that makes solutions of candidates, polished, distinct, within the limits, sorted."""

import functools
from typing import no_type_check
import zlib

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.row_list import row_list_functions
from ros_ik.solvers.analytic.refinement.branch_functions import branch_functions
from ros_ik.solvers.analytic.refinement.polish import polish_functions
from ros_ik.solvers.analytic.refinement.solution_functions import solution_functions
from ros_ik.solvers.pose_ik.kernels.kernel import unit_pose_function

# Number of candidates that are examined together on a CPU.
CANDIDATE_LANES = 8
# Distances at which to search a twin of a nearly singular solution [rad].
_TWIN_DISTANCES = wp.types.vector(6, wp.float64)(0.001, 0.01, 0.03, 0.1, 0.3, 1.0)


@no_type_check
@functools.cache
def refine_kernel(
    n: int, has_slides: bool, has_free_turns: bool, all_turns: bool, lanes: int
) -> wp.Kernel:
    """Build the kernel for a kind of chain and pose; see ``polish_functions``.

    With ``all_turns`` it returns all turns of a joint within its limits. Few use them, and their
    code would slow down the kernel for all others.
    """
    kind = n, has_slides, has_free_turns
    structure = zlib.crc32(repr((*kind, all_turns, lanes)).encode()) & 0x7FFFFFFF
    functions = polish_functions(*kind)
    units, examine = functions.units, functions.examine
    polish, weakest_direction = functions.polish, functions.weakest_direction
    nearest_turns, vecm = functions.nearest_turns, functions.vecm
    Chain, Refinement = functions.Chain, functions.Refinement
    shared = solution_functions(*kind)
    read, least_outside = shared.read, shared.least_outside
    turned_inside = shared.turned_inside
    outside, far_outside = shared.outside, shared.far_outside
    functions = branch_functions(*kind)
    is_new, clamped = functions.is_new, functions.clamped
    insert, insert_turns = functions.insert, functions.insert_turns
    allowed_turns, pattern_turns = functions.allowed_turns, functions.pattern_turns
    number_of_patterns = functions.number_of_patterns
    distance_to = shared.distance_to
    rows_functions = row_list_functions()
    Rows, listed_row = rows_functions.Rows, rows_functions.listed_row
    unit_pose = unit_pose_function()
    LaneNumbers = wp.types.vector(lanes, wp.float64)
    LaneAngles = wp.types.matrix((n, lanes), wp.float64)
    LaneSlots = wp.types.vector(lanes, wp.int32)

    # Loops over the joints unroll.
    @compiled_kernel(max_unroll=16, registers=255)
    def refine(
        chain: Chain,
        refinement: Refinement,
        rows: Rows,  # of the problems to solve
        target: wp.array(dtype=wp.transformd),  # [n_problems], of the tool in the world
        seed: wp.array2d(dtype=wp.float64),  # [n_problems, n]
        candidates: wp.array3d(dtype=wp.float64),  # [n_problems, room, n], overwritten
        misses: wp.array2d(dtype=wp.float64),  # [n_problems, room]
        solutions: wp.array3d(dtype=wp.float64),  # [n_problems, max_solutions, n]
        distances: wp.array2d(dtype=wp.float64),  # [n_problems, max_solutions]
        branch_of: wp.array2d(dtype=wp.int32),  # [n_problems, max_solutions]
        directions: wp.array3d(dtype=wp.float64),  # [n_problems, max_solutions, n]
        singular: wp.array2d(dtype=wp.bool),  # [n_problems, max_solutions]
        n_exist: wp.array(dtype=wp.int32),  # [n_problems], solutions inside the limits
        n_branches: wp.array(dtype=wp.int32),  # [n_problems], solutions regardless of limits
        n_beside: wp.array(dtype=wp.int32),  # [n_problems], solutions just outside the limits
        least_cost: wp.array(dtype=wp.float64),  # [n_problems], of the best one without solutions
    ):
        _structure = wp.static(structure)
        problem = listed_row(rows, wp.tid())
        if problem < 0:
            return
        pose, valid = unit_pose(problem, target, seed)
        R_t = wp.quat_to_matrix(wp.transform_get_rotation(pose))
        p_t = wp.transform_get_translation(pose)
        branches = int(0)
        count = int(0)
        slot = int(0)
        best = vecm()
        best_cost = wp.float64(wp.inf)
        # The first pass ignores the limits. The second one searches the nearest configuration
        # within the limits, if the first pass found no solution there.
        beyond = int(0)
        # Bit masks of the branches far from singular, and of those within the limits.
        regular = int(0)
        allowed = int(0)
        while valid and slot < candidates.shape[1]:
            starts = LaneAngles()
            slots = LaneSlots()
            taken = int(0)
            while slot < candidates.shape[1] and taken < wp.static(lanes):
                if misses[problem, slot] <= refinement.slack:
                    for j in range(n):
                        starts[j, taken] = candidates[problem, slot, j]
                    slots[taken] = slot
                    taken += 1
                slot += 1
            far = LaneNumbers()
            fine = LaneNumbers()
            safe = LaneNumbers()  # far from singular
            off_of = LaneNumbers()  # outside the limits
            if taken > 0:
                lane = int(0)
                while lane < wp.static(lanes):
                    q = vecm()
                    for j in range(n):
                        q[j] = starts[j, lane]
                    q = nearest_turns(chain, q, problem, seed, refinement.at_limit)
                    q = least_outside(chain, refinement.at_limit, q)
                    for j in range(n):
                        starts[j, lane] = q[j]
                    is_fine, is_regular = examine(chain, refinement, q, R_t, p_t)
                    is_far = far_outside(chain, refinement, refinement.margin, q)
                    far[lane] = wp.where(is_far, wp.float64(1.0), wp.float64(0.0))
                    fine[lane] = wp.where(is_fine, wp.float64(1.0), wp.float64(0.0))
                    safe[lane] = wp.where(is_regular, wp.float64(1.0), wp.float64(0.0))
                    off_of[lane] = outside(chain, q)
                    lane += 1
            lane = int(0)
            while lane < taken:
                q = vecm()
                for j in range(n):
                    q[j] = starts[j, lane]
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
                    if safe[lane] > wp.float64(0.0) and branches < 31:
                        regular = regular | (1 << branches)
                    if off_of[lane] <= wp.float64(0.0) and branches < 31:
                        allowed = allowed | (1 << branches)
                    branches += 1
                lane += 1
        # Branches of the actual arm may be farther apart than both candidates if those of the
        # idealised axes meet, so search the twin along the weakest direction.
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
        branch = int(0)
        while branch < branches:
            q = read(problem, branch, candidates)
            off = wp.float64(0.0)
            if branch >= 31 or (allowed >> branch) & 1 == 0:
                off = outside(chain, q)
            if wp.static(all_turns):
                # Rounding may put a turn just outside a limit. Polishing moves all turns of the
                # other joints alike, so once for each pattern of joints at a limit will do.
                lowest, highest, first, last = allowed_turns(chain, refinement, q)
                patterns = int(0)
                if off <= refinement.at_limit:
                    patterns = number_of_patterns(lowest, highest, first, last)
                pattern = int(0)
                while pattern < patterns:
                    low, high = pattern_turns(pattern, lowest, highest, first, last)
                    whole = q
                    for j in range(n):
                        turns = wp.clamp(wp.float64(0.0), low[j], high[j])
                        whole[j] += wp.float64(wp.TAU) * turns
                        low[j] -= turns
                        high[j] -= turns
                    fits = outside(chain, whole) <= wp.float64(0.0)
                    if not fits:
                        whole, _cost, fits = polish(
                            chain, refinement, clamped(chain, whole), R_t, p_t, refinement.steps,
                            True,
                        )
                    if fits:
                        count = insert_turns(
                            chain, whole, low, high, branch, problem, count, seed, solutions,
                            distances, branch_of,
                        )
                    pattern += 1
            elif off <= wp.float64(0.0):
                # The usual case, apart from the rest for its time.
                count = insert(q, branch, problem, count, seed, solutions, distances, branch_of)
            elif off <= refinement.at_limit:
                whole, _cost, fits = polish(
                    chain, refinement, clamped(chain, q), R_t, p_t, refinement.steps, True
                )
                if not fits:
                    # Another turn may lie within the limits.
                    whole = turned_inside(chain, q)
                    fits = outside(chain, whole) <= wp.float64(0.0)
                if fits:
                    count = insert(
                        whole, branch, problem, count, seed, solutions, distances, branch_of
                    )
            branch += 1
        if valid and count == 0:
            for j in range(n):
                best[j] = seed[problem, j]
            solves = bool(False)
            slot = candidates.shape[1]
            if refinement.least_error != 0:
                best, best_cost, solves = polish(
                    chain, refinement, clamped(chain, best), R_t, p_t, 10, True
                )
                slot = int(0)
            while slot < candidates.shape[1]:
                if wp.isfinite(misses[problem, slot]):
                    start = read(problem, slot, candidates)
                    start = nearest_turns(chain, start, problem, seed, refinement.at_limit)
                    start = clamped(chain, start)
                    q, cost, solves = polish(chain, refinement, start, R_t, p_t, 10, True)
                    if cost < best_cost:
                        best = q
                        best_cost = cost
                slot += 1
            if refinement.least_error != 0:
                best, best_cost, solves = polish(chain, refinement, best, R_t, p_t, 400, True)
            count = insert(best, 0, problem, 0, seed, solutions, distances, branch_of)
            regular = 0
            if not solves:
                count = 0
        beside = int(0)
        branch = int(0)
        if refinement.least_error != 0 or refinement.beside == wp.float64(0.0):
            branch = int(branches)
        while branch < branches and count + beside < distances.shape[1]:
            q = read(problem, branch, candidates)
            far_out = far_outside(chain, refinement, refinement.beside, q)
            if outside(chain, q) > refinement.at_limit and not far_out:
                entry = count + beside
                for j in range(n):
                    solutions[problem, entry, j] = q[j]
                distances[problem, entry] = distance_to(q, problem, seed)
                beside += 1
            branch += 1
        n_beside[problem] = beside
        written = int(0)
        if valid:
            written = wp.min(wp.max(count, 1), solutions.shape[1])
        shown = solutions.shape[1]
        if refinement.sparse != 0:
            written = wp.min(count, shown)
            shown = written
        for k in range(shown):
            flag = int(0)
            x = vecm()
            known = k < written and branch_of[problem, k] < 31
            if known:
                known = (regular >> branch_of[problem, k]) & 1 == 1
            if k < written and not known:
                x, value = weakest_direction(chain, refinement, read(problem, k, solutions))
                x = wp.normalize(wp.cw_mul(x, units(chain, refinement)))
                if value < refinement.singular_value:
                    flag = 1
            # Directions are zero for regular solutions.
            if flag == 1 or singular[problem, k]:
                singular[problem, k] = flag == 1
                for j in range(n):
                    directions[problem, k, j] = x[j] * wp.float64(flag)
        n_exist[problem] = count
        n_branches[problem] = branches + beyond
        least_cost[problem] = best_cost

    return refine
