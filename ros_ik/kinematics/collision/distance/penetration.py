# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Penetration depth of two convex cores, and the direction in which they separate.

With the points x = a - b of the Minkowski difference of the cores A and B, the gap along a unit
vector n is

    gap(n) = min over x of  n . x

It is negative if they overlap. The depth -max gap(n) is the shortest translation that separates
the cores. Every n gives an upper bound of the depth and a direction that separates the cores. All
directions are searched until none can be better by more than a tolerance.

From the best one the search goes on to a face of the difference whose normal n meets it: the ray
from the origin along -n leaves the difference in this face, in x = gap(n) n. With x as a weighted
sum of corners a_i - b_i, the sums of the a_i and of the b_i are points of the cores that touch
after the translation. Their velocities along n differ by the rate of the gap. For a support point
of n alone this does not hold, because it may be any corner of a face of a core.

The search for the face is that of Snethen, "XenoCollide: complex collision made simple" (Game
Programming Gems 7, 2008), for a ray that starts inside.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.collision.distance.convex_cores import collision_structs
from ros_ik.kinematics.collision.distance.convex_cores import support_function
from ros_ik.kinematics.collision.distance.direction_triangles import triangle_functions
from ros_ik.kinematics.spatial import spatial_functions

# Largest number of triangles of directions, of which 2 in 1,000 random pairs need more than 150,
# and of times that one is split.
_MAX_TRIANGLES, _MAX_LEVEL = 1000, 8
# A direction is good enough if no other has a gap larger by these, [m] and relative.
_GAP, _RELATIVE_GAP = 5e-5, 1e-3
# Lengths [m] that are within rounding.
_ROUNDING = {wp.float32: 1e-6, wp.float64: 1e-10}
# A triangle is in a face of the difference if no point is farther out by more than this [m].
_SETTLED = {wp.float32: 1e-6, wp.float64: 1e-8}
# Largest numbers of rays after the first one, and of points for each.
_ROUNDS, _MAX_STEPS = 6, 32


@no_type_check
@functools.cache
def penetration_functions(scalar: type) -> SimpleNamespace:
    """Build the functions of one floating-point type.

    ``extreme(points, core, pose, d)`` returns the point of a core farthest along d, in the world.
    ``gap_along(points, a, b, pose_a, pose_b, n) -> (gap, point, x)`` returns the gap with its
    point of core a and its point x of the difference.
    ``penetration(points, a, b, pose_a, pose_b, hint) -> (gap, n, point)`` searches the direction
    of the largest gap; ``hint`` is another direction to try, zero for none. ``point`` is the point
    of core a that touches core b after a translation by -gap along n.

    Loops have variable ends where unrolled copies of their bodies would compile for minutes.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    types = spatial_functions(scalar)
    vec3, transform = types.vec3, types.transform
    mat33 = wp.types.matrix((3, 3), scalar)
    triangles = triangle_functions(scalar)
    corners_of_triangle = triangles.corners_of_triangle
    largest_gap_between = triangles.largest_gap_between
    Core = collision_structs(scalar).Core
    support = support_function(scalar)
    zero, one = wp.constant(scalar(0.0)), wp.constant(scalar(1.0))
    rounding, settled = _ROUNDING[scalar], _SETTLED[scalar]

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
    def nearest_face(
        points: wp.array(dtype=vec3),
        a: Core,
        b: Core,
        pose_a: transform,
        pose_b: transform,
        start: vec3,
    ):
        """Search a face of the difference that the ray along its normal meets.

        The ray from the origin along -n leaves the difference in a face. A triangle of points of
        the difference around the ray is moved outwards until it lies in that face. Unless it is
        normal to n, its normal has a larger gap than n, and the next ray is along it.

        Returns:
            The gap along n, n, and the point p of core a. The last ray leaves in p - q, with a
            point q of core b: a translation along n makes p and q touch.
        """
        n = start
        best = zero
        outward = -n
        corners = mat33()  # of the difference, counterclockwise along -n
        on_a = mat33()  # the corresponding points of core a
        count = int(0)
        steps = int(wp.static(_MAX_STEPS))
        rounds = int(wp.static(_ROUNDS))
        while steps > 0:
            steps -= 1
            first = row_of(corners, 0)
            if count == 1:
                outward = wp.dot(first, n) * n - first
            elif count == 2:
                outward = wp.cross(row_of(corners, 1) - first, n)
            elif count == 3:
                outward = wp.cross(row_of(corners, 1) - first, row_of(corners, 2) - first)
            if wp.length_sq(outward) == zero:
                break
            outward = wp.normalize(outward)
            gap, point, x = gap_along(points, a, b, pose_a, pose_b, -outward)
            rise = wp.dot(outward, x - first)
            if count == 3 and (rise <= scalar(wp.static(settled)) or steps == 0):
                steps = 0
                if rounds > 0 and gap > best + scalar(wp.static(rounding)):
                    rounds -= 1
                    n = -outward
                    count = 0
                    steps = int(wp.static(_MAX_STEPS))
            else:
                # Seen along -n, a corner is on the left of the line from the origin to x if its
                # product with this vector is positive.
                left = wp.cross(x, n)
                of_first = wp.dot(left, first)
                of_second = wp.dot(left, row_of(corners, 1))
                of_third = wp.dot(left, row_of(corners, 2))
                k = count
                if count == 0:
                    best = gap
                    count = 1
                elif count == 1:
                    # The ray is on the left of the chord from the first to the second corner.
                    count = 2
                    if of_first > zero:
                        corners = with_row(corners, 1, first)
                        on_a = with_row(on_a, 1, row_of(on_a, 0))
                        k = 0
                elif count == 2:
                    # It may be beyond one of the two new sides.
                    if of_second > zero:
                        k = 0
                    elif of_first < zero:
                        k = 1
                    else:
                        count = 3
                else:
                    # It passes through one of the three triangles with the new corner.
                    k = 1
                    if of_first >= zero and of_second <= zero:
                        k = 2
                    elif of_second >= zero and of_third <= zero:
                        k = 0
                corners = with_row(corners, k, x)
                on_a = with_row(on_a, k, point)
        point = row_of(on_a, 0)
        if count == 3:
            first = row_of(corners, 0)
            second = row_of(corners, 1)
            third = row_of(corners, 2)
            of_first = wp.max(-wp.dot(n, wp.cross(second, third)), zero)
            of_second = wp.max(-wp.dot(n, wp.cross(third, first)), zero)
            of_third = wp.max(-wp.dot(n, wp.cross(first, second)), zero)
            total = of_first + of_second + of_third
            if total > zero:
                point = (
                    (of_first / total) * point
                    + (of_second / total) * row_of(on_a, 1)
                    + (of_third / total) * row_of(on_a, 2)
                )
        return best, n, point

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
        gap, n, point = nearest_face(points, a, b, pose_a, pose_b, n)
        return gap, n, point

    return SimpleNamespace(extreme=extreme, gap_along=gap_along, penetration=penetration)
