# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel of the last part of a step: barriers -> rows, the program, the step over all dofs.

    J_h x >= d(h), see :mod:`ros_ik.kinematics.row_bound`

and r_b / |J_b|^2 on the diagonal of H for the barriers that calm steps. The program is first
solved from what bound in the step before; where that does not settle, by the dual method.
Programs of few variables without rows have a kernel of their own, in ``small_active_set``.
"""

import functools
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.row_bound import row_bound_function
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.status import SolveStatus
from ros_ik.solvers.step.quadratic_program.active_set import step_active_set_function
from ros_ik.solvers.step.quadratic_program.dual_fallback import dual_program_struct
from ros_ik.solvers.step.quadratic_program.dual_fallback import solve_dual_function
from ros_ik.solvers.step.quadratic_program.program import step_program_struct
from ros_ik.solvers.step.quadratic_program.stop_rows import step_stop_struct
from ros_ik.solvers.step.quadratic_program.stop_rows import stop_row_functions
from ros_ik.solvers.step.quadratic_program.write_result import finish_functions

# Derivative up to which a variable moves a value by rounding only [units of h per rad or m].
_MOVES = 1e-9
# Tolerances of the program up to which a variable of a program without solution rests: rows that
# exclude each other are given room of that order.
_RESTS = 10.0
# Part of the acceleration of the joints with which a violation is left at most: a start at the
# whole of it would be the roughest part of the motion.
_PUSH = 0.05
# Part of the speed that is asked for from which on a violation is being left; links that an
# obstacle squeezes stay in theirs.
_LEAVING = 0.1
# Time after that in which steps are as calm as in it, less and less [s].
_SUBSIDING = 0.2


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
    finish, row_bound = finish_functions(), row_bound_function(wp.float64)
    clamp_step, finish_step = finish.clamp_step, finish.finish_step
    Stop, stops = step_stop_struct(), stop_row_functions()
    load_stop_row, nearness = stops.load_stop_row, stops.nearness
    smooth_step = stops.smooth_step
    zero = wp.constant(wp.float64(0.0))
    converged = wp.constant(int(SolveStatus.CONVERGED))
    non_finite = wp.constant(int(SolveStatus.NON_FINITE_INPUT))
    relaxed = wp.constant(int(SolveStatus.RELAXED))

    @wp.func
    def calm_recovery(
        i: int, barriers: Barriers, values: wp.array2d(dtype=wp.float64), program: Program
    ):
        """Let what moves into a violation stop in one more step, so that a stop does not go in.

        Joints take different times to stop. Where those that move out rest first, the others would
        take back what was won, and the check of stops would refuse the step.
        """
        for j in range(program.order.shape[0]):
            forwards = bool(False)
            backwards = bool(False)
            for barrier in range(barriers.gain.shape[0]):
                if wp.isfinite(barriers.recovery[barrier]):
                    for row in range(barriers.start[barrier], barriers.start[barrier + 1]):
                        if values[i, row] < zero:
                            slope = program.J[i, row, j]
                            if slope > wp.float64(wp.static(_MOVES)):
                                backwards = True
                            elif slope < -wp.float64(wp.static(_MOVES)):
                                forwards = True
            low = program.lower[i, j]
            high = program.upper[i, j]
            # Loss of one step, the same however many rows ask for it.
            slowdown = wp.float64(0.5) * (high - low)
            if backwards:
                program.lower[i, j] = wp.max(low, wp.min(high, -slowdown))
            if forwards:
                program.upper[i, j] = wp.min(high, wp.max(low, slowdown))

    @wp.func
    def steady_change(i: int, row: int, program: Program) -> wp.float64:
        """Change of a row in the middle of the box, where joints keep their speeds."""
        change = zero
        for j in range(program.order.shape[0]):
            middle = wp.float64(0.5) * (program.lower[i, j] + program.upper[i, j])
            change += program.J[i, row, j] * middle
        return change

    @wp.func
    def soft_bound(i: int, row: int, bound: wp.float64, steady: wp.float64, program: Program):
        """Ask no more of a violated row than goes on with the step before and a soft push."""
        reach = steady
        for j in range(program.order.shape[0]):
            width = program.upper[i, j] - program.lower[i, j]
            part = wp.float64(wp.static(0.5 * _PUSH))
            reach += part * width * wp.abs(program.J[i, row, j])
        if wp.isfinite(reach):
            bound = wp.min(bound, wp.max(reach, zero))
        return bound

    @wp.func
    def load_rows(
        i: int,
        barriers: Barriers,
        values: wp.array2d(dtype=wp.float64),
        dt: wp.float64,
        program: Program,
    ) -> bool:
        """Load the rows of this state; return whether a violation is being left, slowly."""
        violated = bool(False)
        leaving = bool(False)
        for barrier in range(barriers.gain.shape[0]):
            square = wp.float64(0.0)
            calm = barriers.calm[barrier]
            for row in range(barriers.start[barrier], barriers.start[barrier + 1]):
                inside = values[i, row] - barriers.margin[barrier]
                slope = wp.float64(0.0)
                if inside < zero:
                    for j in range(program.order.shape[0]):
                        slope += program.J[i, row, j] * program.J[i, row, j]
                program.d[i, row] = row_bound(
                    inside,
                    wp.sqrt(slope),
                    barriers.gain[barrier],
                    barriers.recovery[barrier],
                    dt,
                )
                if values[i, row] < zero and wp.isfinite(barriers.recovery[barrier]):
                    violated = True
                    bound = program.d[i, row]
                    steady = steady_change(i, row, program)
                    if steady > wp.float64(wp.static(_LEAVING)) * bound:
                        leaving = True
                    program.d[i, row] = soft_bound(i, row, bound, steady, program)
                if calm > zero:
                    for j in range(program.order.shape[0]):
                        square += program.J[i, row, j] * program.J[i, row, j]
            if square > zero:
                for j in range(program.order.shape[0]):
                    program.H[i, j, j] = program.H[i, j, j] + calm / square
        if violated:
            calm_recovery(i, barriers, values, program)
        return leaving

    @wp.func
    def load_stop_rows(
        i: int,
        barriers: Barriers,
        values: wp.array2d(dtype=wp.float64),
        dt: wp.float64,
        leaving: bool,
        is_near: bool,
        stop: Stop,
        program: Program,
    ):
        """Load the rows of the place of rest, which come after the others, and smooth the step."""
        rows = barriers.start[barriers.gain.shape[0]]
        near = zero
        recovering = zero
        if stop.near.shape[0] > 0:
            recovering = wp.max(stop.recovering[i] - dt / wp.float64(wp.static(_SUBSIDING)), zero)
            if leaving:
                recovering = wp.float64(1.0)
            stop.recovering[i] = recovering
        for barrier in range(barriers.gain.shape[0]):
            margin = barriers.margin[barrier]
            for row in range(barriers.start[barrier], barriers.start[barrier + 1]):
                near = wp.max(near, nearness(values[i, row], margin))
        if stop.near.shape[0] > 0:
            stop.near[i] = int(near > zero)
        if not is_near:
            for row in range(rows, values.shape[1]):
                program.d[i, row] = -wp.float64(wp.inf)
            return
        for barrier in range(barriers.gain.shape[0]):
            margin = barriers.margin[barrier]
            for row in range(barriers.start[barrier], barriers.start[barrier + 1]):
                load_stop_row(
                    i, rows + row, margin, barriers.recovery[barrier], dt, values, stop, program
                )
                near = wp.max(near, nearness(values[i, rows + row], margin))
        smooth_step(i, near, recovering, dt, stop, program)

    @wp.func
    def is_usable(i: int, program: Program) -> bool:
        """Return whether every number is one; a sum is finite only where all its terms are."""
        total = wp.float64(0.0)
        for j in range(program.order.shape[0]):
            total += program.c[i, j] + program.H[i, j, j]
            if not (program.lower[i, j] <= program.upper[i, j]):
                return False
        for row in range(program.d.shape[1]):
            if wp.isnan(program.d[i, row]):
                return False
            if wp.isfinite(program.d[i, row]):
                for j in range(program.order.shape[0]):
                    total += program.J[i, row, j]
        return wp.isfinite(total)

    @wp.func
    def drop_rounding(i: int, tolerance: wp.float64, program: Program):
        """Let variables rest that only rounding moves: tick by tick they would creep."""
        for j in range(program.order.shape[0]):
            if wp.abs(program.x[i, j]) <= wp.float64(wp.static(_RESTS)) * tolerance:
                program.x[i, j] = zero

    @compiled_kernel(registers=255)
    def solve_step(
        barriers: Barriers,
        values: wp.array2d(dtype=wp.float64),  # [n, rows], h
        dt: wp.float64,
        max_iterations: wp.array(dtype=wp.int32),  # [1]
        tolerance: wp.float64,
        is_warm: int,
        dof: wp.array(dtype=wp.int32),  # [moving], degrees of freedom that the group moves
        variable: wp.array(dtype=wp.int32),  # [moving]
        factor: wp.array(dtype=wp.float64),  # [moving]
        is_near: int,
        stop: Stop,
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
        leaving = load_rows(i, barriers, values, dt, program)
        load_stop_rows(i, barriers, values, dt, leaving, is_near != 0, stop, program)
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
                solve_dual(i, dt, max_iterations[0], tolerance, program, dual, status)
                code = status[i]
                if code == relaxed:
                    drop_rounding(i, tolerance, program)
        clamp_step(i, program)
        finish_step(i, code, excluded, dof, variable, factor, program, delta_q, status)

    return solve_step
