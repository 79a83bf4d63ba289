# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rotations and twists as Warp functions.

Quaternions are x, y, z, w; twists are linear first, in world axes, taken at the world origin: the
point of the body that is at p moves with v + omega x p.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp


@no_type_check
@functools.cache
def spatial_functions(scalar: type) -> SimpleNamespace:
    """Build the functions of one floating-point type.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.

    Returns:
        The types ``vec3``, ``quat``, ``transform``, ``twist`` and the functions
        ``rotation_log(quat) -> vec3``, ``rotation_exp(vec3) -> quat``,
        ``point_velocity(twist, point) -> vec3`` and ``axis_twist(axis, pivot) -> twist``.
    """
    vec3 = wp.types.vector(3, scalar)
    quat = wp.types.quaternion(scalar)
    transform = wp.types.transformation(scalar)
    twist = wp.types.vector(6, scalar)
    # Below this half angle sin and tan equal their argument to the precision of the type.
    small = 1e-9 if scalar is wp.float64 else 1e-5

    @wp.func
    def rotation_log(q: quat) -> vec3:
        """Rotation vector of the shorter way round, |log| <= pi; q need not be exactly unit."""
        v = vec3(q[0], q[1], q[2])
        w = q[3]
        if w < scalar(0.0):
            v = -v
            w = -w
        sine = wp.length(v)
        if sine <= scalar(wp.static(small)) * w:
            return v * (scalar(2.0) / w)
        return v * (scalar(2.0) * wp.atan2(sine, w) / sine)

    @wp.func
    def rotation_exp(theta: vec3) -> quat:
        """Unit quaternion of a rotation vector."""
        half = scalar(0.5) * wp.length(theta)
        factor = scalar(0.5)
        if half > scalar(wp.static(small)):
            factor = scalar(0.5) * wp.sin(half) / half
        return wp.normalize(
            quat(factor * theta[0], factor * theta[1], factor * theta[2], wp.cos(half))
        )

    @wp.func
    def point_velocity(S: twist, point: vec3) -> vec3:
        """v + omega x p."""
        return vec3(S[0], S[1], S[2]) + wp.cross(vec3(S[3], S[4], S[5]), point)

    @wp.func
    def axis_twist(axis: vec3, pivot: vec3) -> twist:
        """Twist of a unit rotation about an axis through a point."""
        v = wp.cross(pivot, axis)
        return twist(v[0], v[1], v[2], axis[0], axis[1], axis[2])

    @wp.func
    def slide_twist(axis: vec3) -> twist:
        """Twist of a unit translation along an axis."""
        return twist(axis[0], axis[1], axis[2], scalar(0.0), scalar(0.0), scalar(0.0))

    return SimpleNamespace(
        vec3=vec3,
        quat=quat,
        transform=transform,
        twist=twist,
        rotation_log=rotation_log,
        rotation_exp=rotation_exp,
        point_velocity=point_velocity,
        axis_twist=axis_twist,
        slide_twist=slide_twist,
    )
