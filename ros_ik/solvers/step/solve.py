# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel of the last part of a step: barriers -> rows, the program, the step over all dofs.

    J_h x >= min(-dt gain (h - margin) / (1 + |h - margin|), dt recovery_speed |J_h|)

and r_b / |J_b|^2 on the diagonal of H for the barriers that calm steps. The program is first
solved from what bound in the step before; where that does not settle, by the dual method.
Programs of few variables without rows have a kernel of their own, in ``small_solve``.
"""

import functools
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.compiled_kernel import compiled_kernel
from ros_ik.solvers.status import SolveStatus
from ros_ik.solvers.step.active_set import step_active_set_function
from ros_ik.solvers.step.dual import dual_program_struct
from ros_ik.solvers.step.dual import solve_dual_function
from ros_ik.solvers.step.finish import finish_functions
from ros_ik.solvers.step.program import step_program_struct


@no_type_check
@functools.cache
def step_barriers_struct() -> Any:
    """Return the Warp struct of the barriers' parameters."""

    @wp.struct
    class StepBarriers:
        start: wp.array(dtype=wp.int32)  # [barriers + 1], first row of each
        gain: wp.array(dtype=wp.float64)  # [barriers]
        margin: wp.array(dtype=wp.float64)  # [barriers]
        calm: wp.array(dtype=wp.float64)  # [barriers], safe_displacement_gain
        recovery: wp.array(dtype=wp.float64)  # [barriers], recovery_speed

    return StepBarriers


@no_type_check
@functools.cache
def solve_step_kernel() -> wp.Kernel:
    """Build the kernel for programs of any size, float64."""
    Program, Dual, Barriers = step_program_struct(), dual_program_struct(), step_barriers_struct()
    solve_from_guess, solve_dual = step_active_set_function(), solve_dual_function()
    finish = finish_functions()
    clamp_step, finish_step = finish.clamp_step, finish.finish_step
    zero, one = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(1.0))
    converged = wp.constant(int(SolveStatus.CONVERGED))
    non_finite = wp.constant(int(SolveStatus.NON_FINITE_INPUT))

    @wp.func
    def load_rows(
        i: int,
        barriers: Barriers,
        values: wp.array2d(dtype=wp.float64),
        dt: wp.float64,
        program: Program,
    ):
        for barrier in range(barriers.gain.shape[0]):
            square = wp.float64(0.0)
            calm = barriers.calm[barrier]
            for row in range(barriers.start[barrier], barriers.start[barrier + 1]):
                inside = values[i, row] - barriers.margin[barrier]
                bound = wp.float64(-wp.inf)
                if not (inside == wp.float64(wp.inf)):  # infinitely far away: off
                    bound = -dt * barriers.gain[barrier] * inside / (one + wp.abs(inside))
                if bound > zero and wp.isfinite(barriers.recovery[barrier]):
                    slope = wp.float64(0.0)
                    for j in range(program.order.shape[0]):
                        slope += program.J[i, row, j] * program.J[i, row, j]
                    bound = wp.min(bound, dt * barriers.recovery[barrier] * wp.sqrt(slope))
                program.d[i, row] = bound
                if calm > zero:
                    for j in range(program.order.shape[0]):
                        square += program.J[i, row, j] * program.J[i, row, j]
            if square > zero:
                for j in range(program.order.shape[0]):
                    program.H[i, j, j] = program.H[i, j, j] + calm / square

    @wp.func
    def is_usable(i: int, program: Program) -> bool:
        """Whether every number is one; a sum is finite only where all its terms are."""
        total = wp.float64(0.0)
        for j in range(program.order.shape[0]):
            total += program.c[i, j] + program.H[i, j, j]
            if not (program.lower[i, j] <= program.upper[i, j]):
                return False
        for row in range(program.d.shape[1]):
            if wp.isnan(program.d[i, row]):
                return False
            for j in range(program.order.shape[0]):
                total += program.J[i, row, j]
        return wp.isfinite(total)

    @compiled_kernel()
    def solve_step(
        barriers: Barriers,
        values: wp.array2d(dtype=wp.float64),  # [n, rows], h
        dt: wp.float64,
        max_iterations: int,
        tolerance: wp.float64,
        is_warm: int,
        dof: wp.array(dtype=wp.int32),  # [moving], degrees of freedom that the group moves
        variable: wp.array(dtype=wp.int32),  # [moving]
        factor: wp.array(dtype=wp.float64),  # [moving]
        program: Program,
        dual: Dual,
        excluded: wp.array(dtype=wp.int32),  # [n], 1 where a limit excludes the state; cleared
        # out
        delta_q: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count], zero where nothing moves
        status: wp.array(dtype=wp.int32),  # [n]
        rounds: wp.array(dtype=wp.int32),  # [n], -1 where the dual method was needed
    ):
        i = wp.tid()
        n = program.order.shape[0]
        load_rows(i, barriers, values, dt, program)
        code = int(non_finite)
        rounds[i] = 0
        if is_usable(i, program):
            code = converged
            rounds[i] = solve_from_guess(i, program, is_warm != 0, tolerance)
            finite = rounds[i] > 0
            for j in range(n):
                finite = finite and wp.isfinite(program.x[i, j])
            if not finite:
                rounds[i] = -1
                solve_dual(i, dt, max_iterations, tolerance, program, dual, status)
                code = status[i]
        clamp_step(i, program)
        finish_step(i, code, excluded, dof, variable, factor, program, delta_q, status)

    return solve_step
