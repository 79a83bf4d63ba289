# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions from the branches of a pose to its solutions within or near the limits."""

import functools
from types import SimpleNamespace
from typing import no_type_check
import zlib

import warp as wp

from ros_ik.solvers.analytic.refinement.branch_functions import branch_functions
from ros_ik.solvers.analytic.refinement.polish import polish_functions
from ros_ik.solvers.analytic.refinement.solution_functions import solution_functions

# Iterations towards a pose out of reach from each candidate, and from the best of them.
_FIRST_STEPS, _LAST_STEPS = 10, 400


@no_type_check
@functools.cache
def limit_functions(n: int, has_slides: bool, has_free_turns: bool) -> SimpleNamespace:
    """Build the functions for a kind of chain and pose; see ``polish_functions``.

    Returns:
        The functions

        - ``insert_at_limit(chain, refinement, R_t, p_t, q, branch, problem, count, seed,
          solutions, distances, branch_of) -> count``;
        - ``insert_all_turns(chain, refinement, R_t, p_t, q, off, branch, problem, count, seed,
          solutions, distances, branch_of) -> count``;
        - ``insert_nearest(chain, refinement, R_t, p_t, problem, seed, candidates, misses,
          solutions, distances, branch_of) -> cost, solves``;
        - ``write_beside(chain, refinement, problem, branches, count, seed, candidates, solutions,
          distances) -> number``.
    """
    kind = n, has_slides, has_free_turns
    structure = zlib.crc32(repr(kind).encode()) & 0x7FFFFFFF
    polishing = polish_functions(*kind)
    polish, nearest_turns, vecm = polishing.polish, polishing.nearest_turns, polishing.vecm
    Chain, Refinement = polishing.Chain, polishing.Refinement
    comparing = solution_functions(*kind)
    read, distance_to = comparing.read, comparing.distance_to
    outside, far_outside = comparing.outside, comparing.far_outside
    turned_inside = comparing.turned_inside
    inserting = branch_functions(*kind)
    clamped, insert, insert_turns = inserting.clamped, inserting.insert, inserting.insert_turns
    allowed_turns, pattern_turns = inserting.allowed_turns, inserting.pattern_turns
    number_of_patterns = inserting.number_of_patterns

    @wp.func
    def insert_at_limit(
        chain: Chain, refinement: Refinement, R_t: wp.mat33d, p_t: wp.vec3d, q: vecm, branch: int,
        problem: int, count: int, seed: wp.array2d(dtype=wp.float64),
        solutions: wp.array3d(dtype=wp.float64), distances: wp.array2d(dtype=wp.float64),
        branch_of: wp.array2d(dtype=wp.int32),
    ) -> int:  # fmt: skip
        """Insert a branch just outside the limits if it can be moved inside; return the count."""
        number = int(count)
        whole, _cost, fits = polish(
            chain, refinement, clamped(chain, q), R_t, p_t, refinement.steps, True
        )
        if not fits:
            # Another turn may lie within the limits.
            whole = turned_inside(chain, q)
            fits = outside(chain, whole) <= wp.float64(0.0)
        if fits:
            number = insert(
                whole, branch, problem, count, seed, solutions, distances, branch_of
            )
        return number

    @wp.func
    def insert_all_turns(
        chain: Chain, refinement: Refinement, R_t: wp.mat33d, p_t: wp.vec3d, q: vecm,
        off: wp.float64, branch: int, problem: int, count: int, seed: wp.array2d(dtype=wp.float64),
        solutions: wp.array3d(dtype=wp.float64), distances: wp.array2d(dtype=wp.float64),
        branch_of: wp.array2d(dtype=wp.int32),
    ) -> int:  # fmt: skip
        """Insert a branch that is ``off`` the limits in each turn that fits; return the count.

        Rounding may put a turn just outside a limit. Polishing moves all turns of the other joints
        alike, so once for each pattern of joints at a limit will do.
        """
        _structure = wp.static(structure)
        number = int(count)
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
                    chain, refinement, clamped(chain, whole), R_t, p_t, refinement.steps, True
                )
            if fits:
                number = insert_turns(
                    chain, whole, low, high, branch, problem, number, seed, solutions, distances,
                    branch_of,
                )
            pattern += 1
        return number

    @wp.func
    def insert_nearest(
        chain: Chain, refinement: Refinement, R_t: wp.mat33d, p_t: wp.vec3d, problem: int,
        seed: wp.array2d(dtype=wp.float64), candidates: wp.array3d(dtype=wp.float64),
        misses: wp.array2d(dtype=wp.float64), solutions: wp.array3d(dtype=wp.float64),
        distances: wp.array2d(dtype=wp.float64), branch_of: wp.array2d(dtype=wp.int32),
    ):  # fmt: skip
        """Insert the configuration within the limits that is nearest to the pose.

        Returns:
            Its cost, inf for the seed, and True if it solves the pose.
        """
        _structure = wp.static(structure)
        best = vecm()
        for j in range(n):
            best[j] = seed[problem, j]
        best_cost = wp.float64(wp.inf)
        solves = bool(False)
        slot = candidates.shape[1]
        if refinement.least_error != 0:
            best, best_cost, solves = polish(
                chain, refinement, clamped(chain, best), R_t, p_t, _FIRST_STEPS, True
            )
            slot = int(0)
        while slot < candidates.shape[1]:
            if wp.isfinite(misses[problem, slot]):
                start = read(problem, slot, candidates)
                start = nearest_turns(chain, start, problem, seed, refinement.at_limit)
                start = clamped(chain, start)
                q, cost, solves = polish(chain, refinement, start, R_t, p_t, _FIRST_STEPS, True)
                if cost < best_cost:
                    best = q
                    best_cost = cost
            slot += 1
        if refinement.least_error != 0:
            best, best_cost, solves = polish(
                chain, refinement, best, R_t, p_t, _LAST_STEPS, True
            )
        insert(best, 0, problem, 0, seed, solutions, distances, branch_of)
        return best_cost, solves

    @wp.func
    def write_beside(
        chain: Chain, refinement: Refinement, problem: int, branches: int, count: int,
        seed: wp.array2d(dtype=wp.float64), candidates: wp.array3d(dtype=wp.float64),
        solutions: wp.array3d(dtype=wp.float64), distances: wp.array2d(dtype=wp.float64),
    ) -> int:  # fmt: skip
        """Write the branches just outside the limits after the solutions; return their number."""
        _structure = wp.static(structure)
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
        return beside

    return SimpleNamespace(
        insert_at_limit=insert_at_limit, insert_all_turns=insert_all_turns,
        insert_nearest=insert_nearest, write_beside=write_beside,
    )  # fmt: skip
