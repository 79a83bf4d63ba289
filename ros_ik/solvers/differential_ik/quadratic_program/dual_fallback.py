# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""End of a step: the dual method if the active-set method failed, then the step of all joints.

If rows and bounds conflict, the dual method finds the step that violates the rows least. It takes
many registers and much time, and few robots of a batch need it. A batch that more than fills a GPU
therefore has a second kernel for it, over the list of these robots. The first kernel then needs
half as many registers, and its warps do not wait for single robots.
"""

import functools
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.kernel_launch import exceeds_device
from ros_ik.kinematics.runtime.row_list import row_list_functions
from ros_ik.kinematics.runtime.row_list import RowList
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.solvers.differential_ik.quadratic_program.program import step_program_struct
from ros_ik.solvers.differential_ik.quadratic_program.write_result import finish_functions
from ros_ik.solvers.qp.active_set import active_set_functions
from ros_ik.solvers.qp.dense_qp_kernel import qp_function
from ros_ik.solvers.qp.workspace import make_workspace
from ros_ik.solvers.status import SolveStatus

# In a program with conflicting rows, a variable that moves by less than so many tolerances rests.
# The relaxation of these rows is of this order.
_RESTS = 10.0


@no_type_check
@functools.cache
def dual_program_struct() -> Any:
    """Return the Warp struct of the arrays of the dual method."""
    Workspace = active_set_functions(wp.float64).Workspace

    @wp.struct
    class DualProgram:
        A: wp.array3d(dtype=wp.float64)  # [n, rows, variables]
        b: wp.array2d(dtype=wp.float64)  # [n, rows]
        iterations: wp.array(dtype=wp.int32)  # [n]
        bound_multiplier: wp.array2d(dtype=wp.float64)  # [n, variables]
        row_multiplier: wp.array2d(dtype=wp.float64)  # [n, rows]
        workspace: Workspace

    return DualProgram


@shares_launch_lock
def make_dual_program(n: int, variables: int, rows: int, device: wp.DeviceLike) -> Any:
    """Allocate the arrays of the dual method for ``n`` robots."""

    def zeros(*shape: int) -> wp.array:
        return wp.zeros((n, *shape), dtype=wp.float64, device=device)

    dual = dual_program_struct()()
    dual.A, dual.b = zeros(rows, variables), zeros(rows)
    dual.iterations = wp.zeros(n, dtype=wp.int32, device=device)
    dual.bound_multiplier, dual.row_multiplier = zeros(variables), zeros(rows)
    dual.workspace = make_workspace(wp.float64, n, variables, rows, device, interleaves=False)
    return dual


def list_of_failed(n: int, device: wp.DeviceLike) -> RowList | None:
    """Return the list of robots of a batch that need the dual method.

    Args:
        n: Number of robots.
        device: Device of the batch.

    Returns:
        None for a batch whose steps are better solved in a single kernel.
    """
    return RowList(n, device) if exceeds_device(wp.get_device(device), n) else None


@no_type_check
@functools.cache
def solve_dual_function() -> wp.Function:
    """Build ``solve_dual(i, dt, max_iterations, tolerance, program, dual, status) -> code``.

    The function fills ``program.x``, ``active_bound`` and ``binding``. It returns a
    ``SolveStatus``.
    """
    Program, Dual = step_program_struct(), dual_program_struct()
    solve_program = qp_function(wp.float64)
    clamp_step = finish_functions().clamp_step
    zero = wp.constant(wp.float64(0.0))
    relaxed = wp.constant(int(SolveStatus.RELAXED))

    @wp.func
    def drop_rounding(i: int, tolerance: wp.float64, program: Program):
        """Set steps within rounding to zero, because they would add up to a slow drift."""
        for j in range(program.order.shape[0]):
            if wp.abs(program.x[i, j]) <= wp.float64(wp.static(_RESTS)) * tolerance:
                program.x[i, j] = zero

    @wp.func
    def solve_dual(
        i: int,
        dt: wp.float64,
        max_iterations: int,
        tolerance: wp.float64,
        program: Program,
        dual: Dual,
        status: wp.array(dtype=wp.int32),
    ) -> int:
        """Solve with A = -J / dt and b = -d / dt, and store the active constraints."""
        n = program.order.shape[0]
        for j in range(n):
            for k in range(j):
                program.H[i, k, j] = program.H[i, j, k]
        for row in range(program.d.shape[1]):
            dual.b[i, row] = -program.d[i, row] / dt
            for j in range(n):
                dual.A[i, row, j] = -program.J[i, row, j] / dt
        solve_program(
            i, program.H, program.c, program.lower, program.upper, dual.A, dual.b,
            max_iterations, tolerance, dual.workspace, program.x, status, dual.iterations,
            dual.bound_multiplier, dual.row_multiplier,
        )  # fmt: skip
        for j in range(n):
            program.active_bound[i, j] = int(wp.sign(dual.bound_multiplier[i, j]))
            if dual.bound_multiplier[i, j] == zero:
                program.active_bound[i, j] = 0
        for row in range(program.d.shape[1]):
            program.binding[i, row] = int(dual.row_multiplier[i, row] > zero)
        if status[i] == relaxed:
            drop_rounding(i, tolerance, program)
        clamp_step(i, program)
        return status[i]

    return solve_dual


@no_type_check
@functools.cache
def end_step_function(lists_failed: bool) -> wp.Function:
    """Build ``end_step(i, taken, ...)``, the end of the kernels that solve a step.

    ``taken`` is the number of rounds of the active-set method, -1 if it failed, and 0 if the
    program has a number that is not finite, or a lower bound above the upper one.

    Args:
        lists_failed: True if robots whose active-set method failed are marked for
            :func:`dual_step_kernel`; otherwise the function calls the dual method.
    """
    Program, Dual = step_program_struct(), dual_program_struct()
    solve_dual, finish_step = solve_dual_function(), finish_functions().finish_step
    converged = wp.constant(int(SolveStatus.CONVERGED))
    non_finite = wp.constant(int(SolveStatus.NON_FINITE_INPUT))

    @wp.func
    def end_step(
        i: int,
        taken: int,
        dt: wp.float64,
        max_iterations: wp.array(dtype=wp.int32),
        tolerance: wp.float64,
        dof: wp.array(dtype=wp.int32),
        variable: wp.array(dtype=wp.int32),
        factor: wp.array(dtype=wp.float64),
        program: Program,
        dual: Dual,
        is_relaxed: wp.array(dtype=wp.int32),
        failed: wp.array(dtype=wp.int32),
        delta_q: wp.array2d(dtype=wp.float64),
        status: wp.array(dtype=wp.int32),
        rounds: wp.array(dtype=wp.int32),
    ):
        rounds[i] = taken
        code = int(converged)
        if taken == 0:
            code = int(non_finite)
        if wp.static(lists_failed):
            failed[i] = int(taken < 0)
            if taken < 0:
                return
        else:
            if taken < 0:
                code = solve_dual(i, dt, max_iterations[0], tolerance, program, dual, status)
        finish_step(i, code, is_relaxed, dof, variable, factor, program, delta_q, status)

    return end_step


@no_type_check
@functools.cache
def dual_step_kernel() -> wp.Kernel:
    """Build the kernel that ends the steps of the robots in a list by the dual method, float64."""
    Program, Dual = step_program_struct(), dual_program_struct()
    rows = row_list_functions()
    Rows, listed_row = rows.Rows, rows.listed_row
    solve_dual, finish_step = solve_dual_function(), finish_functions().finish_step

    @compiled_kernel(registers=255)
    def take_dual_step(
        failed: Rows,
        dt: wp.float64,
        max_iterations: wp.array(dtype=wp.int32),  # [1]
        tolerance: wp.float64,
        dof: wp.array(dtype=wp.int32),  # [moving], degrees of freedom that the group moves
        variable: wp.array(dtype=wp.int32),  # [moving]
        factor: wp.array(dtype=wp.float64),  # [moving]
        program: Program,
        dual: Dual,
        is_relaxed: wp.array(dtype=wp.int32),  # [n], see finish_step; cleared
        # out
        delta_q: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count], zero where nothing moves
        status: wp.array(dtype=wp.int32),  # [n]
    ):
        i = listed_row(failed, wp.tid())
        if i < 0:
            return
        code = solve_dual(i, dt, max_iterations[0], tolerance, program, dual, status)
        finish_step(i, code, is_relaxed, dof, variable, factor, program, delta_q, status)

    return take_dual_step
