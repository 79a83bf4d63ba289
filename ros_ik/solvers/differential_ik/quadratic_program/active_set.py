# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Active-set method for the quadratic program of a step, from a guess of the active constraints.

    minimise 1/2 x' H x + c' x   subject to   lower <= x <= upper,   J x >= d

A primal-dual active-set method (Hintermueller, Ito, Kunisch, "The primal-dual active set strategy
as a semismooth Newton method", SIAM J. Optim. 13, 2002). Each round solves for x with the active
constraints as equations. It then adds violated bounds and the most violated row, and drops
constraints whose multiplier has the wrong sign. When nothing changes, the optimality conditions
hold. From the active constraints of the previous step, this nearly always takes a single round.
The method may cycle, so the number of rounds is bounded. The caller then uses the dual method of
``qp/active_set``, which cannot cycle.
"""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.solvers.differential_ik.quadratic_program.binding_rows import row_functions
from ros_ik.solvers.differential_ik.quadratic_program.bound_sides import bound_side_functions
from ros_ik.solvers.differential_ik.quadratic_program.constraint_changes import (
    constraint_change_functions,
)
from ros_ik.solvers.differential_ik.quadratic_program.program import MAX_ROUNDS
from ros_ik.solvers.differential_ik.quadratic_program.program import step_program_struct
from ros_ik.solvers.least_squares.envelope import envelope_functions


@no_type_check
@functools.cache
def step_active_set_function() -> wp.Function:
    """Build ``solve_from_guess(i, program, is_warm, tolerance) -> rounds``, -1 for failure.

    The function reads and writes the active constraints, ``program.active_bound`` and
    ``program.binding``.
    """
    Program = step_program_struct()
    envelope = envelope_functions()
    entry, factorise = envelope.entry, envelope.factorise
    forward, backward = envelope.forward, envelope.backward
    first_side, changed = bound_side_functions().first_side, constraint_change_functions()
    revise_bounds, revise_rows = changed.revise_bounds, changed.revise_rows
    release_bound = changed.release_bound
    of_rows = row_functions()
    list_binding, solve_active_rows = of_rows.list_binding, of_rows.solve_active_rows
    zero = wp.constant(wp.float64(0.0))
    max_rounds = wp.constant(MAX_ROUNDS)

    @wp.func
    def initialise_guess(i: int, is_warm: bool, program: Program):
        """Fix variables with equal bounds, and free those whose active bound is infinite."""
        for j in range(program.order.shape[0]):
            program.active_bound[i, j] = first_side(
                program.active_bound[i, j], is_warm, program.lower[i, j], program.upper[i, j]
            )
        for row in range(program.d.shape[1]):
            if not is_warm or not wp.isfinite(program.d[i, row]):
                program.binding[i, row] = 0

    @wp.func
    def solve_equations(i: int, count: int, program: Program) -> int:
        """Solve for x with the active constraints as equations; return the number of rows kept."""
        n = program.order.shape[0]
        z = program.z[i]
        any_fixed = bool(False)
        for j in range(n):
            if program.active_bound[i, j] != 0:
                any_fixed = True
                if program.active_bound[i, j] < 0:
                    program.x[i, j] = program.lower[i, j]
                else:
                    program.x[i, j] = program.upper[i, j]
        H = program.H[i]
        for p in range(n):
            j = program.order[p]
            value = -program.c[i, j]
            if program.active_bound[i, j] != 0:
                value = wp.float64(0.0)
            elif any_fixed:
                for k in range(n):
                    if program.active_bound[i, k] != 0:
                        value -= entry(H, j, k) * program.x[i, k]
            z[p] = value
        factor = program.factor[i]
        forward(program.first, factor, z)
        good = solve_active_rows(i, count, program)
        backward(program.first, factor, z)
        for p in range(n):
            j = program.order[p]
            if program.active_bound[i, j] == 0:
                program.x[i, j] = z[p]
        return good

    @wp.func
    def solve_from_guess(i: int, program: Program, is_warm: bool, tolerance: wp.float64) -> int:
        initialise_guess(i, is_warm, program)
        changes = int(1)
        rounds = int(0)
        is_factor_good = bool(False)
        while changes > 0:
            count = list_binding(i, program)
            if rounds >= max_rounds or count < 0:
                return -1
            rounds += 1
            if not is_factor_good:
                is_positive = factorise(
                    program.order, program.first, program.active_bound[i], program.H[i], zero,
                    program.factor[i],
                )  # fmt: skip
                if not is_positive:
                    return -1
            good = solve_equations(i, count, program)
            if good < count:
                if release_bound(i, good, program) == 0:
                    return -1
                is_factor_good = False
            else:
                changes = revise_bounds(i, count, tolerance, program)
                is_factor_good = changes == 0
                # Rows are tested only if the bounds hold, because clamping x would violate many
                # rows.
                if changes == 0:
                    changes = revise_rows(i, count, tolerance, program)
        return rounds

    return solve_from_guess
