# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that makes rows of the barriers, solves the program and writes the step of all joints.

The program is solved by the active-set method, from the active constraints of the previous step,
or by the dual method if that fails. Programs with few variables and no rows have a separate
kernel, in ``small_active_set``.
"""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.differential_ik.quadratic_program.active_set import step_active_set_function
from ros_ik.solvers.differential_ik.quadratic_program.barrier_rows import barrier_row_functions
from ros_ik.solvers.differential_ik.quadratic_program.barrier_rows import step_barriers_struct
from ros_ik.solvers.differential_ik.quadratic_program.dual_fallback import dual_program_struct
from ros_ik.solvers.differential_ik.quadratic_program.dual_fallback import end_step_function
from ros_ik.solvers.differential_ik.quadratic_program.lead import step_lead_struct
from ros_ik.solvers.differential_ik.quadratic_program.program import step_program_struct
from ros_ik.solvers.differential_ik.quadratic_program.stop_rows import step_stop_struct
from ros_ik.solvers.differential_ik.quadratic_program.write_result import finish_functions


@no_type_check
@functools.cache
def solve_step_kernel(lists_failed: bool) -> wp.Kernel:
    """Build the kernel for programs of any size, float64.

    Args:
        lists_failed: True if robots that need the dual method are marked for ``dual_fallback``.
    """
    Program, Dual, Barriers = step_program_struct(), dual_program_struct(), step_barriers_struct()
    Stop, Lead, rows = step_stop_struct(), step_lead_struct(), barrier_row_functions()
    load_rows, load_stop_rows = rows.load_rows, rows.load_stop_rows
    solve_from_guess, end_step = step_active_set_function(), end_step_function(lists_failed)
    clamp_step = finish_functions().clamp_step

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
        lead: Lead,
        is_near: int,
        stop: Stop,
        program: Program,
        dual: Dual,
        is_relaxed: wp.array(dtype=wp.int32),  # [n], see finish_step; cleared
        # out
        failed: wp.array(dtype=wp.int32),  # [n], 1 for robots left to the dual method, if listed
        delta_q: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count], zero where nothing moves
        status: wp.array(dtype=wp.int32),  # [n]
        rounds: wp.array(dtype=wp.int32),  # [n], -1 if the dual method was needed
    ):
        i = wp.tid()
        n = program.order.shape[0]
        leaving = load_rows(i, barriers, values, dt, lead, stop, program, is_relaxed)
        load_stop_rows(i, barriers, values, dt, leaving, is_near != 0, lead, stop, program)
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
            is_relaxed, failed, delta_q, status, rounds,
        )  # fmt: skip

    return solve_step
