# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Priorities of tasks, whose levels act in the null space of the levels before them.

    min_x  sum_k 1/2 |W_k (J_k N_k x + gain_k sat(r_k))|^2,
    N_k = I - J_s' (J_s J_s' + lambda I)^-1 J_s

J_s stacks the unweighted Jacobians of all levels before k, and N of the first level is I. Rows
with zero weight do not constrain later levels. For example, a pose without weight on its rotation
leaves the rotation to them (roboplan 0.7, optimal IK; after Siciliano and Slotine, "A general
framework for managing multiple tasks in highly redundant robotic systems", ICAR 1991).

The unknown is the whole step, so limits and barriers apply to all levels together. Where one of
them blocks the motion that a later level asks for, the minimum is a compromise between that level
and earlier ones.

So a task gets what it asks for beside the motion that earlier levels impose on it. With
feedforward, r_k includes this motion, as it was in the last step: W_k (J_k - J_k N_k) x_last is
added to the residual. A step that all tasks ask for then stays the same if their levels change.
"""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.stepping.variable_steps import variable_steps_function
from ros_ik.solvers.differential_ik.tasks.rows import step_rows_struct
from ros_ik.solvers.qp.cholesky import factor_row_function


@no_type_check
@functools.cache
def add_levels_kernel() -> wp.Kernel:
    """Build the kernel that adds the rows of each level to the program, float64."""
    Rows, factor_row = step_rows_struct(), factor_row_function(wp.float64)
    write_variable_steps = variable_steps_function()
    zero, one = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(1.0))

    @wp.func
    def project_rows(
        i: int,
        first: int,
        last: int,
        order: wp.array(dtype=wp.int32),
        rows: Rows,
        regularization: wp.float64,
        J: wp.array3d(dtype=wp.float64),
        Y: wp.array3d(dtype=wp.float64),
        L: wp.array3d(dtype=wp.float64),
        N: wp.array3d(dtype=wp.float64),
    ):
        """Extend L L' = J_s J_s' + lambda I and Y = L^-1 J_s by rows, and subtract Y' Y from N."""
        n = N.shape[1]
        for a in range(first, last):
            row = order[a]
            scale = zero
            if rows.weight[row] > zero:
                scale = one / rows.weight[row]
            for j in range(n):
                J[i, a, j] = scale * rows.J[i, row, j]
                Y[i, a, j] = J[i, a, j]
            for b in range(a + 1):
                value = wp.where(a == b, regularization, zero)
                for j in range(n):
                    value += J[i, a, j] * J[i, b, j]
                L[i, a, b] = value
            pivot = factor_row(L[i], a)
            for b in range(a):
                for j in range(n):
                    Y[i, a, j] = Y[i, a, j] - L[i, a, b] * Y[i, b, j]
            # Rounding must not reduce the pivot of a dependent row below lambda.
            root = wp.sqrt(wp.max(pivot, regularization + wp.float64(1e-300)))
            L[i, a, a] = root
            for j in range(n):
                Y[i, a, j] = Y[i, a, j] / root
            for j in range(n):
                for k in range(n):
                    N[i, j, k] = N[i, j, k] - Y[i, a, j] * Y[i, a, k]

    @compiled_kernel()
    def add_levels(
        rows: Rows,
        order: wp.array(dtype=wp.int32),  # [rows], rows sorted by level
        level_start: wp.array(dtype=wp.int32),  # [levels + 1], first of each level in that order
        regularization: wp.array(dtype=wp.float64),  # [1]
        last_step: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count], [0, 0]: no feedforward
        # scratch
        previous: wp.array2d(dtype=wp.float64),  # [n, variables], the last step, or zeros
        J: wp.array3d(dtype=wp.float64),  # [n, rows, variables], in that order, without weights
        Y: wp.array3d(dtype=wp.float64),  # [n, rows, variables]
        L: wp.array3d(dtype=wp.float64),  # [n, rows, rows]
        N: wp.array3d(dtype=wp.float64),  # [n, variables, variables]
        projected: wp.array2d(dtype=wp.float64),  # [n, variables]
        # out
        H: wp.array3d(dtype=wp.float64),  # [n, variables, variables], lower triangle, incremented
        c: wp.array2d(dtype=wp.float64),  # [n, variables], added to
    ):
        i = wp.tid()
        n = c.shape[1]
        for j in range(n):
            for k in range(n):
                N[i, j, k] = zero
            N[i, j, j] = one
        if last_step.shape[0] > 0:
            write_variable_steps(i, last_step, rows.dof, rows.variable, rows.factor, previous)
        for level in range(level_start.shape[0] - 1):
            first = level_start[level]
            last = level_start[level + 1]
            for a in range(first, last):
                row = order[a]
                error = rows.error[i, row]
                for j in range(n):
                    value = wp.float64(0.0)
                    for k in range(n):
                        value += rows.J[i, row, k] * N[i, k, j]
                    projected[i, j] = value
                    error += (rows.J[i, row, j] - value) * previous[i, j]
                for j in range(n):
                    c[i, j] = c[i, j] + projected[i, j] * error
                    for k in range(j + 1):
                        H[i, j, k] = H[i, j, k] + projected[i, j] * projected[i, k]
            # The rows of the last level constrain no others.
            if last < order.shape[0]:
                project_rows(i, first, last, order, rows, regularization[0], J, Y, L, N)

    return add_levels
