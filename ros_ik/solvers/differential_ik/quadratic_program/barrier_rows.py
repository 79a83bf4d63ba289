# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rows of the barriers in the program of a step, at the present state and at rest after a stop.

    J_h y >= d(h), see :mod:`ros_ik.kinematics.row_bound`

y is the step x, or the step to which its change leads; see
:mod:`ros_ik.solvers.differential_ik.quadratic_program.lead`.

A row whose derivatives are only rounding is left out. If its value must grow, no step can meet it,
and the step is RELAXED.

Barriers with a safe displacement gain also add r_b / |J_b|^2 to the diagonal of H. A robot that
leaves a violation gets rows that it can keep: the bounds of its rows grow slowly, and variables
that move back into the violation slow down. Shallow violations are left faster, see
:meth:`ros_ik.barriers.Barrier.set_evasion`.
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.row_bound import row_bound_functions
from ros_ik.kinematics.row_bound import STILL
from ros_ik.solvers.differential_ik.quadratic_program.lead import lead_functions
from ros_ik.solvers.differential_ik.quadratic_program.lead import step_lead_struct
from ros_ik.solvers.differential_ik.quadratic_program.program import step_program_struct
from ros_ik.solvers.differential_ik.quadratic_program.stop_rows import step_stop_struct
from ros_ik.solvers.differential_ik.quadratic_program.stop_rows import stop_row_functions

# Largest fraction of the joint acceleration for leaving a violation, for a smooth start.
_PUSH = 0.05
# The same where the violation is shallow and an obstacle may follow.
_EVASIVE_PUSH = 0.4
# Part of the depth of shallow violations up to which they are left like all others.
_UNHURRIED = 0.25
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
        evasion: wp.array(dtype=wp.float64)  # [barriers], recovery_speed of shallow violations
        shallow: wp.array(dtype=wp.float64)  # [barriers], their largest depth [units of h]

    return StepBarriers


@no_type_check
@functools.cache
def recovery_functions() -> SimpleNamespace:
    """Build the functions for rows that are violated, float64.

    - ``slow_towards_violation(i, barriers, values, lead, program)``
    - ``change_at_constant_speed(i, row, lead, program)``
    - ``recovery_bound(i, row, bound, steady, push, lead, program)``
    - ``evades(i, barriers, values)``: True if no violation is deeper than shallow.
    - ``urgency(value, shallow)``: 0 to 1, for violations up to ``shallow``.
    """
    Program, Barriers = step_program_struct(), step_barriers_struct()
    Lead, leads_to = step_lead_struct(), lead_functions().leads_to
    zero, one = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(1.0))

    @wp.func
    def slow_towards_violation(
        i: int,
        barriers: Barriers,
        values: wp.array2d(dtype=wp.float64),
        lead: Lead,
        program: Program,
    ):
        """Slow variables that move into a violation until they can stop within one more step.

        Joints take different times to stop. If those that move out of the violation are at rest
        first, the others would move the robot back in, and the stop check would refuse the step.
        With jerk limits, a variable that speeds up cannot brake as hard one step later.
        """
        for j in range(program.order.shape[0]):
            forwards = bool(False)
            backwards = bool(False)
            for barrier in range(barriers.gain.shape[0]):
                if wp.isfinite(barriers.recovery[barrier]):
                    for row in range(barriers.start[barrier], barriers.start[barrier + 1]):
                        if values[i, row] < zero:
                            slope = program.J[i, row, j]
                            if slope > wp.float64(wp.static(STILL)):
                                backwards = True
                            elif slope < -wp.float64(wp.static(STILL)):
                                forwards = True
            low = program.lower[i, j]
            high = program.upper[i, j]
            # Deceleration of one step, independent of the number of rows that require it.
            slowdown = wp.float64(0.5) * (high - low)
            fastest_back = slowdown
            fastest_forth = slowdown
            if lead.share < one:
                last = wp.clamp(lead.last[i, j], -slowdown, slowdown)
                fastest_back = wp.float64(0.5) * (slowdown - wp.min(last, zero))
                fastest_forth = wp.float64(0.5) * (slowdown + wp.max(last, zero))
            if backwards:
                program.lower[i, j] = wp.max(low, wp.min(high, -fastest_back))
            if forwards:
                program.upper[i, j] = wp.min(high, wp.max(low, fastest_forth))

    @wp.func
    def change_at_constant_speed(i: int, row: int, lead: Lead, program: Program) -> wp.float64:
        """Return the change of a row of y at the middle of the box.

        Joints keep their speeds there, or their accelerations if jerks are limited.
        """
        change = zero
        for j in range(program.order.shape[0]):
            middle = wp.float64(0.5) * (program.lower[i, j] + program.upper[i, j])
            if lead.share < one:
                middle = leads_to(i, j, middle, lead)
            change += program.J[i, row, j] * middle
        return change

    @wp.func
    def recovery_bound(
        i: int,
        row: int,
        bound: wp.float64,
        steady: wp.float64,
        push: wp.float64,
        lead: Lead,
        program: Program,
    ) -> wp.float64:
        """Limit the bound of a violated row of y to the previous motion plus a part of the box."""
        reach = steady
        for j in range(program.order.shape[0]):
            width = (program.upper[i, j] - program.lower[i, j]) / lead.share
            reach += wp.float64(0.5) * push * width * wp.abs(program.J[i, row, j])
        if wp.isfinite(reach):
            bound = wp.min(bound, wp.max(reach, zero))
        return bound

    @wp.func
    def urgency(value: wp.float64, shallow: wp.float64) -> wp.float64:
        rest = wp.float64(wp.static(1.0 - _UNHURRIED))
        part = -value / shallow - wp.float64(wp.static(_UNHURRIED))
        return wp.clamp(part / rest, zero, wp.float64(1.0))

    @wp.func
    def evades(i: int, barriers: Barriers, values: wp.array2d(dtype=wp.float64)) -> bool:
        for barrier in range(barriers.gain.shape[0]):
            if barriers.evasion[barrier] > zero:
                for row in range(barriers.start[barrier], barriers.start[barrier + 1]):
                    if values[i, row] < -barriers.shallow[barrier]:
                        return False
        return True

    return SimpleNamespace(
        slow_towards_violation=slow_towards_violation,
        change_at_constant_speed=change_at_constant_speed,
        recovery_bound=recovery_bound,
        evades=evades,
        urgency=urgency,
    )


@no_type_check
@functools.cache
def barrier_row_functions() -> SimpleNamespace:
    """Build the functions that load the rows of the barriers, float64.

    - ``load_rows(i, barriers, values, dt, lead, stop, program, is_relaxed)``: rows of this state;
      1 if the robot is leaving a violation, -1 if it evades an obstacle, else 0.
      ``is_relaxed[i]`` becomes 1 if a still row asks for growth.
    - ``load_stop_rows(i, barriers, values, dt, leaving, is_near, lead, stop, program)``: rows at
      the end of the stop.
    """
    Program, Barriers, Stop = step_program_struct(), step_barriers_struct(), step_stop_struct()
    Lead, lead_row = step_lead_struct(), lead_functions().lead_row
    bounds, recovery = row_bound_functions(wp.float64), recovery_functions()
    row_bound, is_still = bounds.row_bound, bounds.is_still
    slow_towards_violation = recovery.slow_towards_violation
    change_at_constant_speed = recovery.change_at_constant_speed
    recovery_bound, evades = recovery.recovery_bound, recovery.evades
    urgency = recovery.urgency
    stops = stop_row_functions()
    load_stop_row, nearness = stops.load_stop_row, stops.nearness
    smooth_step = stops.smooth_step
    zero, inf = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(wp.inf))

    @wp.func
    def leave_out(
        i: int,
        row: int,
        margin: wp.float64,
        gain: wp.float64,
        values: wp.array2d(dtype=wp.float64),
        program: Program,
    ) -> bool:
        """Make a still row inactive; return True if it asks for growth."""
        bound = row_bound(values[i, row] - margin, zero, gain, inf, wp.float64(1.0))
        program.d[i, row] = -inf
        if wp.isnan(bound):
            program.d[i, row] = bound  # reported by the solution
        for j in range(program.order.shape[0]):
            program.J[i, row, j] = zero
        values[i, row] = inf
        return bound > zero

    @wp.func
    def load_rows(
        i: int,
        barriers: Barriers,
        values: wp.array2d(dtype=wp.float64),
        dt: wp.float64,
        lead: Lead,
        stop: Stop,
        program: Program,
        is_relaxed: wp.array(dtype=wp.int32),
    ) -> wp.float64:
        """Load the rows of this state; return the sign of ``recovering``, 0 if it fades."""
        violated = bool(False)
        leaving = wp.float64(0.0)
        evading = evades(i, barriers, values)
        # An obstacle that reaches a robot that evades it does not slow it down, and a robot that
        # was inside one comes out of its margin slowly, too.
        if stop.recovering.shape[0] > 0 and stop.recovering[i] != zero:
            evading = stop.recovering[i] < zero
        for barrier in range(barriers.gain.shape[0]):
            total_square = wp.float64(0.0)
            displacement_weight = barriers.displacement_weight[barrier]
            for row in range(barriers.start[barrier], barriers.start[barrier + 1]):
                if values[i, row] == inf:
                    program.d[i, row] = -inf
                    continue
                square = wp.float64(0.0)
                for j in range(program.order.shape[0]):
                    square += program.J[i, row, j] * program.J[i, row, j]
                if is_still(square):
                    gain = barriers.gain[barrier]
                    if leave_out(i, row, barriers.margin[barrier], gain, values, program):
                        is_relaxed[i] = 1
                    continue
                speed = barriers.recovery[barrier]
                push = wp.float64(wp.static(_PUSH))
                is_fast = evading and values[i, row] < zero and barriers.evasion[barrier] > speed
                if is_fast:
                    share = urgency(values[i, row], barriers.shallow[barrier])
                    speed += share * (barriers.evasion[barrier] - speed)
                    push += share * wp.float64(wp.static(_EVASIVE_PUSH - _PUSH))
                program.d[i, row] = row_bound(
                    values[i, row] - barriers.margin[barrier],
                    wp.sqrt(square),
                    barriers.gain[barrier],
                    speed,
                    dt,
                )
                if values[i, row] < zero and wp.isfinite(barriers.recovery[barrier]):
                    violated = True
                    bound = program.d[i, row]
                    steady = change_at_constant_speed(i, row, lead, program)
                    if steady > wp.float64(wp.static(_LEAVING)) * bound:
                        if is_fast:
                            leaving = wp.float64(-1.0)
                        elif leaving == zero:
                            leaving = wp.float64(1.0)
                    program.d[i, row] = recovery_bound(i, row, bound, steady, push, lead, program)
                lead_row(i, row, lead, program)
                total_square += square
            if displacement_weight > zero and total_square > zero:
                for j in range(program.order.shape[0]):
                    program.H[i, j, j] = program.H[i, j, j] + displacement_weight / total_square
        if violated:
            slow_towards_violation(i, barriers, values, lead, program)
        return leaving

    @wp.func
    def load_stop_rows(
        i: int,
        barriers: Barriers,
        values: wp.array2d(dtype=wp.float64),
        dt: wp.float64,
        leaving: wp.float64,
        is_near: bool,
        lead: Lead,
        stop: Stop,
        program: Program,
    ):
        """Load the rows at the end of the stop, after the other rows, and smooth the step."""
        rows = barriers.start[barriers.gain.shape[0]]
        near = zero
        recovering = zero
        if stop.near.shape[0] > 0:
            faded = wp.abs(stop.recovering[i]) - dt / wp.float64(wp.static(_SUBSIDING))
            recovering = wp.max(faded, zero)
            if stop.recovering[i] < zero:
                stop.recovering[i] = -recovering
            else:
                stop.recovering[i] = recovering
            if leaving != zero:
                recovering = wp.float64(1.0)
                stop.recovering[i] = leaving
        for barrier in range(barriers.gain.shape[0]):
            margin = barriers.margin[barrier]
            for row in range(barriers.start[barrier], barriers.start[barrier + 1]):
                near = wp.max(near, nearness(values[i, row], margin))
        if stop.near.shape[0] > 0:
            stop.near[i] = int(near > zero)
        if not is_near:
            for row in range(rows, values.shape[1]):
                program.d[i, row] = -inf
            return
        for barrier in range(barriers.gain.shape[0]):
            margin = barriers.margin[barrier]
            for row in range(barriers.start[barrier], barriers.start[barrier + 1]):
                load_stop_row(
                    i, rows + row, margin, barriers.recovery[barrier], dt, values, lead, stop,
                    program,
                )  # fmt: skip
                lead_row(i, rows + row, lead, program)
                near = wp.max(near, nearness(values[i, rows + row], margin))
        smooth_step(i, near, recovering, dt, lead, program)

    return SimpleNamespace(load_rows=load_rows, load_stop_rows=load_stop_rows)
