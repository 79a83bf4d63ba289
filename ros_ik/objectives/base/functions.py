# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions that the kernels of objectives share.

Let the rotation E change with angular velocity omega, dE/dt = [omega] E. Its rotation vector
theta = log(E) then changes at the rate

    dtheta/dt = J_l^-1(theta) omega
    J_l^-1(theta) = I - [theta]/2 + c [theta]^2,   c = (1 - h cot h) / (4 h^2),   h = |theta| / 2

J_l is the left Jacobian of SO(3) (Chirikjian, Stochastic Models, Information Theory, and Lie
Groups, volume 2, section 10.8). c tends to 1/12 at zero and is finite up to a full turn.
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.spatial import spatial_functions


@no_type_check
@functools.cache
def objective_functions(scalar: type) -> SimpleNamespace:
    """Build the functions of one floating-point type.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``, the type of the arrays of the solve.

    Returns:
        The functions of :func:`spatial_functions`, with ``problem_row``, ``read_vec3``,
        ``read_transform``, ``link_pose`` and ``log_velocity``.
    """
    types = spatial_functions(scalar)
    vec3, transform, read_quat = types.vec3, types.transform, types.read_quat

    @wp.func
    def problem_row(row: int, problem_idx: wp.array(dtype=wp.int32), count: int) -> int:
        """Return the index among ``count`` targets for a problem; a single target serves all."""
        problem = row
        if count == 1:
            problem = 0
        elif problem_idx.shape[0] > 0:
            problem = problem_idx[row]
        return problem

    @wp.func
    def read_vec3(table: wp.array2d(dtype=Any), row: int) -> vec3:
        return vec3(scalar(table[row, 0]), scalar(table[row, 1]), scalar(table[row, 2]))

    @wp.func
    def read_transform(table: wp.array2d(dtype=Any), row: int) -> transform:
        return transform(read_vec3(table, row), read_quat(table, row, 3))

    @wp.func
    def link_pose(row: int, link: int, body_q: wp.array2d(dtype=transform)) -> transform:
        """Return the pose of a link in the world, the identity for -1."""
        pose = wp.transform_identity(dtype=scalar)
        if link >= 0:
            pose = body_q[row, link]
        return pose

    @wp.func
    def log_velocity(theta: vec3, omega: vec3) -> vec3:
        """Return J_l^-1(theta) omega."""
        half = scalar(0.5) * wp.length(theta)
        # The truncation error of the series, half^4 / 945, is below rounding where it is used.
        c = scalar(1.0 / 12.0) + half * half / scalar(180.0)
        if half > scalar(1e-3):
            c = (scalar(1.0) - half * wp.cos(half) / wp.sin(half)) / (scalar(4.0) * half * half)
        turned = wp.cross(theta, omega)
        return omega - scalar(0.5) * turned + c * wp.cross(theta, turned)

    return SimpleNamespace(
        **vars(types),
        problem_row=problem_row,
        read_vec3=read_vec3,
        read_transform=read_transform,
        link_pose=link_pose,
        log_velocity=log_velocity,
    )
