# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels for the line search of limited-memory BFGS within joint limits.

f(q) = 1/2 r^T r with gradient g = J^T r. Sufficient decrease and curvature conditions are (3.6) of
J. Nocedal, S. J. Wright, "Numerical Optimization", 2nd ed., 2006. The decrease is measured along
the step after clamping to the limits.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.least_squares.search_space import space_struct

# Factor on the step lengths after none of them reduced the cost, and its least value.
_SHRINK = 0.1
_SMALLEST = 1e-4


@no_type_check
@functools.cache
def line_search_kernels() -> SimpleNamespace:
    """Build ``spread`` (candidates), ``choose`` (the best of them) and ``remember`` (pairs)."""
    Space = space_struct()
    shrink = wp.constant(_SHRINK)
    smallest = wp.constant(_SMALLEST)

    @compiled_kernel()
    def spread(
        space: Space,
        joint_q: wp.array2d(dtype=wp.float32),  # [n, joint_coord_count]
        step: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
        alphas: wp.array(dtype=wp.float32),  # [n_alphas]
        reach: wp.array(dtype=wp.float32),  # [n], factor on the lengths
        refused: wp.array(dtype=wp.int32),  # [n]
        candidate_q: wp.array2d(dtype=wp.float32),  # [n * n_alphas, joint_coord_count]
        candidate_step: wp.array2d(dtype=wp.float32),  # [n * n_alphas, joint_dof_count]
    ):
        row, k = wp.tid()
        out = row * alphas.shape[0] + k
        for c in range(joint_q.shape[1]):
            candidate_q[out, c] = joint_q[row, c]
        for i in range(step.shape[1]):
            move = alphas[k] * reach[row] * wp.float32(step[row, i])
            c = space.dof_coord[i]
            if c >= 0:
                q = joint_q[row, c]
                move = wp.clamp(move, space.coord_lower[c] - q, space.coord_upper[c] - q)
            if refused[row] == 1 or not wp.isfinite(move):
                move = 0.0
            candidate_step[out, i] = move
        for m in range(space.follower_dof.shape[0]):
            candidate_step[out, space.follower_dof[m]] = (
                space.coef1[m] * candidate_step[out, space.driver_dof[m]]
            )

    @compiled_kernel()
    def choose(
        candidate_q: wp.array2d(dtype=wp.float32),  # [n * n_alphas, joint_coord_count]
        candidate_step: wp.array2d(dtype=wp.float32),  # [n * n_alphas, joint_dof_count]
        candidate_cost: wp.array(dtype=wp.float32),  # [n * n_alphas]
        gradient: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
        cost: wp.array(dtype=wp.float32),  # [n]
        refused: wp.array(dtype=wp.int32),  # [n]
        n_alphas: int,
        wolfe_c1: float,
        joint_q: wp.array2d(dtype=wp.float32),  # outputs
        reach: wp.array(dtype=wp.float32),
        pairs: wp.array(dtype=wp.int32),
        chosen: wp.array(dtype=wp.int32),  # [n], -1 for none
    ):
        row = wp.tid()
        chosen[row] = -1
        if refused[row] == 1:
            return
        least = cost[row]
        for k in range(n_alphas):
            candidate = row * n_alphas + k
            slope = wp.float64(0.0)
            for i in range(gradient.shape[1]):
                slope += gradient[row, i] * wp.float64(candidate_step[candidate, i])
            # f = cost / 2: f(q + d) <= f(q) + c1 g^T d.
            bound = wp.float64(cost[row]) + wp.float64(2.0 * wolfe_c1) * slope
            value = candidate_cost[candidate]
            if slope < wp.float64(0.0) and wp.float64(value) <= bound and value < least:
                least = value
                chosen[row] = candidate
        if chosen[row] < 0:
            pairs[row] = 0
            reach[row] = wp.max(shrink * reach[row], smallest)
            return
        reach[row] = 1.0
        for c in range(joint_q.shape[1]):
            joint_q[row, c] = candidate_q[chosen[row], c]

    @compiled_kernel()
    def remember(
        candidate_step: wp.array2d(dtype=wp.float32),  # [n * n_alphas, joint_dof_count]
        chosen: wp.array(dtype=wp.int32),  # [n]
        gradient: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count], before the step
        gradient_next: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
        wolfe_c2: float,
        s: wp.array3d(dtype=wp.float64),  # outputs
        y: wp.array3d(dtype=wp.float64),
        pairs: wp.array(dtype=wp.int32),
    ):
        """Store the pair (s, y) if it meets the curvature condition, which implies s^T y > 0."""
        row = wp.tid()
        if chosen[row] < 0:
            return
        before = wp.float64(0.0)
        after = wp.float64(0.0)
        for i in range(gradient.shape[1]):
            move = wp.float64(candidate_step[chosen[row], i])
            before += move * gradient[row, i]
            after += move * gradient_next[row, i]
        if not after >= wp.float64(wolfe_c2) * before:
            return
        slot = pairs[row] % s.shape[1]
        for i in range(gradient.shape[1]):
            s[row, slot, i] = wp.float64(candidate_step[chosen[row], i])
            y[row, slot, i] = gradient_next[row, i] - gradient[row, i]
        pairs[row] = pairs[row] + 1

    return SimpleNamespace(spread=spread, choose=choose, remember=remember)
