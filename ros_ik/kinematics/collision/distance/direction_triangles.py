# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Triangles of directions, and the largest gap that a direction in one of them may have.

The gap along n is the least n . x of the points x of a convex set. At the corners n_i of a
triangle it is n_i . x_i. A direction between the corners is n = sum l_i n_i / |sum l_i n_i| with
weights l_i >= 0 of sum 1. For any weights w_j >= 0 of sum 1

    gap(n) <= n . sum w_j x_j <= max over i of  n_i . sum w_j x_j

where the maximum is negative, because |sum l_i n_i| <= 1. The least of these bounds is the value
of the matrix game with the entries n_i . x_j.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.spatial import spatial_functions


@no_type_check
@functools.cache
def triangle_functions(scalar: type) -> SimpleNamespace:
    """Build the functions of one floating-point type.

    ``corners_of_triangle(octant, path, level)`` returns the corners, unit vectors, one a row. A
    triangle is split at the middles of its sides into three at the corners, 0 to 2, and one
    between them, 3. ``path`` has two bits for each level, the last level in the lowest bits.

    ``largest_gap_between(products)`` returns an upper bound of the gap along the directions of a
    triangle from n_i . x_j, one direction a row. It holds if it is negative.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    types = spatial_functions(scalar)
    vec3 = types.vec3
    mat33 = wp.types.matrix((3, 3), scalar)
    zero, one = wp.constant(scalar(0.0)), wp.constant(scalar(1.0))

    @wp.func
    def corners_of_triangle(octant: int, path: int, level: int) -> mat33:
        corners = mat33()
        for k in range(3):
            corners[k, k] = scalar(1 - 2 * ((octant >> k) % 2))
        shift = 2 * level
        while shift > 0:
            shift -= 2
            part = (path >> shift) % 4
            a = wp.normalize(corners[1] + corners[2])
            b = wp.normalize(corners[2] + corners[0])
            c = wp.normalize(corners[0] + corners[1])
            # The corner of a part at a corner of the triangle stays, the other two are middles.
            if part != 0:
                corners[0] = a
            if part != 1:
                corners[1] = b
            if part != 2:
                corners[2] = c
            if part == 0:
                corners[1] = c
                corners[2] = b
            if part == 1:
                corners[0] = c
                corners[2] = a
            if part == 2:
                corners[0] = b
                corners[1] = a
        return corners

    @wp.func
    def largest_row(products: mat33, weights: vec3) -> scalar:
        rows = products @ weights
        return wp.max(rows[0], wp.max(rows[1], rows[2]))

    @wp.func
    def largest_gap_between(products: mat33) -> scalar:
        # One point.
        bound = largest_row(products, vec3(one, zero, zero))
        bound = wp.min(bound, largest_row(products, vec3(zero, one, zero)))
        bound = wp.min(bound, largest_row(products, vec3(zero, zero, one)))
        # Two points, with the weights for which their rows are equal.
        for j in range(3):
            k = (j + 1) % 3
            slope = products[j, j] - products[j, k] - products[k, j] + products[k, k]
            if slope < zero:
                w = wp.clamp((products[k, k] - products[j, k]) / slope, zero, one)
                weights = vec3()
                for i in range(3):
                    if i == j:
                        weights[i] = w
                    if i == k:
                        weights[i] = one - w
                bound = wp.min(bound, largest_row(products, weights))
        # Three points, with the weights for which all rows are equal (Cramer's rule).
        first = products @ vec3(one, zero, zero)
        second = products @ vec3(zero, one, zero)
        third = products @ vec3(zero, zero, one)
        ones = vec3(one, one, one)
        weights = vec3(
            wp.dot(ones, wp.cross(second, third)),
            wp.dot(ones, wp.cross(third, first)),
            wp.dot(ones, wp.cross(first, second)),
        )
        total = weights[0] + weights[1] + weights[2]
        if total != zero:
            weights = weights / total
            if wp.min(weights) >= zero:
                bound = wp.min(bound, largest_row(products, weights))
        return bound

    return SimpleNamespace(
        corners_of_triangle=corners_of_triangle, largest_gap_between=largest_gap_between
    )
