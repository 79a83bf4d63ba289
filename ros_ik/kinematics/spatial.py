# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions for rotations and twists.

Quaternions are x, y, z, w. Twists are linear first, in world axes at the world origin; a point of
the body at p has the velocity v + omega x p.
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import warp as wp


@no_type_check
@functools.cache
def sincos_function(scalar: type) -> wp.Function:
    """Build ``sincos(x) -> (sin x, cos x)``, which is inlined, unlike the library functions.

    It reduces x to a quarter turn and uses the minimax polynomials of fdlibm (Sun Microsystems
    1993). The error is 1e-15 for |x| < 1e5, and the rounding of x up to 1e9. NaN and infinity give
    NaN.
    """
    vec2 = wp.types.vector(2, scalar)
    # pi / 2 in two parts; the first has few bits, so that its multiples are exact.
    half_pi_high, half_pi_low = 1.5707963267341256, 6.0771005065061922e-11

    @wp.func
    def sincos(x: scalar) -> vec2:
        turns = wp.floor(x * scalar(0.6366197723675814) + scalar(0.5))
        r = x - turns * scalar(half_pi_high) - turns * scalar(half_pi_low)
        z = r * r
        p = scalar(-2.50507602534068634195e-08) + z * scalar(1.58969099521155010221e-10)
        p = scalar(-1.98412698298579493134e-04) + z * (scalar(2.75573137070700676789e-06) + z * p)
        p = scalar(-1.66666666666666324348e-01) + z * (scalar(8.33333333332248946124e-03) + z * p)
        s = r + r * z * p
        p = scalar(2.08757232129817482790e-09) - z * scalar(1.13596475577881948265e-11)
        p = scalar(2.48015872894767294178e-05) + z * (scalar(-2.75573143513906633035e-07) + z * p)
        p = scalar(4.16666666666666019037e-02) + z * (scalar(-1.38888888888741095749e-03) + z * p)
        c = scalar(1.0) - scalar(0.5) * z + z * z * p
        quarter = wp.int32(turns)
        odd = (quarter & 1) != 0
        sine = wp.where(odd, c, s)
        cosine = wp.where(odd, s, c)
        sine = wp.where((quarter & 2) != 0, -sine, sine)
        cosine = wp.where(((quarter + 1) & 2) != 0, -cosine, cosine)
        return vec2(sine, cosine)

    return sincos


@no_type_check
@wp.func
def arctangent(y: wp.float64, x: wp.float64) -> wp.float64:
    """Return the angle of (x, y), within half a turn of zero; 0 for (0, 0).

    The function has no branches, so that compilers can vectorise loops over it. It uses the
    polynomial of fdlibm (Sun Microsystems 1993) after reduction to tan(pi / 8), with an error of
    two roundings.
    """
    one = wp.float64(1.0)
    along, across = wp.abs(x), wp.abs(y)
    low, high = wp.min(along, across), wp.max(along, across)
    past = low > wp.float64(0.41421356237309503) * high
    over = wp.where(past, low + high, high)
    z = wp.where(past, low - high, low) / wp.where(over > wp.float64(0.0), over, one)
    s = z * z
    w = s * s
    odd = wp.float64(4.97687799461593236017e-02) + w * wp.float64(1.62858201153657823623e-02)
    odd = wp.float64(6.66107313738753120669e-02) + w * odd
    odd = wp.float64(9.09088713343650656196e-02) + w * odd
    odd = wp.float64(1.42857142725034663711e-01) + w * odd
    odd = s * (wp.float64(3.33333333333329318027e-01) + w * odd)
    even = wp.float64(5.83357013379057348645e-02) + w * wp.float64(3.65315727442169155270e-02)
    even = wp.float64(7.69187620504482999495e-02) + w * even
    even = wp.float64(1.11111104054623557880e-01) + w * even
    even = w * (wp.float64(1.99999999998764832476e-01) + w * even)
    angle = z - z * (odd - even)
    # An eighth, a quarter and half a turn, each in two parts.
    beyond = wp.float64(0.7853981633974483) + (angle + wp.float64(3.061616997868383e-17))
    angle = wp.where(past, beyond, angle)
    beyond = wp.float64(1.5707963267948966) - (angle - wp.float64(6.123233995736766e-17))
    angle = wp.where(across > along, beyond, angle)
    beyond = wp.float64(3.141592653589793) - (angle - wp.float64(1.2246467991473532e-16))
    angle = wp.where(x < wp.float64(0.0), beyond, angle)
    return wp.where(y < wp.float64(0.0), -angle, angle)


@no_type_check
@functools.cache
def spatial_functions(scalar: type) -> SimpleNamespace:
    """Build the functions of one floating-point type.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.

    Returns:
        The types ``vec3``, ``quat``, ``transform``, ``twist`` and the functions
        ``rotation_log(quat) -> vec3``, ``rotation_exp(vec3) -> quat``,
        ``rotation_difference(target, quat) -> vec3``,
        ``normal_to(vec3) -> vec3``, ``turn_between(a, b) -> vec3``,
        ``point_velocity(twist, point) -> vec3``, ``axis_twist(axis, pivot) -> twist``,
        ``slide_twist(axis) -> twist`` and ``read_quat(table, row, start) -> quat``.
    """
    vec3 = wp.types.vector(3, scalar)
    quat = wp.types.quaternion(scalar)
    transform = wp.types.transformation(scalar)
    twist = wp.types.vector(6, scalar)
    # Below this half angle, sin and tan equal their argument in the precision of the type.
    small = 1e-9 if scalar is wp.float64 else 1e-5
    # Sine below which an angle equals it; what that misses is of the order of its square.
    small_sine = 1e-8 if scalar is wp.float64 else 1e-4

    @wp.func
    def rotation_log(q: quat) -> vec3:
        """Return the shorter rotation vector, |log| <= pi; q need not be exactly unit."""
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
    def rotation_difference(target: quat, q: quat) -> vec3:
        """Return the rotation vector from q to the target, in the axes of both."""
        return rotation_log(target * wp.quat_inverse(q))

    @wp.func
    def rotation_exp(theta: vec3) -> quat:
        """Return the unit quaternion of a rotation vector."""
        half = scalar(0.5) * wp.length(theta)
        factor = scalar(0.5)
        if half > scalar(wp.static(small)):
            factor = scalar(0.5) * wp.sin(half) / half
        return wp.normalize(
            quat(factor * theta[0], factor * theta[1], factor * theta[2], wp.cos(half))
        )

    @wp.func
    def normal_to(a: vec3) -> vec3:
        """Return a unit vector normal to a unit vector."""
        helper = vec3(scalar(1.0), scalar(0.0), scalar(0.0))
        if wp.abs(a[0]) > scalar(0.7):
            helper = vec3(scalar(0.0), scalar(1.0), scalar(0.0))
        return wp.normalize(wp.cross(a, helper))

    @wp.func
    def turn_between(a: vec3, b: vec3) -> vec3:
        """Rotation vector that turns the unit vector a to b on the shortest way."""
        s = wp.cross(a, b)
        c = wp.dot(a, b)
        sine = wp.length(s)
        turn = s
        if sine > scalar(wp.static(small_sine)):
            turn = s * (wp.atan2(sine, c) / sine)
        elif c < scalar(0.0):
            n = normal_to(a)
            turn = n * (scalar(wp.PI) - wp.dot(n, s))
        return turn

    @wp.func
    def point_velocity(S: twist, point: vec3) -> vec3:
        """Return v + omega x p."""
        return vec3(S[0], S[1], S[2]) + wp.cross(vec3(S[3], S[4], S[5]), point)

    @wp.func
    def axis_twist(axis: vec3, pivot: vec3) -> twist:
        """Return the twist of a unit rotation about an axis through a point."""
        v = wp.cross(pivot, axis)
        return twist(v[0], v[1], v[2], axis[0], axis[1], axis[2])

    @wp.func
    def slide_twist(axis: vec3) -> twist:
        """Return the twist of a unit translation along an axis."""
        return twist(axis[0], axis[1], axis[2], scalar(0.0), scalar(0.0), scalar(0.0))

    @wp.func
    def read_quat(table: wp.array2d(dtype=Any), row: int, start: int) -> quat:
        return quat(
            scalar(table[row, start]), scalar(table[row, start + 1]),
            scalar(table[row, start + 2]), scalar(table[row, start + 3]),
        )  # fmt: skip

    return SimpleNamespace(
        vec3=vec3,
        quat=quat,
        transform=transform,
        twist=twist,
        rotation_log=rotation_log,
        rotation_difference=rotation_difference,
        rotation_exp=rotation_exp,
        normal_to=normal_to,
        turn_between=turn_between,
        point_velocity=point_velocity,
        axis_twist=axis_twist,
        slide_twist=slide_twist,
        read_quat=read_quat,
    )
