# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels of one iteration of the search for the configuration of least cost.

    minimise 1/2 x' (J'J + S + lambda s I) x + r'J x,   s = max diag(J'J)
    subject to   max(low - u, -radius) <= x <= min(high - u, radius),   dh/dx x >= floor - h

Rows of barriers whose derivatives are only rounding are left out.

u is the displacement of the group's variables from the start, q = q_start + F u. The report of an
iteration has |r|^2 at u, |r|^2 at u + x, the predicted decrease -(2 r'J x + |J x|^2), max |x|, and
1 if a position limit or a barrier is active.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.row_bound import row_bound_functions
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.least_squares.normal_equations import normal_equations_functions

# Entries of the report.
COST, TRIAL_COST, PREDICTED, STEP, HELD_BACK = range(5)
REPORT_SIZE = 5

# Entries of the parameters.
DAMPING, RADIUS = range(2)
PARAMETER_COUNT = 2

# Least damping, independent of the scale, for a strictly convex problem even if no joint has a
# cost.
_MIN_DAMPING = 1e-30


@no_type_check
@functools.cache
def search_kernels(scalar: type) -> SimpleNamespace:
    """Build the kernels of one floating-point type, for a single robot."""
    add_row = normal_equations_functions(scalar).add_row
    is_still = row_bound_functions(scalar).is_still

    @compiled_kernel()
    def place_robot(
        start_q: wp.array2d(dtype=scalar),  # [1, joint_coord_count]
        u: wp.array2d(dtype=scalar),  # [1, n_variables]
        dof_variable: wp.array(dtype=wp.int32),  # [joint_dof_count]
        dof_scale: wp.array(dtype=scalar),  # [joint_dof_count]
        dof_coord: wp.array(dtype=wp.int32),  # [joint_dof_count]
        joint_q: wp.array2d(dtype=scalar),  # [1, joint_coord_count]
    ):
        for coord in range(start_q.shape[1]):
            joint_q[0, coord] = start_q[0, coord]
        for dof in range(dof_variable.shape[0]):
            variable = dof_variable[dof]
            if variable >= 0:
                coord = dof_coord[dof]
                joint_q[0, coord] = start_q[0, coord] + dof_scale[dof] * u[0, variable]

    @compiled_kernel()
    def fold_jacobian(
        jacobian: wp.array3d(dtype=scalar),  # [1, total_residuals, joint_dof_count]
        dof_variable: wp.array(dtype=wp.int32),  # [joint_dof_count]
        dof_scale: wp.array(dtype=scalar),  # [joint_dof_count]
        J: wp.array2d(dtype=scalar),  # [total_residuals, n_variables]
    ):
        row = wp.tid()
        for j in range(J.shape[1]):
            J[row, j] = scalar(0.0)
        for dof in range(dof_variable.shape[0]):
            variable = dof_variable[dof]
            if variable >= 0:
                J[row, variable] = J[row, variable] + dof_scale[dof] * jacobian[0, row, dof]

    @compiled_kernel()
    def assemble_model(
        residuals: wp.array2d(dtype=scalar),  # [1, total_residuals]
        J: wp.array2d(dtype=scalar),  # [total_residuals, n_variables]
        H: wp.array3d(dtype=scalar),  # [1, n_variables, n_variables], lower triangle of J'J
        c: wp.array2d(dtype=scalar),  # [1, n_variables]
        diagonal: wp.array(dtype=scalar),  # [n_variables], of J'J
    ):
        j = wp.tid()
        for k in range(j + 1):
            H[0, j, k] = scalar(0.0)
        c[0, j] = add_row(J, residuals[0], j, H[0, j])
        diagonal[j] = H[0, j, j]

    @compiled_kernel()
    def add_damping(
        diagonal: wp.array(dtype=scalar),  # [n_variables]
        curvature: wp.array2d(dtype=scalar),  # [n_variables, n_variables], S
        parameters: wp.array(dtype=scalar),  # [PARAMETER_COUNT]
        H: wp.array3d(dtype=scalar),  # [1, n_variables, n_variables]
        added: wp.array(dtype=scalar),  # [1], damping that H contains
    ):
        j = wp.tid()
        largest = scalar(0.0)
        for k in range(diagonal.shape[0]):
            largest = wp.max(largest, diagonal[k])
        damping = parameters[wp.static(DAMPING)] * largest + scalar(wp.static(_MIN_DAMPING))
        for k in range(j + 1):
            H[0, j, k] = H[0, j, k] + curvature[j, k]
        H[0, j, j] = H[0, j, j] + damping
        for k in range(j):
            H[0, k, j] = H[0, j, k]
        if j == 0:
            added[0] = damping

    @compiled_kernel()
    def assemble_box(
        u: wp.array2d(dtype=scalar),  # [1, n_variables]
        low: wp.array(dtype=scalar),  # [n_variables]
        high: wp.array(dtype=scalar),  # [n_variables]
        parameters: wp.array(dtype=scalar),  # [PARAMETER_COUNT]
        lower: wp.array2d(dtype=scalar),  # [1, n_variables]
        upper: wp.array2d(dtype=scalar),  # [1, n_variables]
    ):
        j = wp.tid()
        radius = parameters[wp.static(RADIUS)]
        lower[0, j] = wp.max(wp.min(low[j] - u[0, j], scalar(0.0)), -radius)
        upper[0, j] = wp.min(wp.max(high[j] - u[0, j], scalar(0.0)), radius)

    @compiled_kernel()
    def assemble_rows(
        values: wp.array2d(dtype=scalar),  # [1, total_rows]
        slopes: wp.array3d(dtype=scalar),  # [1, total_rows, n_variables]
        floor: wp.array(dtype=scalar),  # [total_rows]
        A: wp.array3d(dtype=scalar),  # [1, total_rows, n_variables]
        b: wp.array2d(dtype=scalar),  # [1, total_rows]
    ):
        row = wp.tid()
        square = scalar(0.0)
        for j in range(slopes.shape[2]):
            square += slopes[0, row, j] * slopes[0, row, j]
            A[0, row, j] = -slopes[0, row, j]
        b[0, row] = values[0, row] - floor[row]
        if is_still(square) and not wp.isnan(b[0, row]):
            b[0, row] = scalar(wp.inf)

    @compiled_kernel()
    def take_step(
        u: wp.array2d(dtype=scalar),  # [1, n_variables]
        x: wp.array2d(dtype=scalar),  # [1, n_variables]
        bound_multiplier: wp.array2d(dtype=scalar),  # [1, n_variables]
        row_multiplier: wp.array2d(dtype=scalar),  # [1, total_rows]
        H: wp.array3d(dtype=scalar),  # [1, n_variables, n_variables]
        c: wp.array2d(dtype=scalar),  # [1, n_variables]
        added: wp.array(dtype=scalar),  # [1]
        parameters: wp.array(dtype=scalar),  # [PARAMETER_COUNT]
        trial: wp.array2d(dtype=scalar),  # [1, n_variables]
        middle: wp.array2d(dtype=scalar),  # [1, n_variables]
        report: wp.array(dtype=scalar),  # [REPORT_SIZE]
    ):
        predicted = scalar(0.0)
        largest = scalar(0.0)
        held = scalar(0.0)
        for j in range(x.shape[1]):
            trial[0, j] = u[0, j] + x[0, j]
            middle[0, j] = u[0, j] + scalar(0.5) * x[0, j]
            slope = scalar(2.0) * c[0, j] - added[0] * x[0, j]
            for k in range(x.shape[1]):
                slope += H[0, j, k] * x[0, k]
            predicted -= slope * x[0, j]
            largest = wp.max(largest, wp.abs(x[0, j]))
            inside = wp.abs(x[0, j]) < parameters[wp.static(RADIUS)]
            if bound_multiplier[0, j] != scalar(0.0) and inside:
                held = scalar(1.0)
        for row in range(row_multiplier.shape[1]):
            if row_multiplier[0, row] > scalar(0.0):
                held = scalar(1.0)
        report[wp.static(PREDICTED)] = predicted
        report[wp.static(STEP)] = largest
        report[wp.static(HELD_BACK)] = held

    @compiled_kernel()
    def sum_squares(
        residuals: wp.array2d(dtype=scalar),  # [1, total_residuals]
        entry: int,
        report: wp.array(dtype=scalar),  # [REPORT_SIZE]
    ):
        total = scalar(0.0)
        for row in range(residuals.shape[1]):
            total += residuals[0, row] * residuals[0, row]
        report[entry] = total

    return SimpleNamespace(
        place_robot=place_robot,
        fold_jacobian=fold_jacobian,
        assemble_model=assemble_model,
        add_damping=add_damping,
        assemble_box=assemble_box,
        assemble_rows=assemble_rows,
        take_step=take_step,
        sum_squares=sum_squares,
    )
