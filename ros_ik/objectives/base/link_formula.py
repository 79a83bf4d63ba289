# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Formula made of a user's functions of the pose of a link and its rate.

Its parameters are the link, the reference link of the pose (-1 for the world), and the user's
parameters for each problem.
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.objectives.base.declared import function_name
from ros_ik.objectives.base.declared import returned_rows
from ros_ik.objectives.base.formula import Formula
from ros_ik.objectives.base.functions import objective_functions


@no_type_check
@functools.cache
def _link_functions(f: wp.Function, g: wp.Function, Values: Any, scalar: type) -> SimpleNamespace:
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
    """Build ``as_rows(value) -> twist``, which pads the result of a function with zeros."""
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
def link_formula(f: wp.Function, g: wp.Function, values: Any) -> Formula:
    """Return the formula of two functions of the pose of a link; equal formulas share kernels.

    Args:
        f: ``(parameters, pose: wp.transformd)``, which returns ``wp.float64`` or a vector of it.
        g: ``(parameters, pose: wp.transformd, velocity: wp.spatial_vectord)``, its rate.
        values: The ``wp.struct`` of the parameters.
    """
    return Formula(
        f'{function_name(f)} {function_name(g)}',
        functools.partial(_link_functions, f, g, values),
        rows=returned_rows(f),
    )
