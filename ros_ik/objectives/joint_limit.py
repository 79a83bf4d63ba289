# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objective that penalises joints outside their limits.

    r_j = w_j (max(0, q_j - u_j) + max(0, l_j - q_j)) per degree of freedom with one coordinate

dr_j/dq_j is w_j above the upper limit, -w_j below the lower one, and zero between. Degrees of
freedom of joints with quaternions (ball, free) have no coordinate of their own and no limit.
"""

from collections.abc import Sequence
import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.kinematics.runtime.arguments import checked_numbers
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.objectives.base.arguments import checked_weight
from ros_ik.objectives.base.builtin import BuiltinObjective
from ros_ik.objectives.base.formula import JointFormula
from ros_ik.objectives.base.number_table import as_table
from ros_ik.objectives.base.number_table import table_functions
from ros_ik.objectives.base.parameter import Parameter
from ros_ik.objectives.interface.jacobian_type import IKJacobianType

if TYPE_CHECKING:
    from ros_ik.model import Model


@no_type_check
@functools.cache
def _functions(scalar: type) -> SimpleNamespace:
    vec2, tables = wp.types.vector(2, scalar), table_functions(scalar)
    Table, number = tables.Table, tables.number

    @wp.struct
    class Parameters:
        lower: Table  # [joint_dof_count, 1]
        upper: Table  # [joint_dof_count, 1]
        dof_coord: wp.array(dtype=wp.int32)  # [joint_dof_count], -1 for none

    @wp.func
    def term(
        parameters: Parameters, row: int, problem: int, dof: int, joint_q: wp.array2d(dtype=scalar)
    ) -> vec2:
        coord = parameters.dof_coord[dof]
        if coord < 0:
            return vec2()
        above = joint_q[row, coord] - number(parameters.upper, dof, 0)
        below = number(parameters.lower, dof, 0) - joint_q[row, coord]
        zero = scalar(0.0)
        residual = wp.max(zero, above) + wp.max(zero, below)
        slope = wp.where(above > zero, scalar(1.0), zero)
        return vec2(residual, wp.where(below > zero, scalar(-1.0), slope))

    return SimpleNamespace(Parameters=Parameters, term=term)


JOINT_LIMIT = JointFormula('joint_limit', _functions)


class IKObjectiveJointLimit(BuiltinObjective):
    """Penalise joints outside their limits; names and signs are those of ``newton.ik``.

    This is a soft constraint, traded off against other objectives. Solvers have hard limits.
    """

    formula = JOINT_LIMIT

    def __init__(
        self,
        joint_limit_lower: Any,
        joint_limit_upper: Any,
        weight: float | Sequence[float] = 0.1,
    ) -> None:
        """Create the objective.

        Args:
            joint_limit_lower: Lower limits [rad or m], numbers of shape [joint_dof_count], -inf
                where there is none, or a Warp array, such as a model's, which is read in
                place.
            joint_limit_upper: Upper limits, likewise.
            weight: Factor on the residuals, one or per degree of freedom.

        Raises:
            ArgumentError: Shapes or types that differ, a NaN, a lower limit above the upper one,
                a negative weight.
        """
        if not isinstance(joint_limit_lower, wp.array):
            joint_limit_lower = checked_numbers('joint_limit_lower', joint_limit_lower)
        count = int(joint_limit_lower.size)
        super().__init__(checked_weight('weight', weight, count))
        self._lower = self._parameter('joint_limit_lower', joint_limit_lower, 1)
        self._upper = self._parameter('joint_limit_upper', joint_limit_upper, 1, count=count)
        if self._lower.scalar != self._upper.scalar:
            raise ArgumentError('joint_limit_lower and joint_limit_upper must have one type')
        _check_order(self._lower, self._upper)

    @property
    def joint_limit_lower(self) -> wp.array:
        """Lower limits on the device, shape [joint_dof_count].

        They may be replaced. Raise the upper limits first if these would be below.
        """
        return self._lower.array.flatten()

    @joint_limit_lower.setter
    def joint_limit_lower(self, values: Any) -> None:
        given = self._limits(self._lower, values)
        _check_order(Parameter('joint_limit_lower', given, 1), self._upper)
        self._lower = self._replace(self._lower, given)

    @property
    def joint_limit_upper(self) -> wp.array:
        """Upper limits on the device, shape [joint_dof_count].

        They may be replaced. Reduce the lower limits first if these would be above.
        """
        return self._upper.array.flatten()

    @joint_limit_upper.setter
    def joint_limit_upper(self, values: Any) -> None:
        given = self._limits(self._upper, values)
        _check_order(self._lower, Parameter('joint_limit_upper', given, 1))
        self._upper = self._replace(self._upper, given)

    def _limits(self, known: Parameter, values: Any) -> Any:
        """Return new limits in the type of the others, because one kernel reads both.

        Numbers stay numbers in float64, so that they can still pass to another device.

        Raises:
            ArgumentError: Another shape or type.
        """
        if not isinstance(values, wp.array):
            values = checked_numbers(known.name, values).ravel()
            if known.scalar != wp.float64:
                values = wp.array(values, dtype=known.scalar, device=known.array.device)
        elif values.dtype != known.scalar:
            raise ArgumentError(
                f'{known.name} must be an array of {known.scalar.__name__}, like the other limits'
            )
        if values.size != len(known):
            raise ArgumentError(f'{known.name} must have {len(known)} values, got {values.size}')
        return values

    @shares_launch_lock
    def init_buffers(
        self, model: 'Model', jacobian_mode: object = IKJacobianType.ANALYTIC
    ) -> None:
        """Find the coordinate of each degree of freedom.

        Raises:
            ArgumentError: The model has another number of degrees of freedom.
        """
        if model.joint_dof_count != self.residual_dim():
            raise ArgumentError(
                f'joint_limit_lower must have {model.joint_dof_count} values, one per degree of '
                f'freedom of the model, got {self.residual_dim()}'
            )
        self._dof_coord = wp.array(dof_coordinates(model), dtype=wp.int32, device=self.device)

    def _fill(self, parameters: Any, scalar: type) -> None:
        parameters.lower, parameters.upper = as_table(self._lower), as_table(self._upper)
        parameters.dof_coord = self._dof_coord


def _check_order(lower: Parameter, upper: Parameter) -> None:
    """Raise ArgumentError if a lower limit is above its upper one."""
    wrong = np.flatnonzero(lower.read() > upper.read())
    if len(wrong):
        raise ArgumentError(
            f'joint_limit_lower is above joint_limit_upper for degrees of freedom {wrong}'
        )
