# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Records of objectives, from which a single kernel evaluates a list of objectives.

On the device, the list is an array of structs. Each has the number of the objective's formula and
the address of its parameters. Records refer to the arrays of the objective, so the next solve
reads new targets without a copy.
"""

from collections.abc import Sequence
import dataclasses
import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.objectives.base.formula import AnyFormula
from ros_ik.objectives.base.formula import JointFormula


@dataclasses.dataclass(frozen=True)
class Record:
    """Data of an objective for fused kernels; it owns the arrays that the device reads.

    Attributes:
        formula: The formula.
        source: Its ``Parameters`` for float64.
        parameters: The same on the device, an array of one struct.
        weight: Factors on the residuals, float64 [1, residuals].
        n_problems: Number of targets; a single target applies to every problem.
        blocks: Number of blocks of residuals; for a joint formula, of degrees of freedom.
        slots: Indices of the entries of the chain, int32 [n_chain].
        chain_dof: Degrees of freedom on which the residuals depend, int32 [n_chain].
        chain_sign: Sign with which each moves the link relative to its reference, int32 [n_chain].
        links: Links whose poses are read; None for all.
    """

    formula: AnyFormula
    source: Any
    parameters: wp.array
    weight: wp.array
    n_problems: int
    blocks: int
    slots: wp.array
    chain_dof: wp.array
    chain_sign: wp.array
    links: frozenset[int] | None


@no_type_check
@functools.cache
def record_struct() -> Any:
    """Return the Warp struct of a record."""

    @wp.struct
    class ObjectiveRecord:
        formula: int  # number among the formulas of the kernel
        is_of_joints: int
        is_one_sided: int
        blocks: int
        rows: int  # of a block
        unit_rows: int
        n_problems: int
        parameters: wp.uint64  # address
        weight: wp.array2d(dtype=wp.float64)  # [1, residuals]
        slots: wp.array(dtype=wp.int32)  # [n_chain], 0, 1, 2, ..
        factor: wp.array(dtype=wp.float64)  # [n_chain], from the unknown; empty for a step
        chain_dof: wp.array(dtype=wp.int32)  # [n_chain]
        chain_sign: wp.array(dtype=wp.int32)  # [n_chain]

    return ObjectiveRecord


def record_structs(
    records: Sequence[Record],
    formulas: Sequence[AnyFormula],
    device: wp.DeviceLike,
    dof_scale: np.ndarray | None = None,
) -> list[Any]:
    """Return records as structs for a kernel with some formulas.

    The structs refer to arrays of the records, which must outlive them.

    Args:
        records: The records.
        formulas: Formulas of the kernel, in its order.
        device: The device.
        dof_scale: Factor from the unknown to each degree of freedom; None for a kernel that gets
            it as another argument.
    """
    structs = [_struct_of(record, formulas.index(record.formula)) for record in records]
    for struct, record in zip(structs, records, strict=True):
        if dof_scale is not None:
            factor = dof_scale[record.chain_dof.numpy()]
            struct.factor = wp.array(factor, dtype=wp.float64, device=device)
    return structs


def _struct_of(record: Record, number: int) -> Any:
    struct, formula = record_struct()(), record.formula
    struct.formula, struct.blocks, struct.rows = number, record.blocks, 1
    if isinstance(formula, JointFormula):
        struct.is_of_joints = 1
    else:
        struct.rows, struct.unit_rows = formula.rows, formula.unit_rows
        struct.is_one_sided = int(formula.is_one_sided)
    struct.n_problems, struct.parameters = record.n_problems, record.parameters.ptr
    struct.weight, struct.slots = record.weight, record.slots
    struct.chain_dof, struct.chain_sign = record.chain_dof, record.chain_sign
    return struct


@no_type_check
@functools.cache
def record_functions() -> SimpleNamespace:
    """Build ``problem_of(record, problem) -> int`` and ``block_weight(record, block)``.

    ``block_weight`` returns the weights of the residuals of a block, padded with zeros.
    """
    Record = record_struct()

    @wp.func
    def problem_of(record: Record, problem: int) -> int:
        """Return the row of the targets; a single row serves every problem."""
        if record.n_problems <= 1:
            return 0
        return problem

    @wp.func
    def block_weight(record: Record, block: int) -> wp.spatial_vectord:
        weight = wp.spatial_vectord()
        for k in range(6):
            if k < record.rows:
                weight[k] = record.weight[0, block * record.rows + k]
        return weight

    return SimpleNamespace(problem_of=problem_of, block_weight=block_weight)


def is_recorded(objective: Any) -> bool:
    """Return True if a kernel may evaluate an objective from its record.

    The objective need not be set up. The answer is False for a class derived from a built-in one
    that overrides the methods which the record replaces.
    """
    if not getattr(objective, 'has_record', False):
        return False
    order = type(objective).__mro__

    def depth(name: str) -> int:
        return next(k for k, cls in enumerate(order) if name in vars(cls))

    methods = ('compute_residuals', 'compute_jacobian_analytic')
    return all(depth('record') <= depth(name) for name in methods)
