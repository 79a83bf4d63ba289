# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Formulas of objectives: residual and Jacobian column as Warp functions over parameters.

A formula stands once. The kernels of :class:`IKObjective`'s interface, the solve in one kernel and
the cost of a control step are all made of its functions. Residuals come in blocks of at most six
rows, padded with zeros, without weights: a pose is one block, each pair of spheres is one.
"""

from collections.abc import Callable
from collections.abc import Iterable
import dataclasses
import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.spatial import spatial_functions


@dataclasses.dataclass(frozen=True, eq=False)
class Formula:
    """Residuals of links, whose Jacobian is dense over a chain of degrees of freedom.

    ``functions(scalar)``, for arrays of ``wp.float32`` or ``wp.float64``, returns the struct
    ``Parameters`` and

    - ``prepare(parameters, row, problem, block, body_q) -> State``: what residual and columns of a
      block share, ``row`` of the batch, ``problem`` of the targets;
    - ``residual(state) -> twist``: the rows of the block;
    - ``linearize(state) -> State``, where columns need more than residuals: what they share;
    - ``column(state, parameters, row, slot, dof, sign, body_q, joint_S_s) -> twist``: derivative
      of the rows by one degree of freedom. It is number ``slot`` of the chain and moves the link
      relative to its reference as its motion subspace says, times ``sign``.

    Attributes:
        name: Name, by which formulas of a kernel are sorted.
        functions: Makes the functions; cached.
        rows: Rows of a block.
        unit_rows: Rows that share the first unit; the others share the second one.
        is_one_sided: Whether the Jacobian is zero where the residual is.
    """

    name: str
    functions: Callable[[type], SimpleNamespace]
    rows: int
    unit_rows: int = 6
    is_one_sided: bool = False

    def __str__(self) -> str:
        """Return the name."""
        return self.name


@dataclasses.dataclass(frozen=True, eq=False)
class JointFormula:
    """Residuals of joints, each of one degree of freedom: the Jacobian is diagonal.

    ``functions(scalar)`` returns the struct ``Parameters`` and ``term(parameters, row, problem,
    dof, joint_q) -> vec2``, residual and derivative.

    Attributes:
        name: Name, by which formulas of a kernel are sorted.
        functions: Makes the functions; cached.
    """

    name: str
    functions: Callable[[type], SimpleNamespace]

    def __str__(self) -> str:
        """Return the name."""
        return self.name


AnyFormula = Formula | JointFormula


def formulas_of(
    found: Iterable[AnyFormula], common: tuple[AnyFormula, ...]
) -> tuple[AnyFormula, ...]:
    """Return the formulas that a kernel for some objectives is made of.

    One kernel serves every list of common ones, so that few are compiled; a list with others gets
    a kernel of exactly its formulas.

    Args:
        found: Formulas of the objectives.
        common: Formulas that are compiled together.
    """
    distinct = dict.fromkeys(found)
    if set(distinct) <= set(common):
        return common
    return tuple(sorted(distinct, key=lambda formula: formula.name))


@no_type_check
@functools.cache
def formula_functions(formula: Formula, scalar: type) -> SimpleNamespace:
    """Return the functions of a formula, ``linearize`` among them in any case."""
    functions = formula.functions(scalar)
    if hasattr(functions, 'linearize'):
        return functions
    State = functions.State

    @wp.func
    def linearize(state: State) -> State:
        return state

    return SimpleNamespace(**vars(functions), linearize=linearize)


@no_type_check
@functools.cache
def block_functions(scalar: type) -> SimpleNamespace:
    """Build ``rows3(vec3) -> twist`` and ``rows1(scalar) -> twist``, padded with zeros."""
    types = spatial_functions(scalar)
    vec3, twist = types.vec3, types.twist

    @wp.func
    def rows3(value: vec3) -> twist:
        zero = scalar(0.0)
        return twist(value[0], value[1], value[2], zero, zero, zero)

    @wp.func
    def rows1(value: scalar) -> twist:
        zero = scalar(0.0)
        return twist(value, zero, zero, zero, zero, zero)

    return SimpleNamespace(rows3=rows3, rows1=rows1)
