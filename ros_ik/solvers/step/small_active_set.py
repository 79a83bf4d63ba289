# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The program of one step of few variables and no rows, solved in registers from a guess.

    minimise 1/2 x' H x + c' x   subject to   lower <= x <= upper

The method is that of ``active_set``; without rows what binds is one sign per variable.
"""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.solvers.qp.small_system import small_system_functions
from ros_ik.solvers.step.program import MAX_ROUNDS
from ros_ik.solvers.step.program import step_program_struct

# Most variables: more take too long to compile, and gain little.
MOST_VARIABLES = 8


@no_type_check
@functools.cache
def small_active_set_function(m: int) -> wp.Function:
    """Build ``solve_from_guess(i, program, is_warm, tolerance) -> rounds``, -1 for no success.

    It reads and leaves the bounds that bind in ``program.held``.

    Args:
        m: Number of variables.
    """
    Program = step_program_struct()
    system = small_system_functions(wp.float64, m)
    solve_all, solve_free = system.solve_all, system.solve_free
    vecm, matmm = wp.types.vector(m, wp.float64), wp.types.matrix((m, m), wp.float64)
    zero, one = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(1.0))
    max_rounds = wp.constant(MAX_ROUNDS)

    @wp.func
    def guess(held: int, is_warm: bool, low: wp.float64, high: wp.float64) -> wp.float64:
        """Side on which a variable is held: -1, 0 or 1."""
        side = wp.float64(0.0)
        if is_warm and held < 0 and wp.isfinite(low):
            side = -one
        if is_warm and held > 0 and wp.isfinite(high):
            side = one
        if low == high:
            side = -one
        return side

    @wp.func
    def slopes(H: matmm, c: vecm, x: vecm) -> vecm:
        """Derivatives of the cost, from the lower triangle of H."""
        slope = vecm()
        for j in range(m):
            slope[j] += c[j] + H[j, j] * x[j]
            for k in range(wp.static(j)):
                slope[j] += H[j, k] * x[k]
                slope[k] += H[j, k] * x[j]
        return slope

    @wp.func
    def solve_from_guess(i: int, program: Program, is_warm: bool, tolerance: wp.float64) -> int:
        # Warp tells functions apart by their text: this names the size.
        _size = wp.static(m)
        H = matmm()
        c = vecm()
        low = vecm()
        high = vecm()
        side = vecm()
        for j in range(m):
            c[j] = program.c[i, j]
            low[j] = program.lower[i, j]
            high[j] = program.upper[i, j]
            side[j] = guess(program.held[i, j], is_warm, low[j], high[j])
            for k in range(wp.static(j + 1)):
                H[j, k] = program.H[i, j, k]
        rounds = int(0)
        changes = int(1)
        while changes > 0 and rounds < max_rounds:
            rounds += 1
            changes = 0
            fixed = vecm()
            at = vecm()
            any_held = zero
            for j in range(m):
                fixed[j] = wp.abs(side[j])
                any_held += fixed[j]
                if side[j] < zero:
                    at[j] = low[j]
                if side[j] > zero:
                    at[j] = high[j]
            x = vecm()
            if any_held > zero:
                x = solve_free(H, -c, zero, fixed, at)
            else:
                x = solve_all(H, -c, zero)
            slope = slopes(H, c, x)
            for j in range(m):
                if side[j] == zero:
                    if x[j] > high[j] + tolerance:
                        side[j] = one
                        changes += 1
                    elif x[j] < low[j] - tolerance:
                        side[j] = -one
                        changes += 1
                elif low[j] < high[j]:
                    if slope[j] * side[j] > zero:
                        side[j] = zero
                        changes += 1
            for j in range(m):
                program.x[i, j] = x[j]
        for j in range(m):
            program.held[i, j] = int(side[j])
        if changes > 0:
            return -1
        return rounds

    return solve_from_guess
