# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Dual active-set method for a small dense quadratic program, as Warp functions.

    minimise 1/2 x' H x + c' x   subject to   lower <= x <= upper,   A x <= b

Goldfarb and Idnani, "A numerically stable dual method for solving strictly convex quadratic
programs", Mathematical Programming 27 (1983). The method starts at the unconstrained optimum and
adds the most violated constraint until none is left, so the work is proportional to the number
of active constraints, and the solution is exact up to rounding. Notation as in the paper: J holds
L^-T Q of the Cholesky factor L and the orthogonal factor Q of the active normals, R their
triangular factor, u the multipliers. Constraint k is the lower bound of variable k for k < n, the
upper bound of k - n for k < 2 n, and row k - 2 n of A after that.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.solvers.qp.cholesky import factor_row_function

SOLVED = 0
INFEASIBLE = 1
ITERATION_LIMIT = 2
NOT_CONVEX = 3


@no_type_check
@functools.cache
def active_set_functions(scalar: type) -> SimpleNamespace:
    """Build the functions for one floating-point type.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.

    Returns:
        ``Workspace`` (a ``wp.struct`` of arrays, batch first) and
        ``solve(i, workspace, lower, upper, A, x, max_iterations, tolerance)``, which reads
        ``workspace.H``, ``.c`` and ``.b`` of problem ``i`` (H is overwritten by its factor),
        writes ``x[i]``, ``workspace.active`` and ``workspace.u`` and returns (code, iterations,
        active count).
    """
    factor_row = factor_row_function(scalar)

    @wp.struct
    class Workspace:
        H: wp.array3d(dtype=scalar)  # [batch, n, n]; becomes its Cholesky factor
        c: wp.array2d(dtype=scalar)  # [batch, n]
        b: wp.array2d(dtype=scalar)  # [batch, rows]
        row_norm: wp.array2d(dtype=scalar)  # [batch, rows]
        is_broken: wp.array2d(dtype=wp.int32)  # [batch, rows], by the closest point so far
        J: wp.array3d(dtype=scalar)  # [batch, n, n]
        R: wp.array3d(dtype=scalar)  # [batch, n, n]
        d: wp.array2d(dtype=scalar)  # [batch, n]: J' normal
        z: wp.array2d(dtype=scalar)  # [batch, n]: primal direction
        r: wp.array2d(dtype=scalar)  # [batch, n]: dual direction
        u: wp.array2d(dtype=scalar)  # [batch, n + 1]: multipliers, in the order of `active`
        active: wp.array2d(dtype=wp.int32)  # [batch, n + 1]: constraint numbers
        is_active: wp.array2d(dtype=wp.int32)  # [batch, 2 n + rows]

    @wp.func
    def factorise(i: int, ws: Workspace, n: int) -> bool:
        """Compute H = L L' in place, and J = L^-T."""
        H = ws.H[i]
        for j in range(n):
            pivot = factor_row(H, j)
            if not (pivot > scalar(0.0)):
                return False
            H[j, j] = wp.sqrt(pivot)
        for col in range(n):
            for row in range(n):
                ws.J[i, row, col] = scalar(0.0)
            ws.J[i, col, col] = scalar(1.0) / ws.H[i, col, col]
        for col in range(n):
            for row in range(col + 1, n):
                value = scalar(0.0)
                for k in range(col, row):
                    value += ws.H[i, row, k] * ws.J[i, col, k]
                ws.J[i, col, row] = -value / ws.H[i, row, row]
        return True

    @wp.func
    def unconstrained_optimum(i: int, ws: Workspace, n: int, x: wp.array2d(dtype=scalar)):
        """Compute x = -H^-1 c = -J J' c."""
        for k in range(n):
            value = scalar(0.0)
            for j in range(k + 1):
                value += ws.J[i, j, k] * ws.c[i, j]
            ws.d[i, k] = value
        for k in range(n):
            value = scalar(0.0)
            for j in range(k, n):
                value += ws.J[i, k, j] * ws.d[i, j]
            x[i, k] = -value

    @wp.func
    def slack(
        i: int,
        k: int,
        n: int,
        ws: Workspace,
        lower: wp.array2d(dtype=scalar),
        upper: wp.array2d(dtype=scalar),
        A: wp.array3d(dtype=scalar),
        x: wp.array2d(dtype=scalar),
    ) -> scalar:
        """Return the slack of constraint k at x, in units of x."""
        if k < n:
            return x[i, k] - lower[i, k]
        if k < 2 * n:
            return upper[i, k - n] - x[i, k - n]
        row = k - 2 * n
        value = ws.b[i, row]
        for j in range(n):
            value -= A[i, row, j] * x[i, j]
        return value / ws.row_norm[i, row]

    @wp.func
    def most_violated(
        i: int,
        n: int,
        rows: int,
        ws: Workspace,
        lower: wp.array2d(dtype=scalar),
        upper: wp.array2d(dtype=scalar),
        A: wp.array3d(dtype=scalar),
        x: wp.array2d(dtype=scalar),
        tolerance: scalar,
    ) -> int:
        worst = -tolerance
        found = int(-1)
        for k in range(2 * n + rows):
            if ws.is_active[i, k] == 0:
                s = slack(i, k, n, ws, lower, upper, A, x)
                if s < worst:
                    worst = s
                    found = k
        return found

    @wp.func
    def directions(i: int, k: int, n: int, q: int, ws: Workspace, A: wp.array3d(dtype=scalar)):
        """Compute d = J' normal(k); z = J_2 d_2; r = R^-1 d_1 (paper, section 3)."""
        for col in range(n):
            value = scalar(0.0)
            if k < n:
                value = ws.J[i, k, col]
            elif k < 2 * n:
                value = -ws.J[i, k - n, col]
            else:
                row = k - 2 * n
                for j in range(n):
                    value -= A[i, row, j] * ws.J[i, j, col]
                value = value / ws.row_norm[i, row]
            ws.d[i, col] = value
        for j in range(n):
            value = scalar(0.0)
            for col in range(q, n):
                value += ws.J[i, j, col] * ws.d[i, col]
            ws.z[i, j] = value
        for step in range(q):
            j = q - 1 - step
            value = ws.d[i, j]
            for col in range(j + 1, q):
                value -= ws.R[i, j, col] * ws.r[i, col]
            ws.r[i, j] = value / ws.R[i, j, j]

    @wp.func
    def rotate_columns(i: int, n: int, left: int, c: scalar, s: scalar, ws: Workspace):
        """Apply a Givens rotation to columns left and left + 1 of J."""
        for j in range(n):
            a = ws.J[i, j, left]
            b = ws.J[i, j, left + 1]
            ws.J[i, j, left] = c * a + s * b
            ws.J[i, j, left + 1] = c * b - s * a

    @wp.func
    def rotation_onto(a: scalar, b: scalar):
        """Return h = |(a, b)|, a / h and b / h; a and b are not both zero.

        Their squares may underflow: symmetric postures have coefficients of 1e-219.
        """
        size = wp.max(wp.abs(a), wp.abs(b))
        c = a / size
        s = b / size
        h = wp.sqrt(c * c + s * s)
        return size * h, c / h, s / h

    @wp.func
    def add_constraint(i: int, n: int, q: int, ws: Workspace):
        """Rotate d_2 onto its first entry and append it to R as column q."""
        for step in range(n - 1 - q):
            col = n - 2 - step
            a = ws.d[i, col]
            b = ws.d[i, col + 1]
            if b != scalar(0.0):
                h, c, s = rotation_onto(a, b)
                ws.d[i, col] = h
                ws.d[i, col + 1] = scalar(0.0)
                rotate_columns(i, n, col, c, s, ws)
        for j in range(q + 1):
            ws.R[i, j, q] = ws.d[i, j]

    @wp.func
    def drop_constraint(i: int, n: int, q: int, position: int, ws: Workspace):
        """Remove column `position` of R and make it triangular again."""
        for col in range(position, q - 1):
            ws.active[i, col] = ws.active[i, col + 1]
            ws.u[i, col] = ws.u[i, col + 1]
            for j in range(q):
                ws.R[i, j, col] = ws.R[i, j, col + 1]
        ws.u[i, q - 1] = ws.u[i, q]
        for col in range(position, q - 1):
            a = ws.R[i, col, col]
            b = ws.R[i, col + 1, col]
            if b != scalar(0.0):
                h, c, s = rotation_onto(a, b)
                ws.R[i, col, col] = h
                ws.R[i, col + 1, col] = scalar(0.0)
                for k in range(col + 1, q - 1):
                    top = ws.R[i, col, k]
                    bottom = ws.R[i, col + 1, k]
                    ws.R[i, col, k] = c * top + s * bottom
                    ws.R[i, col + 1, k] = c * bottom - s * top
                rotate_columns(i, n, col, c, s, ws)

    @wp.func
    def solve(
        i: int,
        ws: Workspace,
        lower: wp.array2d(dtype=scalar),
        upper: wp.array2d(dtype=scalar),
        A: wp.array3d(dtype=scalar),
        x: wp.array2d(dtype=scalar),
        max_iterations: int,
        tolerance: scalar,
    ):
        n = x.shape[1]
        rows = ws.b.shape[1]
        q = int(0)
        iterations = int(0)
        if not factorise(i, ws, n):
            return NOT_CONVEX, iterations, q
        for k in range(2 * n + rows):
            ws.is_active[i, k] = 0
        for row in range(rows):
            if not (ws.row_norm[i, row] > scalar(0.0)):
                ws.is_active[i, 2 * n + row] = -1  # a row without coefficients cannot be active
        unconstrained_optimum(i, ws, n, x)

        k = most_violated(i, n, rows, ws, lower, upper, A, x, tolerance)
        while k >= 0:
            ws.u[i, q] = scalar(0.0)
            added = int(0)
            while added == 0:
                if iterations >= max_iterations:
                    return ITERATION_LIMIT, iterations, q
                iterations += 1
                directions(i, k, n, q, ws, A)
                d_free = scalar(0.0)
                d_all = scalar(0.0)
                for col in range(n):
                    d_square = ws.d[i, col] * ws.d[i, col]
                    d_all += d_square
                    if col >= q:
                        d_free += d_square
                # Longest step with non-negative multipliers of the active constraints.
                dual_step = scalar(wp.inf)
                blocking = int(-1)
                for j in range(q):
                    if ws.r[i, j] > scalar(0.0):
                        ratio = ws.u[i, j] / ws.r[i, j]
                        if ratio < dual_step:
                            dual_step = ratio
                            blocking = j
                s = slack(i, k, n, ws, lower, upper, A, x)
                # If d_free is rounding noise, the normal depends linearly on the active ones.
                dependent = q >= n or d_free <= scalar(wp.static(_dependence(scalar))) * d_all
                if dependent and blocking < 0:
                    return INFEASIBLE, iterations, q
                step = dual_step
                full = False
                if not dependent:
                    primal_step = -s / d_free
                    if primal_step <= dual_step:
                        step = primal_step
                        full = True
                    for j in range(n):
                        x[i, j] = x[i, j] + step * ws.z[i, j]
                if not full and blocking < 0:
                    return NOT_CONVEX, iterations, q  # numbers that are not finite any more
                for j in range(q):
                    ws.u[i, j] = ws.u[i, j] - step * ws.r[i, j]
                ws.u[i, q] = ws.u[i, q] + step
                if full:
                    add_constraint(i, n, q, ws)
                    ws.active[i, q] = k
                    ws.is_active[i, k] = 1
                    q += 1
                    added = 1
                else:
                    ws.is_active[i, ws.active[i, blocking]] = 0
                    drop_constraint(i, n, q, blocking, ws)
                    q -= 1
            k = most_violated(i, n, rows, ws, lower, upper, A, x, tolerance)
        return SOLVED, iterations, q

    return SimpleNamespace(Workspace=Workspace, solve=solve)


def _dependence(scalar: type) -> float:
    """Return the squared relative length below which a projected normal is zero.

    The Hessian may have a condition number of up to 1e12 (a frame task with a regularisation of
    1e-12), so lengths of projected normals may differ by 1e6. Rounding is near 1e-15.
    """
    return 1e-24 if scalar is wp.float64 else 1e-10
