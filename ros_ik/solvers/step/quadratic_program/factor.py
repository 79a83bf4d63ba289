# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Cholesky factor of a step's program in its free variables, with active rows as equations.

Variables at a bound are not part of the factor. Active rows are added by the Schur complement
S = J H^-1 J'. The elimination order of the factor L L' = H keeps limbs apart. Zeros before the
first entry of each row are skipped.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.solvers.step.quadratic_program.program import step_program_struct

# A pivot of S below this fraction of its diagonal means that the rows are linearly dependent.
_LEAST_PIVOT = 1e-12


@no_type_check
@functools.cache
def factor_functions() -> SimpleNamespace:
    """Build ``factorise``, ``forward`` and ``backward`` of the free variables of one program."""
    Program = step_program_struct()
    zero, one = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(1.0))

    @wp.func
    def dot_lines(values: wp.array(dtype=wp.float64), a: int, b: int, n: int) -> wp.float64:
        """Return the dot product of n values, with two independent sums for speed."""
        even = wp.float64(0.0)
        odd = wp.float64(0.0)
        k = int(0)
        while k + 1 < n:
            even += values[a + k] * values[b + k]
            odd += values[a + k + 1] * values[b + k + 1]
            k += 2
        if k < n:
            even += values[a + k] * values[b + k]
        return even + odd

    @wp.func
    def factorise(i: int, program: Program) -> bool:
        """Compute L of the free variables, with inverse diagonal; the identity for held ones."""
        H = program.H[i]
        held = program.held[i]
        factor = program.factor
        n = program.order.shape[0]
        start = i * n * n
        for p in range(n):
            j = program.order[p]
            begin = program.first[p]
            line = start + p * n
            if held[j] != 0:
                for q in range(begin, p):
                    factor[line + q] = zero
                factor[line + p] = one
            else:
                pivot = H[j, j]
                for q in range(begin, p):
                    k = program.order[q]
                    value = wp.float64(0.0)
                    if held[k] == 0:
                        other = start + q * n
                        common = wp.max(begin, program.first[q])
                        value = H[wp.max(j, k), wp.min(j, k)] - dot_lines(
                            factor, line + common, other + common, q - common
                        )
                        value *= factor[other + q]
                    factor[line + q] = value
                    pivot -= value * value
                if not (pivot > zero):
                    return False
                factor[line + p] = one / wp.sqrt(pivot)
        return True

    @wp.func
    def forward(i: int, program: Program, z: wp.array(dtype=wp.float64)):
        """Compute z = L^-1 z."""
        factor = program.factor
        n = program.order.shape[0]
        for p in range(n):
            line = (i * n + p) * n
            value = z[p]
            for q in range(program.first[p], p):
                value -= factor[line + q] * z[q]
            z[p] = value * factor[line + p]

    @wp.func
    def backward(i: int, program: Program, z: wp.array(dtype=wp.float64)):
        """Compute z = L^-T z."""
        factor = program.factor
        n = program.order.shape[0]
        for step in range(n):
            p = n - 1 - step
            line = (i * n + p) * n
            value = z[p] * factor[line + p]
            z[p] = value
            for q in range(program.first[p], p):
                z[q] = z[q] - factor[line + q] * value

    return SimpleNamespace(factorise=factorise, forward=forward, backward=backward)


@no_type_check
@functools.cache
def row_functions() -> SimpleNamespace:
    """Build ``list_binding`` and ``push_onto_rows``, which solves for the active rows."""
    Program = step_program_struct()
    forward = factor_functions().forward
    least = wp.constant(wp.float64(_LEAST_PIVOT))
    zero = wp.constant(wp.float64(0.0))

    @wp.func
    def list_binding(i: int, program: Program) -> int:
        """Assign numbers to the active rows; return -1 if there are too many."""
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
        """Compute y_a = L^-1 J_a' of the free variables; return d_a minus the held part."""
        row = program.row[i, a]
        y = program.y[i, a]
        rest = program.d[i, row]
        for p in range(program.order.shape[0]):
            j = program.order[p]
            slope = program.J[i, row, j]
            y[p] = slope
            if program.held[i, j] != 0:
                rest -= slope * program.x[i, j]
                y[p] = zero
        forward(i, program, y)
        return rest

    @wp.func
    def solve_multipliers(i: int, count: int, program: Program) -> int:
        """Solve S multiplier = multiplier by a Cholesky factor, for rows before a dependent one.

        Return the number of these rows.
        """
        S = program.S[i]
        multiplier = program.multiplier[i]
        good = int(0)
        while good < count:
            a = good
            size = S[a, a]
            for b in range(a):
                value = S[a, b]
                for k in range(b):
                    value -= S[a, k] * S[b, k]
                value /= S[b, b]
                S[a, b] = value
                S[a, a] = S[a, a] - value * value
                multiplier[a] = multiplier[a] - value * multiplier[b]
            if not (S[a, a] > least * size):
                break
            S[a, a] = wp.sqrt(S[a, a])
            multiplier[a] = multiplier[a] / S[a, a]
            good += 1
        for step in range(good):
            a = good - 1 - step
            value = multiplier[a] / S[a, a]
            multiplier[a] = value
            for b in range(a):
                multiplier[b] = multiplier[b] - S[a, b] * value
        return good

    @wp.func
    def push_onto_rows(i: int, count: int, program: Program) -> int:
        """Return the number of active rows that hold; the next one depends on those before it."""
        n = program.order.shape[0]
        z = program.z[i]
        for a in range(count):
            rest = load_row(i, a, program)
            y = program.y[i, a]
            for p in range(n):
                if program.held[i, program.order[p]] == 0:
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

    return SimpleNamespace(list_binding=list_binding, push_onto_rows=push_onto_rows)
