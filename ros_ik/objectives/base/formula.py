# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Formulas of objectives: residuals and Jacobian columns as Warp functions of parameters.

Each formula is written once. The kernels of :class:`IKObjective`'s interface, the fused solve and
the cost of a control step are all built from its functions. Unweighted residuals come in blocks of
at most six rows, padded with zeros. A pose is one block, and so is each pair of spheres.
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
    """Formula of residuals that depend on link poses, with a Jacobian along a kinematic chain.

    ``functions(scalar)``, for arrays of ``wp.float32`` or ``wp.float64``, returns the struct
    ``Parameters`` and the functions

    - ``prepare(parameters, row, problem, block, body_q) -> State``: quantities shared by the
      residual and the columns of a block, for a ``row`` of the batch and its ``problem``;
    - ``residual(state) -> twist``: residuals of the block;
    - ``linearize(state) -> State``: optional; further quantities that all columns share;
    - ``column(state, parameters, row, slot, dof, sign, body_q, joint_S_s) -> twist``: derivative
      of the residuals with respect to a degree of freedom, number ``slot`` of the chain. It moves
      the link relative to its reference by ``sign`` times its motion subspace.

    Attributes:
        name: Name, by which formulas of a kernel are sorted.
        functions: Cached factory of the functions.
        rows: Number of residuals in a block.
        unit_rows: Number of leading residuals with the first unit; the rest have the second one.
        is_one_sided: True if the Jacobian is zero wherever the residual is.
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
    """Formula of residuals that depend on one degree of freedom each; the Jacobian is diagonal.

    ``functions(scalar)`` returns the struct ``Parameters`` and ``term(parameters, row, problem,
    dof, joint_q) -> vec2``, the residual and its derivative.

    Attributes:
        name: Name, by which formulas of a kernel are sorted.
        functions: Cached factory of the functions.
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
    """Select the formulas to compile into a kernel for some objectives.

    To compile few kernels, one kernel with all common formulas serves every subset of them. A list
    with other formulas gets a kernel with exactly its formulas.

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
    """Return the functions of a formula, with a default ``linearize`` if it has none."""
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
