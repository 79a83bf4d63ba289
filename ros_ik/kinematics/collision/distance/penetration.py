# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Penetration depth of two convex cores, and the direction in which they separate.

With the points x = a - b of the Minkowski difference of the cores A and B, the gap along a unit
vector n is

    gap(n) = min over x of  n . x

It is negative if they overlap. The depth -max gap(n) is the shortest translation that separates
the cores. Every n gives an upper bound of the depth and a direction that separates the cores. All
directions are searched until none can be better by more than a tolerance. The face of the
difference in the best one is then found exactly, if it has one.
"""

import cmath
import functools
import math
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.collision.distance.convex_cores import collision_structs
from ros_ik.kinematics.collision.distance.convex_cores import support_function
from ros_ik.kinematics.collision.distance.direction_triangles import triangle_functions
from ros_ik.kinematics.collision.distance.simplex import simplex_function
from ros_ik.kinematics.spatial import spatial_functions

# Largest number of triangles of directions, of which 2 in 1,000 random pairs need more than 150,
# and of times that one is split.
_MAX_TRIANGLES, _MAX_LEVEL = 1000, 8
# A direction is good enough if no other has a gap larger by these, [m] and relative.
_GAP, _RELATIVE_GAP = 5e-5, 1e-3
# Tilt [rad] of the first corners of triangles around the direction found by these steps.
_FIRST_TILT, _TILT_FACTOR, _ROUNDS, _MAX_STEPS = 0.3, 0.25, 3, 16
# Turns of 120 and 240 degrees, as complex numbers.
_THIRDS = tuple(cmath.rect(1.0, k * (2.0 * math.pi / 3.0)) for k in (1, 2))
# Lengths [m] that are within rounding.
_ROUNDING = {wp.float32: 1e-6, wp.float64: 1e-10}

# A triangle is a face of the difference if bounds of its distance from the origin agree to this
# [m].
_SETTLED = 1e-6


@no_type_check
@functools.cache
def penetration_functions(scalar: type) -> SimpleNamespace:
    """Build the functions of one floating-point type.

    ``extreme(points, core, pose, d)`` returns the point of a core farthest along d, in the world.
    ``gap_along(points, a, b, pose_a, pose_b, n) -> (gap, point, x)`` returns the gap with its
    point of core a and its point x of the difference.
    ``penetration(points, a, b, pose_a, pose_b, hint) -> (gap, n, point)`` searches the direction
    of the largest gap; ``hint`` is another direction to try, zero for none.

    Loops have variable ends where unrolled copies of their bodies would compile for minutes.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    types = spatial_functions(scalar)
    vec3, transform = types.vec3, types.transform
    mat33, mat43 = wp.types.matrix((3, 3), scalar), wp.types.matrix((4, 3), scalar)
    triangles = triangle_functions(scalar)
    corners_of_triangle = triangles.corners_of_triangle
    largest_gap_between = triangles.largest_gap_between
    Core = collision_structs(scalar).Core
    support = support_function(scalar)
    nearest_of_simplex = simplex_function(scalar)
    zero, one = wp.constant(scalar(0.0)), wp.constant(scalar(1.0))
    rounding, settled = _ROUNDING[scalar], _SETTLED

    @wp.func
    def extreme(points: wp.array(dtype=vec3), core: Core, pose: transform, d: vec3) -> vec3:
        local = wp.quat_rotate_inv(wp.transform_get_rotation(pose), d)
        return wp.transform_point(pose, support(points, core, local))

    @wp.func
    def row_of(rows: mat33, k: int) -> vec3:
        """Return a row; its index is constant in each copy of the loop, for registers."""
        row = rows[0]
        for i in range(1, 3):
            if i == k:
                row = rows[i]
        return row

    @wp.func
    def with_row(rows: mat33, k: int, row: vec3) -> mat33:
        """Replace a row. A variable index would move the matrix of a GPU to the stack."""
        for i in range(3):
            if i == k:
                rows[i] = row
        return rows

    @wp.func
    def gap_along(
        points: wp.array(dtype=vec3),
        a: Core,
        b: Core,
        pose_a: transform,
        pose_b: transform,
        n: vec3,
    ):
        point = extreme(points, a, pose_a, -n)
        x = point - extreme(points, b, pose_b, n)
        return wp.dot(n, x), point, x

    @wp.func
    def first_direction(
        points: wp.array(dtype=vec3),
        a: Core,
        b: Core,
        pose_a: transform,
        pose_b: transform,
        hint: vec3,
    ) -> vec3:
        """Return the best of the axes of both shapes, the line of centres, and the hint."""
        best = scalar(-wp.inf)
        n = vec3(zero, zero, one)
        k = int(0)
        while k < 14:
            d = hint
            if k == 13:
                d = wp.transform_get_translation(pose_a) - wp.transform_get_translation(pose_b)
            elif k > 0:
                axis = ((k - 1) // 2) % 3
                sign = scalar(1 - 2 * (k % 2))
                e = vec3()
                for i in range(3):
                    if i == axis:
                        e[i] = sign
                rotation = wp.transform_get_rotation(pose_a)
                if k > 6:
                    rotation = wp.transform_get_rotation(pose_b)
                d = wp.quat_rotate(rotation, e)
            if wp.length_sq(d) > zero:
                d = wp.normalize(d)
                gap, _point, _x = gap_along(points, a, b, pose_a, pose_b, d)
                if gap > best:
                    best = gap
                    n = d
            k += 1
        return n

    @wp.func
    def best_direction(
        points: wp.array(dtype=vec3),
        a: Core,
        b: Core,
        pose_a: transform,
        pose_b: transform,
        start: vec3,
    ) -> vec3:
        """Improve n until all other directions have smaller gaps, up to the tolerance.

        Triangles that may have larger ones are split (branch and bound, depth first). The next
        triangle follows from the numbers of the last one, so none are stored.
        """
        n = start
        best, _point, _x = gap_along(points, a, b, pose_a, pose_b, n)
        rotation = wp.transform_get_rotation(pose_a)
        octant = int(0)
        path = int(0)
        level = int(0)
        steps = int(wp.static(_MAX_TRIANGLES))
        while octant < 8 and steps > 0:
            steps -= 1
            directions = corners_of_triangle(octant, path, level)
            differences = mat33()
            candidate = vec3()
            splits = bool(False)
            k = int(0)
            while k < 4:
                if k < 3:
                    candidate = wp.quat_rotate(rotation, row_of(directions, k))
                if wp.length_sq(candidate) > zero:
                    gap, _point, x = gap_along(points, a, b, pose_a, pose_b, candidate)
                    if gap > best:
                        best = gap
                        n = candidate
                    if k < 3:
                        directions = with_row(directions, k, candidate)
                        differences = with_row(differences, k, x)
                k += 1
                if k == 3:
                    bound = largest_gap_between(directions @ wp.transpose(differences))
                    tolerance = scalar(wp.static(_GAP)) - scalar(wp.static(_RELATIVE_GAP)) * best
                    splits = bound > best + tolerance and level < wp.static(_MAX_LEVEL)
                    # The fourth direction is that of the face through the three points.
                    candidate = wp.cross(
                        row_of(differences, 1) - row_of(differences, 0),
                        row_of(differences, 2) - row_of(differences, 0),
                    )
                    candidate = wp.normalize(candidate)
                    if wp.dot(candidate, row_of(differences, 0)) > zero:
                        candidate = -candidate
                    if not splits:
                        k = 4
            if splits:
                level += 1
                path *= 4
            else:
                while level > 0 and path % 4 == 3:
                    path = path // 4
                    level -= 1
                if level == 0:
                    octant += 1
                else:
                    path += 1
        return n

    @wp.func
    def triangle_weights(a: vec3, b: vec3, c: vec3) -> vec3:
        """Return the weights of the corners in the triangle's point nearest to the origin."""
        corners = mat43()
        corners[0] = a
        corners[1] = b
        corners[2] = c
        weights = nearest_of_simplex(corners, 3)
        return vec3(weights[0], weights[1], weights[2])

    @wp.func
    def triangle_distance(a: vec3, b: vec3, c: vec3) -> scalar:
        weights = triangle_weights(a, b, c)
        return wp.length_sq(weights[0] * a + weights[1] * b + weights[2] * c)

    @wp.func
    def face_direction(
        points: wp.array(dtype=vec3),
        a: Core,
        b: Core,
        pose_a: transform,
        pose_b: transform,
        start: vec3,
        start_point: vec3,
        tilt: scalar,
    ):
        """Search the face of the difference near n by expanding a triangle of its points."""
        n = start
        point = start_point
        helper = vec3(one, zero, zero)
        if wp.abs(n[0]) > scalar(0.7):
            helper = vec3(zero, one, zero)
        side = wp.normalize(wp.cross(n, helper))
        other = wp.cross(n, side)
        best, new_point, x = gap_along(points, a, b, pose_a, pose_b, n)
        corners = mat33()  # of the difference
        on_a = mat33()  # the corresponding points of core a
        k = int(0)
        while k < 3:
            # At 0, 120 and 240 degrees; sine and cosine would be called with a stack of their own.
            along = one
            across = zero
            if k == 1:
                along = scalar(wp.static(_THIRDS[0].real))
                across = scalar(wp.static(_THIRDS[0].imag))
            if k == 2:
                along = scalar(wp.static(_THIRDS[1].real))
                across = scalar(wp.static(_THIRDS[1].imag))
            tilted = n + tilt * (along * side + across * other)
            _gap, new_point, x = gap_along(points, a, b, pose_a, pose_b, wp.normalize(tilted))
            corners = with_row(corners, k, x)
            on_a = with_row(on_a, k, new_point)
            k += 1
        for _step in range(wp.static(_MAX_STEPS)):
            w = triangle_weights(corners[0], corners[1], corners[2])
            v = w[0] * corners[0] + w[1] * corners[1] + w[2] * corners[2]
            distance = wp.length(v)
            if distance <= scalar(wp.static(rounding)):
                break
            d = -v / distance
            gap, new_point, x = gap_along(points, a, b, pose_a, pose_b, d)
            found = gap >= -distance - scalar(wp.static(settled))
            if gap > best or (found and gap >= best - scalar(wp.static(settled))):
                best = gap
                n = d
                point = new_point
                if found:
                    # The triangle is a face, so use the point of core a at the face's nearest
                    # point.
                    point = w[0] * on_a[0] + w[1] * on_a[1] + w[2] * on_a[2]
            if found:
                break
            # Keep the nearest to the origin of the three triangles with the new corner.
            first = triangle_distance(x, corners[1], corners[2])
            second = triangle_distance(corners[0], x, corners[2])
            third = triangle_distance(corners[0], corners[1], x)
            leaving = int(2)
            if first <= second and first <= third:
                leaving = 0
            elif second <= third:
                leaving = 1
            corners = with_row(corners, leaving, x)
            on_a = with_row(on_a, leaving, new_point)
        return n, point

    @wp.func(inline=False)
    def penetration(
        points: wp.array(dtype=vec3),
        a: Core,
        b: Core,
        pose_a: transform,
        pose_b: transform,
        hint: vec3,
    ):
        n = first_direction(points, a, b, pose_a, pose_b, hint)
        n = best_direction(points, a, b, pose_a, pose_b, n)
        _gap, point, _x = gap_along(points, a, b, pose_a, pose_b, n)
        tilt = scalar(wp.static(_FIRST_TILT))
        rounds = int(wp.static(_ROUNDS))
        while rounds > 0:
            n, point = face_direction(points, a, b, pose_a, pose_b, n, point, tilt)
            tilt *= scalar(wp.static(_TILT_FACTOR))
            rounds -= 1
        gap, _point, _x = gap_along(points, a, b, pose_a, pose_b, n)
        return gap, n, point

    return SimpleNamespace(extreme=extreme, gap_along=gap_along, penetration=penetration)
