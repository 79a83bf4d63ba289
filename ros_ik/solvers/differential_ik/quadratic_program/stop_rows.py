# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rows of barriers at the end of the stop after a step, so that stop checks need not cut the step.

In a stop, each variable brakes as hard as it can, so the variables come to rest at different
times. Values that depend on several of them, such as the distance from a face, therefore change
during the stop. Let D(x) be the displacement of the stop that begins with a step x, l the previous
step and l' the step after it when braking. The stop now ends at q + D(l'). A row of a barrier
there, with value h and derivatives J, is

    J (D(x) - D(l')) >= -p (max(h, 0) - m)

with D to first order about l. p is a fraction per step and m the clearance that is kept. The
required growth is bounded by the recovery speed of the barrier.

Near a barrier the program also has the cost w_j (x_j - l_j)^2 with

    w_j = (0.3 n + c tau / dt) H_jj

H is the Hessian of the program. Rows depend on the speed, and without this cost steps would jump
between equally good solutions. n falls from 1 at the clearance to 0 at 20 mm beyond it. c is 1
while the robot leaves a violation and falls to 0 within 0.2 s after it. The lag that it causes is
made up within a few tau. Rows and cost affect only the proposed step; bounds, other rows and
checks hold as without them.
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.integrate import integrate_function
from ros_ik.kinematics.row_bound import row_bound_functions
from ros_ik.kinematics.runtime.batch_layout import batch_zeros
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.stepping.stop_functions import stop_functions
from ros_ik.kinematics.tree import tree_struct
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.solvers.differential_ik.quadratic_program.lead import step_lead_struct
from ros_ik.solvers.differential_ik.quadratic_program.program import step_program_struct

# Clearance that is kept at rest, at most the margin [units of h].
_CLEARANCE = 5e-4
# Rate at which the value at rest may approach the clearance, or must return to it [1/s].
_RATE = 20.0
# Weight of changes of the step, as a fraction of the diagonal of H, and the distance beyond the
# clearance at which it has faded out [units of h].
_SMOOTHING, _NEAR = 0.3, 0.02
# The same while the robot leaves a violation, as a time tau [s].
_CATCHING_UP = 0.06


@no_type_check
@functools.cache
def step_stop_struct() -> Any:
    """Return the Warp struct of the stops after the last steps; it has no rows if unused."""

    @wp.struct
    class StepStop:
        slowdown: wp.array2d(dtype=wp.float64)  # [n, variables], decrease of the speed per step
        slope: wp.array2d(dtype=wp.float64)  # [n, variables], dD/dx at l
        offset: wp.array2d(dtype=wp.float64)  # [n, variables], D(l) - D(l') - slope l
        # Box of the step, as displacements of the position at rest.
        lower: wp.array2d(dtype=wp.float64)  # [n, variables]
        upper: wp.array2d(dtype=wp.float64)  # [n, variables]
        displacement: wp.array2d(dtype=wp.float64)  # [n, joint_dof_count], D(l')
        joint_q: wp.array2d(dtype=wp.float64)  # [n, joint_coord_count], configuration at rest
        near: wp.array(dtype=wp.int32)  # [n], whether a value is near its margin now
        # [n], 1 while a violation is left, -1 while an obstacle is evaded, fading to 0
        recovering: wp.array(dtype=wp.float64)

    return StepStop


@shares_launch_lock
def make_step_stop(n: int, variables: int, dofs: int, coords: int, device: wp.DeviceLike) -> Any:
    """Allocate the stops of ``n`` robots; ``n`` = 0 for none."""
    stop = step_stop_struct()()
    for name, width in (
        ('slowdown', variables), ('slope', variables), ('offset', variables),
        ('lower', variables), ('upper', variables), ('displacement', dofs), ('joint_q', coords),
    ):  # fmt: skip
        setattr(stop, name, batch_zeros((n, width), wp.float64, device))
    stop.near = wp.zeros(n, dtype=wp.int32, device=device)
    stop.recovering = wp.zeros(n, dtype=wp.float64, device=device)
    return stop


@no_type_check
@functools.cache
def place_rest_kernel() -> wp.Kernel:
    """Build the kernel that computes where each robot comes to rest if it brakes, float64."""
    functions = stop_functions(wp.float64)
    slower, steps_to_stop = functions.slower, functions.steps_to_stop
    travel_after = functions.travel_after
    integrate_row = integrate_function(wp.float64)
    Stop, Tree = step_stop_struct(), tree_struct(wp.float64)
    zero, half = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(0.5))
    one, inf = wp.constant(wp.float64(1.0)), wp.constant(wp.float64(wp.inf))

    @wp.func
    def stop_of(step: wp.float64, slowdown: wp.float64) -> wp.float64:
        time = steps_to_stop(step, slowdown) + wp.float64(2.0)
        return wp.sign(step) * travel_after(step, slowdown, time)

    @compiled_kernel()
    def place_rest(
        tree: Tree,
        joint_q: wp.array2d(dtype=wp.float64),  # [n, joint_coord_count]
        last: wp.array2d(dtype=wp.float64),  # [n, variables], l
        acceleration: wp.array(dtype=wp.float64),  # [joint_dof_count]
        dof: wp.array(dtype=wp.int32),  # [moving]
        variable: wp.array(dtype=wp.int32),  # [moving]
        factor: wp.array(dtype=wp.float64),  # [moving]
        lower: wp.array2d(dtype=wp.float64),  # [n, variables]
        upper: wp.array2d(dtype=wp.float64),  # [n, variables]
        dt: wp.float64,
        stop: Stop,
    ):
        i = wp.tid()
        for j in range(stop.slope.shape[1]):
            stop.slowdown[i, j] = inf
        for k in range(dof.shape[0]):
            j = variable[k]
            size = wp.abs(factor[k])
            if size > zero:
                slowdown = acceleration[dof[k]] * dt * dt / size
                stop.slowdown[i, j] = wp.min(stop.slowdown[i, j], slowdown)
        for j in range(stop.slope.shape[1]):
            slowdown = stop.slowdown[i, j]
            slope = one
            if slowdown > zero and wp.isfinite(slowdown):
                slope = wp.max(half + wp.abs(last[i, j]) / slowdown, one)
                next_step = slower(last[i, j], slowdown)
                change = stop_of(last[i, j], slowdown) - stop_of(next_step, slowdown)
                stop.offset[i, j] = change - slope * last[i, j]
            else:
                stop.offset[i, j] = zero
            stop.slope[i, j] = slope
            stop.lower[i, j] = slope * lower[i, j] + stop.offset[i, j]
            stop.upper[i, j] = slope * upper[i, j] + stop.offset[i, j]
        for k in range(stop.displacement.shape[1]):
            stop.displacement[i, k] = zero
        for k in range(dof.shape[0]):
            slowdown = stop.slowdown[i, variable[k]]
            if slowdown > zero and wp.isfinite(slowdown):
                next_step = slower(last[i, variable[k]], slowdown)
                stop.displacement[i, dof[k]] = factor[k] * stop_of(next_step, slowdown)
        for coord in range(joint_q.shape[1]):
            stop.joint_q[i, coord] = joint_q[i, coord]
        integrate_row(tree, i, stop.joint_q, stop.displacement, stop.joint_q)

    return place_rest


@no_type_check
@functools.cache
def stop_row_functions() -> SimpleNamespace:
    """Build the functions that add rows and costs of the stop to a program.

    - ``load_stop_row(i, row, margin, recovery, dt, values, lead, stop, program)``: convert value
      and derivatives at rest to a row of the step.
    - ``nearness(value, margin)``: 1 at or below the clearance, falling to 0 where steps are not
      smoothed.
    - ``smooth_step(i, near, recovering, dt, lead, program)``: add the cost of changes of the step.
    """
    Program, Stop, Lead = step_program_struct(), step_stop_struct(), step_lead_struct()
    is_still = row_bound_functions(wp.float64).is_still
    zero, one = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(1.0))

    @wp.func
    def kept_clearance(margin: wp.float64) -> wp.float64:
        return wp.min(margin, wp.float64(wp.static(_CLEARANCE)))

    @wp.func
    def load_stop_row(
        i: int,
        row: int,
        margin: wp.float64,
        recovery: wp.float64,
        dt: wp.float64,
        values: wp.array2d(dtype=wp.float64),
        lead: Lead,
        stop: Stop,
        program: Program,
    ):
        program.d[i, row] = -wp.float64(wp.inf)
        if wp.isfinite(values[i, row]):
            square = zero
            for j in range(program.order.shape[0]):
                square += program.J[i, row, j] * program.J[i, row, j]
            if is_still(square):
                values[i, row] = wp.float64(wp.inf)  # it does not smooth the step either
                return
            rate = wp.min(wp.float64(wp.static(_RATE)), lead.largest_gain)
            part = wp.min(rate * dt, one)
            bound = -part * (wp.max(values[i, row], zero) - kept_clearance(margin))
            if bound > zero:
                bound = wp.min(bound, dt * recovery * wp.sqrt(square))
            for j in range(program.order.shape[0]):
                bound -= program.J[i, row, j] * stop.offset[i, j]
                program.J[i, row, j] = program.J[i, row, j] * stop.slope[i, j]
            program.d[i, row] = bound

    @wp.func
    def nearness(value: wp.float64, margin: wp.float64) -> wp.float64:
        if not wp.isfinite(value):
            return zero
        beyond = (value - kept_clearance(margin)) / wp.float64(wp.static(_NEAR))
        return wp.clamp(one - beyond, zero, one)

    @wp.func
    def smooth_step(
        i: int,
        near: wp.float64,
        recovering: wp.float64,
        dt: wp.float64,
        lead: Lead,
        program: Program,
    ):
        part = near * wp.float64(wp.static(_SMOOTHING))
        part += recovering * wp.float64(wp.static(_CATCHING_UP)) / dt
        for j in range(program.order.shape[0]):
            weight = part * program.H[i, j, j]
            program.H[i, j, j] = program.H[i, j, j] + weight
            program.c[i, j] = program.c[i, j] - weight * lead.last[i, j]

    return SimpleNamespace(
        load_stop_row=load_stop_row, nearness=nearness, smooth_step=smooth_step
    )
