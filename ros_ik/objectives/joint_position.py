# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objective for target positions of the joints (a posture).

    r_j = w_j (q_t - q)_j   for each degree of freedom with one coordinate, dr_j/dq_j = -w_j

Degrees of freedom of joints with quaternions (ball, free) have no coordinate of their own; their
residual is zero.
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
from ros_ik.kinematics.runtime.arguments import checked_model
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.objectives.base.arguments import checked_weight
from ros_ik.objectives.base.builtin import BuiltinObjective
from ros_ik.objectives.base.formula import JointFormula
from ros_ik.objectives.base.number_table import as_table
from ros_ik.objectives.base.number_table import table_functions
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
        target: Table  # [n_problems, joint_coord_count]
        dof_coord: wp.array(dtype=wp.int32)  # [joint_dof_count], -1 for none

    @wp.func
    def term(
        parameters: Parameters, row: int, problem: int, dof: int, joint_q: wp.array2d(dtype=scalar)
    ) -> vec2:
        coord = parameters.dof_coord[dof]
        if coord < 0:
            return vec2()
        return vec2(number(parameters.target, problem, coord) - joint_q[row, coord], scalar(-1.0))

    return SimpleNamespace(Parameters=Parameters, term=term)


JOINT_POSITION = JointFormula('joint_position', _functions)


class IKObjectiveJointPosition(BuiltinObjective):
    """Move joints to target positions; one residual per degree of freedom of the model."""

    formula = JOINT_POSITION

    construction_only = frozenset(('model',))

    def __init__(
        self, model: 'Model', target_positions: Any, *, weight: float | Sequence[float] = 1.0
    ) -> None:
        """Create the objective.

        Args:
            model: The model.
            target_positions: Targets in rad and m: numbers of shape [joint_coord_count] or
                [n_problems, joint_coord_count], or a Warp array, which is read in place.
            weight: Factor on each residual, one or shape [joint_dof_count].

        Raises:
            ArgumentError: A wrong shape or type, a NaN, a negative weight.
        """
        dofs = checked_model(model).joint_dof_count
        super().__init__(checked_weight('weight', weight, dofs))
        self._set_targets('target_positions', target_positions, model.joint_coord_count)
        self._dof_coord = dof_coordinates(model)

    @shares_launch_lock
    def bind_device(self, device: wp.DeviceLike) -> None:
        """Copy targets and weights to ``device``."""
        super().bind_device(device)
        self._coords = wp.array(self._dof_coord, dtype=wp.int32, device=self.device)

    def init_buffers(
        self, model: 'Model', jacobian_mode: object = IKJacobianType.ANALYTIC
    ) -> None:
        """Compare the joints with those of the solver's model.

        Raises:
            ArgumentError: The model has other joints.
        """
        width = self._targets.array.shape[1]
        same = np.array_equal(dof_coordinates(model), self._dof_coord)
        if not same or model.joint_coord_count != width:
            raise ArgumentError(
                f'model: target_positions are for a model of {width} coordinates and '
                f'{len(self._dof_coord)} degrees of freedom, the solver has one with other joints '
                f'({model.joint_coord_count} and {model.joint_dof_count})'
            )

    def set_target_positions(self, positions: Any) -> None:
        """Copy every target, into the given array if the constructor got a Warp array.

        Later changes of the argument have no effect. To have another array read in place, assign
        it to ``target_positions``.
        """
        self._targets.write(positions)

    def target_positions(self) -> np.ndarray:
        """Return a copy of the targets, shape [n_problems, joint_coord_count]."""
        return self._targets.read()

    def _fill(self, parameters: Any, scalar: type) -> None:
        parameters.target, parameters.dof_coord = as_table(self._targets), self._coords
