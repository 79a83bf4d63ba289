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

If the active bounds make a row infeasible, the bound whose multiplier reaches zero first is
released, as in the dual method.
"""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.solvers.differential_ik.quadratic_program.binding_rows import row_functions
from ros_ik.solvers.differential_ik.quadratic_program.bound_sides import bound_side_functions
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
    sides = bound_side_functions()
    first_side, side_beyond = sides.first_side, sides.side_beyond
    is_released = sides.is_released
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
    def slope_of(i: int, j: int, count: int, program: Program) -> wp.float64:
        """Return the multiplier of an active bound, the derivative of the Lagrangian."""
        H = program.H[i]
        slope = program.c[i, j]
        for k in range(program.order.shape[0]):
            slope += entry(H, j, k) * program.x[i, k]
        for a in range(count):
            slope -= program.multiplier[i, a] * program.J[i, program.row[i, a], j]
        return slope

    @wp.func
    def revise_bounds(i: int, count: int, tolerance: wp.float64, program: Program) -> int:
        """Activate and release bounds; return the number of changes."""
        changes = int(0)
        for j in range(program.order.shape[0]):
            low = program.lower[i, j]
            high = program.upper[i, j]
            side = program.active_bound[i, j]
            if side == 0:
                beyond = side_beyond(program.x[i, j], low, high, tolerance)
                program.active_bound[i, j] = beyond
                changes += wp.abs(beyond)
            elif low < high:
                if is_released(side, low, high, slope_of(i, j, count, program)):
                    program.active_bound[i, j] = 0
                    changes += 1
        return changes

    @wp.func
    def revise_rows(i: int, count: int, tolerance: wp.float64, program: Program) -> int:
        """Add the most violated row, drop rows with a wrong sign; return the number of changes."""
        changes = int(0)
        for a in range(count):
            if program.multiplier[i, a] < zero:
                program.binding[i, program.row[i, a]] = 0
                changes += 1
        worst_row = int(-1)
        worst = -tolerance
        x = program.x[i]
        for row in range(program.d.shape[1]):
            if program.binding[i, row] == 0 and wp.isfinite(program.d[i, row]):
                J = program.J[i, row]
                room = -program.d[i, row]
                for j in range(program.order.shape[0]):
                    room += J[j] * x[j]
                if room < zero:
                    square = wp.float64(0.0)
                    for j in range(program.order.shape[0]):
                        square += J[j] * J[j]
                    # A row without coefficients cannot be active.
                    if square > zero and room < worst * wp.sqrt(square):
                        worst = room / wp.sqrt(square)
                        worst_row = row
        if worst_row >= 0:
            program.binding[i, worst_row] = 1
            changes += 1
        return changes

    @wp.func
    def release_bound(i: int, good: int, program: Program) -> int:
        """Release a bound for a row that the active constraints make infeasible.

        This row follows the ``good`` ones. As its multiplier grows, the multipliers of opposing
        bounds shrink; the first to reach zero is released. A row that is satisfied is dropped.
        Return True if something changed.
        """
        row = program.row[i, good]
        room = -program.d[i, row]
        for j in range(program.order.shape[0]):
            room += program.J[i, row, j] * program.x[i, j]
        if room >= zero:
            program.binding[i, row] = 0
            return 1
        first = int(-1)
        least = wp.float64(wp.inf)
        for j in range(program.order.shape[0]):
            side = wp.float64(program.active_bound[i, j])
            slope = program.J[i, row, j] * side
            if slope < zero and program.lower[i, j] < program.upper[i, j]:
                ratio = slope_of(i, j, good, program) * side / slope
                if ratio < least:
                    least = ratio
                    first = j
        if first < 0:
            return 0
        program.active_bound[i, first] = 0
        return 1

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
