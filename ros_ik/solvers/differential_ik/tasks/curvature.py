# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Curvature of the residuals along a step, as it was in the last one.

A step dq changes a residual by J dq + k, with k of the second order in dq. Where the speed hardly
changes from step to step, so does k, and it is known from the last step l that led to q:

    k = r(q - l) - r(q) + J l

W k is added to the errors of the rows. A task then keeps its target while others move the joints
fast, as the feet of a humanoid do while its hands move. Only changes of the step leave an error.
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.integrate import integrate_function
from ros_ik.kinematics.runtime.batch_layout import batch_zeros
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.stepping.step_state import StepState
from ros_ik.kinematics.stepping.variable_steps import variable_steps_function
from ros_ik.kinematics.tree import tree_struct
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.solvers.differential_ik.tasks.rows import step_rows_struct


@no_type_check
@functools.cache
def state_before_struct() -> Any:
    """Return the Warp struct of the states before the last steps."""

    @wp.struct
    class StateBefore:
        last: wp.array2d(dtype=wp.float64)  # [n, variables], l
        back: wp.array2d(dtype=wp.float64)  # [n, joint_dof_count], -l of each degree of freedom
        joint_q: wp.array2d(dtype=wp.float64)  # [n, joint_coord_count], q - l
        body_q: wp.array2d(dtype=wp.transformd)  # [n, body_count], link poses there
        residual: wp.array2d(dtype=wp.float64)  # [n, rows], r(q - l)

    return StateBefore


@shares_launch_lock
def make_state_before(n: int, rows: int, state: StepState) -> Any:
    """Allocate the states before the last steps of ``n`` robots."""
    model, device, before = state.model, state.device, state_before_struct()()
    for name, width in (
        ('last', state.group.n_variables), ('back', model.joint_dof_count),
        ('joint_q', model.joint_coord_count),
    ):  # fmt: skip
        setattr(before, name, batch_zeros((n, width), wp.float64, device))
    before.body_q = batch_zeros((n, model.body_count), wp.transformd, device)
    before.residual = wp.zeros((n, rows), dtype=wp.float64, device=device)
    return before


@no_type_check
@functools.cache
def curvature_kernels() -> SimpleNamespace:
    """Build the kernels ``place_before`` and ``add_curvature``, float64."""
    integrate_row, write_variable_steps = integrate_function(wp.float64), variable_steps_function()
    Before, Rows, Tree = state_before_struct(), step_rows_struct(), tree_struct(wp.float64)
    zero = wp.constant(wp.float64(0.0))

    @compiled_kernel()
    def place_before(
        tree: Tree,
        joint_q: wp.array2d(dtype=wp.float64),  # [n, joint_coord_count]
        last_step: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
        rows: Rows,
        before: Before,
    ):
        i = wp.tid()
        write_variable_steps(i, last_step, rows.dof, rows.variable, rows.factor, before.last)
        for k in range(rows.dof.shape[0]):
            before.back[i, rows.dof[k]] = -rows.factor[k] * before.last[i, rows.variable[k]]
        integrate_row(tree, i, joint_q, before.back, before.joint_q)

    @compiled_kernel()
    def add_curvature(rows: Rows, before: Before):
        i = wp.tid()
        for row in range(rows.error.shape[1]):
            # A row with zero weight has no effect, even if its target is not finite.
            if rows.weight[row] > zero and rows.counts[row] != 0:
                value = rows.weight[row] * (before.residual[i, row] - rows.residual[i, row])
                for j in range(before.last.shape[1]):
                    value += rows.J[i, row, j] * before.last[i, j]
                rows.error[i, row] = rows.error[i, row] + value

    return SimpleNamespace(place_before=place_before, add_curvature=add_curvature)
