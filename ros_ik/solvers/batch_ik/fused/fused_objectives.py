# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Normal equations of objectives, composed of their formulas, for the fused kernel.

``add_objective`` adds one objective to the normal equations of a row,

    cost += r^T r,   g += J^T r,   H += J^T J,

column by column, only for degrees of freedom on which the objective depends. Everything is in
float64.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.objectives.base.composed import composed_functions
from ros_ik.objectives.base.formula import AnyFormula
from ros_ik.objectives.base.record import record_functions
from ros_ik.objectives.base.record import record_struct
from ros_ik.solvers.least_squares.normal_equations import normal_equations_functions


@no_type_check
@functools.cache
def normal_functions(formulas: tuple[AnyFormula, ...]) -> SimpleNamespace:
    """Build ``objective_cost`` and ``add_objective`` of records of some formulas."""
    Record, shared, composed = record_struct(), record_functions(), composed_functions(formulas)
    problem_of, block_weight = shared.problem_of, shared.block_weight
    block_columns, joint_term = composed.block_columns, composed.joint_term
    add_pair = normal_equations_functions(wp.float64).add_pair
    zero = wp.constant(wp.float64(0.0))

    @wp.func
    def objective_cost(
        record: Record,
        row: int,
        problem: int,
        joint_q: wp.array2d(dtype=wp.float64),
        body_q: wp.array2d(dtype=wp.transformd),
        joint_S_s: wp.array2d(dtype=wp.spatial_vectord),
        block: wp.array2d(dtype=wp.spatial_vectord),
    ) -> wp.float64:
        """Return r^T r; no columns are computed from ``joint_S_s`` or written to ``block``."""
        cost = wp.float64(0.0)
        own = problem_of(record, problem)
        if record.is_of_joints == 1:
            for dof in range(record.blocks):
                residual = record.weight[0, dof] * joint_term(record, row, own, dof, joint_q)[0]
                cost += residual * residual
        else:
            for k in range(record.blocks):
                weight = block_weight(record, k)
                values = block_columns(
                    record, row, own, k, weight, record.slots, record.factor, 0, 0, body_q,
                    joint_S_s, block,
                )  # fmt: skip
                r = wp.cw_mul(weight, values)
                cost += wp.dot(r, r)
        return cost

    @wp.func
    def add_block(
        row: int,
        chain_dof: wp.array(dtype=wp.int32),
        r: wp.spatial_vectord,
        dof_unknown: wp.array(dtype=wp.int32),
        block: wp.array2d(dtype=wp.spatial_vectord),
        hessian: wp.array3d(dtype=wp.float64),
        gradient: wp.array2d(dtype=wp.float64),
    ):
        """Add the columns of a block to the unknowns that drive their degrees of freedom."""
        for k in range(chain_dof.shape[0]):
            i = dof_unknown[chain_dof[k]]
            if i >= 0:
                column = block[row, k]
                gradient[row, i] = gradient[row, i] + wp.dot(column, r)
                for m in range(k):
                    j = dof_unknown[chain_dof[m]]
                    if j >= 0:
                        add_pair(i, j, wp.dot(column, block[row, m]), hessian[row])
                hessian[row, i, i] = hessian[row, i, i] + wp.dot(column, column)

    @wp.func
    def add_objective(
        record: Record,
        row: int,
        problem: int,
        joint_q: wp.array2d(dtype=wp.float64),
        body_q: wp.array2d(dtype=wp.transformd),
        joint_S_s: wp.array2d(dtype=wp.spatial_vectord),
        dof_unknown: wp.array(dtype=wp.int32),
        dof_scale: wp.array(dtype=wp.float64),
        block: wp.array2d(dtype=wp.spatial_vectord),
        hessian: wp.array3d(dtype=wp.float64),
        gradient: wp.array2d(dtype=wp.float64),
    ):
        own = problem_of(record, problem)
        if record.is_of_joints == 1:
            for dof in range(record.blocks):
                i = dof_unknown[dof]
                if i >= 0:
                    term = record.weight[0, dof] * joint_term(record, row, own, dof, joint_q)
                    slope = term[1] * dof_scale[dof]
                    gradient[row, i] = gradient[row, i] + slope * term[0]
                    hessian[row, i, i] = hessian[row, i, i] + slope * slope
        else:
            count = record.chain_dof.shape[0]
            for k in range(record.blocks):
                weight = block_weight(record, k)
                values = block_columns(
                    record, row, own, k, weight, record.slots, record.factor, 0, count, body_q,
                    joint_S_s, block,
                )  # fmt: skip
                if record.is_one_sided == 0 or values[0] != zero:
                    r = wp.cw_mul(weight, values)
                    add_block(row, record.chain_dof, r, dof_unknown, block, hessian, gradient)

    return SimpleNamespace(objective_cost=objective_cost, add_objective=add_objective)
