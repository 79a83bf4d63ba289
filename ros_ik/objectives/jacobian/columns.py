# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Columns of the Jacobian of a point of a link, and their derivatives by single-axis joints.

With the linear and angular column l_j, omega_j of joint j, and joints in order from the base,

    d omega_j/dq_i = omega_i x omega_j for i before j, else 0
    d l_j/dq_i = omega_i x l_j for i before j, else omega_j x l_i
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.objectives.base.functions import objective_functions


@no_type_check
@functools.cache
def column_functions(scalar: type) -> SimpleNamespace:
    """Build ``local_column(S, point, to_reference) -> twist`` and ``column_derivative(..)``.

    ``column_derivative`` takes a column, the column of another joint, and whether the other joint
    comes first in the chain. Columns are the velocity of a point of the link, then the angular
    velocity, in the axes of the reference.
    """
    functions = objective_functions(scalar)
    vec3, transform, twist = functions.vec3, functions.transform, functions.twist
    point_velocity = functions.point_velocity

    @wp.func
    def local_column(S: twist, point: vec3, to_reference: transform) -> twist:
        """Return the linear velocity at the point, then angular, in axes of the reference."""
        linear = wp.transform_vector(to_reference, point_velocity(S, point))
        omega = wp.transform_vector(to_reference, vec3(S[3], S[4], S[5]))
        return twist(linear[0], linear[1], linear[2], omega[0], omega[1], omega[2])

    @wp.func
    def column_derivative(column: twist, by: twist, before: int) -> twist:
        """Return the derivative of a column with respect to a joint before or after its own."""
        linear = vec3(column[0], column[1], column[2])
        omega = vec3(column[3], column[4], column[5])
        turn = vec3(by[3], by[4], by[5])
        d_linear = wp.cross(omega, vec3(by[0], by[1], by[2]))
        d_omega = vec3()
        if before != 0:
            d_linear = wp.cross(turn, linear)
            d_omega = wp.cross(turn, omega)
        return twist(d_linear[0], d_linear[1], d_linear[2], d_omega[0], d_omega[1], d_omega[2])

    return SimpleNamespace(local_column=local_column, column_derivative=column_derivative)
