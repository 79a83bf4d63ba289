# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels for the direction of limited-memory BFGS within joint limits.

f(q) = 1/2 r^T r with gradient g = J^T r. The two-loop recursion is algorithm 7.4 of J. Nocedal, S.
J. Wright, "Numerical Optimization", 2nd ed., 2006, and the scaling of the initial inverse Hessian
is (7.20). A degree of freedom at a limit does not move if the gradient pushes it outward.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.batch_ik.optimizers.status_kernel import distance_function
from ros_ik.solvers.least_squares.search_space import space_struct
from ros_ik.solvers.limit_status import limit_functions

# A coordinate is at a limit if it is this close [rad or m].
_AT_LIMIT = 1e-6
# Largest motion of a degree of freedom at unit step length [rad or m], beyond which the known
# curvature is not valid.
_TRUST = 1.0


@no_type_check
@functools.cache
def gradient_kernel() -> wp.Kernel:
    """Build ``gradient_and_curvature``, g = J^T r and the diagonal of J^T J."""

    @compiled_kernel()
    def gradient_and_curvature(
        jacobian: wp.array3d(dtype=wp.float32),  # [n, total_residuals, joint_dof_count]
        residuals: wp.array2d(dtype=wp.float32),  # [n, total_residuals]
        gradient: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
        curvature: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
    ):
        row, i = wp.tid()
        slope = wp.float64(0.0)
        square = wp.float64(0.0)
        for k in range(jacobian.shape[1]):
            entry = wp.float64(jacobian[row, k, i])
            slope += entry * wp.float64(residuals[row, k])
            square += entry * entry
        gradient[row, i] = slope
        curvature[row, i] = square

    return gradient_and_curvature


@no_type_check
@functools.cache
def _vector_functions() -> SimpleNamespace:
    """Build dot products and updates of one row."""

    @wp.func
    def dot(row: int, a: wp.array2d(dtype=wp.float64), b: wp.array2d(dtype=wp.float64)):
        total = wp.float64(0.0)
        for i in range(a.shape[1]):
            total += a[row, i] * b[row, i]
        return total

    @wp.func
    def dot_history(
        row: int, slot: int, a: wp.array3d(dtype=wp.float64), b: wp.array2d(dtype=wp.float64)
    ):
        total = wp.float64(0.0)
        for i in range(b.shape[1]):
            total += a[row, slot, i] * b[row, i]
        return total

    @wp.func
    def add_history(
        row: int,
        slot: int,
        factor: wp.float64,
        a: wp.array3d(dtype=wp.float64),
        out: wp.array2d(dtype=wp.float64),
    ):
        for i in range(out.shape[1]):
            out[row, i] = out[row, i] + factor * a[row, slot, i]

    @wp.func
    def pair_curvature(
        row: int, slot: int, s: wp.array3d(dtype=wp.float64), y: wp.array3d(dtype=wp.float64)
    ):
        total = wp.float64(0.0)
        for i in range(s.shape[2]):
            total += s[row, slot, i] * y[row, slot, i]
        return total

    return SimpleNamespace(
        dot=dot, dot_history=dot_history, add_history=add_history, pair_curvature=pair_curvature
    )


@no_type_check
@functools.cache
def direction_kernel() -> wp.Kernel:
    """Build ``direction``, d = -H g for the unknowns that may move."""
    functions = _vector_functions()
    dot, dot_history, add_history = functions.dot, functions.dot_history, functions.add_history
    pair_curvature = functions.pair_curvature
    Space = space_struct()
    limit_distances, presses = distance_function(), limit_functions(wp.float64).presses
    close = wp.constant(wp.float64(_AT_LIMIT))
    trust = wp.constant(wp.float64(_TRUST))

    @wp.func
    def scale_down(row: int, step: wp.array2d(dtype=wp.float64)):
        """Shorten a step to the largest allowed motion."""
        largest = wp.float64(0.0)
        for i in range(step.shape[1]):
            largest = wp.max(largest, wp.abs(step[row, i]))
        if largest > trust:
            for i in range(step.shape[1]):
                step[row, i] = step[row, i] * trust / largest

    @wp.func
    def initial_scaling(
        row: int,
        newest: int,
        h0_scale: wp.float64,
        curvature: wp.array2d(dtype=wp.float64),
        s: wp.array3d(dtype=wp.float64),
        y: wp.array3d(dtype=wp.float64),
        step: wp.array2d(dtype=wp.float64),
    ):
        """Multiply by H0, the inverse diagonal of J^T J, scaled so that H0 y is as long as s."""
        n = step.shape[1]
        mean = wp.float64(0.0)
        for i in range(n):
            mean += curvature[row, i] / wp.float64(n)
        mean = wp.max(mean, wp.float64(1e-12))
        gamma = wp.float64(1.0)
        if newest >= 0:
            sy = wp.float64(0.0)
            yhy = wp.float64(0.0)
            for i in range(n):
                y_i = y[row, newest, i]
                sy += s[row, newest, i] * y_i
                yhy += y_i * y_i / (curvature[row, i] + mean)
            gamma = sy / yhy
        for i in range(n):
            step[row, i] = step[row, i] * h0_scale * gamma / (curvature[row, i] + mean)

    @compiled_kernel()
    def direction(
        space: Space,
        joint_q: wp.array2d(dtype=wp.float32),  # [n, joint_coord_count]
        gradient: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
        curvature: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
        s: wp.array3d(dtype=wp.float64),  # [n, history_len, joint_dof_count]
        y: wp.array3d(dtype=wp.float64),  # [n, history_len, joint_dof_count]
        pairs: wp.array(dtype=wp.int32),  # [n], pairs pushed since the start
        h0_scale: float,
        weight: wp.array2d(dtype=wp.float64),  # workspace [n, history_len]
        step: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
    ):
        row = wp.tid()
        length = s.shape[1]
        count = wp.min(pairs[row], length)
        for i in range(step.shape[1]):
            step[row, i] = -gradient[row, i]
            below, above = limit_distances(space, row, i, joint_q)
            if presses(gradient[row, i], below, above, close):
                step[row, i] = wp.float64(0.0)
        newest = int(-1)
        if count > 0:
            newest = (pairs[row] - 1) % length
        for m in range(count):
            slot = (pairs[row] - 1 - m) % length
            weight[row, slot] = dot_history(row, slot, s, step) / pair_curvature(row, slot, s, y)
            add_history(row, slot, -weight[row, slot], y, step)
        initial_scaling(row, newest, wp.float64(h0_scale), curvature, s, y, step)
        for m in range(count):
            slot = (pairs[row] - count + m) % length
            beta = dot_history(row, slot, y, step) / pair_curvature(row, slot, s, y)
            add_history(row, slot, weight[row, slot] - beta, s, step)
        for i in range(step.shape[1]):
            below, above = limit_distances(space, row, i, joint_q)
            if presses(gradient[row, i], below, above, close):
                step[row, i] = wp.float64(0.0)
        if not dot(row, step, gradient) < wp.float64(0.0):
            # Without the joints at limits, this is not a descent direction, so restart.
            pairs[row] = 0
            for i in range(step.shape[1]):
                step[row, i] = -gradient[row, i]
                below, above = limit_distances(space, row, i, joint_q)
                if presses(gradient[row, i], below, above, close):
                    step[row, i] = wp.float64(0.0)
            initial_scaling(row, -1, wp.float64(h0_scale), curvature, s, y, step)
        scale_down(row, step)

    return direction
