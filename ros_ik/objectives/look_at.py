# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objective that points an axis of a link at a target, such as the axis of a camera.

    d = (t - p) / |t - p|,   s = a x d,   r = w theta s / |s|,   theta = atan2(|s|, a . d)

a is the axis, p its start point in the link and t the target, all in the reference link, or in
world axes. r is the rotation vector that turns the axis to the target. Its length grows up to pi,
for an axis that points away from the target. So, unlike d - a, whose cost is flat there, it has no
stationary point other than the solution. With f = theta / |s| and c = a . d,

    dr = w (f ds - g dc s),   g = (1 - c f) / |s|^2,   ds = da x d + a x dd,   dc = da . d + a . dd

Rotation about the axis itself is free. If axis and direction are opposite to within rounding, r is
pi about some axis normal to a, and dr is its change along that axis. If the target is at p, both
are 0.
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
from ros_ik.objectives.base.arguments import checked_unit
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
def _turn_velocity_function(scalar: type) -> wp.Function:
    """Build ``turn_velocity(a, d, da, dd) -> vec3``, the derivative of ``turn_between(a, d)``."""
    types = objective_functions(scalar)
    vec3, normal_to = types.vec3, types.normal_to
    # Sine below which f = 1 and g = 1/3, or the form for the opposite direction, are exact to
    # within rounding: their error is of the order of its square.
    small = 1e-8 if scalar is wp.float64 else 1e-4

    @wp.func
    def turn_velocity(a: vec3, d: vec3, da: vec3, dd: vec3) -> vec3:
        s = wp.cross(a, d)
        c = wp.dot(a, d)
        ds = wp.cross(da, d) + wp.cross(a, dd)
        dc = wp.dot(da, d) + wp.dot(a, dd)
        sine = wp.length(s)
        rate = ds
        if sine > scalar(wp.static(small)):
            f = wp.atan2(sine, c) / sine
            g = (scalar(1.0) - c * f) / (sine * sine)
            rate = ds * f - s * (g * dc)
        elif c < scalar(0.0):
            n = normal_to(a)
            rate = -n * wp.dot(n, ds)
        return rate

    return turn_velocity


@no_type_check
@functools.cache
def _functions(scalar: type) -> SimpleNamespace:
    types, tables = objective_functions(scalar), table_functions(scalar)
    vec3, transform, twist = types.vec3, types.transform, types.twist
    read_vec3, point_velocity = types.read_vec3, types.point_velocity
    link_pose, rows3 = types.link_pose, block_functions(scalar).rows3
    turn_between, turn_velocity = types.turn_between, _turn_velocity_function(scalar)
    Table, table_vec3 = tables.Table, tables.table_vec3

    @wp.struct
    class Parameters:
        link: int
        reference: int
        axis: wp.array2d(dtype=wp.float64)  # [1, 3], in the link
        offset: wp.array2d(dtype=wp.float64)  # [1, 3]
        target: Table  # [n_problems, 3]

    @wp.struct
    class State:
        to_reference: transform
        point: vec3  # of the link, in the world
        a: vec3
        d: vec3
        away: scalar

    @wp.func
    def prepare(
        parameters: Parameters,
        row: int,
        problem: int,
        block: int,
        body_q: wp.array2d(dtype=transform),
    ) -> State:
        state = State()
        pose = body_q[row, parameters.link]
        to_reference = wp.transform_inverse(link_pose(row, parameters.reference, body_q))
        point = wp.transform_point(pose, read_vec3(parameters.offset, 0))
        axis = wp.transform_vector(pose, read_vec3(parameters.axis, 0))
        target = table_vec3(parameters.target, problem, 0)
        sight = target - wp.transform_point(to_reference, point)
        state.to_reference = to_reference
        state.point = point
        state.a = wp.transform_vector(to_reference, axis)
        state.d = wp.normalize(sight)
        state.away = wp.length(sight)
        return state

    @wp.func
    def residual(state: State) -> twist:
        return rows3(turn_between(state.a, state.d))

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
        S = joint_S_s[row, dof] * sign
        velocity = wp.transform_vector(state.to_reference, point_velocity(S, state.point))
        omega = wp.transform_vector(state.to_reference, vec3(S[3], S[4], S[5]))
        dd = vec3()
        if state.away > scalar(0.0):
            dd = (state.d * wp.dot(state.d, velocity) - velocity) / state.away
        return rows3(turn_velocity(state.a, state.d, wp.cross(omega, state.a), dd))

    return SimpleNamespace(
        Parameters=Parameters, State=State, prepare=prepare, residual=residual, column=column
    )


LOOK_AT = Formula('look_at', _functions, rows=3)


class IKObjectiveLookAt(LinkObjective, PositionTargetObjective):
    """Point an axis of a link at a target; the three residuals are a rotation vector.

    Attributes:
        link_index: The link that carries the axis.
        reference_link_index: Link in whose frame the targets are given; -1 for the world.
    """

    formula = LOOK_AT

    def __init__(
        self,
        link_index: int,
        link_axis: Any,
        target_positions: Any,
        *,
        link_offset: Any = (0.0, 0.0, 0.0),
        reference_link_index: int = -1,
        weight: float | Sequence[float] = 1.0,
    ) -> None:
        """Create the objective.

        Args:
            link_index: Index of the link.
            link_axis: The axis in the link, of any length but zero, shape [3].
            target_positions: Targets in the reference link [m]: numbers of shape [3] or
                [n_problems, 3], or a Warp array [n_problems] of vec3, which is read in
                place.
            link_offset: Start point of the axis in the link [m], shape [3].
            reference_link_index: Link in whose frame the targets are given; -1 for the world.
            weight: Factor on the residuals [1/rad], one or per axis.

        Raises:
            ArgumentError: A wrong shape or type, a zero axis, a NaN, a negative weight.
        """
        super().__init__(target_positions, checked_weight('weight', weight, 3))
        self.link_index = checked_link('link_index', link_index)
        self.reference_link_index = checked_link('reference_link_index', reference_link_index)
        self._axis = self._parameter('link_axis', checked_unit('link_axis', link_axis, 3), 3)
        offset = checked_vector('link_offset', link_offset, 3)
        self._offset = self._parameter('link_offset', offset, 3)

    @property
    def link_axis(self) -> np.ndarray:
        """Unit vector of the axis in the link, shape [3]; may be set, of any length but zero."""
        return read_only(self._axis.read()[0])

    @link_axis.setter
    def link_axis(self, value: Any) -> None:
        self._axis.write(checked_unit('link_axis', value, 3))

    @property
    def link_offset(self) -> np.ndarray:
        """Start point of the axis in the link [m], shape [3]; may be set."""
        return read_only(self._offset.read()[0])

    @link_offset.setter
    def link_offset(self, value: Any) -> None:
        self._offset.write(checked_vector('link_offset', value, 3))

    def _fill(self, parameters: Any, scalar: type) -> None:
        parameters.link, parameters.reference = self.link_index, self.reference_link_index
        parameters.axis, parameters.offset = self._axis.array, self._offset.array
        parameters.target = as_table(self._targets)
