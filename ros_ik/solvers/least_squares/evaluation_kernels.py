# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels for costs of residuals, and for Jacobian columns of the unknowns.

A cost is the squared length of the residual, r^T r, as in newton.ik.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.least_squares.search_space import space_struct


@no_type_check
@functools.cache
def cost_kernels() -> SimpleNamespace:
    """Build ``costs``, and ``refuse``, which marks rows that are not finite."""

    @compiled_kernel()
    def costs(
        residuals: wp.array2d(dtype=wp.float32),  # [n, total_residuals]
        cost: wp.array(dtype=wp.float32),  # [n]
    ):
        row = wp.tid()
        total = wp.float64(0.0)
        for k in range(residuals.shape[1]):
            r = wp.float64(residuals[row, k])
            total += r * r
        cost[row] = wp.float32(total)

    @compiled_kernel()
    def refuse(
        cost: wp.array(dtype=wp.float32),  # [n], in and out
        refused: wp.array(dtype=wp.int32),  # [n], in and out
    ):
        """Mark rows whose residual is not finite at a finite seed, because of their target."""
        row = wp.tid()
        if refused[row] == 1 or not wp.isfinite(cost[row]):
            refused[row] = 1
            cost[row] = wp.inf

    return SimpleNamespace(costs=costs, refuse=refuse)


@no_type_check
@functools.cache
def fold_kernel() -> wp.Kernel:
    """Build ``fold_columns``, which adds mimic columns to drivers and clears frozen ones."""
    Space = space_struct()

    @compiled_kernel()
    def fold_columns(
        space: Space,
        jacobian: wp.array3d(dtype=wp.float32),  # [n, total_residuals, joint_dof_count]
    ):
        row, k = wp.tid()
        for m in range(space.follower_dof.shape[0]):
            driver = space.driver_dof[m]
            jacobian[row, k, driver] = (
                jacobian[row, k, driver] + space.coef1[m] * jacobian[row, k, space.follower_dof[m]]
            )
        for dof in range(jacobian.shape[2]):
            if space.dof_free[dof] == 0:
                jacobian[row, k, dof] = 0.0

    return fold_columns
