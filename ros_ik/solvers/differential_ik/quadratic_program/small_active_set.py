# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that solves the program of a step with few variables and no rows, in registers.

    minimise 1/2 x' H x + c' x   subject to   lower <= x <= upper

The method is that of ``active_set``, from the active constraints of the previous step. Without
rows these are one sign per variable. If it fails, the dual method is used, see ``dual_fallback``.
"""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.differential_ik.quadratic_program.bound_sides import bound_side_functions
from ros_ik.solvers.differential_ik.quadratic_program.dual_fallback import dual_program_struct
from ros_ik.solvers.differential_ik.quadratic_program.dual_fallback import end_step_function
from ros_ik.solvers.differential_ik.quadratic_program.program import MAX_ROUNDS
from ros_ik.solvers.differential_ik.quadratic_program.program import step_program_struct
from ros_ik.solvers.qp.small_system import small_system_functions

# Largest number of variables; more take too long to compile, for little gain.
MAX_VARIABLES = 8


@no_type_check
@functools.cache
def small_active_set_function(m: int) -> wp.Function:
    """Build ``solve_from_guess(i, program, is_warm, tolerance) -> rounds``.

    The function reads and writes ``program.active_bound``. It returns -1 for failure, and 0 if a
    number is not finite or a lower bound exceeds the upper one.

    Args:
        m: Number of variables.
    """
    Program = step_program_struct()
    system = small_system_functions(wp.float64, m)
    solve_all, solve_free = system.solve_all, system.solve_free
    vecm, matmm = wp.types.vector(m, wp.float64), wp.types.matrix((m, m), wp.float64)
    sides, zero = bound_side_functions(), wp.constant(wp.float64(0.0))
    first_side, side_beyond = sides.first_side, sides.side_beyond
    is_released = sides.is_released
    max_rounds = wp.constant(MAX_ROUNDS)

    @wp.func
    def slopes(H: matmm, c: vecm, x: vecm) -> vecm:
        """Return the derivatives of the cost, from the lower triangle of H."""
        slope = vecm()
        for j in range(m):
            slope[j] += c[j] + H[j, j] * x[j]
            for k in range(j):
                slope[j] += H[j, k] * x[k]
                slope[k] += H[j, k] * x[j]
        return slope

    @wp.func
    def solve_from_guess(i: int, program: Program, is_warm: bool, tolerance: wp.float64) -> int:
        # Warp distinguishes functions by their source text, so the size must appear in it.
        _size = wp.static(m)
        H = matmm()
        c = vecm()
        low = vecm()
        high = vecm()
        side = vecm()
        total = zero  # finite only if all its terms are
        is_open = bool(True)
        for j in range(m):
            c[j] = program.c[i, j]
            low[j] = program.lower[i, j]
            high[j] = program.upper[i, j]
            side[j] = wp.float64(first_side(program.active_bound[i, j], is_warm, low[j], high[j]))
            for k in range(j, -1, -1):
                H[j, k] = program.H[i, j, k]
            total += c[j] + H[j, j]
            is_open = is_open and low[j] <= high[j]
        if not is_open or not wp.isfinite(total):
            return 0
        x = vecm()
        rounds = int(0)
        changes = int(1)
        while changes > 0 and rounds < max_rounds:
            rounds += 1
            changes = 0
            fixed = vecm()
            at = vecm()
            any_fixed = zero
            for j in range(m):
                fixed[j] = wp.abs(side[j])
                any_fixed += fixed[j]
                if side[j] < zero:
                    at[j] = low[j]
                if side[j] > zero:
                    at[j] = high[j]
            if any_fixed > zero:
                x = solve_free(H, -c, zero, fixed, at)
            else:
                x = solve_all(H, -c, zero)
            slope = slopes(H, c, x)
            for j in range(m):
                if side[j] == zero:
                    beyond = side_beyond(x[j], low[j], high[j], tolerance)
                    side[j] = wp.float64(beyond)
                    changes += wp.abs(beyond)
                elif is_released(int(side[j]), low[j], high[j], slope[j]):
                    side[j] = zero
                    changes += 1
        total = zero
        for j in range(m):
            total += x[j]
            program.active_bound[i, j] = int(side[j])
            # Rounding must not move the step beyond a hard bound.
            program.x[i, j] = wp.clamp(x[j], low[j], high[j])
        if changes > 0 or not wp.isfinite(total):
            return -1
        return rounds

    return solve_from_guess


@no_type_check
@functools.cache
def solve_small_step_kernel(m: int, lists_failed: bool) -> wp.Kernel:
    """Build the kernel, float64.

    Args:
        m: Number of variables, at most ``MAX_VARIABLES``.
        lists_failed: True if robots that need the dual method are marked for ``dual_fallback``.
    """
    Program, Dual = step_program_struct(), dual_program_struct()
    solve_from_guess, end_step = small_active_set_function(m), end_step_function(lists_failed)

    @compiled_kernel(registers=255)
    def solve_small_step(
        dt: wp.float64,
        max_iterations: wp.array(dtype=wp.int32),  # [1]
        tolerance: wp.float64,
        is_warm: int,
        dof: wp.array(dtype=wp.int32),  # [moving], degrees of freedom that the group moves
        variable: wp.array(dtype=wp.int32),  # [moving]
        factor: wp.array(dtype=wp.float64),  # [moving]
        program: Program,
        dual: Dual,
        is_relaxed: wp.array(dtype=wp.int32),  # [n], see finish_step; cleared
        # out
        failed: wp.array(dtype=wp.int32),  # [n], 1 for robots left to the dual method, if listed
        delta_q: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count], zero where nothing moves
        status: wp.array(dtype=wp.int32),  # [n]
        rounds: wp.array(dtype=wp.int32),  # [n], -1 if the dual method was needed
    ):
        i = wp.tid()
        taken = solve_from_guess(i, program, is_warm != 0, tolerance)
        end_step(
            i, taken, dt, max_iterations, tolerance, dof, variable, factor, program, dual,
            is_relaxed, failed, delta_q, status, rounds,
        )  # fmt: skip

    return solve_small_step
