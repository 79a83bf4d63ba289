# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objective: a function of the pose of a link, declared by the caller as Warp functions.

    r = w f(p, X),   dr/dq_j = w g(p, X, V_j)

X is the pose of the link in the reference link (in the world when there is none), V_j its velocity
by degree of freedom j: of its origin, then angular, in the axes of the reference. p are
parameters, a ``wp.struct`` for each problem. f and g are in float64; solves in float32 convert.
"""

from collections.abc import Sequence
import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_link
from ros_ik.objectives.base.arguments import checked_weight
from ros_ik.objectives.base.declared import checked_function
from ros_ik.objectives.base.declared import checked_parameters
from ros_ik.objectives.base.declared import function_name
from ros_ik.objectives.base.declared import returned_rows
from ros_ik.objectives.base.formula import Formula
from ros_ik.objectives.base.functions import objective_functions
from ros_ik.objectives.base.link_objective import LinkObjective


@no_type_check
@functools.cache
def _functions(f: wp.Function, g: wp.Function, Values: Any, scalar: type) -> SimpleNamespace:
    types = objective_functions(scalar)
    vec3, transform, twist = types.vec3, types.transform, types.twist
    link_pose, point_velocity = types.link_pose, types.point_velocity
    as_rows = _rows_function(f, scalar)

    @wp.struct
    class Parameters:
        link: int
        reference: int
        values: wp.array(dtype=Values)  # [n_problems]

    @wp.struct
    class State:
        values: Values
        pose: wp.transformd  # in the reference
        to_reference: wp.quatd
        origin: vec3  # of the link, in the world

    @wp.func
    def prepare(
        parameters: Parameters,
        row: int,
        problem: int,
        block: int,
        body_q: wp.array2d(dtype=transform),
    ) -> State:
        state = State()
        to_reference = wp.transform_inverse(link_pose(row, parameters.reference, body_q))
        pose = to_reference * body_q[row, parameters.link]
        position = wp.vec3d(wp.transform_get_translation(pose))
        state.values = parameters.values[problem]
        state.pose = wp.transformd(position, wp.quatd(wp.transform_get_rotation(pose)))
        state.to_reference = wp.quatd(wp.transform_get_rotation(to_reference))
        state.origin = wp.transform_get_translation(body_q[row, parameters.link])
        return state

    @wp.func
    def residual(state: State) -> twist:
        return as_rows(f(state.values, state.pose))

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
        v = wp.vec3d(point_velocity(S, state.origin))
        omega = wp.vec3d(vec3(S[3], S[4], S[5]))
        if parameters.reference >= 0:
            v = wp.quat_rotate(state.to_reference, v)
            omega = wp.quat_rotate(state.to_reference, omega)
        velocity = wp.spatial_vectord(v[0], v[1], v[2], omega[0], omega[1], omega[2])
        return as_rows(g(state.values, state.pose, velocity))

    return SimpleNamespace(
        Parameters=Parameters, State=State, prepare=prepare, residual=residual, column=column
    )


@no_type_check
def _rows_function(f: wp.Function, scalar: type) -> wp.Function:
    """Build ``as_rows(value) -> twist`` of what a function returns, padded with zeros."""
    twist, returned = objective_functions(scalar).twist, f.adj.arg_types['return']
    size = wp.constant(returned_rows(f))

    @wp.func
    def of_number(value: wp.float64) -> twist:
        rows = twist()
        rows[0] = scalar(value)
        return rows

    if returned is wp.float64:
        return of_number

    @wp.func
    def of_vector(value: returned) -> twist:
        rows = twist()
        for k in range(size):
            rows[k] = scalar(value[k])
        return rows

    return of_vector


@functools.cache
def _declared_formula(f: wp.Function, g: wp.Function, values: Any) -> Formula:
    """Return the formula of two functions; objectives that share them share kernels."""
    return Formula(
        f'{function_name(f)} {function_name(g)}',
        functools.partial(_functions, f, g, values),
        rows=returned_rows(f),
    )


class IKObjectiveLinkFunction(LinkObjective):
    """A function of the pose of a link, of one's own: it runs where the built-in ones run.

    Attributes:
        link_index: The link.
        reference_link_index: The link in which its pose is given; -1 for the world.
    """

    construction_only = frozenset(('residual', 'column', 'parameters'))

    def __init__(
        self,
        link_index: int,
        residual: wp.Function,
        column: wp.Function,
        parameters: Any,
        *,
        reference_link_index: int = -1,
        weight: float | Sequence[float] = 1.0,
    ) -> None:
        """Declare the objective.

        Args:
            link_index: Index of the link.
            residual: The ``wp.func`` f, ``(parameters, pose: wp.transformd)``. It returns the
                residuals, ``wp.float64`` or a vector of up to six of them such as ``wp.vec2d``,
                which the annotation says.
            column: The ``wp.func`` g, ``(parameters, pose: wp.transformd, velocity:
                wp.spatial_vectord)``, which returns their rate as the link moves so, likewise.
            parameters: An instance of the ``wp.struct`` that both take, or one for each problem.
            reference_link_index: Link in which the pose is given; -1 for the world.
            weight: Factor on the residuals, one or each.

        Raises:
            ArgumentError: A function that does not fit, naming it; other parameters than it takes;
                a negative weight.
        """
        name = type(self).__name__
        values = checked_function(name, 'residual', residual, (wp.transformd,))
        checked_function(
            name, 'column', column, (wp.transformd, wp.spatial_vectord), like=residual
        )
        given = checked_parameters(name, values, parameters)
        super().__init__(checked_weight('weight', weight, returned_rows(residual)))
        self._formula = _declared_formula(residual, column, values)
        self.link_index = checked_link('link_index', link_index)
        self.reference_link_index = checked_link('reference_link_index', reference_link_index)
        self._given = given  # they own the arrays that they may hold
        self._values = wp.array(given, dtype=values, device=self._weights.array.device)
        self.n_problems = len(given)

    @property
    def formula(self) -> Formula:
        """The two functions as the solvers take them."""
        return self._formula

    def bind_device(self, device: wp.DeviceLike) -> None:
        """Put parameters and weights on ``device``."""
        super().bind_device(device)
        if self._values.device != self.device:
            self._values = self._values.to(self.device)

    def set_parameters(self, parameters: Any) -> None:
        """Change the parameters: one for every problem or one for each, as many as there were.

        Raises:
            ArgumentError: Another number of them, or another struct.
        """
        dtype = self._values.dtype
        given = checked_parameters(type(self).__name__, dtype, parameters)
        if len(given) != self.n_problems:
            raise ArgumentError(f'parameters must be {self.n_problems}, got {len(given)}')
        self._given = given
        wp.copy(self._values, wp.array(given, dtype=dtype, device=self._values.device))

    def set_parameter(self, problem_idx: int, parameters: Any) -> None:
        """Change the parameters of one problem.

        Raises:
            ArgumentError: No such problem, or another struct.
        """
        if not checked_count('problem_idx', problem_idx) < self.n_problems:
            raise ArgumentError(f'problem_idx must be below {self.n_problems}, got {problem_idx}')
        given = list(self._given)
        given[problem_idx] = parameters
        self.set_parameters(given)

    def _fill(self, parameters: Any, scalar: type) -> None:
        parameters.link, parameters.reference = self.link_index, self.reference_link_index
        parameters.values = self._values
