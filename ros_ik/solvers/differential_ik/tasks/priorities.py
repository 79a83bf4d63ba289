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
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.batch_layout import batch_zeros
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.stepping.variable_steps import variable_steps_function
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.solvers.differential_ik.tasks.rows import step_rows_struct
from ros_ik.solvers.qp.cholesky import factor_row_function


@no_type_check
@functools.cache
def level_rows_struct() -> Any:
    """Return the Warp struct of the rows of the levels, with the memory to project them."""

    @wp.struct
    class LevelRows:
        order: wp.array(dtype=wp.int32)  # [rows], rows sorted by level
        start: wp.array(dtype=wp.int32)  # [levels + 1], first of each level in that order
        # rows in that order, as they are added to the program
        projected: wp.array3d(dtype=wp.float64)  # [n, rows, variables], W_k J_k N_k
        error: wp.array2d(dtype=wp.float64)  # [n, rows]
        # scratch
        previous: wp.array2d(dtype=wp.float64)  # [n, variables], the last step, or zeros
        J: wp.array3d(dtype=wp.float64)  # [n, rows, variables], in that order, without weights
        Y: wp.array3d(dtype=wp.float64)  # [n, rows, variables]
        L: wp.array3d(dtype=wp.float64)  # [n, rows, rows]
        N: wp.array3d(dtype=wp.float64)  # [n, variables, variables]

    return LevelRows


@shares_launch_lock
def make_level_rows(
    n: int, order: wp.array, start: wp.array, variables: int, device: wp.DeviceLike
) -> Any:
    """Return the struct for ``n`` robots, with order and start of a ``RowLevels``."""

    def zeros(*shape: int) -> wp.array:
        return batch_zeros((n, *shape), wp.float64, device)

    levels, rows = level_rows_struct()(), order.size
    levels.order, levels.start = order, start
    levels.projected, levels.error = zeros(rows, variables), zeros(rows)
    levels.previous = zeros(variables)
    levels.J, levels.Y = zeros(rows, variables), zeros(rows, variables)
    levels.L, levels.N = zeros(rows, rows), zeros(variables, variables)
    return levels


@no_type_check
@functools.cache
def add_levels_kernel() -> wp.Kernel:
    """Build the kernel that adds the rows of each level to the program, float64."""
    Rows, factor_row = step_rows_struct(), factor_row_function(wp.float64)
    Levels = level_rows_struct()
    write_variable_steps = variable_steps_function()
    zero, one = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(1.0))

    @wp.func
    def project_rows(
        i: int, first: int, last: int, rows: Rows, regularization: wp.float64, levels: Levels
    ):
        """Extend L L' = J_s J_s' + lambda I and Y = L^-1 J_s by rows, and subtract Y' Y from N."""
        J = levels.J[i]
        Y = levels.Y[i]
        L = levels.L[i]
        N = levels.N[i]
        n = N.shape[1]
        for a in range(first, last):
            row = levels.order[a]
            scale = zero
            if rows.weight[row] > zero:
                scale = one / rows.weight[row]
            for j in range(n):
                J[a, j] = scale * rows.J[i, row, j]
                Y[a, j] = J[a, j]
            for b in range(a + 1):
                value = wp.where(a == b, regularization, zero)
                for j in range(n):
                    value += J[a, j] * J[b, j]
                L[a, b] = value
            pivot = factor_row(L, a)
            for b in range(a):
                for j in range(n):
                    Y[a, j] = Y[a, j] - L[a, b] * Y[b, j]
            # Rounding must not reduce the pivot of a dependent row below lambda.
            root = wp.sqrt(wp.max(pivot, regularization + wp.float64(1e-300)))
            L[a, a] = root
            for j in range(n):
                Y[a, j] = Y[a, j] / root
            for j in range(n):
                for k in range(n):
                    N[j, k] = N[j, k] - Y[a, j] * Y[a, k]

    @compiled_kernel(registers=128)
    def add_levels(
        rows: Rows,
        regularization: wp.array(dtype=wp.float64),  # [1]
        last_step: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count], [0, 0]: no feedforward
        levels: Levels,
        # out
        H: wp.array3d(dtype=wp.float64),  # [n, variables, variables], lower triangle, incremented
        c: wp.array2d(dtype=wp.float64),  # [n, variables], added to
    ):
        i = wp.tid()
        n = c.shape[1]
        N = levels.N[i]
        previous = levels.previous[i]
        for j in range(n):
            for k in range(n):
                N[j, k] = zero
            N[j, j] = one
        if last_step.shape[0] > 0:
            write_variable_steps(
                i, last_step, rows.dof, rows.variable, rows.factor, levels.previous
            )
        for level in range(levels.start.shape[0] - 1):
            first = levels.start[level]
            last = levels.start[level + 1]
            for a in range(first, last):
                row = levels.order[a]
                projected = levels.projected[i, a]
                error = rows.error[i, row]
                for j in range(n):
                    value = wp.float64(0.0)
                    for k in range(n):
                        value += rows.J[i, row, k] * N[k, j]
                    projected[j] = value
                    error += (rows.J[i, row, j] - value) * previous[j]
                levels.error[i, a] = error
                for j in range(n):
                    c[i, j] = c[i, j] + projected[j] * error
                    for k in range(j + 1):
                        H[i, j, k] = H[i, j, k] + projected[j] * projected[k]
            # The rows of the last level constrain no others.
            if last < levels.order.shape[0]:
                project_rows(i, first, last, rows, regularization[0], levels)

    return add_levels
