# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Dual method for the quadratic program of a step, used if the active-set method fails.

If rows and bounds conflict, it finds the step that violates the rows least.
"""

import functools
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.solvers.qp.active_set import active_set_functions
from ros_ik.solvers.qp.dense_qp import DenseQP
from ros_ik.solvers.qp.dense_qp_kernel import qp_function
from ros_ik.solvers.step.quadratic_program.program import step_program_struct


@no_type_check
@functools.cache
def dual_program_struct() -> Any:
    """Return the Warp struct of the arrays of the dual method, which are those of DenseQP."""
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


def make_dual_program(n: int, variables: int, rows: int, device: wp.DeviceLike) -> Any:
    """Allocate the arrays of the dual method for ``n`` robots."""
    qp = DenseQP(n, variables, rows, device=device)
    dual = dual_program_struct()()
    dual.A, dual.b, dual.iterations = qp.A, qp.b, qp.iterations
    dual.bound_multiplier, dual.row_multiplier = qp.bound_multiplier, qp.row_multiplier
    dual.workspace = qp.workspace
    return dual


@no_type_check
@functools.cache
def solve_dual_function() -> wp.Function:
    """Build ``solve_dual(i, dt, max_iterations, tolerance, program, dual, status)``.

    The function fills ``program.x``, ``held``, ``binding`` and ``status[i]``, a ``SolveStatus``.
    """
    Program, Dual = step_program_struct(), dual_program_struct()
    solve_program = qp_function(wp.float64)
    zero = wp.constant(wp.float64(0.0))

    @wp.func
    def solve_dual(
        i: int,
        dt: wp.float64,
        max_iterations: int,
        tolerance: wp.float64,
        program: Program,
        dual: Dual,
        status: wp.array(dtype=wp.int32),
    ):
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
            program.held[i, j] = int(wp.sign(dual.bound_multiplier[i, j]))
            if dual.bound_multiplier[i, j] == zero:
                program.held[i, j] = 0
        for row in range(program.d.shape[1]):
            program.binding[i, row] = int(dual.row_multiplier[i, row] > zero)

    return solve_dual
