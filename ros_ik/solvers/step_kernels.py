# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels that turn tasks and barriers into the quadratic program of one step.

    H = sum_k (W_k J_k)' W_k J_k + (lambda + sum_k mu_k + sum_b r_b / |J_b|^2) I
    c = sum_k (W_k J_k)' W_k gain_k sat(r_k)
    A = -J_h / dt,   b = gain_b (h - margin) / (1 + |h - margin|)

Degrees of freedom are folded into the variables of the joint group on the way: dq = S x.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp


@no_type_check
@functools.cache
def step_kernels(scalar: type) -> SimpleNamespace:
    """Build the kernels of one floating-point type."""

    @wp.func
    def saturation(norm: scalar, max_error: scalar) -> scalar:
        """Factor that shortens a residual of this length to max_error tanh(norm / max_error)."""
        if not wp.isfinite(max_error) or norm <= scalar(0.0):
            return scalar(1.0)
        return max_error * wp.tanh(norm / max_error) / norm

    @wp.kernel(enable_backward=False, module='unique')
    def reset_box(
        lower: wp.array2d(dtype=scalar),  # [n, n_variables]
        upper: wp.array2d(dtype=scalar),  # [n, n_variables]
    ):
        robot = wp.tid()
        for variable in range(lower.shape[1]):
            lower[robot, variable] = scalar(-wp.inf)
            upper[robot, variable] = scalar(wp.inf)

    @wp.kernel(enable_backward=False, module='unique')
    def assemble_cost(
        # the tasks
        residuals: wp.array2d(dtype=scalar),  # [n, total_residuals]
        jacobian: wp.array3d(dtype=scalar),  # [n, total_residuals, joint_dof_count]
        weight: wp.array(dtype=scalar),  # [total_residuals]
        block_start: wp.array(dtype=wp.int32),  # [blocks + 1]
        block_task: wp.array(dtype=wp.int32),  # [blocks]
        block_max_error: wp.array(dtype=scalar),  # [blocks]
        task_gain: wp.array(dtype=scalar),  # [tasks]
        task_damping: wp.array(dtype=scalar),  # [tasks]
        regularization: wp.array(dtype=scalar),  # [1]
        # the joint group
        dof_variable: wp.array(dtype=wp.int32),  # [joint_dof_count]
        dof_scale: wp.array(dtype=scalar),  # [joint_dof_count]
        # out
        row_jacobian: wp.array2d(dtype=scalar),  # [n, n_variables], scratch
        H: wp.array3d(dtype=scalar),  # [n, n_variables, n_variables]
        c: wp.array2d(dtype=scalar),  # [n, n_variables]
    ):
        robot = wp.tid()
        n = c.shape[1]
        for j in range(n):
            c[robot, j] = scalar(0.0)
            for k in range(n):
                H[robot, j, k] = scalar(0.0)
        diagonal = regularization[0]
        for block in range(block_task.shape[0]):
            task = block_task[block]
            first = block_start[block]
            last = block_start[block + 1]
            norm_square = scalar(0.0)
            for row in range(first, last):
                norm_square += residuals[robot, row] * residuals[robot, row]
            factor = task_gain[task] * saturation(wp.sqrt(norm_square), block_max_error[block])
            for row in range(first, last):
                error = weight[row] * factor * residuals[robot, row]
                diagonal += task_damping[task] * error * error
                for j in range(n):
                    row_jacobian[robot, j] = scalar(0.0)
                for dof in range(dof_variable.shape[0]):
                    variable = dof_variable[dof]
                    if variable >= 0:
                        row_jacobian[robot, variable] += (
                            weight[row] * dof_scale[dof] * jacobian[robot, row, dof]
                        )
                for j in range(n):
                    value = row_jacobian[robot, j]
                    if value != scalar(0.0):
                        c[robot, j] += value * error
                        for k in range(j + 1):
                            H[robot, j, k] += value * row_jacobian[robot, k]
        for j in range(n):
            H[robot, j, j] += diagonal
            for k in range(j):
                H[robot, k, j] = H[robot, j, k]

    @wp.kernel(enable_backward=False, module='unique')
    def assemble_barriers(
        values: wp.array2d(dtype=scalar),  # [n, total_rows]
        barrier_jacobian: wp.array3d(dtype=scalar),  # [n, total_rows, n_variables]
        barrier_start: wp.array(dtype=wp.int32),  # [barriers + 1]
        gain: wp.array(dtype=scalar),  # [barriers]
        margin: wp.array(dtype=scalar),  # [barriers]
        safe_displacement_gain: wp.array(dtype=scalar),  # [barriers]
        dt: scalar,
        # out
        H: wp.array3d(dtype=scalar),  # [n, n_variables, n_variables], added to
        A: wp.array3d(dtype=scalar),  # [n, total_rows, n_variables]
        b: wp.array2d(dtype=scalar),  # [n, total_rows]
    ):
        robot = wp.tid()
        n = A.shape[2]
        for barrier in range(gain.shape[0]):
            norm_square = scalar(0.0)
            for row in range(barrier_start[barrier], barrier_start[barrier + 1]):
                inside = values[robot, row] - margin[barrier]
                b[robot, row] = gain[barrier] * inside / (scalar(1.0) + wp.abs(inside))
                for j in range(n):
                    slope = barrier_jacobian[robot, row, j]
                    norm_square += slope * slope
                    A[robot, row, j] = -slope / dt
            if norm_square > scalar(0.0):
                for j in range(n):
                    H[robot, j, j] += safe_displacement_gain[barrier] / norm_square

    @wp.kernel(enable_backward=False, module='unique')
    def expand_step(
        x: wp.array2d(dtype=scalar),  # [n, n_variables]
        dof_variable: wp.array(dtype=wp.int32),  # [joint_dof_count]
        dof_scale: wp.array(dtype=scalar),  # [joint_dof_count]
        delta_q: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
    ):
        robot = wp.tid()
        for dof in range(dof_variable.shape[0]):
            variable = dof_variable[dof]
            delta_q[robot, dof] = scalar(0.0)
            if variable >= 0:
                delta_q[robot, dof] = dof_scale[dof] * x[robot, variable]

    return SimpleNamespace(
        reset_box=reset_box,
        assemble_cost=assemble_cost,
        assemble_barriers=assemble_barriers,
        expand_step=expand_step,
    )
