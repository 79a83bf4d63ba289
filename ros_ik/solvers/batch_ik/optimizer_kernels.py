# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels that every optimizer uses: seeds, costs, Jacobian columns, what a solve came to.

A cost is the squared length of the residual, r^T r, as in newton.ik.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.batch_ik.optimizer_space import space_struct
from ros_ik.solvers.status import SolveStatus

# A coordinate rests against a limit when it is this close to it [rad or m]: float32 rounding.
_AT_LIMIT = 1e-5


@no_type_check
@functools.cache
def confine_function() -> wp.Function:
    """Build ``confine(space, row, joint_q)``: bring a row to unit quaternions, limits, mimics."""
    Space = space_struct()

    @wp.func
    def confine(space: Space, row: int, joint_q: wp.array2d(dtype=wp.float32)):
        for k in range(space.quaternion.shape[0]):
            c = space.quaternion[k]
            q = wp.quat(
                joint_q[row, c], joint_q[row, c + 1], joint_q[row, c + 2], joint_q[row, c + 3]
            )
            length = wp.length(q)
            if not (length > 1.0e-12 and wp.isfinite(length)):
                q = wp.quat_identity()
                length = float(1.0)
            for i in range(4):
                joint_q[row, c + i] = q[i] / length
        for c in range(space.coord_lower.shape[0]):
            if space.coord_frozen[c] == 0:
                joint_q[row, c] = wp.clamp(
                    joint_q[row, c], space.coord_lower[c], space.coord_upper[c]
                )
        for k in range(space.follower_coord.shape[0]):
            c = space.follower_coord[k]
            if space.coord_frozen[c] == 0:
                value = space.coef0[k] + space.coef1[k] * joint_q[row, space.driver_coord[k]]
                joint_q[row, c] = wp.clamp(value, space.coord_lower[c], space.coord_upper[c])

    return confine


@no_type_check
@functools.cache
def seed_kernels() -> SimpleNamespace:
    """Build ``clean_seeds`` and ``confine_rows``."""
    Space = space_struct()
    confine = confine_function()

    @compiled_kernel()
    def clean_seeds(
        space: Space,
        joint_q: wp.array2d(dtype=wp.float32),  # [n, joint_coord_count], in and out
        refused: wp.array(dtype=wp.int32),  # [n], 1 where the seed was not finite
    ):
        row = wp.tid()
        flag = int(0)
        for c in range(joint_q.shape[1]):
            if not wp.isfinite(joint_q[row, c]):
                flag = int(1)
        refused[row] = flag
        if flag == 1:
            for c in range(joint_q.shape[1]):
                joint_q[row, c] = space.neutral[c]
        confine(space, row, joint_q)

    @compiled_kernel()
    def confine_rows(
        space: Space,
        joint_q: wp.array2d(dtype=wp.float32),  # [n, joint_coord_count], before the step
        joint_q_next: wp.array2d(dtype=wp.float32),  # [n, joint_coord_count], in and out
    ):
        row = wp.tid()
        for c in range(joint_q.shape[1]):
            if space.coord_frozen[c] == 1:
                joint_q_next[row, c] = joint_q[row, c]
        confine(space, row, joint_q_next)

    return SimpleNamespace(clean_seeds=clean_seeds, confine_rows=confine_rows)


@no_type_check
@functools.cache
def cost_kernels() -> SimpleNamespace:
    """Build ``costs`` and ``refuse``."""

    @compiled_kernel()
    def costs(
        residuals: wp.array2d(dtype=wp.float32),  # [n, total_residuals]
        cost: wp.array(dtype=wp.float32),  # [n]
    ):
        row = wp.tid()
        total = wp.float64(0.0)
        for k in range(residuals.shape[1]):
            r = wp.float64(residuals[row, k])
            total += r * r
        cost[row] = wp.float32(total)

    @compiled_kernel()
    def refuse(
        cost: wp.array(dtype=wp.float32),  # [n], in and out
        refused: wp.array(dtype=wp.int32),  # [n], in and out
    ):
        """Mark rows whose residual is not finite at a finite seed: their target is not."""
        row = wp.tid()
        if refused[row] == 1 or not wp.isfinite(cost[row]):
            refused[row] = 1
            cost[row] = wp.inf

    return SimpleNamespace(costs=costs, refuse=refuse)


@no_type_check
@functools.cache
def fold_kernel() -> wp.Kernel:
    """Build ``fold_columns``: followers onto their drivers, frozen columns to zero."""
    Space = space_struct()

    @compiled_kernel()
    def fold_columns(
        space: Space,
        jacobian: wp.array3d(dtype=wp.float32),  # [n, total_residuals, joint_dof_count]
    ):
        row, k = wp.tid()
        for m in range(space.follower_dof.shape[0]):
            driver = space.driver_dof[m]
            jacobian[row, k, driver] = (
                jacobian[row, k, driver] + space.coef1[m] * jacobian[row, k, space.follower_dof[m]]
            )
        for dof in range(jacobian.shape[2]):
            if space.dof_free[dof] == 0:
                jacobian[row, k, dof] = 0.0

    return fold_columns


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


@no_type_check
@functools.cache
def select_kernel() -> wp.Kernel:
    """Build ``select_best``: the seed of least cost of each problem or its input."""
    non_finite = wp.constant(int(SolveStatus.NON_FINITE_INPUT))

    @compiled_kernel()
    def select_best(
        joint_q: wp.array2d(dtype=wp.float32),  # [n_problems * n_seeds, joint_coord_count]
        cost: wp.array(dtype=wp.float32),  # [n_problems * n_seeds]
        seed_status: wp.array(dtype=wp.int32),  # [n_problems * n_seeds]
        joint_q_in: wp.array2d(dtype=wp.float32),  # [n_problems, joint_coord_count]
        n_seeds: int,
        best_index: wp.array(dtype=wp.int32),  # [n_problems]
        status: wp.array(dtype=wp.int32),  # [n_problems]
        best: wp.array2d(dtype=wp.float32),  # [n_problems, joint_coord_count]
    ):
        problem = wp.tid()
        first = problem * n_seeds
        index = int(0)
        for seed in range(1, n_seeds):
            if cost[first + seed] < cost[first + index]:
                index = seed
        best_index[problem] = index
        status[problem] = seed_status[first + index]
        for c in range(best.shape[1]):
            if status[problem] == non_finite:
                best[problem, c] = joint_q_in[problem, c]
            else:
                best[problem, c] = joint_q[first + index, c]

    return select_best
