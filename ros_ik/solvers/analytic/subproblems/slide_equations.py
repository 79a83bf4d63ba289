# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Subproblems of two joints, prismatic or revolute, whose points a joint between them joins.

Each returns rows (x, y, miss) and their number. An angle takes two entries, its sine and cosine.
"""

from typing import no_type_check

import warp as wp

from ros_ik.solvers.analytic.structure.structure import RIGHT_ANGLE
from ros_ik.solvers.analytic.subproblems.angle_equations import circle_roots
from ros_ik.solvers.analytic.subproblems.angle_equations import FourPairs
from ros_ik.solvers.analytic.subproblems.angle_equations import line_roots
from ros_ik.solvers.analytic.subproblems.angle_equations import one_then_other
from ros_ik.solvers.analytic.subproblems.angle_equations import Pairs
from ros_ik.solvers.analytic.subproblems.angle_equations import two_angle_equation
from ros_ik.solvers.analytic.subproblems.angle_equations import vec5
from ros_ik.solvers.analytic.subproblems.angle_equations import with_either_eliminated
from ros_ik.solvers.analytic.subproblems.rotations import mat22
from ros_ik.solvers.analytic.subproblems.rotations import rotated
from ros_ik.solvers.analytic.subproblems.rotations import side_of
from ros_ik.solvers.analytic.subproblems.rotations import sincos
from ros_ik.solvers.analytic.subproblems.rotations import slope
from ros_ik.solvers.analytic.subproblems.rotations import vec2
from ros_ik.solvers.analytic.subproblems.rotations import vec3


@no_type_check
@wp.func
def quadratic_roots(a: wp.float64, b: wp.float64, c: wp.float64):
    """Solve a t^2 + b t + c = 0; return both roots, or the extreme, and its residual."""
    half = wp.float64(-0.5) * b
    discriminant = half * half - a * c
    root = wp.sqrt(wp.max(discriminant, wp.float64(0.0)))
    larger = wp.where(half < wp.float64(0.0), half - root, half + root)
    if larger == wp.float64(0.0):
        # b = 0 and a c >= 0.
        return wp.float64(0.0), wp.float64(0.0), wp.abs(c)
    miss = wp.max(-discriminant, wp.float64(0.0))
    other = c / larger
    if wp.abs(a) <= wp.float64(wp.static(RIGHT_ANGLE)) * wp.abs(larger):
        return other, other, miss
    return larger / a, other, miss


@no_type_check
@wp.func
def slide_and_turn(
    middle_slides: int, h2: vec3, p2: vec3, start: vec3, slide: vec3, axis: vec3, pivot: vec3,
    arm: vec3, loose: wp.float64, opening: wp.float64,
):  # fmt: skip
    """Find t and s for which a turn of joint 2 joins start + t slide and pivot + R(axis, s) arm.

    Returns:
        Rows (t, s, miss), and their number.
    """
    pairs = Pairs()
    count = int(0)
    two = wp.float64(2.0)
    zero = vec2(wp.float64(0.0), wp.float64(1.0))
    if middle_slides != 0:
        # Perpendicular to both prismatic axes, the point is on its circle.
        normal = wp.cross(slide, h2)
        rest = wp.dot(normal, start - pivot) - wp.dot(normal, axis) * wp.dot(axis, arm)
        low, high, miss = line_roots(slope(axis, normal, arm), rest, zero, opening)
        ahead = slide - h2 * wp.dot(h2, slide)
        for k in range(2):
            s = wp.where(k == 0, low, high)
            change = pivot + rotated(axis, s, arm) - start
            pairs[k, 0] = wp.dot(ahead, change) / wp.length_sq(ahead)
            pairs[k, 2] = s[0]
            pairs[k, 3] = s[1]
            pairs[k, 4] = miss
        return pairs, int(2)
    # Heights over joint 2: start and slide give h + k t, the turn gives g + a . (sin s, cos s).
    k_slide = wp.dot(h2, slide)
    a = slope(axis, h2, arm)
    heights = wp.dot(h2, pivot - start) + wp.dot(h2, axis) * wp.dot(axis, arm)
    # Squared distances to p_2: |D|^2 + 2 t slide . D + t^2, and far + 2 b . (sin s, cos s).
    D = start - p2
    along = wp.dot(slide, D)
    after = pivot - p2
    b = slope(axis, after, arm)
    far = wp.length_sq(after) + wp.length_sq(arm)
    far += two * wp.dot(after, axis) * wp.dot(axis, arm)
    if wp.abs(k_slide) < wp.float64(wp.static(RIGHT_ANGLE)):
        low, high, miss = line_roots(a, -heights, zero, opening)
        for k in range(2):
            s = wp.where(k == 0, low, high)
            rest = wp.dot(D, D) - far - two * wp.dot(b, s)
            first, second, off = quadratic_roots(wp.float64(1.0), two * along, rest)
            pairs[2 * k, 0] = first
            pairs[2 * k + 1, 0] = second
            for j in range(2):
                pairs[2 * k + j, 2] = s[0]
                pairs[2 * k + j, 3] = s[1]
                pairs[2 * k + j, 4] = miss + off
        return pairs, int(4)
    # t = alpha + beta . (sin s, cos s) in the equation of distances.
    alpha = heights / k_slide
    beta = a / k_slide
    half = wp.float64(0.5)
    shift = two * (alpha + along)
    f = vec5(
        alpha * (alpha + two * along) + wp.dot(D, D) - far + half * wp.dot(beta, beta),
        shift * beta[0] - two * b[0],
        shift * beta[1] - two * b[1],
        beta[0] * beta[1],
        half * (beta[1] * beta[1] - beta[0] * beta[0]),
    )
    size = wp.abs(f[0]) + wp.abs(f[1]) + wp.abs(f[2]) + wp.abs(f[3]) + wp.abs(f[4])
    roots, n = circle_roots(f, loose * size)
    for k in range(2 * n):
        near = roots[k // 2, 1] > wp.float64(0.0)
        if (near or k % 2 == 0) and count < 8:
            angle = roots[k // 2, 0]
            if near:
                angle += wp.float64(2 * (k % 2) - 1) * wp.sqrt(opening)
            s = sincos(angle)
            pairs[count, 0] = alpha + wp.dot(beta, s)
            pairs[count, 2] = s[0]
            pairs[count, 3] = s[1]
            pairs[count, 4] = roots[k // 2, 1] / wp.max(size, wp.float64(1.0e-300))
            count += 1
    return pairs, count


@no_type_check
@wp.func
def turn_and_turn(
    h2: vec3, h1: vec3, p1: vec3, out: vec3, h3: vec3, p3: vec3, far: vec3, free_x: vec2,
    free_y: vec2, loose: wp.float64, opening: wp.float64,
):  # fmt: skip
    """Find x and y for which p_3 + R_3(y) far and p_1 + R_1(-x) out differ only along h_2."""
    right = wp.float64(wp.static(RIGHT_ANGLE))
    y_first = wp.abs(wp.dot(h1, h2)) < right
    x_first = not y_first and wp.abs(wp.dot(h3, h2)) < right
    # A direction perpendicular to h_2 and along an axis does not depend on its angle.
    w0 = side_of(h2)
    if y_first:
        w0 = h1
    if x_first:
        w0 = h3
    w1 = wp.cross(h2, w0)
    A0, B0, d0 = two_angle_equation(h1, w0, out, h3, w0, far, wp.dot(w0, p3 - p1))
    A1, B1, d1 = two_angle_equation(h1, w1, out, h3, w1, far, wp.dot(w1, p3 - p1))
    if x_first or y_first:
        four = FourPairs()
        if x_first:
            four = one_then_other(A0, d0, A1, B1, d1, free_x, free_y, opening, 0)
        else:
            four = one_then_other(B0, d0, B1, A1, d1, free_y, free_x, opening, 2)
        pairs = Pairs()
        for k in range(4):
            pairs[k] = four[k]
        return pairs, int(4)
    A = mat22(A0[0], A0[1], A1[0], A1[1])
    B = mat22(B0[0], B0[1], B1[0], B1[1])
    both, number = with_either_eliminated(A, B, vec2(d0, d1), free_x, free_y, loose, opening)
    return both, number


@no_type_check
@wp.func
def slide_and_slide(h2: vec3, from_u: vec3, h3: vec3, from_v: vec3, slide: vec3):
    """Find x and y for which from_u + y h_3 and from_v + x slide differ by a rotation about h_2.

    Both are relative to a point of axis 2; x follows from y.
    """
    pairs = Pairs()
    two = wp.float64(2.0)
    k = wp.dot(h2, slide)
    a = wp.dot(h2, from_u - from_v) / k
    b = wp.dot(h2, h3) / k
    ahead = wp.dot(from_v, slide)
    low, high, miss = quadratic_roots(
        wp.float64(1.0) - b * b,
        two * wp.dot(from_u, h3) - two * b * ahead - two * a * b,
        wp.length_sq(from_u) - wp.length_sq(from_v) - two * a * ahead - a * a,
    )
    for j in range(2):
        y = wp.where(j == 0, low, high)
        pairs[j, 0] = a + b * y
        pairs[j, 2] = y
        pairs[j, 4] = miss
    return pairs, int(2)
