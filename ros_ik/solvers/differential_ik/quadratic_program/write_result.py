# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Status and step of all degrees of freedom, from the solution of a program."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.solvers.differential_ik.quadratic_program.program import step_program_struct
from ros_ik.solvers.status import SolveStatus


@no_type_check
@functools.cache
def finish_functions() -> SimpleNamespace:
    """Build ``clamp_step(i, program)`` and ``finish_step(i, code, ..., delta_q, status)``.

    ``finish_step`` writes a zero step if the code is not ok. ``is_relaxed`` is 1 if the robot
    violates a limit, a limit was relaxed for another, or a violated barrier cannot change. The
    status is then RELAXED, and ``is_relaxed`` is reset.
    """
    Program = step_program_struct()
    zero = wp.constant(wp.float64(0.0))
    converged = wp.constant(int(SolveStatus.CONVERGED))
    relaxed = wp.constant(int(SolveStatus.RELAXED))

    @wp.func
    def clamp_step(i: int, program: Program):
        """Clamp the step to its bounds, which rounding may have exceeded."""
        for j in range(program.order.shape[0]):
            program.x[i, j] = wp.clamp(program.x[i, j], program.lower[i, j], program.upper[i, j])

    @wp.func
    def finish_step(
        i: int,
        code: int,
        is_relaxed: wp.array(dtype=wp.int32),
        dof: wp.array(dtype=wp.int32),
        variable: wp.array(dtype=wp.int32),
        factor: wp.array(dtype=wp.float64),
        program: Program,
        delta_q: wp.array2d(dtype=wp.float64),
        status: wp.array(dtype=wp.int32),
    ):
        if code == converged and is_relaxed[i] != 0:
            code = relaxed
        is_relaxed[i] = 0
        status[i] = code
        if code != converged and code != relaxed:
            for j in range(program.order.shape[0]):
                program.x[i, j] = zero
        for k in range(dof.shape[0]):
            j = variable[k]
            delta_q[i, dof[k]] = factor[k] * program.x[i, j]
            if program.copied_x.shape[1] > 0:
                program.copied_x[i, j] = program.x[i, j]

    return SimpleNamespace(clamp_step=clamp_step, finish_step=finish_step)
