# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that makes rows of the barriers, solves the program and writes the step of all joints.

    J_h x >= d(h), see :mod:`ros_ik.kinematics.row_bound`

Barriers with a safe displacement gain also add r_b / |J_b|^2 to the diagonal of H. The program is
solved by the active-set method, from the active constraints of the previous step, or by the dual
method if that fails. Programs with few variables and no rows have a separate kernel, in
``small_active_set``.
"""

import functools
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.row_bound import row_bound_function
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.differential_ik.quadratic_program.active_set import step_active_set_function
from ros_ik.solvers.differential_ik.quadratic_program.dual_fallback import dual_program_struct
from ros_ik.solvers.differential_ik.quadratic_program.dual_fallback import end_step_function
from ros_ik.solvers.differential_ik.quadratic_program.program import step_program_struct
from ros_ik.solvers.differential_ik.quadratic_program.stop_rows import step_stop_struct
from ros_ik.solvers.differential_ik.quadratic_program.stop_rows import stop_row_functions
from ros_ik.solvers.differential_ik.quadratic_program.write_result import finish_functions

# Derivatives up to this are rounding [units of h per rad or m].
_MOVES = 1e-9
# Largest fraction of the joint acceleration for leaving a violation, for a smooth start.
_PUSH = 0.05
# Fraction of the required speed above which a violation is being left. Links that are squeezed by
# an obstacle cannot leave.
_LEAVING = 0.1
# Time in which the damping fades out afterwards [s].
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
        displacement_weight: wp.array(dtype=wp.float64)  # [barriers], safe_displacement_gain
        recovery: wp.array(dtype=wp.float64)  # [barriers], recovery_speed

    return StepBarriers


@no_type_check
@functools.cache
def solve_step_kernel(lists_failed: bool) -> wp.Kernel:
    """Build the kernel for programs of any size, float64.

    Args:
        lists_failed: True if robots that need the dual method are marked for ``dual_fallback``.
    """
    Program, Dual, Barriers = step_program_struct(), dual_program_struct(), step_barriers_struct()
    solve_from_guess, end_step = step_active_set_function(), end_step_function(lists_failed)
    clamp_step, row_bound = finish_functions().clamp_step, row_bound_function(wp.float64)
    Stop, stops = step_stop_struct(), stop_row_functions()
    load_stop_row, nearness = stops.load_stop_row, stops.nearness
    smooth_step = stops.smooth_step
    zero = wp.constant(wp.float64(0.0))

    @wp.func
    def slow_towards_violation(
        i: int, barriers: Barriers, values: wp.array2d(dtype=wp.float64), program: Program
    ):
        """Slow variables that move into a violation until they can stop within one more step.

        Joints take different times to stop. If those that move out of the violation are at rest
        first, the others would move the robot back in, and the stop check would refuse the step.
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
            # Deceleration of one step, independent of the number of rows that require it.
            slowdown = wp.float64(0.5) * (high - low)
            if backwards:
                program.lower[i, j] = wp.max(low, wp.min(high, -slowdown))
            if forwards:
                program.upper[i, j] = wp.min(high, wp.max(low, slowdown))

    @wp.func
    def change_at_constant_speed(i: int, row: int, program: Program) -> wp.float64:
        """Return the change of a row at the middle of the box, where joints keep their speeds."""
        change = zero
        for j in range(program.order.shape[0]):
            middle = wp.float64(0.5) * (program.lower[i, j] + program.upper[i, j])
            change += program.J[i, row, j] * middle
        return change

    @wp.func
    def recovery_bound(i: int, row: int, bound: wp.float64, steady: wp.float64, program: Program):
        """Limit the bound of a violated row to the previous motion plus a small acceleration."""
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
        """Load the rows of this state; return True if the robot is leaving a violation."""
        violated = bool(False)
        leaving = bool(False)
        for barrier in range(barriers.gain.shape[0]):
            square = wp.float64(0.0)
            displacement_weight = barriers.displacement_weight[barrier]
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
                    steady = change_at_constant_speed(i, row, program)
                    if steady > wp.float64(wp.static(_LEAVING)) * bound:
                        leaving = True
                    program.d[i, row] = recovery_bound(i, row, bound, steady, program)
                if displacement_weight > zero:
                    for j in range(program.order.shape[0]):
                        square += program.J[i, row, j] * program.J[i, row, j]
            if square > zero:
                for j in range(program.order.shape[0]):
                    program.H[i, j, j] = program.H[i, j, j] + displacement_weight / square
        if violated:
            slow_towards_violation(i, barriers, values, program)
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
        """Load the rows at the end of the stop, after the other rows, and smooth the step."""
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
        """Return True if every number is finite; a sum is finite only if all its terms are."""
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
        excluded: wp.array(dtype=wp.int32),  # [n], 1 if a limit is violated or gave way; cleared
        # out
        failed: wp.array(dtype=wp.int32),  # [n], 1 for robots left to the dual method, if listed
        delta_q: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count], zero where nothing moves
        status: wp.array(dtype=wp.int32),  # [n]
        rounds: wp.array(dtype=wp.int32),  # [n], -1 if the dual method was needed
    ):
        i = wp.tid()
        n = program.order.shape[0]
        leaving = load_rows(i, barriers, values, dt, program)
        load_stop_rows(i, barriers, values, dt, leaving, is_near != 0, stop, program)
        taken = int(0)
        if is_usable(i, program):
            taken = solve_from_guess(i, program, is_warm != 0, tolerance)
            finite = taken > 0
            for j in range(n):
                finite = finite and wp.isfinite(program.x[i, j])
            if not finite:
                taken = -1
            else:
                clamp_step(i, program)
        end_step(
            i, taken, dt, max_iterations, tolerance, dof, variable, factor, program, dual,
            excluded, failed, delta_q, status, rounds,
        )  # fmt: skip

    return solve_step
