# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Nearest point to the origin of a simplex with up to four corners.

The result is a weight w >= 0 for each corner, with sum w = 1. The regions of a triangle are those
of Ericson, "Real-Time Collision Detection" (2005), section 5.1.5. Areas are computed from
differences of corners, which are accurate even if the simplex is far from the origin. Simplices
without area or volume are reduced to their edges or faces.
"""

import functools
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.spatial import spatial_functions


@no_type_check
@functools.cache
def simplex_function(scalar: type) -> Any:
    """Build ``nearest_of_simplex(corners, n) -> weights``.

    The corners are the first n rows of a 4 x 3 matrix.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    vec3 = spatial_functions(scalar).vec3
    vec4 = wp.types.vector(4, scalar)
    mat43 = wp.types.matrix((4, 3), scalar)
    zero, one = wp.constant(scalar(0.0)), wp.constant(scalar(1.0))

    @wp.func
    def on_segment(a: vec3, b: vec3) -> scalar:
        """Return the weight of b."""
        edge = b - a
        squared = wp.length_sq(edge)
        if squared > zero:
            return wp.clamp(-wp.dot(a, edge) / squared, zero, one)
        return zero

    @wp.func
    def on_triangle(a: vec3, b: vec3, c: vec3) -> vec3:
        ab = b - a
        ac = c - a
        bc = c - b
        # Projections of the origin on the edges, relative to each corner.
        a_ab = -wp.dot(ab, a)
        a_ac = -wp.dot(ac, a)
        if a_ab <= zero and a_ac <= zero:
            return vec3(one, zero, zero)
        b_ab = -wp.dot(ab, b)
        b_bc = -wp.dot(bc, b)
        if b_ab >= zero and b_bc <= zero:
            return vec3(zero, one, zero)
        c_ac = -wp.dot(ac, c)
        c_bc = -wp.dot(bc, c)
        if c_ac >= zero and c_bc >= zero:
            return vec3(zero, zero, one)
        # Areas of the triangles between the origin's projection and the edges.
        normal = wp.cross(ab, ac)
        area_c = wp.dot(normal, wp.cross(a, ab))
        if area_c <= zero and a_ab >= zero and b_ab <= zero:
            t = on_segment(a, b)
            return vec3(one - t, t, zero)
        area_b = -wp.dot(normal, wp.cross(a, ac))
        if area_b <= zero and a_ac >= zero and c_ac <= zero:
            t = on_segment(a, c)
            return vec3(one - t, zero, t)
        area_a = wp.dot(normal, wp.cross(b, bc))
        total = area_a + area_b + area_c
        if (area_a <= zero and b_bc >= zero and c_bc <= zero) or not total > zero:
            t = on_segment(b, c)
            return vec3(zero, one - t, t)
        return vec3(area_a / total, area_b / total, area_c / total)

    @wp.func
    def beyond_face(a: vec3, b: vec3, c: vec3, opposite: vec3) -> scalar:
        """Return the weight of the opposite corner, negative if the origin is beyond the face."""
        normal = wp.cross(b - a, c - a)
        height = wp.dot(normal, opposite - a)
        if height == zero:
            return zero
        return -wp.dot(normal, a) / height

    @wp.func
    def on_tetrahedron(corners: mat43) -> vec4:
        inside = vec4()
        for k in range(4):
            # Face of the three other corners i, j and m.
            i = (k + 1) % 4
            j = (k + 2) % 4
            m = (k + 3) % 4
            inside[k] = beyond_face(corners[i], corners[j], corners[m], corners[k])
        # A volume within rounding would give weights that are too large, or all positive.
        flat = wp.min(inside) > zero and wp.max(inside) > one
        if wp.min(inside) > zero and not flat:
            return inside
        weights = vec4(zero, zero, zero, one)
        least = wp.length_sq(corners[3])
        for k in range(4):
            if flat or not inside[k] > zero:
                i = (k + 1) % 4
                j = (k + 2) % 4
                m = (k + 3) % 4
                w = on_triangle(corners[i], corners[j], corners[m])
                squared = wp.length_sq(w[0] * corners[i] + w[1] * corners[j] + w[2] * corners[m])
                if squared < least:
                    least = squared
                    weights[k] = zero
                    weights[i] = w[0]
                    weights[j] = w[1]
                    weights[m] = w[2]
        return weights

    @wp.func
    def nearest_of_simplex(corners: mat43, n: int) -> vec4:
        if n == 4:
            return on_tetrahedron(corners)
        if n == 3:
            w = on_triangle(corners[0], corners[1], corners[2])
            return vec4(w[0], w[1], w[2], zero)
        if n == 2:
            t = on_segment(corners[0], corners[1])
            return vec4(one - t, t, zero, zero)
        return vec4(one, zero, zero, zero)

    return nearest_of_simplex
