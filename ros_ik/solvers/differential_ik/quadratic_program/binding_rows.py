# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Active rows of a step's program as equations.

They enter through the Schur complement S = J H^-1 J' of the free variables, whose factor L L' = H
is that of :mod:`ros_ik.solvers.least_squares.envelope`.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.solvers.differential_ik.quadratic_program.program import step_program_struct
from ros_ik.solvers.least_squares.envelope import envelope_functions
from ros_ik.solvers.qp.cholesky import factor_row_function

# A pivot of S below this fraction of its diagonal means that the rows are linearly dependent.
_MIN_PIVOT = 1e-12


@no_type_check
@functools.cache
def row_functions() -> SimpleNamespace:
    """Build ``list_binding`` and ``solve_active_rows``, which solves for the active rows."""
    Program = step_program_struct()
    forward, factor_row = envelope_functions().forward, factor_row_function(wp.float64)
    least = wp.constant(wp.float64(_MIN_PIVOT))
    zero = wp.constant(wp.float64(0.0))

    @wp.func
    def list_binding(i: int, program: Program) -> int:
        """Assign numbers to the rows that bind; -1 for more than there is room for."""
        count = int(0)
        for row in range(program.d.shape[1]):
            if program.binding[i, row] != 0:
                if count >= program.row.shape[1]:
                    return -1
                program.row[i, count] = row
                count += 1
        return count

    @wp.func
    def load_row(i: int, a: int, program: Program) -> wp.float64:
        """y_a = L^-1 J_a' of the free variables; return d_a less the part of the fixed ones."""
        row = program.row[i, a]
        y = program.y[i, a]
        rest = program.d[i, row]
        for p in range(program.order.shape[0]):
            j = program.order[p]
            slope = program.J[i, row, j]
            y[p] = slope
            if program.active_bound[i, j] != 0:
                rest -= slope * program.x[i, j]
                y[p] = zero
        forward(program.first, program.factor[i], y)
        return rest

    @wp.func
    def solve_multipliers(i: int, count: int, program: Program) -> int:
        """Multiplier = S^-1 multiplier by a Cholesky factor, of the rows before a dependent one.

        Return their number.
        """
        S = program.S[i]
        multiplier = program.multiplier[i]
        good = int(0)
        while good < count:
            size = S[good, good]
            pivot = factor_row(S, good)
            if not (pivot > least * size):
                break
            S[good, good] = wp.sqrt(pivot)
            value = multiplier[good]
            for b in range(good):
                value -= S[good, b] * multiplier[b]
            multiplier[good] = value / S[good, good]
            good += 1
        for step in range(good):
            a = good - 1 - step
            value = multiplier[a] / S[a, a]
            multiplier[a] = value
            for b in range(a):
                multiplier[b] = multiplier[b] - S[a, b] * value
        return good

    @wp.func
    def solve_active_rows(i: int, count: int, program: Program) -> int:
        """Correct z by the binding rows; return the number of rows before a dependent one."""
        n = program.order.shape[0]
        z = program.z[i]
        for a in range(count):
            rest = load_row(i, a, program)
            y = program.y[i, a]
            for p in range(n):
                if program.active_bound[i, program.order[p]] == 0:
                    rest -= y[p] * z[p]
            program.multiplier[i, a] = rest
            for b in range(a + 1):
                other = program.y[i, b]
                product = wp.float64(0.0)
                for p in range(n):
                    product += y[p] * other[p]
                program.S[i, a, b] = product
        good = solve_multipliers(i, count, program)
        for a in range(good):
            y = program.y[i, a]
            for p in range(n):
                z[p] = z[p] + program.multiplier[i, a] * y[p]
        return good

    return SimpleNamespace(list_binding=list_binding, solve_active_rows=solve_active_rows)
