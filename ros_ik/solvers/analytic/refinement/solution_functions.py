# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions that compare solutions with each other, with the limits and with the seed."""

import functools
from types import SimpleNamespace
from typing import no_type_check
import zlib

import warp as wp

from ros_ik.solvers.analytic.refinement.polish import polish_functions
from ros_ik.solvers.analytic.subproblems.rotations import within_half_turn


@no_type_check
@functools.cache
def solution_functions(n: int, has_slides: bool, has_free_turns: bool) -> SimpleNamespace:
    """Build the functions for a kind of chain and pose; see ``polish_functions``.

    Returns:
        The functions

        - ``read(problem, slot, values) -> q``, a configuration of a table;
        - ``differs(chain, refinement, j, change) -> bool``;
        - ``is_apart(chain, q, problem, k, refinement, branches) -> bool``;
        - ``least_outside(chain, slack, q) -> q``, ``turned_inside(chain, q) -> q``;
        - ``outside(chain, q) -> distance``, ``far_outside(chain, refinement, far, q) -> bool``;
        - ``distance_to(q, problem, seed) -> square``.
    """
    structure = zlib.crc32(repr((n, has_slides, has_free_turns)).encode()) & 0x7FFFFFFF
    functions = polish_functions(n, has_slides, has_free_turns)
    units, vecm = functions.units, functions.vecm
    Chain, Refinement = functions.Chain, functions.Refinement
    is_slide = functions.is_slide

    @wp.func
    def read(problem: int, slot: int, values: wp.array3d(dtype=wp.float64)) -> vecm:
        q = vecm()
        for j in range(n):
            q[j] = values[problem, slot, j]
        return q

    @wp.func
    def least_outside(chain: Chain, slack: wp.float64, q: vecm) -> vecm:
        """Move joints beyond their upper limit and slack by a whole turn to the nearer limit."""
        _structure = wp.static(structure)
        turn = wp.float64(wp.TAU)
        nearer = q
        for j in range(n):
            if not is_slide(chain, j):
                over = q[j] - chain.upper[j]
                under = chain.lower[j] - (q[j] - turn)
                back = wp.where(over > slack and under < over, turn, wp.float64(0.0))
                nearer[j] = q[j] - back
        return nearer

    @wp.func
    def turned_inside(chain: Chain, q: vecm) -> vecm:
        """Move joints outside their limits by a whole turn, if that leads inside."""
        _structure = wp.static(structure)
        turn = wp.float64(wp.TAU)
        inside = q
        for j in range(n):
            if not is_slide(chain, j):
                if q[j] > chain.upper[j] and q[j] - turn >= chain.lower[j]:
                    inside[j] = q[j] - turn
                elif q[j] < chain.lower[j] and q[j] + turn <= chain.upper[j]:
                    inside[j] = q[j] + turn
        return inside

    @wp.func
    def differs(chain: Chain, refinement: Refinement, j: int, change: wp.float64) -> bool:
        """Return True if a change of joint ``j`` makes another solution."""
        least = change
        if not is_slide(chain, j):
            least = within_half_turn(change)
        return wp.abs(least) >= refinement.separation * units(chain, refinement)[j]

    @wp.func
    def is_apart(
        chain: Chain, q: vecm, problem: int, k: int, refinement: Refinement,
        branches: wp.array3d(dtype=wp.float64),
    ) -> bool:  # fmt: skip
        """Return True if q differs from branch ``k`` by more than whole turns."""
        apart = bool(False)
        for j in range(n):
            # Most branches differ in the first joint.
            if not apart:
                apart = differs(chain, refinement, j, q[j] - branches[problem, k, j])
        return apart

    @wp.func
    def outside(chain: Chain, q: vecm) -> wp.float64:
        """Return the largest distance of a joint from the range of its limits."""
        most = wp.float64(0.0)
        for j in range(n):
            most = wp.max(most, wp.max(chain.lower[j] - q[j], q[j] - chain.upper[j]))
        return most

    @wp.func
    def far_outside(chain: Chain, refinement: Refinement, far: wp.float64, q: vecm) -> bool:
        """Return True if a joint is farther outside its limits than this [rad, reaches]."""
        unit = units(chain, refinement)
        most = wp.float64(-wp.inf)
        for j in range(n):
            off = wp.max(chain.lower[j] - q[j], q[j] - chain.upper[j])
            most = wp.max(most, off - far * unit[j])
        return most > wp.float64(0.0)

    @wp.func
    def distance_to(q: vecm, problem: int, seed: wp.array2d(dtype=wp.float64)) -> wp.float64:
        """Return the squared distance to the seed."""
        distance = wp.float64(0.0)
        for j in range(n):
            change = q[j] - seed[problem, j]
            distance += change * change
        return distance

    return SimpleNamespace(
        read=read, least_outside=least_outside, turned_inside=turned_inside, differs=differs,
        is_apart=is_apart, outside=outside, far_outside=far_outside, distance_to=distance_to,
    )  # fmt: skip
