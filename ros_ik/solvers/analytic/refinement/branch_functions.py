# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions from the branches of a pose to its solutions, sorted by distance to the seed."""

import functools
from types import SimpleNamespace
from typing import no_type_check
import zlib

import warp as wp

from ros_ik.solvers.analytic.refinement.polish import polish_functions
from ros_ik.solvers.analytic.refinement.solution_functions import solution_functions
from ros_ik.solvers.analytic.refinement.sorted_entries import insert_sorted


@no_type_check
@functools.cache
def branch_functions(n: int, has_slides: bool, has_free_turns: bool) -> SimpleNamespace:
    """Build the functions for a kind of chain and pose; see ``polish_functions``.

    Returns:
        The functions

        - ``is_new(chain, q, problem, count, refinement, branches) -> bool``;
        - ``clamped(chain, q) -> q``;
        - ``insert(q, branch, problem, count, seed, solutions, distances, branch_of) -> count``;
        - ``allowed_turns(chain, refinement, q) -> lowest, number``.
    """
    structure = zlib.crc32(repr((n, has_slides, has_free_turns)).encode()) & 0x7FFFFFFF
    functions = polish_functions(n, has_slides, has_free_turns)
    is_slide, vecm = functions.is_slide, functions.vecm
    Chain, Refinement = functions.Chain, functions.Refinement
    shared = solution_functions(n, has_slides, has_free_turns)
    is_apart, distance_to = shared.is_apart, shared.distance_to
    Turns = wp.types.vector(n, wp.int32)

    @wp.func
    def is_new(
        chain: Chain, q: vecm, problem: int, count: int, refinement: Refinement,
        branches: wp.array3d(dtype=wp.float64),
    ) -> bool:  # fmt: skip
        """Return True if q differs from the first ``count`` branches by more than whole turns."""
        for k in range(count):
            if not is_apart(chain, q, problem, k, refinement, branches):
                return False
        return True

    @wp.func
    def clamped(chain: Chain, q: vecm) -> vecm:
        """Return q clamped to the limits."""
        inside = q
        for j in range(n):
            inside[j] = wp.clamp(q[j], chain.lower[j], chain.upper[j])
        return inside

    @wp.func
    def insert(
        q: vecm, branch: int, problem: int, count: int, seed: wp.array2d(dtype=wp.float64),
        solutions: wp.array3d(dtype=wp.float64), distances: wp.array2d(dtype=wp.float64),
        branch_of: wp.array2d(dtype=wp.int32),
    ) -> int:  # fmt: skip
        """Insert a solution, sorted by distance to the seed; return the number of solutions."""
        room = solutions.shape[1]
        distance = distance_to(q, problem, seed)
        at = insert_sorted(distance, branch, problem, count, distances, branch_of)
        k = wp.min(count, room - 1)
        while k > at:
            for j in range(n):
                solutions[problem, k, j] = solutions[problem, k - 1, j]
            k -= 1
        if at < room:
            for j in range(n):
                solutions[problem, at, j] = q[j]
        return count + 1

    @wp.func
    def allowed_turns(chain: Chain, refinement: Refinement, q: vecm):
        """Return the lowest turn to report of each joint, and the number of turns.

        Turns up to ``at_limit`` outside the limits count: rounding may move them there.
        """
        _structure = wp.static(structure)
        lowest = Turns()
        number = Turns()
        for j in range(n):
            number[j] = 1
            limited = wp.isfinite(chain.lower[j]) and wp.isfinite(chain.upper[j])
            if refinement.all_turns != 0 and limited and not is_slide(chain, j):
                below = q[j] - chain.lower[j] + refinement.at_limit
                down = int(wp.floor(below / wp.float64(wp.TAU)))
                lowest[j] = -down
                above = chain.upper[j] - q[j] + refinement.at_limit
                up = int(wp.floor(above / wp.float64(wp.TAU)))
                number[j] = 1 + down + up
        return lowest, number

    return SimpleNamespace(
        is_new=is_new, clamped=clamped, insert=insert, allowed_turns=allowed_turns
    )
