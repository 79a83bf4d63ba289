# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels of Levenberg-Marquardt with bounds on the step.

Each row minimises |r + J d|^2 + lambda |d|^2 over lower <= q + d <= upper, see ``bounded_step``.
Sums are in float64.
"""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.least_squares.bounded_step import bounded_step_functions
from ros_ik.solvers.least_squares.bounded_step import step_workspace_struct
from ros_ik.solvers.least_squares.damping import damping_functions
from ros_ik.solvers.least_squares.normal_equations import normal_equations_functions
from ros_ik.solvers.least_squares.search_space import space_struct

# A predicted reduction below this fraction of the cost, or a step below this length [rad or m], is
# float32 rounding and does not change the damping.
_NOISE = 1e-6


@no_type_check
@functools.cache
def normal_equations_kernel() -> wp.Kernel:
    """Build ``normal_equations``, H = J^T J (lower triangle) and g = J^T r."""
    Work, add_row = step_workspace_struct(), normal_equations_functions(wp.float64).add_row

    @compiled_kernel()
    def normal_equations(
        jacobian: wp.array3d(dtype=wp.float32),  # [n, total_residuals, joint_dof_count]
        residuals: wp.array2d(dtype=wp.float32),  # [n, total_residuals]
        work: Work,  # hessian and gradient are outputs
    ):
        row, i = wp.tid()
        line = work.hessian[row, i]
        for j in range(i + 1):
            line[j] = wp.float64(0.0)
        work.gradient[row, i] = add_row(jacobian[row], residuals[row], i, line)

    return normal_equations


@no_type_check
@functools.cache
def bounded_step_kernel() -> wp.Kernel:
    """Build ``take_step``, the step of each row within its limits, and the predicted gain."""
    functions = bounded_step_functions()
    bounded_step, model_gain = functions.bounded_step, functions.model_gain
    Space, Work = space_struct(), step_workspace_struct()

    @wp.func
    def set_range(
        space: Space,
        row: int,
        scale: wp.float64,
        joint_q: wp.array2d(dtype=wp.float32),
        work: Work,
    ):
        """Write the range of the step of each unknown within the limits."""
        for dof in range(work.low.shape[1]):
            work.low[row, dof] = wp.float64(-wp.inf)
            work.high[row, dof] = wp.float64(wp.inf)
            c = space.dof_coord[dof]
            if c >= 0 and space.dof_free[dof] == 1:
                q = wp.float64(joint_q[row, c])
                work.low[row, dof] = (wp.float64(space.coord_lower[c]) - q) / scale
                work.high[row, dof] = (wp.float64(space.coord_upper[c]) - q) / scale

    @compiled_kernel()
    def take_step(
        space: Space,
        joint_q: wp.array2d(dtype=wp.float32),  # [n, joint_coord_count]
        damping: wp.array(dtype=wp.float32),  # [n]
        refused: wp.array(dtype=wp.int32),  # [n]
        step_size: wp.array(dtype=wp.float32),  # [1]
        work: Work,
        joint_qd_step: wp.array2d(dtype=wp.float32),  # [n, joint_dof_count]
        predicted: wp.array(dtype=wp.float32),  # [n]
    ):
        row = wp.tid()
        scale = wp.float64(step_size[0])
        gain = wp.float64(0.0)
        if refused[row] == 0:
            set_range(space, row, scale, joint_q, work)
            bounded_step(work, row, wp.float64(damping[row]))
            gain = model_gain(work, row, scale)
        moves = refused[row] == 0 and wp.isfinite(gain)
        predicted[row] = 0.0
        if moves:
            predicted[row] = wp.float32(gain)
        for dof in range(joint_qd_step.shape[1]):
            joint_qd_step[row, dof] = 0.0
            if moves:
                joint_qd_step[row, dof] = wp.float32(scale * work.step[row, dof])
        for m in range(space.follower_dof.shape[0]):
            joint_qd_step[row, space.follower_dof[m]] = (
                space.coef1[m] * joint_qd_step[row, space.driver_dof[m]]
            )

    return take_step


@no_type_check
@functools.cache
def accept_kernel() -> wp.Kernel:
    """Build ``accept``: keep the steps that pay, adapt the damping."""
    noise, damp_in_steps = wp.constant(_NOISE), damping_functions(wp.float32).damp_in_steps

    @compiled_kernel()
    def accept(
        joint_qd_step: wp.array2d(dtype=wp.float32),  # [n, joint_dof_count]
        joint_q_next: wp.array2d(dtype=wp.float32),  # [n, joint_coord_count]
        body_q_next: wp.array2d(dtype=wp.transform),  # [n, body_count]
        residuals_next: wp.array2d(dtype=wp.float32),  # [n, total_residuals]
        cost_next: wp.array(dtype=wp.float32),  # [n]
        predicted: wp.array(dtype=wp.float32),  # [n]
        refused: wp.array(dtype=wp.int32),  # [n]
        rho_min: float,
        factor: float,
        damping_min: float,
        damping_max: float,
        joint_q: wp.array2d(dtype=wp.float32),  # outputs
        body_q: wp.array2d(dtype=wp.transform),
        residuals: wp.array2d(dtype=wp.float32),
        cost: wp.array(dtype=wp.float32),
        damping: wp.array(dtype=wp.float32),
    ):
        row = wp.tid()
        if refused[row] == 1:
            return
        gain = cost[row] - cost_next[row]
        longest = float(0.0)
        for i in range(joint_qd_step.shape[1]):
            longest = wp.max(longest, wp.abs(joint_qd_step[row, i]))
        at_optimum = predicted[row] <= noise * cost[row] or longest <= noise
        pays = predicted[row] > 0.0 and gain >= rho_min * predicted[row]
        if pays or (at_optimum and gain >= 0.0):
            for k in range(joint_q.shape[1]):
                joint_q[row, k] = joint_q_next[row, k]
            for k in range(body_q.shape[1]):
                body_q[row, k] = body_q_next[row, k]
            for k in range(residuals.shape[1]):
                residuals[row, k] = residuals_next[row, k]
            cost[row] = cost_next[row]
        following = damp_in_steps(damping[row], gain, predicted[row], pays, factor)
        if not at_optimum or following < damping[row]:
            damping[row] = wp.clamp(following, damping_min, damping_max)

    return accept
