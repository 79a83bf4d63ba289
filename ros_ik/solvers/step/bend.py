# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""What a violated row must win for the stop that may follow: values bend while joints move on.

A row J x >= d sees a value h as a plane. On a stop that takes M steps, in which all joints slow
down together, J becomes J + K M / 2 with K the change of J in one step. For h not to fall before
the robot rests, the row has to ask for

    -K l M / 2    more,    M = max_j |l_j| / s_j,

where K l = (J - J_before) l is negative, l is the step before and s_j what joint j can lose a
step. It fades out from h = 0 to the margin. A row is known again by what the step before has made
of its value: h - h_before - J_before l is half of K l, to second order.
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.solvers.step.program import step_program_struct

# What a row may be off that is known again [units of h].
_SAME = 1e-7


@no_type_check
@functools.cache
def step_history_struct() -> Any:
    """Return the Warp struct of what is known of the step before; of no rows where nobody asks."""

    @wp.struct
    class StepHistory:
        last: wp.array2d(dtype=wp.float64)  # [n, joint_dof_count], the step before
        acceleration: wp.array(dtype=wp.float64)  # [joint_dof_count]
        step: wp.array2d(dtype=wp.float64)  # [n, variables], l
        h: wp.array2d(dtype=wp.float64)  # [n, rows], before the step
        J: wp.array3d(dtype=wp.float64)  # [n, rows, variables], before the step

    return StepHistory


class RowHistory:
    """Values of a set of barriers and their derivatives, as they were in the last solve.

    Attributes:
        h: Values, shape [n, rows]; inf where there was none.
        J: Their derivatives by the variables, shape [n, rows, variables].
    """

    def __init__(self, n: int, variables: int, rows: int, device: wp.DeviceLike) -> None:
        """Allocate; nothing is known yet."""
        self.h = wp.full((n, rows), wp.inf, dtype=wp.float64, device=device)
        self.J = wp.zeros((n, rows, variables), dtype=wp.float64, device=device)

    def copy_from(self, other: 'RowHistory') -> None:
        """Take over what another solver of the same robots with the same barriers knows."""
        wp.copy(self.h, other.h)
        wp.copy(self.J, other.J)


def make_step_history(n: int, variables: int, device: wp.DeviceLike) -> Any:
    """Return what is known of ``n`` robots before a first step: nothing."""
    history = step_history_struct()()
    history.last = wp.zeros((n, 0), dtype=wp.float64, device=device)
    history.acceleration = wp.zeros(0, dtype=wp.float64, device=device)
    history.step = wp.zeros((n, variables), dtype=wp.float64, device=device)
    history.h = wp.zeros((n, 0), dtype=wp.float64, device=device)
    history.J = wp.zeros((n, 0, variables), dtype=wp.float64, device=device)
    return history


@no_type_check
@functools.cache
def bend_functions() -> SimpleNamespace:
    """Build what rows ask for stops.

    ``load_last_step(i, dt, dof, variable, factor, history) -> M``. ``bend_of(i, row, first, end,
    h, program, history) -> K l``, where the rows of the barrier are first <= row < end.
    ``keep_rows(i, values, program, history)``: for the next step.
    """
    Program, History = step_program_struct(), step_history_struct()
    zero, half = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(0.5))

    @wp.func
    def load_last_step(
        i: int,
        dt: wp.float64,
        dof: wp.array(dtype=wp.int32),
        variable: wp.array(dtype=wp.int32),
        factor: wp.array(dtype=wp.float64),
        history: History,
    ) -> wp.float64:
        longest = zero
        for k in range(dof.shape[0]):
            step = history.last[i, dof[k]]
            if factor[k] != zero:
                history.step[i, variable[k]] = step / factor[k]
            loss = history.acceleration[dof[k]] * dt * dt
            if loss > zero:
                longest = wp.max(longest, wp.abs(step) / loss)
        return longest

    @wp.func
    def bend_of(
        i: int, row: int, first: int, end: int, h: wp.float64, program: Program, history: History
    ) -> wp.float64:
        now = zero
        for j in range(program.order.shape[0]):
            now += program.J[i, row, j] * history.step[i, j]
        best = wp.float64(wp.inf)
        bend = zero
        for other in range(first, end):
            if wp.isfinite(history.h[i, other]):
                before = zero
                for j in range(program.order.shape[0]):
                    before += history.J[i, other, j] * history.step[i, j]
                change = now - before
                off = wp.abs(h - history.h[i, other] - before - half * change)
                if off < best and off <= half * wp.abs(change) + wp.float64(wp.static(_SAME)):
                    best = off
                    bend = change
        return bend

    @wp.func
    def keep_rows(
        i: int, values: wp.array2d(dtype=wp.float64), program: Program, history: History
    ):
        for row in range(history.h.shape[1]):
            history.h[i, row] = values[i, row]
            if wp.isfinite(values[i, row]):
                for j in range(program.order.shape[0]):
                    history.J[i, row, j] = program.J[i, row, j]

    return SimpleNamespace(load_last_step=load_last_step, bend_of=bend_of, keep_rows=keep_rows)
