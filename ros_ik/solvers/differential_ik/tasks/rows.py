# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels for tasks that are given as residuals and Jacobians, such as user-defined objectives.

The Jacobian is transformed to the variables x of the group, dq = S x, weighted, and added to the
program:

    H += (W J S)' W J S + mu I,    c += (W J S)' W gain sat(r)
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.differential_ik.tasks.cost import saturation_function
from ros_ik.solvers.least_squares.normal_equations import normal_equations_functions


@no_type_check
@functools.cache
def step_rows_struct() -> Any:
    """Return the Warp struct of the rows and of the parameters of their tasks."""

    @wp.struct
    class StepRows:
        residual: wp.array2d(dtype=wp.float64)  # [n, rows]
        jacobian: wp.array3d(dtype=wp.float64)  # [n, rows, joint_dof_count]
        weight: wp.array(dtype=wp.float64)  # [rows]
        counts: wp.array(dtype=wp.int32)  # [rows], 0 for a row of a locked joint
        block_start: wp.array(dtype=wp.int32)  # [blocks + 1]
        block_task: wp.array(dtype=wp.int32)  # [blocks]
        max_error: wp.array(dtype=wp.float64)  # [blocks]
        gain: wp.array(dtype=wp.float64)  # [tasks]
        damping: wp.array(dtype=wp.float64)  # [tasks]
        # degrees of freedom that the group moves
        dof: wp.array(dtype=wp.int32)  # [moving]
        variable: wp.array(dtype=wp.int32)  # [moving]
        factor: wp.array(dtype=wp.float64)  # [moving]
        # weighted and folded
        J: wp.array3d(dtype=wp.float64)  # [n, rows, variables]
        error: wp.array2d(dtype=wp.float64)  # [n, rows]

    return StepRows


@no_type_check
@functools.cache
def step_rows_kernels() -> SimpleNamespace:
    """Build the kernels ``fold_rows`` and ``add_rows``, float64."""
    Rows, add_row = step_rows_struct(), normal_equations_functions(wp.float64).add_row
    saturation = saturation_function(wp.float64)
    zero = wp.constant(wp.float64(0.0))

    @wp.func
    def block_length(i: int, block: int, rows: Rows) -> wp.float64:
        square = wp.float64(0.0)
        for row in range(rows.block_start[block], rows.block_start[block + 1]):
            if rows.weight[row] > zero and rows.counts[row] != 0:
                square += rows.residual[i, row] * rows.residual[i, row]
        return wp.sqrt(square)

    @wp.func
    def fold_row(i: int, row: int, rows: Rows):
        weight = rows.weight[row]
        for k in range(rows.dof.shape[0]):
            variable = rows.variable[k]
            rows.J[i, row, variable] = rows.J[i, row, variable] + (
                weight * rows.factor[k] * rows.jacobian[i, row, rows.dof[k]]
            )

    @compiled_kernel()
    def fold_rows(
        rows: Rows,
        H: wp.array3d(dtype=wp.float64),  # [n, variables, variables], damping is added
    ):
        i = wp.tid()
        n = H.shape[1]
        diagonal = wp.float64(0.0)
        for block in range(rows.block_task.shape[0]):
            task = rows.block_task[block]
            factor = rows.gain[task]
            if wp.isfinite(rows.max_error[block]):
                factor *= saturation(block_length(i, block, rows), rows.max_error[block])
            for row in range(rows.block_start[block], rows.block_start[block + 1]):
                for j in range(n):
                    rows.J[i, row, j] = zero
                rows.error[i, row] = zero
                # A row with zero weight has no effect, even if its target is not finite.
                if rows.weight[row] > zero and rows.counts[row] != 0:
                    error = rows.weight[row] * factor * rows.residual[i, row]
                    rows.error[i, row] = error
                    if rows.damping[task] > zero:
                        diagonal += rows.damping[task] * error * error
                    fold_row(i, row, rows)
        for j in range(n):
            H[i, j, j] = H[i, j, j] + diagonal

    @compiled_kernel()
    def add_rows(
        rows: Rows,
        H: wp.array3d(dtype=wp.float64),  # [n, variables, variables], lower triangle, incremented
        c: wp.array2d(dtype=wp.float64),  # [n, variables], added to
    ):
        i = wp.tid()
        for j in range(c.shape[1]):
            c[i, j] = c[i, j] + add_row(rows.J[i], rows.error[i], j, H[i, j])

    return SimpleNamespace(fold_rows=fold_rows, add_rows=add_rows)
