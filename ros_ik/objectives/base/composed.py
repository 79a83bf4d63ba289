# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions that evaluate records, composed of the formulas of a kernel, in float64.

Each formula has a number. A chain of branches, one per formula, calls the formula of a record.
Code that is the same for all formulas, such as weighting, is outside these branches, so that it is
compiled once.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.objectives.base.formula import AnyFormula
from ros_ik.objectives.base.formula import Formula
from ros_ik.objectives.base.formula import formula_functions
from ros_ik.objectives.base.formula import JointFormula
from ros_ik.objectives.base.record import record_struct


@no_type_check
@functools.cache
def composed_functions(formulas: tuple[AnyFormula, ...]) -> SimpleNamespace:
    """Build the functions that evaluate records of some formulas.

    Args:
        formulas: The formulas, in the order of the numbers in the records.

    Returns:
        - ``block_columns(record, row, problem, block, weight, slots, factors, first, last, body_q,
          joint_S_s, columns) -> spatial_vectord``: unweighted residuals of a block. It also writes
          the derivatives with respect to the entries ``slots[first:last]`` of the chain, times
          weights and factors, to ``columns[row, : last - first]``, unless a one-sided residual,
          and so its Jacobian, is zero. With first = last it only returns residuals, so that a
          kernel compiles each formula once;
        - ``joint_term(record, row, problem, dof, joint_q) -> vec2d``: residual and derivative.
    """
    columns, term = _no_columns(), _no_term()
    for number, formula in reversed(list(enumerate(formulas))):
        if isinstance(formula, JointFormula):
            term = _either_term(number, _term_of(formula), term)
        else:
            columns = _either_columns(number, _columns_of(formula), columns)
    return SimpleNamespace(block_columns=columns, joint_term=term)


@no_type_check
@functools.cache
def _parameters_of(formula: AnyFormula) -> wp.Function:
    Record, Parameters = record_struct(), formula.functions(wp.float64).Parameters

    @wp.func
    def parameters(record: Record) -> Parameters:
        table = wp.array(ptr=record.parameters, shape=(1,), dtype=Parameters)
        return table[0]

    return parameters


@no_type_check
def _no_columns() -> wp.Function:
    Record = record_struct()

    @wp.func
    def block_columns(
        record: Record,
        row: int,
        problem: int,
        block: int,
        weight: wp.spatial_vectord,
        slots: wp.array(dtype=wp.int32),
        factors: wp.array(dtype=wp.float64),
        first: int,
        last: int,
        body_q: wp.array2d(dtype=wp.transformd),
        joint_S_s: wp.array2d(dtype=wp.spatial_vectord),
        columns: wp.array2d(dtype=wp.spatial_vectord),
    ) -> wp.spatial_vectord:
        return wp.spatial_vectord()

    return block_columns


@no_type_check
def _columns_of(formula: Formula) -> wp.Function:
    functions, Record = formula_functions(formula, wp.float64), record_struct()
    prepare, residual, parameters_of = (
        functions.prepare, functions.residual, _parameters_of(formula)
    )  # fmt: skip
    linearize, column = functions.linearize, functions.column
    one_sided = wp.constant(int(formula.is_one_sided))

    @wp.func
    def block_columns(
        record: Record,
        row: int,
        problem: int,
        block: int,
        weight: wp.spatial_vectord,
        slots: wp.array(dtype=wp.int32),
        factors: wp.array(dtype=wp.float64),
        first: int,
        last: int,
        body_q: wp.array2d(dtype=wp.transformd),
        joint_S_s: wp.array2d(dtype=wp.spatial_vectord),
        columns: wp.array2d(dtype=wp.spatial_vectord),
    ) -> wp.spatial_vectord:
        parameters = parameters_of(record)
        at = prepare(parameters, row, problem, block, body_q)
        r = residual(at)
        if first == last or (one_sided == 1 and r[0] == wp.float64(0.0)):
            return r
        state = linearize(at)
        for k in range(first, last):
            slot = slots[k]
            dof = record.chain_dof[slot]
            sign = wp.float64(record.chain_sign[slot])
            values = column(state, parameters, row, slot, dof, sign, body_q, joint_S_s)
            columns[row, k - first] = wp.cw_mul(weight, values) * factors[k]
        return r

    return block_columns


@no_type_check
def _either_columns(number: int, own: wp.Function, other: wp.Function) -> wp.Function:
    Record, own_number = record_struct(), wp.constant(number)

    @wp.func
    def block_columns(
        record: Record,
        row: int,
        problem: int,
        block: int,
        weight: wp.spatial_vectord,
        slots: wp.array(dtype=wp.int32),
        factors: wp.array(dtype=wp.float64),
        first: int,
        last: int,
        body_q: wp.array2d(dtype=wp.transformd),
        joint_S_s: wp.array2d(dtype=wp.spatial_vectord),
        columns: wp.array2d(dtype=wp.spatial_vectord),
    ) -> wp.spatial_vectord:
        if record.formula == own_number:
            return own(
                record, row, problem, block, weight, slots, factors, first, last, body_q,
                joint_S_s, columns,
            )  # fmt: skip
        return other(
            record, row, problem, block, weight, slots, factors, first, last, body_q, joint_S_s,
            columns,
        )  # fmt: skip

    return block_columns


@no_type_check
def _no_term() -> wp.Function:
    Record = record_struct()

    @wp.func
    def joint_term(
        record: Record, row: int, problem: int, dof: int, joint_q: wp.array2d(dtype=wp.float64)
    ) -> wp.vec2d:
        return wp.vec2d()

    return joint_term


@no_type_check
def _term_of(formula: JointFormula) -> wp.Function:
    Record, term = record_struct(), formula.functions(wp.float64).term
    parameters = _parameters_of(formula)

    @wp.func
    def joint_term(
        record: Record, row: int, problem: int, dof: int, joint_q: wp.array2d(dtype=wp.float64)
    ) -> wp.vec2d:
        return term(parameters(record), row, problem, dof, joint_q)

    return joint_term


@no_type_check
def _either_term(number: int, own: wp.Function, other: wp.Function) -> wp.Function:
    Record, own_number = record_struct(), wp.constant(number)

    @wp.func
    def joint_term(
        record: Record, row: int, problem: int, dof: int, joint_q: wp.array2d(dtype=wp.float64)
    ) -> wp.vec2d:
        if record.formula == own_number:
            return own(record, row, problem, dof, joint_q)
        return other(record, row, problem, dof, joint_q)

    return joint_term
