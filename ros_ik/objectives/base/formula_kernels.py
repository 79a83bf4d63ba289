# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels of a single formula: residuals and Jacobians of a batch, as in ``newton.ik``."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.objectives.base.formula import Formula
from ros_ik.objectives.base.formula import formula_functions
from ros_ik.objectives.base.formula import JointFormula
from ros_ik.objectives.base.functions import objective_functions


@no_type_check
@functools.cache
def residual_kernel(formula: Formula, scalar: type, differentiable: bool) -> wp.Kernel:
    """Build the kernel of the residuals, one thread for each batch row and residual block."""
    functions, types = formula_functions(formula, scalar), objective_functions(scalar)
    Parameters, prepare, residual = functions.Parameters, functions.prepare, functions.residual
    transform, problem_row = types.transform, types.problem_row
    rows = wp.constant(formula.rows)

    @compiled_kernel(differentiable=differentiable)
    def objective_residuals(
        parameters: Parameters,
        weight: wp.array2d(dtype=wp.float64),  # [1, residuals]
        n_problems: int,
        body_q: wp.array2d(dtype=transform),  # [n_batch, body_count]
        problem_idx: wp.array(dtype=wp.int32),  # [n_batch]
        start_idx: int,
        residuals: wp.array2d(dtype=scalar),  # [n_batch, total_residuals]
    ):
        row, block = wp.tid()
        problem = problem_row(row, problem_idx, n_problems)
        values = residual(prepare(parameters, row, problem, block, body_q))
        for k in range(rows):
            factor = scalar(weight[0, block * rows + k])
            residuals[row, start_idx + block * rows + k] = factor * values[k]

    return objective_residuals


@no_type_check
@functools.cache
def jacobian_kernel(formula: Formula, scalar: type) -> wp.Kernel:
    """Build the kernel of the Jacobian, one thread for each batch row and residual block."""
    functions, types = formula_functions(formula, scalar), objective_functions(scalar)
    Parameters, prepare = functions.Parameters, functions.prepare
    linearize, column = functions.linearize, functions.column
    transform, twist, problem_row = types.transform, types.twist, types.problem_row
    rows = wp.constant(formula.rows)

    @compiled_kernel(registers=156)
    def objective_jacobian(
        parameters: Parameters,
        weight: wp.array2d(dtype=wp.float64),  # [1, residuals]
        n_problems: int,
        chain_dof: wp.array(dtype=wp.int32),  # [n_chain]
        chain_sign: wp.array(dtype=wp.int32),  # [n_chain]
        body_q: wp.array2d(dtype=transform),  # [n_batch, body_count]
        joint_S_s: wp.array2d(dtype=twist),  # [n_batch, joint_dof_count]
        problem_idx: wp.array(dtype=wp.int32),  # [n_batch]
        start_idx: int,
        jacobian: wp.array3d(dtype=scalar),  # [n_batch, total_residuals, joint_dof_count]
    ):
        row, block = wp.tid()
        problem = problem_row(row, problem_idx, n_problems)
        state = linearize(prepare(parameters, row, problem, block, body_q))
        for slot in range(chain_dof.shape[0]):
            dof = chain_dof[slot]
            sign = scalar(chain_sign[slot])
            values = column(state, parameters, row, slot, dof, sign, body_q, joint_S_s)
            for k in range(rows):
                factor = scalar(weight[0, block * rows + k])
                jacobian[row, start_idx + block * rows + k, dof] = factor * values[k]

    return objective_jacobian


@no_type_check
@functools.cache
def joint_kernels(
    joint_formula: JointFormula, scalar: type, differentiable: bool
) -> SimpleNamespace:
    """Build the kernels of a joint formula, launched over rows and degrees of freedom."""
    functions = joint_formula.functions(scalar)
    problem_row = objective_functions(scalar).problem_row
    Parameters, term = functions.Parameters, functions.term

    @compiled_kernel(differentiable=differentiable)
    def joint_residuals(
        parameters: Parameters,
        weight: wp.array2d(dtype=wp.float64),  # [1, joint_dof_count]
        n_problems: int,
        joint_q: wp.array2d(dtype=scalar),  # [n_batch, joint_coord_count]
        problem_idx: wp.array(dtype=wp.int32),  # [n_batch]
        start_idx: int,
        residuals: wp.array2d(dtype=scalar),  # [n_batch, total_residuals]
    ):
        row, dof = wp.tid()
        problem = problem_row(row, problem_idx, n_problems)
        value = term(parameters, row, problem, dof, joint_q)[0]
        residuals[row, start_idx + dof] = scalar(weight[0, dof]) * value

    @compiled_kernel()
    def joint_jacobian(
        parameters: Parameters,
        weight: wp.array2d(dtype=wp.float64),  # [1, joint_dof_count]
        n_problems: int,
        joint_q: wp.array2d(dtype=scalar),  # [n_batch, joint_coord_count]
        problem_idx: wp.array(dtype=wp.int32),  # [n_batch]
        start_idx: int,
        jacobian: wp.array3d(dtype=scalar),  # [n_batch, total_residuals, joint_dof_count]
    ):
        row, dof = wp.tid()
        problem = problem_row(row, problem_idx, n_problems)
        slope = term(parameters, row, problem, dof, joint_q)[1]
        jacobian[row, start_idx + dof, dof] = scalar(weight[0, dof]) * slope

    return SimpleNamespace(residuals=joint_residuals, jacobian=joint_jacobian)
