# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Step of a damped least-squares problem within a box, for one row of a batch.

    minimise 1/2 d^T (H + lambda I) d + g^T d   subject to   low <= d <= high

An active-set method: a bound becomes active when the step of its unknown leaves the range, and the
other unknowns are solved again. A bound is released when the model moves its unknown inwards.
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.batch_layout import batch_zeros
from ros_ik.solvers.least_squares.envelope import Elimination
from ros_ik.solvers.least_squares.envelope import envelope_functions

# Rounds of activating and releasing bounds; the step is inside its box after any number of them.
_MAX_ROUNDS = 12


@no_type_check
@functools.cache
def step_workspace_struct() -> Any:
    """Return the struct of the work arrays; see :func:`bounded_step_functions`."""

    @wp.struct
    class StepWorkspace:
        order: wp.array(dtype=wp.int32)  # [k], Elimination
        first: wp.array(dtype=wp.int32)  # [k]
        hessian: wp.array3d(dtype=wp.float64)  # [rows, n, n], lower triangle
        gradient: wp.array2d(dtype=wp.float64)  # [rows, n]
        low: wp.array2d(dtype=wp.float64)  # [rows, n], range of the step
        high: wp.array2d(dtype=wp.float64)  # [rows, n]
        step: wp.array2d(dtype=wp.float64)  # [rows, n], the result
        factor: wp.array2d(dtype=wp.float64)  # [rows, k * k]
        trial: wp.array2d(dtype=wp.float64)  # [rows, n]
        at_bound: wp.array2d(dtype=wp.int32)  # [rows, n], 1 if a bound is active

    return StepWorkspace


def make_step_workspace(rows: int, n: int, order: Elimination, device: wp.DeviceLike) -> Any:
    """Allocate a workspace for ``rows`` problems; the caller fills H, g and the box.

    Args:
        rows: Number of problems.
        n: Number of unknowns, including those outside the order.
        order: Order of elimination.
        device: Device of the arrays.
    """

    def zeros(*shape: int, dtype: type = wp.float64) -> wp.array:
        return batch_zeros((rows, *shape), dtype, device)

    workspace = step_workspace_struct()()
    workspace.order = wp.array(order.order, dtype=wp.int32, device=device)
    workspace.first = wp.array(order.first, dtype=wp.int32, device=device)
    workspace.hessian, workspace.factor = zeros(n, n), zeros(len(order.order) ** 2)
    for name in ('gradient', 'low', 'high', 'step', 'trial'):
        setattr(workspace, name, zeros(n))
    workspace.at_bound = zeros(n, dtype=wp.int32)
    return workspace


@no_type_check
@functools.cache
def bounded_step_functions() -> SimpleNamespace:
    """Build ``bounded_step(work, row, damping)`` and ``model_gain(work, row, scale)``.

    ``bounded_step`` fills ``work.step[row]``, with a NaN where H + lambda I is not positive
    definite; ``model_gain`` returns |r|^2 - |r + s J d|^2 of it.
    """
    Workspace, envelope = step_workspace_struct(), envelope_functions()
    entry, factorise = envelope.entry, envelope.factorise
    forward, backward = envelope.forward, envelope.backward
    max_rounds = wp.constant(_MAX_ROUNDS)
    zero = wp.constant(wp.float64(0.0))

    @wp.func
    def activate(work: Workspace, row: int) -> int:
        """Move the trial step into the box; return the number of bounds that become active."""
        at_bound = work.at_bound[row]
        changes = int(0)
        for p in range(work.order.shape[0]):
            i = work.order[p]
            if at_bound[i] == 0:
                wanted = work.trial[row, p]
                allowed = wp.clamp(wanted, work.low[row, i], work.high[row, i])
                work.step[row, i] = allowed
                if allowed != wanted:
                    at_bound[i] = 1
                    changes += 1
        return changes

    @wp.func
    def release(work: Workspace, row: int, damping: wp.float64) -> int:
        """Release bounds that the model would leave inwards; return their number."""
        at_bound = work.at_bound[row]
        hessian = work.hessian[row]
        step = work.step[row]
        changes = int(0)
        for p in range(work.order.shape[0]):
            i = work.order[p]
            if at_bound[i] == 1 and work.low[row, i] < work.high[row, i]:
                slope = work.gradient[row, i] + damping * step[i]
                for c in range(work.order.shape[0]):
                    slope += entry(hessian, i, work.order[c]) * step[work.order[c]]
                up = slope < zero and step[i] <= work.low[row, i]
                down = slope > zero and step[i] >= work.high[row, i]
                if up or down:
                    at_bound[i] = 0
                    changes += 1
        return changes

    @wp.func
    def solve_free(work: Workspace, row: int, any_fixed: bool, damping: wp.float64) -> bool:
        """Write the step of the free unknowns to ``trial``; the others keep ``step``."""
        n = work.order.shape[0]
        at_bound = work.at_bound[row]  # views of one row: fewer indices inside the loops
        hessian = work.hessian[row]
        trial = work.trial[row]
        factor = work.factor[row]
        if not factorise(work.order, work.first, at_bound, hessian, damping, factor):
            return False
        for p in range(n):
            i = work.order[p]
            value = zero
            if at_bound[i] == 0:
                value = -work.gradient[row, i]
                if any_fixed:
                    for c in range(n):
                        j = work.order[c]
                        if at_bound[j] == 1:
                            value -= entry(hessian, i, j) * work.step[row, j]
            trial[p] = value
        forward(work.first, factor, trial)
        backward(work.first, factor, trial)
        return True

    @wp.func
    def bounded_step(work: Workspace, row: int, damping: wp.float64):
        for p in range(work.order.shape[0]):
            work.at_bound[row, work.order[p]] = 0
            work.step[row, work.order[p]] = zero
        any_fixed = bool(False)
        changes = int(1)
        rounds = int(0)
        while changes > 0 and rounds < max_rounds:
            rounds += 1
            changes = 0
            if solve_free(work, row, any_fixed, damping):
                changes = activate(work, row)
                any_fixed = any_fixed or changes > 0
                if changes == 0 and any_fixed:
                    changes = release(work, row, damping)
            else:
                work.step[row, work.order[0]] = wp.float64(wp.nan)

    @wp.func
    def model_gain(work: Workspace, row: int, scale: wp.float64) -> wp.float64:
        hessian = work.hessian[row]
        step = work.step[row]
        gain = wp.float64(0.0)
        for p in range(work.order.shape[0]):
            i = work.order[p]
            move = scale * step[i]
            slope = wp.float64(2.0) * work.gradient[row, i] + hessian[i, i] * move
            for c in range(work.first[p], p):
                j = work.order[c]
                slope += wp.float64(2.0) * entry(hessian, i, j) * scale * step[j]
            gain -= move * slope
        return gain

    return SimpleNamespace(bounded_step=bounded_step, model_gain=model_gain)
