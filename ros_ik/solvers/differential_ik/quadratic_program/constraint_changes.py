# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Changes of the active constraints of a step's program, after a round of the active-set method.

A violated bound becomes active, and so does the most violated row. A constraint whose multiplier
has the wrong sign becomes inactive. If the active bounds make a row infeasible, the bound whose
multiplier reaches zero first is released, as in the dual method.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.solvers.differential_ik.quadratic_program.bound_sides import bound_side_functions
from ros_ik.solvers.differential_ik.quadratic_program.program import step_program_struct
from ros_ik.solvers.least_squares.envelope import envelope_functions


@no_type_check
@functools.cache
def constraint_change_functions() -> SimpleNamespace:
    """Build the functions that change ``program.active_bound`` and ``program.binding``.

    - ``revise_bounds(i, count, tolerance, program)``: number of changes.
    - ``revise_rows(i, count, tolerance, program)``: number of changes.
    - ``release_bound(i, good, program)``: 1 if something changed, otherwise 0.

    ``count`` is the number of active rows, ``good`` the number of those that hold.
    """
    Program = step_program_struct()
    entry, sides = envelope_functions().entry, bound_side_functions()
    side_beyond, is_released = sides.side_beyond, sides.is_released
    zero = wp.constant(wp.float64(0.0))

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
        Return 1 if something changed, otherwise 0.
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

    return SimpleNamespace(
        revise_bounds=revise_bounds, revise_rows=revise_rows, release_bound=release_bound
    )
