# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Equations of six general revolute joints after the elimination of three, in float64.

The method is that of Raghavan and Roth, "Kinematic analysis of the 6R manipulator of general
geometry" (1990), with joint axes instead of Denavit-Hartenberg parameters. E_1 .. E_6 = M is
required for one line, axis 6, which E_6 does not move:

    E_3 E_4 E_5 (axis 6) = E_2^-1 E_1^-1 M (axis 6).

Rigid motions transform 14 functions of a line through p along l linearly: l, p, m = p x l,
w = |p|^2 l - 2 (p.l) p, |p|^2 and p.l. The left side is therefore linear in (cos, sin, 1) of each
of the joints 3, 4 and 5. With axis 2 as the z axis, joint 2 does not change six of the functions,
l_z, p_z, m_z, w_z, |p|^2 and p.l, and multiplies the four complex numbers l_x + i l_y, .., w_x +
i w_y by exp(-i q_2). On the right side

- the six are linear in (cos, sin, 1) of joint 1, so four combinations of them are constant;
- the four are combinations of the same three complex numbers, so one combination vanishes.

These six real equations contain joints 3 to 5 only. In the half angles x_4 and x_5, each measured
from a fixed angle, they are E(q_3) (x_4^2, x_4, 1) * (x_5^2, x_5, 1) = 0 with a matrix E of 6 rows
and 9 columns. With the same equations multiplied by x_4 they are twelve,

    A(q_3) v = 0,   v = (x_4^3, x_4^2, x_4, 1) * (x_5^2, x_5, 1).

det A is a trigonometric polynomial of degree 12 whose harmonics 9 to 12 vanish. The rest is a
polynomial of degree 16 in exp(i q_3). The rounding errors in these four harmonics measure how
accurate a solution is.
"""

import math
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.solvers.analytic.subproblems.rotations import mat33
from ros_ik.solvers.analytic.subproblems.rotations import mat63
from ros_ik.solvers.analytic.subproblems.rotations import turned
from ros_ik.solvers.analytic.subproblems.rotations import vec2
from ros_ik.solvers.analytic.subproblems.rotations import vec3
from ros_ik.solvers.analytic.subproblems.rotations import vec6

# Angles from which joints 4 and 5 are measured [rad]. A solution half a turn away from one has an
# infinite half angle, and there are no such solutions at usual positions.
FROM_4, FROM_5 = 0.7, 1.9
# Least ratio of singular values at which the angles of joints 1 and 2 are determined.
_MIN_RANK = 1e-4

mat66 = wp.types.matrix((6, 6), wp.float64)
vec14 = wp.types.vector(14, wp.float64)
# Numbers of a line function: those that joint 2 leaves, and real parts of the four complex ones.
LEFT = wp.types.vector(6, wp.int32)(2, 5, 8, 11, 12, 13)
_TURNED = wp.types.vector(4, wp.int32)(0, 3, 6, 9)
# Matrix from values at three equally spaced angles to coefficients of (cos, sin, 1), and that to
# coefficients of (x^2, x, 1) of 1 + x^2 times the function of the half angle x.
_ANGLES = 2.0 * np.pi * np.arange(3) / 3.0
_CIRCLE = np.linalg.inv(np.stack([np.cos(_ANGLES), np.sin(_ANGLES), np.ones(3)], axis=1))
_HALF_ANGLE = np.array([[-1.0, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, 0.0, 1.0]]).T @ _CIRCLE
_CIRCLE = mat33(*_CIRCLE.ravel())
_HALF_ANGLE = mat33(*_HALF_ANGLE.ravel())
_THIRD = 2.0 * math.pi / 3.0


@no_type_check
@wp.func
def line_functions(p: vec3, line: vec3) -> vec14:
    """Return the 14 functions of a line with a direction through p."""
    m = wp.cross(p, line)
    square = wp.dot(p, p)
    along = wp.dot(p, line)
    w = square * line - wp.float64(2.0) * along * p
    return vec14(
        line[0], line[1], line[2], p[0], p[1], p[2], m[0], m[1], m[2], w[0], w[1], w[2],
        square, along,
    )  # fmt: skip


@no_type_check
@wp.func
def frame_of(h: vec3) -> mat33:
    """Return a rotation that takes the unit vector h to z."""
    side = vec3(wp.float64(1.0), wp.float64(0.0), wp.float64(0.0))
    if wp.abs(h[0]) > wp.float64(0.6):
        side = vec3(wp.float64(0.0), wp.float64(1.0), wp.float64(0.0))
    x = wp.normalize(wp.cross(side, h))
    y = wp.cross(h, x)
    return mat33(x[0], x[1], x[2], y[0], y[1], y[2], h[0], h[1], h[2])


@no_type_check
@wp.func
def right_side(h: mat63, p: mat63, point: vec3, line: vec3):
    """Return E_1^-1 M (axis 6) as coefficients of (cos, sin, 1) of joint 1.

    ``point`` and ``line`` are M (axis 6).
    """
    first = line_functions(point, line)
    third = wp.float64(wp.static(-_THIRD))
    second = line_functions(p[0] + turned(h[0], third, point - p[0]), turned(h[0], third, line))
    last = line_functions(p[0] + turned(h[0], -third, point - p[0]), turned(h[0], -third, line))
    g = (first + second + last) / wp.float64(3.0)
    return first - g, (second - last) / wp.float64(wp.static(math.sqrt(3.0))), g


@no_type_check
@wp.func
def complement(a: vec6, b: vec6):
    """Return a matrix whose last four rows are orthonormal and normal to a and b.

    Returns:
        The matrix, and the ratio of the singular values of [a, b] to within a factor of two.
    """
    # Reflections that take a to the first axis, and then b to the plane of the first two.
    H = mat66()
    for i in range(6):
        H[i, i] = wp.float64(1.0)
    u = a
    size = wp.length(a)
    u[0] += wp.where(a[0] < wp.float64(0.0), -size, size)
    rest = b
    square = wp.dot(u, u)
    if square > wp.float64(0.0):
        H -= wp.outer(u, u) * (wp.float64(2.0) / square)
        rest = b - u * (wp.float64(2.0) * wp.dot(u, b) / square)
    across = rest
    across[0] = wp.float64(0.0)
    other = wp.length(across)
    v = across
    v[1] += wp.where(across[1] < wp.float64(0.0), -other, other)
    square = wp.dot(v, v)
    if square > wp.float64(0.0):
        H -= wp.outer(v, v * H) * (wp.float64(2.0) / square)
    # size and other are the diagonal of a triangular matrix, its largest entry is bounded by both.
    largest = wp.max(size, wp.length(b))
    ratio = wp.float64(0.0)
    if largest > wp.float64(0.0):
        ratio = wp.min(size, other) / largest
    return H, ratio


@no_type_check
@wp.func
def product(a: vec2, b: vec2) -> vec2:
    """Return the product of complex numbers."""
    return vec2(a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0])


@no_type_check
@wp.func
def pair(f: vec14, k: int) -> vec2:
    """Return a complex number of a line's functions."""
    return vec2(f[_TURNED[k]], f[_TURNED[k] + 1])


@no_type_check
@wp.func
def minor(a: vec14, b: vec14, g: vec14, i: int, j: int, k: int) -> vec2:
    """Return the complex determinant of three rows of [a, b, g]."""
    first = product(pair(b, j), pair(g, k)) - product(pair(b, k), pair(g, j))
    second = product(pair(b, i), pair(g, k)) - product(pair(b, k), pair(g, i))
    third = product(pair(b, i), pair(g, j)) - product(pair(b, j), pair(g, i))
    return product(pair(a, i), first) - product(pair(a, j), second) + product(pair(a, k), third)


@no_type_check
@wp.func
def size_of(f: vec14) -> wp.float64:
    """Return the length of the four complex numbers."""
    square = wp.float64(0.0)
    for k in range(4):
        square += wp.length_sq(pair(f, k))
    return wp.sqrt(square)


@no_type_check
@wp.func
def interpolate(
    equations: wp.array3d(dtype=wp.float64), problem: int, power: int, first: int, stride: int
) -> wp.float64:  # fmt: skip
    """Replace values at three angles by coefficients of (x^2, x, 1); return their square."""
    values = vec3(
        equations[problem, power, first], equations[problem, power, first + stride],
        equations[problem, power, first + 2 * stride],
    )  # fmt: skip
    coefficients = _HALF_ANGLE * values
    for k in range(3):
        equations[problem, power, first + k * stride] = coefficients[k]
    return wp.length_sq(coefficients)


@no_type_check
@wp.func
def write_equations(
    problem: int, h: mat63, p: mat63, a: vec14, b: vec14, g: vec14,
    equations: wp.array3d(dtype=wp.float64),
) -> bool:  # fmt: skip
    """Write the coefficients of E and return True if joints 1 and 2 are determined.

    Args:
        problem: Row of ``equations``.
        h: Directions of the axes in the frame of axis 2.
        p: Points on them.
        a: Right side, coefficients of the cosine of joint 1.
        b: Those of its sine.
        g: Its constants.
        equations: Coefficients of (cos, sin, 1) of joint 3, [n, 3, 54], row after row of E.
    """
    left_a = vec6()
    left_b = vec6()
    left_g = vec6()
    for k in range(6):
        left_a[k] = a[LEFT[k]]
        left_b[k] = b[LEFT[k]]
        left_g[k] = g[LEFT[k]]
    H, ratio = complement(left_a, left_b)
    null_0 = minor(a, b, g, 1, 2, 3)
    null_1 = -minor(a, b, g, 0, 2, 3)
    null_2 = minor(a, b, g, 0, 1, 3)
    null_3 = -minor(a, b, g, 0, 1, 2)
    size = wp.sqrt(
        wp.length_sq(null_0) + wp.length_sq(null_1) + wp.length_sq(null_2) + wp.length_sq(null_3)
    )
    most = size_of(a) * size_of(b) * size_of(g)
    least = wp.float64(wp.static(_MIN_RANK))
    determined = ratio > least and size > least * most
    scale = wp.float64(1.0) / wp.max(size, wp.float64(1.0e-300))
    null_0 *= scale
    null_1 *= scale
    null_2 *= scale
    null_3 *= scale
    constants = H * left_g
    at = int(0)
    while at < 54:
        for power in range(3):
            equations[problem, power, at] = wp.float64(0.0)
        at += 1
    five = int(0)
    while five < 3:
        angle_5 = wp.float64(wp.static(FROM_5)) + wp.float64(wp.static(_THIRD)) * wp.float64(five)
        point_5 = p[4] + turned(h[4], angle_5, p[5] - p[4])
        line_5 = turned(h[4], angle_5, h[5])
        four = int(0)
        while four < 3:
            angle_4 = wp.float64(wp.static(FROM_4))
            angle_4 += wp.float64(wp.static(_THIRD)) * wp.float64(four)
            point_4 = p[3] + turned(h[3], angle_4, point_5 - p[3])
            line_4 = turned(h[3], angle_4, line_5)
            column = 3 * four + five
            three = int(0)
            while three < 3:
                angle_3 = wp.float64(wp.static(_THIRD)) * wp.float64(three)
                point = p[2] + turned(h[2], angle_3, point_4 - p[2])
                line = turned(h[2], angle_3, line_4)
                f = line_functions(point, line)
                left = vec6()
                for k in range(6):
                    left[k] = f[LEFT[k]]
                left = H * left - constants
                turning = product(null_0, pair(f, 0)) + product(null_1, pair(f, 1))
                turning += product(null_2, pair(f, 2)) + product(null_3, pair(f, 3))
                left[0] = turning[0]
                left[1] = turning[1]
                power = int(0)
                while power < 3:
                    weight = wp.float64(_CIRCLE[power, three])
                    for k in range(6):
                        there = equations[problem, power, 9 * k + column]
                        equations[problem, power, 9 * k + column] = there + weight * left[k]
                    power += 1
                three += 1
            four += 1
        five += 1
    row = int(0)
    while row < 6:
        square = wp.float64(0.0)
        power = int(0)
        while power < 3:
            # Interpolate in joint 4, then in joint 5.
            for k in range(3):
                interpolate(equations, problem, power, 9 * row + k, 3)
            for k in range(3):
                square += interpolate(equations, problem, power, 9 * row + 3 * k, 1)
            power += 1
        inverse = wp.float64(0.0)
        if square > wp.float64(0.0):
            inverse = wp.float64(1.0) / wp.sqrt(square)
        power = int(0)
        while power < 3:
            for k in range(9):
                there = equations[problem, power, 9 * row + k]
                equations[problem, power, 9 * row + k] = inverse * there
            power += 1
        row += 1
    return determined
