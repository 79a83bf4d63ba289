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
def distance_function() -> wp.Function:
    """Build ``limit_distances(space, row, dof, joint_q) -> below, above``.

    The function returns the distances of a degree of freedom to its limits [rad or m], inf if it
    has none.
    """
    Space = space_struct()

    @wp.func
    def limit_distances(space: Space, row: int, dof: int, joint_q: wp.array2d(dtype=wp.float32)):
        below = wp.float64(wp.inf)
        above = wp.float64(wp.inf)
        c = space.dof_coord[dof]
        if c >= 0:
            q = wp.float64(joint_q[row, c])
            below = q - wp.float64(space.coord_lower[c])
            above = wp.float64(space.coord_upper[c]) - q
        return below, above

    return limit_distances


@no_type_check
@functools.cache
def status_kernel() -> wp.Kernel:
    """Build ``classify``, which writes the status of each row."""
    Space = space_struct()
    non_finite = wp.constant(int(SolveStatus.NON_FINITE_INPUT))
    failure = wp.constant(int(SolveStatus.NUMERICAL_FAILURE))
    converged = wp.constant(int(SolveStatus.CONVERGED))
    limit_distances, close = distance_function(), wp.constant(wp.float64(AT_LIMIT))
    limits = limit_functions(wp.float64)
    slope_bound, judge, unsolved_status = limits.slope_bound, limits.judge, limits.unsolved_status

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
        is_stationary = bool(True)
        is_pressed = bool(False)
        for dof in range(jacobian.shape[2]):
            slope = wp.float64(0.0)
            own = wp.float64(0.0)
            for k in range(jacobian.shape[1]):
                entry = wp.float64(jacobian[row, k, dof])
                slope += entry * wp.float64(residuals[row, k])
                own += entry * entry
            bound = slope_bound(
                wp.float64(gradient_tolerance), own, longest, wp.float64(cost[row])
            )
            below, above = limit_distances(space, row, dof, joint_q)
            is_stationary, is_pressed = judge(
                slope, bound, below, above, close, is_stationary, is_pressed
            )
        status[row] = unsolved_status(is_stationary, is_pressed)

    return classify
