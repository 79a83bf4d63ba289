# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions for three parallel axes.

The notation is that of :mod:`ros_ik.solvers.analytic.candidates.spherical_wrist`. The axes of
axes 2, 3 and 4 are along h, and c is on axis 6. Two equations determine x and y:

    h . E_5(y) c = h . E_1(x)^-1 M c,   h . R_5(y) h_6 = h . R_1(x)^T R_M h_6

R_2 R_3 R_4 is then a rotation about h by a known angle, and a triangle determines the angle of
axis 3.
"""

from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.solvers.analytic.subproblems.angle_equations import direction_roots
from ros_ik.solvers.analytic.subproblems.angle_equations import line_roots
from ros_ik.solvers.analytic.subproblems.angle_equations import two_angle_equation
from ros_ik.solvers.analytic.subproblems.rotations import across
from ros_ik.solvers.analytic.subproblems.rotations import angle_of
from ros_ik.solvers.analytic.subproblems.rotations import carry
from ros_ik.solvers.analytic.subproblems.rotations import carry_angle
from ros_ik.solvers.analytic.subproblems.rotations import mat22
from ros_ik.solvers.analytic.subproblems.rotations import mat33
from ros_ik.solvers.analytic.subproblems.rotations import mat63
from ros_ik.solvers.analytic.subproblems.rotations import reverse
from ros_ik.solvers.analytic.subproblems.rotations import rotated
from ros_ik.solvers.analytic.subproblems.rotations import side_of
from ros_ik.solvers.analytic.subproblems.rotations import sincos
from ros_ik.solvers.analytic.subproblems.rotations import slope
from ros_ik.solvers.analytic.subproblems.rotations import turned
from ros_ik.solvers.analytic.subproblems.rotations import vec2
from ros_ik.solvers.analytic.subproblems.rotations import vec3
from ros_ik.solvers.analytic.subproblems.rotations import vec6

# Largest number of Newton steps on a double root. Each halves the error, which is 1e-8 at first.
_SHARPENING = 30


@no_type_check
@wp.func
def parallel_equations(h: mat63, p: mat63, c: vec3, moved: vec3, R: mat33):
    """Return both equations of axes 1 and 5 as A X + B Y = d."""
    h1, along, h5 = h[0], h[1], h[4]
    A1, B1, d1 = two_angle_equation(
        h1, along, moved - p[0], h5, along, c - p[4], wp.dot(along, p[4] - p[0])
    )
    A2, B2, d2 = two_angle_equation(h1, along, R * h[5], h5, along, h[5], wp.float64(0.0))
    A = mat22(A1[0], A1[1], A2[0], A2[1])
    B = mat22(B1[0], B1[1], B2[0], B2[1])
    return A, B, vec2(d1, d2)


@no_type_check
@wp.func
def wrist_of(h: mat63, p: mat63, R: mat33, t: vec3, x: vec2, y: vec2, sixth: vec2) -> vec3:
    """Return the part of E_1^-1 M E_6^-1 E_5^-1 p_4 - p_2 that is perpendicular to h."""
    knee = p[4] + rotated(h[4], reverse(y), p[3] - p[4])
    knee = p[5] + rotated(h[5], reverse(sixth), knee - p[5])
    return across(h[1], p[0] + rotated(h[0], reverse(x), R * knee + t - p[0]) - p[1])


@no_type_check
@wp.func
def nearer_root(low: vec2, high: vec2, angle: wp.float64) -> wp.float64:
    """Return the angle of the direction that is nearer to an angle."""
    there = sincos(angle)
    return angle_of(wp.where(wp.dot(low, there) > wp.dot(high, there), low, high))


@no_type_check
@wp.func
def nearest_in_reach(
    h: mat63, p: mat63, R: mat33, t: vec3, x: vec2, y: vec2, q6: wp.float64
) -> wp.float64:
    """Return the angle of axis 6 nearest to q6 for which the triangle closes, or q6.

    With axis 6 along h, the squared distance that the triangle spans is c + a . (sin, cos) of
    this angle.
    """
    one, zero = wp.float64(1.0), wp.float64(0.0)
    start = wp.length_sq(wrist_of(h, p, R, t, x, y, vec2(zero, one)))
    beside = wp.length_sq(wrist_of(h, p, R, t, x, y, vec2(one, zero)))
    opposite = wp.length_sq(wrist_of(h, p, R, t, x, y, vec2(zero, -one)))
    middle = wp.float64(0.5) * (start + opposite)
    a = vec2(beside - middle, wp.float64(0.5) * (start - opposite))
    upper = wp.length(across(h[1], p[2] - p[1]))
    lower = wp.length(across(h[1], p[3] - p[2]))
    least = (upper - lower) * (upper - lower)
    most = (upper + lower) * (upper + lower)
    span = middle + wp.dot(a, sincos(q6))
    if span >= least and span <= most:
        return q6
    # Slightly inside, where the elbow is not fully stretched.
    inside = wp.float64(1.0e-3) * (most - least)
    edge = wp.where(span > most, most - inside, least + inside)
    low, high, _miss = line_roots(a, edge - middle, sincos(q6), zero)
    return nearer_root(low, high, q6)


@no_type_check
@wp.func
def nearest_root(k: vec3, a: vec3, b: vec3, goal: vec3, angle: wp.float64) -> wp.float64:
    """Return the root of a . R(k, t) b = a . goal (unit vectors) nearest to an angle."""
    low, high, _miss = direction_roots(k, a, b, goal, wp.float64(0.0))
    return nearer_root(low, high, angle)


@no_type_check
@wp.func
def nearly_along(along: vec3, v: vec3) -> bool:
    """Return True if two unit vectors are nearly parallel or opposite."""
    return wp.length_sq(across(along, v)) < wp.float64(1.0e-6)


@no_type_check
@wp.func
def sharpened(
    h: mat63, p: mat63, c: vec3, moved: vec3, R: mat33, first_x: wp.float64, first_y: wp.float64,
    known: int,
):  # fmt: skip
    """Refine x and y if axis 6 is nearly along h.

    Both sides of the second equation are then cosines of small angles, which leaves an error of
    the square root of the rounding. Chords from h are accurate: the unknown angle follows from
    the known one (``known``: 1 for x, 2 for y), or both (0) by Newton's method for
    |h - R_1^T R_M h_6|^2 = |h - R_5 h_6|^2 and the first equation.
    """
    x = first_x
    y = first_y
    along = h[1]
    raw = R * h[5]
    goal = turned(h[0], -x, raw)
    near = nearly_along(along, goal)
    if wp.dot(along, goal) < wp.float64(0.0):
        along = -along
    if near and known == 2:
        x = nearest_root(-h[0], along, raw, turned(h[4], y, h[5]), x)
    half = wp.float64(0.5)
    least = wp.float64(wp.inf)
    next_x = x
    next_y = y
    n = int(0)
    while near and known == 0 and n < wp.static(_SHARPENING):
        goal = turned(h[0], -next_x, raw)
        tip = turned(h[4], next_y, h[5])
        out = turned(h[0], -next_x, moved - p[0])
        far = turned(h[4], next_y, c - p[4])
        first = wp.dot(along, p[4] + far - p[0] - out)
        first_of_x = wp.dot(along, wp.cross(h[0], out))
        first_of_y = wp.dot(along, wp.cross(h[4], far))
        second = half * wp.length_sq(along - tip) - half * wp.length_sq(along - goal)
        second_of_x = -wp.dot(along, wp.cross(h[0], goal))
        second_of_y = -wp.dot(along, wp.cross(h[4], tip))
        det = first_of_x * second_of_y - first_of_y * second_of_x
        merit = wp.abs(first) + wp.sqrt(wp.abs(second))
        n += 1
        if merit < least and wp.abs(det) > wp.float64(1.0e-15):
            least = merit
            x = next_x
            y = next_y
            next_x += (second * first_of_y - first * second_of_y) / det
            next_y += (first * second_of_x - second * first_of_x) / det
        else:
            n = wp.static(_SHARPENING)
    if near and known != 2:
        y = nearest_root(h[4], along, h[5], turned(h[0], -x, raw), y)
    return x, y


@no_type_check
@wp.func
def parallel_middle(h: mat63, R: mat33, x: vec2, y: vec2, free: vec6):
    """Return the angle of axes 2, 3, 4 together, the direction of axis 6, and if axis 6 is
    nearly along h.

    The first is not finite if axis 6 is along h.
    """
    h1, along, h5, h6 = h[0], h[1], h[4], h[5]
    x_back, y_back = reverse(x), reverse(y)
    nowhere = vec2(wp.float64(wp.inf), wp.float64(wp.inf))
    goal = rotated(h1, x_back, R * h6)
    total = carry(along, rotated(h5, y, h6), goal, nowhere)
    side = side_of(h6)
    flag = rotated(along, reverse(total), rotated(h1, x_back, R * side))
    sixth = carry(h6, side, rotated(h5, y_back, flag), sincos(free[5]))
    is_along = total[0] == wp.float64(wp.inf)
    angle = wp.where(is_along, total[0], angle_of(total))
    return angle, sixth, is_along or nearly_along(along, goal)


@no_type_check
@wp.func
def parallel_singular_middle(
    h: mat63, p: mat63, c: vec3, moved: vec3, R: mat33, t: vec3, first_x: vec2, first_y: vec2,
    free: vec6, known: int,
):  # fmt: skip
    """Refine the angles of axes 1 and 5, and return the others as :func:`parallel_middle`.

    With axis 6 along h, only the sum of the other angles is determined, so axis 6 is free.
    """
    q1, q5 = sharpened(h, p, c, moved, R, angle_of(first_x), angle_of(first_y), known)
    x, y = sincos(q1), sincos(q5)
    total, sixth, _near = parallel_middle(h, R, x, y, free)
    if not wp.isfinite(total):
        side = side_of(h[1])
        sixth = sincos(nearest_in_reach(h, p, R, t, x, y, free[5]))
        back = rotated(h[5], reverse(sixth), rotated(h[4], reverse(y), side))
        goal = rotated(h[0], reverse(x), R * back)
        total = carry_angle(h[1], side, goal, wp.float64(0.0))
    return x, y, total, sixth


@no_type_check
@wp.func
def parallel_finish(
    h: mat63, p: mat63, c: vec3, moved: vec3, R: mat33, t: vec3, signs: vec3, x: vec2, y: vec2,
    total: wp.float64, sixth: vec2, free: vec6, opening: wp.float64,
):  # fmt: skip
    """Compute all angles from those of axes 1 and 5, for both branches of the triangle."""
    along = h[1]
    wrist = wrist_of(h, p, R, t, x, y, sixth)
    upper = across(along, p[2] - p[1])
    lower = across(along, p[3] - p[2])
    rest = wp.length_sq(wrist) - wp.length_sq(upper) - wp.length_sq(lower)
    zero = vec2(wp.float64(0.0), wp.float64(1.0))
    low, high, miss = line_roots(
        slope(along, upper, lower), wp.float64(0.5) * rest, zero, opening
    )
    free_2 = free[1] * signs[0]
    first_low = carry_angle(along, upper + rotated(along, low, lower), wrist, free_2)
    first_high = carry_angle(along, upper + rotated(along, high, lower), wrist, free_2)
    q1, q5, q6 = angle_of(x), angle_of(y), angle_of(sixth)
    low_3, high_3 = angle_of(low), angle_of(high)
    return (
        vec6(
            q1, first_low * signs[0], low_3 * signs[1], (total - first_low - low_3) * signs[2],
            q5, q6,
        ),
        vec6(
            q1, first_high * signs[0], high_3 * signs[1],
            (total - first_high - high_3) * signs[2], q5, q6,
        ),
        miss,
    )  # fmt: skip


PARALLEL = SimpleNamespace(
    equations=parallel_equations, middle=parallel_middle,
    middle_of_singular=parallel_singular_middle, finish=parallel_finish,
)  # fmt: skip
