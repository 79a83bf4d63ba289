# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that determines the status of each row after a solve."""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.least_squares.search_space import space_struct
from ros_ik.solvers.limit_status import AT_LIMIT
from ros_ik.solvers.limit_status import limit_functions
from ros_ik.solvers.status import SolveStatus


@no_type_check
@functools.cache
def pressed_function() -> wp.Function:
    """Build ``is_pressed(space, row, dof, slope, close, joint_q)``.

    The function returns whether the gradient pushes a degree of freedom against its limit.
    """
    Space, presses = space_struct(), limit_functions(wp.float64).presses

    @wp.func
    def is_pressed(
        space: Space,
        row: int,
        dof: int,
        slope: wp.float64,
        close: wp.float64,
        joint_q: wp.array2d(dtype=wp.float32),
    ) -> bool:
        c = space.dof_coord[dof]
        if c < 0:
            return False
        q = wp.float64(joint_q[row, c])
        below = q - wp.float64(space.coord_lower[c])
        return presses(slope, below, wp.float64(space.coord_upper[c]) - q, close)

    return is_pressed


@no_type_check
@functools.cache
def status_kernel() -> wp.Kernel:
    """Build ``classify``, which writes the status of each row.

    A row is stationary if |J_i^T r| <= tolerance max_j |J_j| |r| for every free column i. A column
    that pushes a coordinate against its limit is not free. The longest column sets the scale,
    because the direction of a column that is zero up to rounding is meaningless.
    """
    Space = space_struct()
    non_finite = wp.constant(int(SolveStatus.NON_FINITE_INPUT))
    failure = wp.constant(int(SolveStatus.NUMERICAL_FAILURE))
    converged = wp.constant(int(SolveStatus.CONVERGED))
    is_pressed, close = pressed_function(), wp.constant(wp.float64(AT_LIMIT))
    unsolved_status = limit_functions(wp.float64).unsolved_status

    @compiled_kernel()
    def classify(
        space: Space,
        joint_q: wp.array2d(dtype=wp.float32),  # [n, joint_coord_count]
        residuals: wp.array2d(dtype=wp.float32),  # [n, total_residuals]
        jacobian: wp.array3d(dtype=wp.float32),  # [n, total_residuals, joint_dof_count]
        refused: wp.array(dtype=wp.int32),  # [n]
        cost_tolerance: float,
        gradient_tolerance: float,
        cost: wp.array(dtype=wp.float32),  # [n], in and out
        status: wp.array(dtype=wp.int32),  # [n]
    ):
        row = wp.tid()
        if refused[row] == 1:
            cost[row] = wp.inf
            status[row] = non_finite
            return
        if cost[row] <= cost_tolerance:
            status[row] = converged
            return
        longest = wp.float64(1e-30)
        for dof in range(jacobian.shape[2]):
            square = wp.float64(0.0)
            for k in range(jacobian.shape[1]):
                square += wp.float64(jacobian[row, k, dof]) * wp.float64(jacobian[row, k, dof])
            if not wp.isfinite(square):
                status[row] = failure
                return
            longest = wp.max(longest, square)
        bound = wp.float64(gradient_tolerance) * wp.sqrt(longest * wp.float64(cost[row]))
        stationary = bool(True)
        against_limit = bool(False)
        for dof in range(jacobian.shape[2]):
            slope = wp.float64(0.0)
            for k in range(jacobian.shape[1]):
                slope += wp.float64(jacobian[row, k, dof]) * wp.float64(residuals[row, k])
            if wp.abs(slope) > bound:
                pressed = is_pressed(space, row, dof, slope, close, joint_q)
                against_limit = against_limit or pressed
                stationary = stationary and pressed
        status[row] = unsolved_status(stationary, against_limit)

    return classify
