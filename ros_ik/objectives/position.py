# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objective for the position of a point on a link, in the world.

    r = w (p_t - p),   dr/dq_j = -w (v_j + omega_j x p)

v_j, omega_j are the twist of degree of freedom j at the world origin.
"""

from collections.abc import Sequence
import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.arguments import checked_link
from ros_ik.kinematics.runtime.read_once import read_only
from ros_ik.objectives.base.arguments import checked_vector
from ros_ik.objectives.base.arguments import checked_weight
from ros_ik.objectives.base.builtin import PositionTargetObjective
from ros_ik.objectives.base.formula import block_functions
from ros_ik.objectives.base.formula import Formula
from ros_ik.objectives.base.functions import objective_functions
from ros_ik.objectives.base.link_objective import LinkObjective
from ros_ik.objectives.base.number_table import as_table
from ros_ik.objectives.base.number_table import table_functions


@no_type_check
@functools.cache
def _functions(scalar: type) -> SimpleNamespace:
    types, tables = objective_functions(scalar), table_functions(scalar)
    vec3, transform, twist = types.vec3, types.transform, types.twist
    read_vec3, point_velocity = types.read_vec3, types.point_velocity
    Table, table_vec3 = tables.Table, tables.table_vec3
    rows3 = block_functions(scalar).rows3

    @wp.struct
    class Parameters:
        link: int
        offset: wp.array2d(dtype=wp.float64)  # [1, 3]
        target: Table  # [n_problems, 3]

    @wp.struct
    class State:
        point: vec3
        target: vec3

    @wp.func
    def prepare(
        parameters: Parameters,
        row: int,
        problem: int,
        block: int,
        body_q: wp.array2d(dtype=transform),
    ) -> State:
        state = State()
        offset = read_vec3(parameters.offset, 0)
        state.point = wp.transform_point(body_q[row, parameters.link], offset)
        state.target = table_vec3(parameters.target, problem, 0)
        return state

    @wp.func
    def residual(state: State) -> twist:
        return rows3(state.target - state.point)

    @wp.func
    def column(
        state: State,
        parameters: Parameters,
        row: int,
        slot: int,
        dof: int,
        sign: scalar,
        body_q: wp.array2d(dtype=transform),
        joint_S_s: wp.array2d(dtype=twist),
    ) -> twist:
        return rows3(-point_velocity(joint_S_s[row, dof], state.point))

    return SimpleNamespace(
        Parameters=Parameters, State=State, prepare=prepare, residual=residual, column=column
    )


POSITION = Formula('position', _functions, rows=3)


class IKObjectivePosition(LinkObjective, PositionTargetObjective):
    """Move a point on a link to a position; names and signs are those of ``newton.ik``.

    Attributes:
        link_index: The link that carries the point.
    """

    formula = POSITION
    _places_a_point = True

    def __init__(
        self,
        link_index: int,
        link_offset: Any,
        target_positions: Any,
        weight: float | Sequence[float] = 1.0,
    ) -> None:
        """Create the objective.

        Args:
            link_index: Index of the link.
            link_offset: The point in the link [m], shape [3].
            target_positions: Targets in the world [m]: numbers of shape [3] or [n_problems, 3], or
                a Warp array [n_problems] of vec3, which is read in place.
            weight: Factor on the residuals [1/m], one or per axis.

        Raises:
            ArgumentError: A wrong shape or type, a NaN, a negative weight.
        """
        super().__init__(target_positions, checked_weight('weight', weight, 3))
        self.link_index = checked_link('link_index', link_index)
        offset = checked_vector('link_offset', link_offset, 3)
        self._offset = self._parameter('link_offset', offset, 3)

    @property
    def link_offset(self) -> np.ndarray:
        """The point in the link [m], shape [3]; may be set."""
        return read_only(self._offset.read()[0])

    @link_offset.setter
    def link_offset(self, value: Any) -> None:
        self._offset.write(checked_vector('link_offset', value, 3))

    def _fill(self, parameters: Any, scalar: type) -> None:
        parameters.link, parameters.offset = self.link_index, self._offset.array
        parameters.target = as_table(self._targets)
