# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel of a batch of dense quadratic programs with hard bounds and rows that may be relaxed.

    minimise 1/2 x' H x + c' x   subject to   lower <= x <= upper,   A x <= b

If the rows are infeasible within the bounds, they are relaxed as little as possible:

1. Rows with b >= 0 are kept, because x = 0 satisfies them. Rows with b < 0 require a recovery
   and are relaxed towards 0, to their values at the closest point. A recovery may therefore be
   slower than required, but never a step in the wrong direction.
2. If this is infeasible too (bounds that exclude 0), every row is relaxed to its value at the
   closest point.

The closest point has the least sum of squared violations of rows with unit length:

    minimise sum_k max(0, (A_k x - b_k) / |A_k|)^2

This function is piecewise quadratic and is minimised by Newton's method (Mangasarian, "A finite
Newton method for classification", Optim. Methods Softw. 17, 2002). Starting from the feasible
point nearest to 0, each round minimises the quadratic function of the violated rows, until these
rows stay the same. Rows with b / |A| below -10^4 (float32: -100) count as if it were that: the sum
of squares would lose its smaller terms, and the point its last digits, to rounding.

The program is then solved with the relaxed rows, so the cost is minimised and every bound holds.
A row without coefficients changes nothing; with b < 0 no point meets it, and the program counts as
relaxed.
"""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.qp.active_set import active_set_functions
from ros_ik.solvers.qp.active_set import INFEASIBLE
from ros_ik.solvers.qp.active_set import ITERATION_LIMIT
from ros_ik.solvers.qp.active_set import SOLVED
from ros_ik.solvers.status import SolveStatus

# Weight of |x|^2 in the search for the closest point. It is small enough to change the point by
# 1e-9 relative, and large enough to keep the Hessian positive definite.
_CLOSEST_POINT_REGULARIZATION = 1e-9

# Largest number of rounds of Newton's method; two to four are nearly always enough. The rows can
# be relaxed to their values at any point, so the method may end early.
_MAX_ROUNDS = 16

# Allowance around the closest point, in feasibility tolerances, and for rows near 0.
_SLACK, _MIN_SLACK = 10.0, 3.0

# Largest distance -b / |A| of a row from 0 in the search for the closest point. Rounding at this
# distance is below a tenth of the usual tolerances, 1e-10 in float64 and 1e-4 in float32.
_FARTHEST = {wp.float64: 1e4, wp.float32: 100.0}

# Stages: the original program, the closest point within the rows that x = 0 satisfies, the closest
# point within the bounds only, and the relaxed program.
_STAGE_ASKED = 0
_STAGE_CLOSEST_WITH_ROWS = 1
_STAGE_CLOSEST_IN_BOUNDS = 2
_STAGE_RELAXED = 3


@no_type_check
@functools.cache
def qp_function(scalar: type) -> wp.Function:
    """Build ``solve_program``, the body of the kernel for program i, with the same arguments."""
    method = active_set_functions(scalar)
    Workspace = method.Workspace
    solve = method.solve
    ASKED = wp.constant(_STAGE_ASKED)
    CLOSEST_WITH_ROWS = wp.constant(_STAGE_CLOSEST_WITH_ROWS)
    CLOSEST_IN_BOUNDS = wp.constant(_STAGE_CLOSEST_IN_BOUNDS)
    RELAXED = wp.constant(_STAGE_RELAXED)
    MAX_ROUNDS = wp.constant(_MAX_ROUNDS)
    FARTHEST = wp.constant(scalar(_FARTHEST[scalar]))

    @wp.func
    def is_finite_problem(
        i: int,
        H: wp.array3d(dtype=scalar),
        c: wp.array2d(dtype=scalar),
        lower: wp.array2d(dtype=scalar),
        upper: wp.array2d(dtype=scalar),
        A: wp.array3d(dtype=scalar),
        b: wp.array2d(dtype=scalar),
    ) -> bool:
        """Return True if the program is finite, and its bounds are ordered and not NaN."""
        n = c.shape[1]
        for j in range(n):
            if not wp.isfinite(c[i, j]) or not (lower[i, j] <= upper[i, j]):
                return False
            for k in range(n):
                if not wp.isfinite(H[i, j, k]):
                    return False
        for row in range(b.shape[1]):
            if wp.isnan(b[i, row]):
                return False
            for j in range(n):
                if not wp.isfinite(A[i, row, j]):
                    return False
        return True

    @wp.func
    def row_value(
        i: int, row: int, A: wp.array3d(dtype=scalar), x: wp.array2d(dtype=scalar)
    ) -> scalar:
        value = scalar(0.0)
        for j in range(x.shape[1]):
            value += A[i, row, j] * x[i, j]
        return value

    @wp.func
    def is_out_of_reach(
        i: int,
        lower: wp.array2d(dtype=scalar),
        upper: wp.array2d(dtype=scalar),
        A: wp.array3d(dtype=scalar),
        b: wp.array2d(dtype=scalar),
        tolerance: scalar,
        ws: Workspace,
    ) -> bool:
        """Return True if some row holds at no point within the bounds."""
        for row in range(b.shape[1]):
            if b[i, row] < scalar(0.0) and ws.row_norm[i, row] > scalar(0.0):
                least = -b[i, row] - scalar(wp.static(_SLACK)) * tolerance * ws.row_norm[i, row]
                for j in range(lower.shape[1]):
                    a = A[i, row, j]
                    if a > scalar(0.0):
                        least += a * lower[i, j]
                    elif a < scalar(0.0):
                        least += a * upper[i, j]
                if least > scalar(0.0):
                    return True
        return False

    @wp.func
    def has_empty_row(i: int, b: wp.array2d(dtype=scalar), ws: Workspace) -> bool:
        """Return True if a row without coefficients has b < 0."""
        for row in range(b.shape[1]):
            if b[i, row] < scalar(0.0) and not (ws.row_norm[i, row] > scalar(0.0)):
                return True
        return False

    @wp.func
    def load_rows(
        i: int,
        stage: int,
        A: wp.array3d(dtype=scalar),
        b: wp.array2d(dtype=scalar),
        x: wp.array2d(dtype=scalar),
        tolerance: scalar,
        ws: Workspace,
    ):
        """Load the right-hand sides of this stage; in the relaxed one x is the closest point."""
        for row in range(b.shape[1]):
            bound = b[i, row]
            if stage == CLOSEST_WITH_ROWS:
                bound = wp.max(bound, scalar(0.0))
            elif stage == CLOSEST_IN_BOUNDS:
                bound = scalar(wp.inf)
            elif stage == RELAXED:
                reached = row_value(i, row, A, x)
                # The closest point may be the only feasible one, so allow some violation, but
                # no more than rounding if a recovery could otherwise reverse.
                least = tolerance * ws.row_norm[i, row]
                room = scalar(wp.static(_SLACK)) * least
                if bound < scalar(0.0) and reached <= least:
                    most = scalar(wp.static(_MIN_SLACK)) * least
                    bound = wp.max(bound, wp.min(reached + room, most))
                else:
                    bound = wp.max(bound, reached + room)
            ws.b[i, row] = bound

    @wp.func
    def mark_broken(
        i: int,
        stage: int,
        A: wp.array3d(dtype=scalar),
        b: wp.array2d(dtype=scalar),
        x: wp.array2d(dtype=scalar),
        ws: Workspace,
    ) -> bool:
        """Mark the rows that x violates and this stage relaxes; return True if they changed."""
        others = bool(False)
        for row in range(b.shape[1]):
            is_broken = int(0)
            may_break = stage == CLOSEST_IN_BOUNDS or b[i, row] < scalar(0.0)
            if may_break and ws.row_norm[i, row] > scalar(0.0):
                is_broken = int(row_value(i, row, A, x) > b[i, row])
            others = others or is_broken != ws.is_broken[i, row]
            ws.is_broken[i, row] = is_broken
        return others

    @wp.func
    def load_cost(
        i: int,
        stage: int,
        H: wp.array3d(dtype=scalar),
        c: wp.array2d(dtype=scalar),
        A: wp.array3d(dtype=scalar),
        b: wp.array2d(dtype=scalar),
        ws: Workspace,
    ):
        """Load the cost of this stage, the original one or the violation of the marked rows."""
        n = c.shape[1]
        of_task = stage == ASKED or stage == RELAXED
        for j in range(n):
            ws.c[i, j] = c[i, j] if of_task else scalar(0.0)
            for k in range(n):
                value = scalar(0.0)
                if of_task:
                    value = H[i, j, k]
                elif j == k:
                    value = scalar(wp.static(_CLOSEST_POINT_REGULARIZATION))
                ws.H[i, j, k] = value
        if of_task:
            return
        for row in range(b.shape[1]):
            if ws.is_broken[i, row] != 0:
                norm = ws.row_norm[i, row]
                target = wp.max(b[i, row] / norm, -FARTHEST)
                for j in range(n):
                    a = A[i, row, j] / norm
                    ws.c[i, j] = ws.c[i, j] - a * target
                    for k in range(n):
                        ws.H[i, j, k] = ws.H[i, j, k] + a * (A[i, row, k] / norm)

    @wp.func
    def store_multipliers(
        i: int,
        n: int,
        active_count: int,
        ws: Workspace,
        bound_multiplier: wp.array2d(dtype=scalar),
        row_multiplier: wp.array2d(dtype=scalar),
    ):
        """Store the multipliers of bounds (negative at a lower one) and rows, 0 if inactive."""
        for k in range(active_count):
            constraint = ws.active[i, k]
            if constraint < n:
                bound_multiplier[i, constraint] = -ws.u[i, k]
            elif constraint < 2 * n:
                bound_multiplier[i, constraint - n] = ws.u[i, k]
            else:
                row = constraint - 2 * n
                row_multiplier[i, row] = ws.u[i, k] / ws.row_norm[i, row]

    @wp.func
    def solve_program(
        i: int,
        # the programs
        H: wp.array3d(dtype=scalar),  # [batch, n, n]
        c: wp.array2d(dtype=scalar),  # [batch, n]
        lower: wp.array2d(dtype=scalar),  # [batch, n]
        upper: wp.array2d(dtype=scalar),  # [batch, n]
        A: wp.array3d(dtype=scalar),  # [batch, rows, n]
        b: wp.array2d(dtype=scalar),  # [batch, rows]
        max_iterations: int,
        tolerance: scalar,
        ws: Workspace,
        # output
        x: wp.array2d(dtype=scalar),  # [batch, n]
        status: wp.array(dtype=wp.int32),  # [batch]
        iterations: wp.array(dtype=wp.int32),  # [batch]
        bound_multiplier: wp.array2d(dtype=scalar),  # [batch, n]
        row_multiplier: wp.array2d(dtype=scalar),  # [batch, rows]
    ):
        n = x.shape[1]
        rows = b.shape[1]
        for j in range(n):
            x[i, j] = scalar(0.0)
            bound_multiplier[i, j] = scalar(0.0)
        for row in range(rows):
            row_multiplier[i, row] = scalar(0.0)
            norm = scalar(0.0)
            for j in range(n):
                norm += A[i, row, j] * A[i, row, j]
            ws.row_norm[i, row] = wp.sqrt(norm)
        iterations[i] = 0
        if not is_finite_problem(i, H, c, lower, upper, A, b):
            status[i] = wp.static(int(SolveStatus.NON_FINITE_INPUT))
            return

        stage = int(ASKED)
        rounds = int(0)
        total = int(0)
        code = int(wp.static(INFEASIBLE))
        active_count = int(0)
        while True:
            if stage == ASKED and is_out_of_reach(i, lower, upper, A, b, tolerance, ws):
                code = int(wp.static(INFEASIBLE))
            else:
                load_rows(i, stage, A, b, x, tolerance, ws)
                load_cost(i, stage, H, c, A, b, ws)
                code, spent, active_count = solve(
                    i, ws, lower, upper, A, x, max_iterations, tolerance
                )
                total += spent
            is_closest = stage == CLOSEST_WITH_ROWS or stage == CLOSEST_IN_BOUNDS
            if code == wp.static(INFEASIBLE) and (stage == ASKED or stage == CLOSEST_WITH_ROWS):
                stage += 1
                rounds = 0
                for j in range(n):
                    x[i, j] = wp.clamp(scalar(0.0), lower[i, j], upper[i, j])
                mark_broken(i, stage, A, b, x, ws)
            elif code == wp.static(SOLVED) and is_closest:
                rounds += 1
                if not mark_broken(i, stage, A, b, x, ws) or rounds == MAX_ROUNDS:
                    stage = int(RELAXED)
            else:
                break

        finite = bool(True)
        for j in range(n):
            # Rounding must not move the step beyond a hard bound.
            x[i, j] = wp.clamp(x[i, j], lower[i, j], upper[i, j])
            finite = finite and wp.isfinite(x[i, j])
        iterations[i] = total
        if code == wp.static(SOLVED) and finite:
            store_multipliers(i, n, active_count, ws, bound_multiplier, row_multiplier)
            status[i] = wp.static(int(SolveStatus.CONVERGED))
            if stage == RELAXED or has_empty_row(i, b, ws):
                status[i] = wp.static(int(SolveStatus.RELAXED))
            return
        for j in range(n):
            x[i, j] = wp.clamp(scalar(0.0), lower[i, j], upper[i, j])
        status[i] = wp.static(int(SolveStatus.NUMERICAL_FAILURE))
        if code == wp.static(ITERATION_LIMIT):
            status[i] = wp.static(int(SolveStatus.ITERATION_LIMIT))

    return solve_program


@no_type_check
@functools.cache
def qp_kernel(scalar: type) -> wp.Kernel:
    """Build the kernel that solves one program per thread."""
    Workspace = active_set_functions(scalar).Workspace
    solve_program = qp_function(scalar)

    @compiled_kernel(registers=255)
    def solve_dense_qp(
        # the programs
        H: wp.array3d(dtype=scalar),  # [batch, n, n]
        c: wp.array2d(dtype=scalar),  # [batch, n]
        lower: wp.array2d(dtype=scalar),  # [batch, n]
        upper: wp.array2d(dtype=scalar),  # [batch, n]
        A: wp.array3d(dtype=scalar),  # [batch, rows, n]
        b: wp.array2d(dtype=scalar),  # [batch, rows]
        max_iterations: int,
        tolerance: scalar,
        ws: Workspace,
        # output
        x: wp.array2d(dtype=scalar),  # [batch, n]
        status: wp.array(dtype=wp.int32),  # [batch]
        iterations: wp.array(dtype=wp.int32),  # [batch]
        bound_multiplier: wp.array2d(dtype=scalar),  # [batch, n]
        row_multiplier: wp.array2d(dtype=scalar),  # [batch, rows]
    ):
        solve_program(
            wp.tid(), H, c, lower, upper, A, b, max_iterations, tolerance, ws,
            x, status, iterations, bound_multiplier, row_multiplier,
        )  # fmt: skip

    return solve_dense_qp
