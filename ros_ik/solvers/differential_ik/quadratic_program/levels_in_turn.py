# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Solution of a step level by level, each of which keeps what earlier levels got.

Where limits or barriers block the motion that a later level asks for, the solution x_0 of the
program of :mod:`ros_ik.solvers.differential_ik.tasks.priorities` is a compromise between levels.
The levels are then solved in turn, within the same bounds and rows:

    x_k = argmin_x  R(x) + sum_(j <= k) 1/2 |P_j x + e_j|^2
                    + rho/2 sum_(j < k) |P_j (x - x_j)|^2 + delta/2 |x - x_0|^2

P_j and e_j are the projected rows and errors of level j, R the costs of no level: regularization,
damping, and changes of the step near barriers (after Kanoun, Lamiraux and Wieber, "Kinematic
control of redundant manipulators: generalizing the task-priority framework to inequality tasks",
IEEE Transactions on Robotics 27, 2011, with a large weight instead of their equations). The term
of delta only decides what the levels so far leave free.

Without active constraints every x_k is x_0, so nothing is solved, and the step stays continuous
where a constraint becomes active. If a level has no solution, x_0 remains.
"""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.differential_ik.quadratic_program.active_set import step_active_set_function
from ros_ik.solvers.differential_ik.quadratic_program.dual_fallback import dual_program_struct
from ros_ik.solvers.differential_ik.quadratic_program.dual_fallback import solve_dual_function
from ros_ik.solvers.differential_ik.quadratic_program.program import step_program_struct
from ros_ik.solvers.differential_ik.quadratic_program.write_result import finish_functions
from ros_ik.solvers.differential_ik.tasks.priorities import level_rows_struct
from ros_ik.solvers.status import SolveStatus

# Weight of the motion that a level got, per weight of its tasks. A later level displaces it by
# 1 / rho of what an equal weight would.
_RHO = 1e6
# Weight of x_0, per largest element of the diagonal.
_DELTA = 1e-8


@no_type_check
@functools.cache
def solve_levels_kernel() -> wp.Kernel:
    """Build the kernel that replaces a compromise between levels, float64."""
    Program, Levels, Dual = step_program_struct(), level_rows_struct(), dual_program_struct()
    solve_from_guess, solve_dual = step_active_set_function(), solve_dual_function()
    finish = finish_functions()
    clamp_step, finish_step = finish.clamp_step, finish.finish_step
    rho, delta = wp.constant(wp.float64(_RHO)), wp.constant(wp.float64(_DELTA))
    zero = wp.constant(wp.float64(0.0))
    converged = wp.constant(int(SolveStatus.CONVERGED))

    @wp.func
    def is_compromise(i: int, levels: Levels, program: Program) -> bool:
        """Return True if there are several levels and an active constraint."""
        if levels.start[1] >= levels.order.shape[0]:
            return False
        for j in range(program.order.shape[0]):
            if program.active_bound[i, j] != 0:
                return True
        for row in range(program.d.shape[1]):
            if program.binding[i, row] != 0:
                return True
        return False

    @wp.func
    def begin(i: int, levels: Levels, program: Program, turn: Program):
        """Start with the cost that is of no level, from the active constraints of x_0."""
        n = program.order.shape[0]
        for j in range(n):
            turn.active_bound[i, j] = program.active_bound[i, j]
            turn.c[i, j] = program.c[i, j]
            for k in range(n):
                turn.H[i, j, k] = zero
            diagonal = program.H[i, j, j]
            for a in range(levels.order.shape[0]):
                value = levels.projected[i, a, j]
                turn.c[i, j] = turn.c[i, j] - value * levels.error[i, a]
                diagonal -= value * value
            turn.H[i, j, j] = wp.max(diagonal, zero)
        for row in range(program.d.shape[1]):
            turn.binding[i, row] = program.binding[i, row]

    @wp.func
    def add_level(i: int, first: int, last: int, levels: Levels, turn: Program):
        """Add 1/2 |P x + e|^2."""
        H = turn.H[i]
        for a in range(first, last):
            P = levels.projected[i, a]
            for j in range(turn.order.shape[0]):
                turn.c[i, j] = turn.c[i, j] + P[j] * levels.error[i, a]
                for k in range(j + 1):
                    H[j, k] = H[j, k] + P[j] * P[k]

    @wp.func
    def hold_level(i: int, first: int, last: int, levels: Levels, turn: Program):
        """Add rho/2 |P (x - x_j)|^2 with x_j, the present solution."""
        H = turn.H[i]
        for a in range(first, last):
            P = levels.projected[i, a]
            got = wp.float64(0.0)
            for j in range(turn.order.shape[0]):
                got += P[j] * turn.x[i, j]
            for j in range(turn.order.shape[0]):
                value = rho * P[j]
                turn.c[i, j] = turn.c[i, j] - value * got
                for k in range(j + 1):
                    H[j, k] = H[j, k] + value * P[k]

    @wp.func
    def add_start(i: int, weight: wp.float64, program: Program, turn: Program):
        """Add weight/2 |x - x_0|^2."""
        for j in range(turn.order.shape[0]):
            turn.H[i, j, j] = turn.H[i, j, j] + weight
            turn.c[i, j] = turn.c[i, j] - weight * program.x[i, j]

    @wp.func
    def largest_diagonal(i: int, program: Program) -> wp.float64:
        value = wp.float64(0.0)
        for j in range(program.order.shape[0]):
            value = wp.max(value, program.H[i, j, j])
        return value

    @compiled_kernel(registers=255)
    def solve_levels(
        levels: Levels,
        dt: wp.float64,
        max_iterations: wp.array(dtype=wp.int32),  # [1]
        tolerance: wp.float64,
        rounds: wp.array(dtype=wp.int32),  # [n], of x_0; 0 for numbers that are not finite
        dof: wp.array(dtype=wp.int32),  # [moving], degrees of freedom that the group moves
        variable: wp.array(dtype=wp.int32),  # [moving]
        factor: wp.array(dtype=wp.float64),  # [moving]
        program: Program,
        dual: Dual,
        is_relaxed: wp.array(dtype=wp.int32),  # [n], cleared before; status has it
        # scratch
        turn: Program,  # with the constraints of the program
        turn_status: wp.array(dtype=wp.int32),  # [n]
        # in and out
        delta_q: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
        status: wp.array(dtype=wp.int32),  # [n]
    ):
        i = wp.tid()
        conflicts = rounds[i] < 0 and status[i] != converged
        if rounds[i] == 0 or conflicts or not is_compromise(i, levels, program):
            return
        begin(i, levels, program, turn)
        weight = delta * largest_diagonal(i, program)
        total = levels.order.shape[0]
        first = int(0)
        level = int(0)
        while first < total:
            last = levels.start[level + 1]
            add_level(i, first, last, levels, turn)
            add_start(i, weight, program, turn)
            if solve_from_guess(i, turn, True, tolerance) <= 0:
                code = solve_dual(i, dt, max_iterations[0], tolerance, turn, dual, turn_status)
                if code != converged:
                    return
            if last < total:
                add_start(i, -weight, program, turn)
                hold_level(i, first, last, levels, turn)
            first = last
            level += 1
        for j in range(turn.order.shape[0]):
            program.x[i, j] = turn.x[i, j]
        clamp_step(i, program)
        finish_step(i, status[i], is_relaxed, dof, variable, factor, program, delta_q, status)

    return solve_levels
