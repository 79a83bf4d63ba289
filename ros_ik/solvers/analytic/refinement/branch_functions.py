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

# Largest number of solutions that is counted.
MAX_COUNT = 2**31 - 1


@no_type_check
@functools.cache
def branch_functions(n: int, has_slides: bool, has_free_turns: bool) -> SimpleNamespace:
    """Build the functions for a kind of chain and pose; see ``polish_functions``.

    Returns:
        The functions

        - ``is_new(chain, q, problem, count, refinement, branches) -> bool``;
        - ``clamped(chain, q) -> q``;
        - ``insert(q, branch, problem, count, seed, solutions, distances, branch_of) -> count``;
        - ``allowed_turns(chain, refinement, q) -> lowest, highest, first, last``;
        - ``number_of_patterns(lowest, highest, first, last) -> number``;
        - ``pattern_turns(pattern, lowest, highest, first, last) -> low, high``;
        - ``insert_turns(chain, q, low, high, branch, problem, count, seed, solutions, distances,
          branch_of) -> count``.
    """
    structure = zlib.crc32(repr((n, has_slides, has_free_turns)).encode()) & 0x7FFFFFFF
    functions = polish_functions(n, has_slides, has_free_turns)
    is_slide, vecm = functions.is_slide, functions.vecm
    Chain, Refinement = functions.Chain, functions.Refinement
    shared = solution_functions(n, has_slides, has_free_turns)
    is_apart, distance_to = shared.is_apart, shared.distance_to
    one = wp.float64(1.0)

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
        """Return the lowest and highest turn to report of each joint, and those off its limits.

        Turns up to ``at_limit`` outside the limits count: rounding may move them there. Turns off
        the limits are inside them by more than that.
        """
        _structure = wp.static(structure)
        turn = wp.float64(wp.TAU)
        lowest = vecm()
        highest = vecm()
        first = vecm()
        last = vecm()
        for j in range(n):
            limited = wp.isfinite(chain.lower[j]) and wp.isfinite(chain.upper[j])
            if limited and not is_slide(chain, j):
                to_lower = chain.lower[j] - q[j]
                to_upper = chain.upper[j] - q[j]
                lowest[j] = wp.ceil((to_lower - refinement.at_limit) / turn)
                highest[j] = wp.floor((to_upper + refinement.at_limit) / turn)
                first[j] = wp.floor((to_lower + refinement.at_limit) / turn) + one
                last[j] = wp.ceil((to_upper - refinement.at_limit) / turn) - one
        return lowest, highest, first, last

    @wp.func
    def choices(lowest: wp.float64, highest: wp.float64, first: wp.float64, last: wp.float64):
        """Return 1 each if a joint has turns off its limits, at the lower and at the upper one."""
        inside = wp.where(first <= last, 1, 0)
        at_lower = wp.where(lowest < first, 1, 0)
        # A turn at both limits counts once.
        at_upper = wp.where(highest > last and (at_lower == 0 or highest > lowest), 1, 0)
        return inside, at_lower, at_upper

    @wp.func
    def number_of_patterns(lowest: vecm, highest: vecm, first: vecm, last: vecm) -> int:
        """Return the number of ways in which joints are at a limit or off their limits."""
        _structure = wp.static(structure)
        number = int(1)
        for j in range(n):
            inside, at_lower, at_upper = choices(lowest[j], highest[j], first[j], last[j])
            number *= inside + at_lower + at_upper
        return number

    @wp.func
    def pattern_turns(pattern: int, lowest: vecm, highest: vecm, first: vecm, last: vecm):
        """Return the lowest and highest turn of each joint in a pattern of joints at limits."""
        _structure = wp.static(structure)
        low = first
        high = last
        digits = pattern
        for j in range(n):
            inside, at_lower, at_upper = choices(lowest[j], highest[j], first[j], last[j])
            number = inside + at_lower + at_upper
            digit = digits % number - inside
            digits = digits // number
            if digit >= 0:
                low[j] = wp.where(digit < at_lower, lowest[j], highest[j])
                high[j] = low[j]
        return low, high

    @wp.func
    def insert_turns(
        chain: Chain, q: vecm, low: vecm, high: vecm, branch: int, problem: int, count: int,
        seed: wp.array2d(dtype=wp.float64), solutions: wp.array3d(dtype=wp.float64),
        distances: wp.array2d(dtype=wp.float64), branch_of: wp.array2d(dtype=wp.int32),
    ) -> int:  # fmt: skip
        """Insert a solution in the turns ``low`` to ``high`` that are nearest to the seed.

        The turns are counted from q, which is within the limits. Combinations that the tables
        have no room for are only counted. The last joints turn first, each by growing distances
        to the seed, up to the largest distance in full tables. So nearly all combinations that are
        visited are inserted.

        Returns:
            The number of solutions, at most MAX_COUNT.
        """
        _structure = wp.static(structure)
        turn = wp.float64(wp.TAU)
        room = distances.shape[1]
        held = wp.min(count, room)
        nearest = vecm()
        below = vecm()  # the next turns of each joint on either side of those visited
        above = vecm()
        least = vecm()
        most = vecm()
        least_change = vecm()
        before = vecm()  # sum of the distances with the joints after this one at the nearest turn
        number = one
        whole = q
        for j in range(n):
            if low[j] < high[j]:
                least[j] = wp.max(low[j], wp.ceil((chain.lower[j] - q[j]) / turn))
                most[j] = wp.min(high[j], wp.floor((chain.upper[j] - q[j]) / turn))
            number *= most[j] - least[j] + one
            wanted = wp.rint((seed[problem, j] - q[j]) / turn)
            nearest[j] = wp.clamp(wanted, least[j], most[j])
            below[j] = nearest[j] - one
            above[j] = nearest[j] + one
            whole[j] = q[j] + turn * nearest[j]
            change = whole[j] - seed[problem, j]
            least_change[j] = change * change
        total = distance_to(whole, problem, seed)
        for j in range(n):
            before[j] = total
        level = int(n - 1)
        if held == room and total >= distances[problem, room - 1]:
            level = -1
        else:
            insert(whole, branch, problem, held, seed, solutions, distances, branch_of)
            held = wp.min(held + 1, room)
        while level >= 0:
            # The next turn of the joint, and the change of the distance with it.
            off_below = q[level] + turn * below[level] - seed[problem, level]
            off_above = q[level] + turn * above[level] - seed[problem, level]
            is_below = above[level] > most[level]
            if below[level] >= least[level] and wp.abs(off_below) < wp.abs(off_above):
                is_below = True
            off = wp.where(is_below, off_below, off_above)
            total = before[level] + off * off - least_change[level]
            visits = below[level] >= least[level] or above[level] <= most[level]
            if visits and held == room and total >= distances[problem, room - 1]:
                visits = False
            if visits:
                if is_below:
                    whole[level] = q[level] + turn * below[level]
                    below[level] -= one
                else:
                    whole[level] = q[level] + turn * above[level]
                    above[level] += one
                insert(whole, branch, problem, held, seed, solutions, distances, branch_of)
                held = wp.min(held + 1, room)
                for j in range(n):
                    if j > level:
                        before[j] = total
                level = int(n - 1)
            else:
                whole[level] = q[level] + turn * nearest[level]
                below[level] = nearest[level] - one
                above[level] = nearest[level] + one
                level -= 1
        return int(wp.min(wp.float64(count) + number, wp.float64(wp.static(MAX_COUNT))))

    return SimpleNamespace(
        is_new=is_new, clamped=clamped, insert=insert, allowed_turns=allowed_turns,
        number_of_patterns=number_of_patterns, pattern_turns=pattern_turns,
        insert_turns=insert_turns,
    )  # fmt: skip
