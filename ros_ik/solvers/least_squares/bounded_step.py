# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The step of a damped least-squares problem inside a box, one row of a batch at a time.

    minimise 1/2 d^T (H + lambda I) d + g^T d   subject to   low <= d <= high

An unknown whose step leaves its range is held at the bound and the others are solved again; one
that is held although the model would pull it back is freed (an active-set method). The Cholesky
factor is taken in an order of the unknowns in which those of different limbs do not meet, and
skips the zeros left of the first entry of each row (an envelope, Jennings 1966): limbs cost what
they cost alone.
"""

import dataclasses
import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import numpy as np
import warp as wp

# Rounds of holding and freeing; the step is inside its box after any number of them.
_MAX_ROUNDS = 12


@dataclasses.dataclass(frozen=True)
class Elimination:
    """The order in which unknowns are eliminated.

    Attributes:
        order: Unknowns in this order, int32 [k], k <= n; the step of the others stays zero.
        first: First place in the order that each place is coupled to, int32 [k].
    """

    order: np.ndarray
    first: np.ndarray


def elimination(coupled: np.ndarray, parents: np.ndarray) -> Elimination:
    """Order unknowns from the leaves of the tree to its root, limb by limb.

    Args:
        coupled: Whether two unknowns can have an entry in H, bool [n, n]; one that has none with
            itself is left out.
        parents: The unknown before each one on the way to the root, -1 for none, [n].
    """
    n = len(parents)
    children: dict[int, list[int]] = {k: [] for k in range(-1, n)}
    for k, parent in enumerate(parents.tolist()):
        children[parent].append(k)
    order: list[int] = []
    stack = [-1]
    while stack:  # root first, each limb in one piece; then turned round
        k = stack.pop()
        order.append(k)
        stack.extend(children[k])
    places = np.array([k for k in order[:0:-1] if coupled[k, k]], dtype=np.int32)
    if not len(places):  # everything is frozen
        return Elimination(places, places)
    permuted = coupled[np.ix_(places, places)]
    return Elimination(places, np.argmax(permuted, axis=1).astype(np.int32))


def dense_elimination(n: int) -> Elimination:
    """Return the order as it is, every unknown coupled to every other."""
    return Elimination(np.arange(n, dtype=np.int32), np.zeros(n, dtype=np.int32))


@no_type_check
@functools.cache
def step_workspace_struct() -> Any:
    """Return the struct of what a step works on; see :func:`bounded_step_functions`."""

    @wp.struct
    class StepWorkspace:
        order: wp.array(dtype=wp.int32)  # [k], Elimination
        first: wp.array(dtype=wp.int32)  # [k]
        hessian: wp.array3d(dtype=wp.float64)  # [rows, n, n], lower triangle
        gradient: wp.array2d(dtype=wp.float64)  # [rows, n]
        low: wp.array2d(dtype=wp.float64)  # [rows, n], range of the step
        high: wp.array2d(dtype=wp.float64)  # [rows, n]
        step: wp.array2d(dtype=wp.float64)  # [rows, n], the result
        factor: wp.array(dtype=wp.float64)  # [rows * k * k]
        trial: wp.array2d(dtype=wp.float64)  # [rows, n]
        held: wp.array2d(dtype=wp.int32)  # [rows, n]

    return StepWorkspace


def make_step_workspace(rows: int, n: int, order: Elimination, device: wp.DeviceLike) -> Any:
    """Return a workspace for ``rows`` problems; H, g and the box are the caller's to fill.

    Args:
        rows: Number of problems.
        n: Number of unknowns, those outside the order among them.
        order: Order of elimination.
        device: Device of the arrays.
    """
    workspace = step_workspace_struct()()
    workspace.order = wp.array(order.order, dtype=wp.int32, device=device)
    workspace.first = wp.array(order.first, dtype=wp.int32, device=device)
    workspace.hessian = wp.zeros((rows, n, n), dtype=wp.float64, device=device)
    workspace.factor = wp.zeros(rows * len(order.order) ** 2, dtype=wp.float64, device=device)
    for name in ('gradient', 'low', 'high', 'step', 'trial'):
        setattr(workspace, name, wp.zeros((rows, n), dtype=wp.float64, device=device))
    workspace.held = wp.zeros((rows, n), dtype=wp.int32, device=device)
    return workspace


@no_type_check
@functools.cache
def bounded_step_functions() -> SimpleNamespace:
    """Build ``bounded_step(work, row, damping)`` and ``model_gain(work, row, scale)``.

    ``bounded_step`` fills ``work.step[row]``; ``model_gain`` returns |r|^2 - |r + s J d|^2 of it.
    """
    Workspace = step_workspace_struct()
    max_rounds = wp.constant(_MAX_ROUNDS)
    zero, one = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(1.0))

    @wp.func
    def entry(hessian: wp.array2d(dtype=wp.float64), i: int, j: int) -> wp.float64:
        """H[i, j] from the lower triangle."""
        return hessian[wp.max(i, j), wp.min(i, j)]

    @wp.func
    def dot_lines(values: wp.array(dtype=wp.float64), a: int, b: int, n: int) -> wp.float64:
        """Product of two lines of n values; four sums side by side do not wait for each other."""
        s0 = wp.float64(0.0)
        s1 = wp.float64(0.0)
        s2 = wp.float64(0.0)
        s3 = wp.float64(0.0)
        k = int(0)
        while k + 3 < n:
            s0 += values[a + k] * values[b + k]
            s1 += values[a + k + 1] * values[b + k + 1]
            s2 += values[a + k + 2] * values[b + k + 2]
            s3 += values[a + k + 3] * values[b + k + 3]
            k += 4
        while k < n:
            s0 += values[a + k] * values[b + k]
            k += 1
        return (s0 + s1) + (s2 + s3)

    @wp.func
    def factorize(
        work: Workspace,
        row: int,
        damping: wp.float64,
        held: wp.array(dtype=wp.int32),
        hessian: wp.array2d(dtype=wp.float64),
        factor: wp.array(dtype=wp.float64),
    ):
        """L L^T = H + damping I over the free unknowns in order, identity for those held.

        The diagonal of the factor holds the inverse.
        """
        order, first = work.order, work.first
        n = order.shape[0]
        for p in range(n):
            i = order[p]
            is_held = held[i]
            begin = first[p]
            line = (row * n + p) * n
            pivot = one
            if is_held == 0:
                pivot = hessian[i, i] + damping
            for c in range(begin, p):
                j = order[c]
                value = zero
                if is_held == 0 and held[j] == 0:
                    other = (row * n + c) * n
                    start = wp.max(begin, first[c])
                    value = entry(hessian, i, j) - dot_lines(
                        factor, line + start, other + start, c - start
                    )
                    value = value * factor[other + c]
                factor[line + c] = value
                pivot -= value * value
            factor[line + p] = one / wp.sqrt(pivot)

    @wp.func
    def solve_free(
        work: Workspace,
        row: int,
        any_held: int,
        held: wp.array(dtype=wp.int32),
        hessian: wp.array2d(dtype=wp.float64),
        factor: wp.array(dtype=wp.float64),
        step: wp.array(dtype=wp.float64),
        trial: wp.array(dtype=wp.float64),
    ):
        """Trial = the step of the free unknowns where the held ones keep ``step``."""
        order, first, gradient = work.order, work.first, work.gradient[row]
        n = order.shape[0]
        for p in range(n):
            i = order[p]
            line = (row * n + p) * n
            value = step[i]
            if held[i] == 0:
                value = -gradient[i]
                if any_held != 0:
                    for c in range(n):
                        if held[order[c]] == 1:
                            value -= entry(hessian, i, order[c]) * step[order[c]]
            for k in range(first[p], p):
                value -= factor[line + k] * trial[order[k]]
            trial[i] = value * factor[line + p]
        for back in range(n):
            p = n - 1 - back
            i = order[p]
            line = (row * n + p) * n
            value = trial[i] * factor[line + p]
            trial[i] = value
            for k in range(first[p], p):
                j = order[k]
                trial[j] = trial[j] - factor[line + k] * value

    @wp.func
    def hold(work: Workspace, row: int) -> int:
        """Take the trial inside the box; return how many more unknowns are held."""
        held = work.held[row]
        changes = int(0)
        for p in range(work.order.shape[0]):
            i = work.order[p]
            if held[i] == 0:
                wanted = work.trial[row, i]
                allowed = wp.clamp(wanted, work.low[row, i], work.high[row, i])
                work.step[row, i] = allowed
                if allowed != wanted:
                    held[i] = 1
                    changes += 1
        return changes

    @wp.func
    def free(work: Workspace, row: int, damping: wp.float64) -> int:
        """Free unknowns that the model pulls back inside; return how many."""
        held = work.held[row]
        hessian = work.hessian[row]
        step = work.step[row]
        changes = int(0)
        for p in range(work.order.shape[0]):
            i = work.order[p]
            if held[i] == 1 and work.low[row, i] < work.high[row, i]:
                slope = work.gradient[row, i] + damping * step[i]
                for c in range(work.order.shape[0]):
                    slope += entry(hessian, i, work.order[c]) * step[work.order[c]]
                up = slope < zero and step[i] <= work.low[row, i]
                down = slope > zero and step[i] >= work.high[row, i]
                if up or down:
                    held[i] = 0
                    changes += 1
        return changes

    @wp.func
    def bounded_step(work: Workspace, row: int, damping: wp.float64):
        held = work.held[row]  # views of one row: fewer indices to compute inside the loops
        hessian = work.hessian[row]
        for p in range(work.order.shape[0]):
            held[work.order[p]] = 0
            work.step[row, work.order[p]] = zero
        any_held = int(0)
        changes = int(1)
        rounds = int(0)
        while changes > 0 and rounds < max_rounds:
            rounds += 1
            factorize(work, row, damping, held, hessian, work.factor)
            solve_free(
                work, row, any_held, held, hessian, work.factor, work.step[row], work.trial[row]
            )
            changes = hold(work, row)
            any_held = wp.max(any_held, changes)
            if changes == 0 and any_held > 0:
                changes = free(work, row, damping)

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
