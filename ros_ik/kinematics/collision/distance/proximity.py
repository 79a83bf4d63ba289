# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Signed distance of two primitives with its direction, for barriers.

A primitive is a core and a radius; see :mod:`ros_ik.kinematics.collision.distance.gjk`. With the
unit normal n from the second to the first,

    d = n . (p_a - p_b),   dd/dq = n . (dp_a/dq - dp_b/dq)

where p_a, p_b are the nearest points of the surfaces, fixed to their links. If two surfaces
overlap, d < 0, and n is the direction of the shortest translation that separates them. Spheres and
capsules have closed forms (Ericson, "Real-Time Collision Detection" (2005), section 5.1.9, for
segments). Other cores use GJK, and a search for the penetration depth if they overlap; see
:mod:`ros_ik.kinematics.collision.distance.penetration`.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.collision.distance.convex_cores import collision_structs
from ros_ik.kinematics.collision.distance.convex_cores import core_function
from ros_ik.kinematics.collision.distance.gjk import shape_distance_function
from ros_ik.kinematics.collision.distance.penetration import penetration_functions
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.model.conventions.joint_type import GeoType

_SPHERE, _CAPSULE, _PLANE = int(GeoType.SPHERE), int(GeoType.CAPSULE), int(GeoType.PLANE)
# Squared sine of the angle of two segments below which they are treated as parallel. It changes
# a distance by 3e-7 of the half length at most.
_PARALLEL = 1e-13
# Squared sine below which the normal of crossing segments is dominated by rounding.
_THIN = {wp.float32: 1e-5, wp.float64: 1e-12}
# Distance [m] of cores below which GJK gives no reliable direction.
_TOUCH = {wp.float32: 1e-5, wp.float64: 1e-9}


@no_type_check
@functools.cache
def round_functions(scalar: type) -> SimpleNamespace:
    """Build the functions of points, segments and half-spaces.

    - ``nearest(center_a, axis_a, center_b, axis_b) -> (v, point)``: the nearest point of segment
      a, centre +- axis, and the vector v to it from the nearest point of segment b.
    - ``separation(v, axis_a, axis_b) -> (distance, normal)``: length and direction of v. For
      crossing segments the direction is normal to both, or zero if they are parallel or points.
    - ``above_plane(center, axis, origin, normal) -> (height, point)``: lowest point of a segment
      above a plane.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    vec3 = spatial_functions(scalar).vec3
    zero, one = wp.constant(scalar(0.0)), wp.constant(scalar(1.0))
    thin, touch = _THIN[scalar], _TOUCH[scalar]

    @wp.func
    def nearest(center_a: vec3, axis_a: vec3, center_b: vec3, axis_b: vec3):
        r = center_a - center_b
        aa = wp.length_sq(axis_a)
        bb = wp.length_sq(axis_b)
        s = zero
        t = zero
        if bb == zero:
            if aa > zero:
                s = wp.clamp(-wp.dot(axis_a, r) / aa, -one, one)
        else:
            ab = wp.dot(axis_a, axis_b)
            # Ericson's aa bb - ab^2 and ab br - ar bb cancel at small angles; these products,
            # which are equal to them, do not.
            across = wp.cross(axis_a, axis_b)
            area = wp.length_sq(across)
            if area > scalar(wp.static(_PARALLEL)) * aa * bb:
                s = wp.clamp(-wp.dot(across, wp.cross(r, axis_b)) / area, -one, one)
            t = (ab * s + wp.dot(axis_b, r)) / bb
            if wp.abs(t) > one:
                t = wp.clamp(t, -one, one)
                if aa > zero:
                    s = wp.clamp((ab * t - wp.dot(axis_a, r)) / aa, -one, one)
        point = center_a + s * axis_a
        return point - (center_b + t * axis_b), point

    @wp.func
    def separation(v: vec3, axis_a: vec3, axis_b: vec3):
        distance = wp.length(v)
        if distance > scalar(wp.static(touch)):
            return distance, v / distance
        across = wp.cross(axis_a, axis_b)
        area = wp.length_sq(axis_a) * wp.length_sq(axis_b)
        if wp.length_sq(across) <= scalar(wp.static(thin)) * area:
            return distance, vec3()
        return distance, wp.normalize(across)

    @wp.func
    def above_plane(center: vec3, axis: vec3, origin: vec3, normal: vec3):
        rise = wp.dot(normal, axis)
        lowest = center - axis
        if rise < zero:
            lowest = center + axis
        return wp.dot(normal, lowest - origin), lowest

    return SimpleNamespace(nearest=nearest, separation=separation, above_plane=above_plane)


@no_type_check
@functools.cache
def convex_functions(scalar: type) -> SimpleNamespace:
    """Build the functions of any two convex cores.

    ``convex_separation(cores, a, b, pose_a, pose_b, hint, limit) -> (distance, normal, point)``
    returns the distance of cores without radii, the unit normal from b to a, and the nearest point
    of core a. Only b may be a half-space. ``hint`` is a direction that may separate the cores,
    zero for none. The distance is exact up to ``limit``, and a lower bound above it. If the cores
    overlap, the normal is zero, and the caller computes the penetration; poses that the caller
    reads again for it take no registers during GJK.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    types = spatial_functions(scalar)
    vec3, transform = types.vec3, types.transform
    Shapes = collision_structs(scalar).Shapes
    core_of, shape_distance = core_function(scalar), shape_distance_function(scalar)
    functions = penetration_functions(scalar)
    extreme, gap_along = functions.extreme, functions.gap_along
    zero, one = wp.constant(scalar(0.0)), wp.constant(scalar(1.0))
    touch = _TOUCH[scalar]

    @wp.func
    def convex_separation(
        cores: Shapes,
        a: int,
        b: int,
        pose_a: transform,
        pose_b: transform,
        hint: vec3,
        limit: scalar,
    ):
        if cores.kind[b] == wp.static(_PLANE):
            n = wp.quat_rotate(wp.transform_get_rotation(pose_b), vec3(zero, zero, one))
            point = extreme(cores.points, core_of(cores, a), pose_a, -n)
            return wp.dot(n, point - wp.transform_get_translation(pose_b)), n, point
        if wp.length_sq(hint) > zero:
            gap, point, _w = gap_along(
                cores.points, core_of(cores, a), core_of(cores, b), pose_a, pose_b, hint
            )
            if gap > limit:
                return gap, hint, point
        # Below zero the search would end before it finds an overlap.
        near = shape_distance(cores, a, b, pose_a, pose_b, zero, wp.max(limit, zero))
        v = near.point_a - near.point_b
        length = wp.length(v)
        if length > scalar(wp.static(touch)):
            return length, v / length, near.point_a
        return length, vec3(), near.point_a

    return SimpleNamespace(convex_separation=convex_separation)
