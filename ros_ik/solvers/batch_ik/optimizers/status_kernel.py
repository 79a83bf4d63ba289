# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel of the status of each row after a solve."""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.least_squares.search_space import space_struct
from ros_ik.solvers.status import SolveStatus

# A coordinate rests against a limit when it is this close to it [rad or m]: float32 rounding.
_AT_LIMIT = 1e-5


@no_type_check
@functools.cache
def status_kernel() -> wp.Kernel:
    """Build ``classify``: what each row came to.

    A row is stationary when |J_i^T r| <= tolerance max_j |J_j| |r| for every free column i; one
    that only pushes a coordinate further against its limit is not free. The longest column sets
    the scale: the direction of a column that is zero but for rounding says nothing.
    """
    Space = space_struct()
    non_finite = wp.constant(int(SolveStatus.NON_FINITE_INPUT))
    failure = wp.constant(int(SolveStatus.NUMERICAL_FAILURE))
    converged = wp.constant(int(SolveStatus.CONVERGED))
    limit = wp.constant(int(SolveStatus.ITERATION_LIMIT))
    unreachable = wp.constant(int(SolveStatus.UNREACHABLE))
    at_limits = wp.constant(int(SolveStatus.AT_LIMITS))
    close = wp.constant(_AT_LIMIT)

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
                c = space.dof_coord[dof]
                held = bool(False)
                if c >= 0:
                    q = joint_q[row, c]
                    held = (slope > wp.float64(0.0) and q <= space.coord_lower[c] + close) or (
                        slope < wp.float64(0.0) and q >= space.coord_upper[c] - close
                    )
                against_limit = against_limit or held
                stationary = stationary and held
        status[row] = limit
        if stationary:
            status[row] = unreachable
            if against_limit:
                status[row] = at_limits

    return classify
