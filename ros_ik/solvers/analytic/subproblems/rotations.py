# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions for rotations about an axis, in float64.

``carry`` solves subproblem 1 of Elias and Wen, "IK-Geo" (2022): the rotation of one vector to
another.

Angles are passed on as directions (sin t, cos t), which takes less time than to compute an angle
and its sine and cosine again.
"""

import math
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.spatial import arctangent
from ros_ik.kinematics.spatial import sincos_function

vec2 = wp.types.vector(2, wp.float64)
vec3 = wp.types.vector(3, wp.float64)
vec6 = wp.types.vector(6, wp.float64)
mat22 = wp.types.matrix((2, 2), wp.float64)
mat33 = wp.types.matrix((3, 3), wp.float64)
mat63 = wp.types.matrix((6, 3), wp.float64)
sincos = sincos_function(wp.float64)
# Size of coefficients, of the order of one otherwise, below which they are rounding, and the angle
# is arbitrary.
FREE = 1e-11


@no_type_check
@wp.func
def across(k: vec3, v: vec3) -> vec3:
    """Return the part of v that is perpendicular to the unit vector k."""
    return v - k * wp.dot(k, v)


@no_type_check
@wp.func
def rotated(k: vec3, direction: vec2, v: vec3) -> vec3:
    """Rotate v about the unit vector k by the angle of a direction."""
    along = k * wp.dot(k, v)
    return along + (v - along) * direction[1] + wp.cross(k, v) * direction[0]


@no_type_check
@wp.func
def turned(k: vec3, angle: wp.float64, v: vec3) -> vec3:
    """Rotate v by an angle about the unit vector k."""
    return rotated(k, sincos(angle), v)


@no_type_check
@wp.func
def reverse(direction: vec2) -> vec2:
    """Return the direction of the opposite angle."""
    return vec2(-direction[0], direction[1])


@no_type_check
@wp.func
def angle_of(direction: vec2) -> wp.float64:
    return arctangent(direction[0], direction[1])


@no_type_check
@wp.func
def within_half_turn(angle: wp.float64) -> wp.float64:
    """Return the same angle within half a turn of zero."""
    return angle - wp.float64(wp.TAU) * wp.rint(angle * wp.float64(wp.static(1.0 / math.tau)))


@no_type_check
@wp.func
def side_of(k: vec3) -> vec3:
    """Return a unit vector perpendicular to k."""
    x = wp.cross(k, vec3(wp.float64(1.0), wp.float64(0.0), wp.float64(0.0)))
    y = wp.cross(k, vec3(wp.float64(0.0), wp.float64(1.0), wp.float64(0.0)))
    return wp.normalize(wp.where(wp.length_sq(x) > wp.length_sq(y), x, y))


@no_type_check
@wp.func
def carried(k: vec3, a: vec3, b: vec3) -> vec2:
    """Return a multiple of the direction of the angle about k that rotates a to b.

    It is zero if one of them is along k.
    """
    a_across = across(k, a)
    b_across = across(k, b)
    least = wp.min(wp.length_sq(a_across), wp.length_sq(b_across))
    known = least >= wp.float64(wp.static(FREE * FREE))
    sine = wp.dot(k, wp.cross(a_across, b_across))
    cosine = wp.dot(a_across, b_across)
    zero = wp.float64(0.0)
    return vec2(wp.where(known, sine, zero), wp.where(known, cosine, zero))


@no_type_check
@wp.func
def carry(k: vec3, a: vec3, b: vec3, free: vec2) -> vec2:
    """Return the direction of the angle about k that rotates a to b; ``free`` for one along k."""
    multiple = carried(k, a, b)
    size = wp.length(multiple)
    known = size > wp.float64(0.0)
    scale = wp.float64(1.0) / wp.where(known, size, wp.float64(1.0))
    sine = wp.where(known, multiple[0] * scale, free[0])
    return vec2(sine, wp.where(known, multiple[1] * scale, free[1]))


@no_type_check
@wp.func
def carry_angle(k: vec3, a: vec3, b: vec3, free: wp.float64) -> wp.float64:
    """Return the angle about k that rotates a to b; ``free`` if one of them is along k."""
    multiple = carried(k, a, b)
    return wp.where(wp.length_sq(multiple) > wp.float64(0.0), angle_of(multiple), free)


@no_type_check
@wp.func
def slope(k: vec3, h: vec3, v: vec3) -> vec2:
    """Return the coefficients of sine and cosine in h . R(k, t) v - (h . k) (k . v)."""
    return vec2(wp.dot(h, wp.cross(k, v)), wp.dot(h, across(k, v)))
