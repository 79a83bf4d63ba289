# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions of the elimination for six general revolute joints, in float64.

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

import functools
import math
from types import SimpleNamespace
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.kinematics.spatial import arctangent
from ros_ik.solvers.analytic.candidates.circles import sincos
from ros_ik.solvers.analytic.candidates.circles import turned
from ros_ik.solvers.analytic.candidates.circles import vec2
from ros_ik.solvers.analytic.candidates.circles import vec3
from ros_ik.solvers.analytic.candidates.structure_functions import mat63
from ros_ik.solvers.analytic.candidates.structure_functions import vec6

# Number of roots, and of samples of the determinant, enough for twelve harmonics.
ROOTS = 16
SAMPLES = 24
_DEGREE = 8
_HARMONICS = 12
# Angles from which joints 4 and 5 are measured [rad]. A solution half a turn away from one has an
# infinite half angle, and there are no such solutions at usual positions.
_FROM_4, _FROM_5 = 0.7, 1.9
# Least ratio of singular values at which the angles of joints 1 and 2 are determined.
_LEAST_RANK = 1e-4
# Ratio of the second singular value to the first below which there is a second null vector.
SECOND_NULL = 1e-2
# Rotation of the pencil of two null vectors [rad], to avoid a root at infinity for an angle of pi.
_PENCIL_TURN = 0.6
# Iterations for the roots, and for the null vectors.
_ROOT_ITERATIONS, _NULL_ITERATIONS = 40, 3
# Radius of the circle of first guesses of the roots. Guesses on the unit circle would stay there.
_FIRST_RADIUS = 1.1
# Steps of the roots at which the iteration ends, for those near the unit circle and for others.
_ROOT_STEP, _FAR_STEP = 1e-6, 0.02
# Distances from the unit circle of the former, and of roots whose steps do not matter, as |ln|z||.
_NEAR_CIRCLE, _FAR_FROM_CIRCLE = 0.2, 2.0

mat33 = wp.types.matrix((3, 3), wp.float64)
mat66 = wp.types.matrix((6, 6), wp.float64)
vec4 = wp.types.vector(4, wp.float64)
vec14 = wp.types.vector(14, wp.float64)
vec16 = wp.types.vector(ROOTS, wp.float64)
vec24 = wp.types.vector(SAMPLES, wp.float64)
# Numbers of a line function: those that joint 2 leaves, and real parts of the four complex ones.
_LEFT = wp.types.vector(6, wp.int32)(2, 5, 8, 11, 12, 13)
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
    """Write the coefficients of E and return whether joints 1 and 2 are determined.

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
        left_a[k] = a[_LEFT[k]]
        left_b[k] = b[_LEFT[k]]
        left_g[k] = g[_LEFT[k]]
    H, ratio = complement(left_a, left_b)
    null_0 = minor(a, b, g, 1, 2, 3)
    null_1 = -minor(a, b, g, 0, 2, 3)
    null_2 = minor(a, b, g, 0, 1, 3)
    null_3 = -minor(a, b, g, 0, 1, 2)
    size = wp.sqrt(
        wp.length_sq(null_0) + wp.length_sq(null_1) + wp.length_sq(null_2) + wp.length_sq(null_3)
    )
    most = size_of(a) * size_of(b) * size_of(g)
    least = wp.float64(wp.static(_LEAST_RANK))
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
        angle_5 = wp.float64(wp.static(_FROM_5)) + wp.float64(wp.static(_THIRD)) * wp.float64(five)
        point_5 = p[4] + turned(h[4], angle_5, p[5] - p[4])
        line_5 = turned(h[4], angle_5, h[5])
        four = int(0)
        while four < 3:
            angle_4 = wp.float64(wp.static(_FROM_4))
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
                    left[k] = f[_LEFT[k]]
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


@no_type_check
@functools.cache
def elimination_functions(lanes: int) -> SimpleNamespace:
    """Build the functions that process several angles of joint 3 together.

    Args:
        lanes: Number of angles, see :mod:`ros_ik.solvers.analytic.candidates.lanes`.
    """
    LaneNumbers = wp.types.vector(lanes, wp.float64)
    Work = wp.types.matrix((81, lanes), wp.float64)
    Vectors = wp.types.matrix((12, lanes), wp.float64)

    @wp.func
    def triangular(problem: int, angle: LaneNumbers, equations: wp.array3d(dtype=wp.float64)):
        """Return a triangular form of A by Householder reflections, and det A.

        Rows 0 to 5 of the work space, of nine columns, are first E. Reflections make its first
        three columns triangular. The twelve rows of A then are R S 0, 0 T 0, 0 R S and 0 0 T in
        blocks of columns, with the same R and S, T of three rows. The first three columns of A are
        done, and the others are the rows R S, 0 T (rows 0 to 5) and T 0 (rows 6 to 8).
        """
        work = Work()
        cosine = LaneNumbers()
        sine = LaneNumbers()
        lane = int(0)
        while lane < wp.static(lanes):
            sc = sincos(angle[lane])
            sine[lane] = sc[0]
            cosine[lane] = sc[1]
            lane += 1
        at = int(0)
        while at < 54:
            of_cosine = equations[problem, 0, at]
            of_sine = equations[problem, 1, at]
            constant = equations[problem, 2, at]
            lane = int(0)
            while lane < wp.static(lanes):
                work[at, lane] = of_cosine * cosine[lane] + of_sine * sine[lane] + constant
                lane += 1
            at += 1
        det = LaneNumbers()
        lane = int(0)
        while lane < wp.static(lanes):
            det[lane] = wp.float64(1.0)
            lane += 1
        step = int(0)
        while step < 12:
            column = step
            first = step + 1
            last = int(6)
            if step >= 3:
                column = step - 3
                first = 6
                last = 9
            if step >= 6:
                first = column + 1
            if step == 3:
                at = int(54)
                while at < 81:
                    row = at // 9
                    of = at - 9 * row
                    source = 9 * (row - 3) + of + 3
                    lane = int(0)
                    while lane < wp.static(lanes):
                        if of < 6:
                            work[at, lane] = work[source, lane]
                        lane += 1
                    at += 1
            pivot = 10 * column
            square = LaneNumbers()
            row = first
            while row < last:
                lane = int(0)
                while lane < wp.static(lanes):
                    x = work[9 * row + column, lane]
                    square[lane] = square[lane] + x * x
                    lane += 1
                row += 1
            head = LaneNumbers()
            factor = LaneNumbers()
            diagonal = LaneNumbers()
            lane = int(0)
            while lane < wp.static(lanes):
                x = work[pivot, lane]
                norm = wp.sqrt(x * x + square[lane])
                signed = wp.where(x < wp.float64(0.0), -norm, norm)
                half_square = norm * norm + wp.abs(x) * norm
                head[lane] = x + signed
                diagonal[lane] = -signed
                det[lane] = det[lane] * signed
                factor[lane] = wp.float64(1.0) / wp.max(half_square, wp.float64(1.0e-300))
                lane += 1
            other = column + 1
            while other < 9:
                dot = LaneNumbers()
                lane = int(0)
                while lane < wp.static(lanes):
                    dot[lane] = head[lane] * work[9 * column + other, lane]
                    lane += 1
                row = first
                while row < last:
                    lane = int(0)
                    while lane < wp.static(lanes):
                        dot[lane] = (
                            dot[lane] + work[9 * row + column, lane] * work[9 * row + other, lane]
                        )
                        lane += 1
                    row += 1
                lane = int(0)
                while lane < wp.static(lanes):
                    dot[lane] = dot[lane] * factor[lane]
                    work[9 * column + other, lane] = (
                        work[9 * column + other, lane] - head[lane] * dot[lane]
                    )
                    lane += 1
                row = first
                while row < last:
                    lane = int(0)
                    while lane < wp.static(lanes):
                        work[9 * row + other, lane] = (
                            work[9 * row + other, lane] - work[9 * row + column, lane] * dot[lane]
                        )
                        lane += 1
                    row += 1
                other += 1
            lane = int(0)
            while lane < wp.static(lanes):
                work[pivot, lane] = diagonal[lane]
                lane += 1
            step += 1
        return work, det

    @wp.func
    def null_vectors(work: Work):
        """Return the two directions of least length after the lower six rows, and their lengths.

        Inverse iteration with the triangle of six rows. Its null vectors are the parts (x_4, 1) *
        (x_5^2, x_5, 1) of v.

        Returns:
            Two vectors of six, one after the other, and the ratio of the second least singular
            value to the largest.
        """
        x = Vectors()
        largest = LaneNumbers()
        ratio = LaneNumbers()
        i = int(0)
        while i < 6:
            lane = int(0)
            while lane < wp.static(lanes):
                # Any two vectors; those of solutions are not normal to both.
                x[i, lane] = wp.float64(1.0) + wp.float64(0.1) * wp.float64(i)
                x[6 + i, lane] = wp.float64(1 - 2 * (i % 2))
                largest[lane] = wp.max(largest[lane], wp.abs(work[10 * (3 + i), lane]))
                lane += 1
            i += 1
        iteration = int(0)
        while iteration < wp.static(_NULL_ITERATIONS):
            vector = int(0)
            while vector < 12:
                i = int(0)
                while i < 6:
                    j = int(0)
                    while j < i:
                        lane = int(0)
                        while lane < wp.static(lanes):
                            x[vector + i, lane] = (
                                x[vector + i, lane]
                                - work[9 * (3 + j) + 3 + i, lane] * x[vector + j, lane]
                            )
                            lane += 1
                        j += 1
                    lane = int(0)
                    while lane < wp.static(lanes):
                        u = work[10 * (3 + i), lane]
                        floor = wp.float64(1.0e-14) * largest[lane] + wp.float64(1.0e-300)
                        u = wp.where(wp.abs(u) < floor, floor, u)
                        x[vector + i, lane] = x[vector + i, lane] / u
                        lane += 1
                    i += 1
                i = int(5)
                while i >= 0:
                    j = i + 1
                    while j < 6:
                        lane = int(0)
                        while lane < wp.static(lanes):
                            x[vector + i, lane] = (
                                x[vector + i, lane]
                                - work[9 * (3 + i) + 3 + j, lane] * x[vector + j, lane]
                            )
                            lane += 1
                        j += 1
                    lane = int(0)
                    while lane < wp.static(lanes):
                        u = work[10 * (3 + i), lane]
                        floor = wp.float64(1.0e-14) * largest[lane] + wp.float64(1.0e-300)
                        u = wp.where(wp.abs(u) < floor, floor, u)
                        x[vector + i, lane] = x[vector + i, lane] / u
                        lane += 1
                    i -= 1
                vector += 6
            lane = int(0)
            while lane < wp.static(lanes):
                square = wp.float64(0.0)
                for k in range(6):
                    square += x[k, lane] * x[k, lane]
                inverse = wp.float64(1.0) / wp.sqrt(square)
                dot = wp.float64(0.0)
                for k in range(6):
                    x[k, lane] = x[k, lane] * inverse
                    dot += x[k, lane] * x[6 + k, lane]
                square = wp.float64(0.0)
                for k in range(6):
                    y = x[6 + k, lane] - dot * x[k, lane]
                    x[6 + k, lane] = y
                    square += y * y
                inverse = wp.float64(1.0) / wp.sqrt(wp.max(square, wp.float64(1.0e-300)))
                # A unit vector grows by the square of its inverse singular value.
                ratio[lane] = wp.sqrt(inverse) / largest[lane]
                for k in range(6):
                    x[6 + k, lane] = x[6 + k, lane] * inverse
                lane += 1
            iteration += 1
        return x, ratio

    return SimpleNamespace(
        triangular=triangular, null_vectors=null_vectors, LaneNumbers=LaneNumbers, Work=Work,
        Vectors=Vectors,
    )  # fmt: skip


@no_type_check
@wp.func
def harmonics_of(det: vec24):
    """Return the harmonics 0 to 8 of samples of the determinant, and the relative rounding."""
    cosines = vec16()
    sines = vec16()
    largest = wp.float64(0.0)
    rest = wp.float64(0.0)
    k = int(0)
    while k <= wp.static(_HARMONICS):
        real = wp.float64(0.0)
        imaginary = wp.float64(0.0)
        sc = sincos(wp.float64(wp.static(2.0 * math.pi / SAMPLES)) * wp.float64(k))
        c = wp.float64(1.0)
        s = wp.float64(0.0)
        i = int(0)
        while i < wp.static(SAMPLES):
            real += det[i] * c
            imaginary -= det[i] * s
            turned_c = c * sc[1] - s * sc[0]
            s = c * sc[0] + s * sc[1]
            c = turned_c
            i += 1
        size = wp.sqrt(real * real + imaginary * imaginary)
        largest = wp.max(largest, size)
        if k > wp.static(_DEGREE):
            rest = wp.max(rest, size)
        else:
            cosines[k] = real
            sines[k] = imaginary
        k += 1
    rounding = wp.float64(1.0)
    if largest > wp.float64(0.0):
        rounding = rest / largest
        cosines /= largest
        sines /= largest
    return cosines, sines, rounding


@no_type_check
@wp.func
def unit_circle_roots(cosines: vec16, sines: vec16):
    """Return the roots exp(i q) of a trigonometric polynomial by the method of Aberth (1973).

    All roots are improved together by Newton steps that the other roots repel.

    Args:
        cosines: Real parts of the harmonics 0 to 8.
        sines: Their imaginary parts.

    Returns:
        Real and imaginary parts of the roots.
    """
    real = vec16()
    imaginary = vec16()
    i = int(0)
    while i < wp.static(ROOTS):
        sc = sincos(wp.float64(wp.static(2.0 * math.pi / ROOTS)) * wp.float64(i) + wp.float64(0.2))
        real[i] = wp.float64(wp.static(_FIRST_RADIUS)) * sc[1]
        imaginary[i] = wp.float64(wp.static(_FIRST_RADIUS)) * sc[0]
        i += 1
    iteration = int(0)
    while iteration < wp.static(_ROOT_ITERATIONS):
        p_re = vec16()
        p_im = vec16()
        d_re = vec16()
        d_im = vec16()
        k = int(wp.static(_DEGREE))
        while k >= wp.static(-_DEGREE):
            re = cosines[wp.abs(k)]
            im = sines[wp.abs(k)]
            if k < 0:
                im = -im
            i = int(0)
            while i < wp.static(ROOTS):
                x = real[i]
                y = imaginary[i]
                d = d_re[i] * x - d_im[i] * y + p_re[i]
                d_im[i] = d_re[i] * y + d_im[i] * x + p_im[i]
                d_re[i] = d
                p = p_re[i] * x - p_im[i] * y + re
                p_im[i] = p_re[i] * y + p_im[i] * x + im
                p_re[i] = p
                i += 1
            k -= 1
        push_re = vec16()
        push_im = vec16()
        k = int(0)
        while k < wp.static(ROOTS):
            x = real[k]
            y = imaginary[k]
            i = int(0)
            while i < wp.static(ROOTS):
                dx = real[i] - x
                dy = imaginary[i] - y
                square = dx * dx + dy * dy
                inverse = wp.float64(1.0) / wp.max(square, wp.float64(1.0e-30))
                push_re[i] = push_re[i] + dx * inverse
                push_im[i] = push_im[i] - dy * inverse
                i += 1
            k += 1
        unsettled = wp.float64(0.0)
        i = int(0)
        while i < wp.static(ROOTS):
            # The step is p / (p' - p push).
            x = d_re[i] - p_re[i] * push_re[i] + p_im[i] * push_im[i]
            y = d_im[i] - p_re[i] * push_im[i] - p_im[i] * push_re[i]
            inverse = wp.float64(1.0) / wp.max(x * x + y * y, wp.float64(1.0e-300))
            step_re = (p_re[i] * x + p_im[i] * y) * inverse
            step_im = (p_im[i] * x - p_re[i] * y) * inverse
            square = real[i] * real[i] + imaginary[i] * imaginary[i]
            change = (step_re * step_re + step_im * step_im) / wp.max(square, wp.float64(1.0e-300))
            real[i] = real[i] - step_re
            imaginary[i] = imaginary[i] - step_im
            near = wp.abs(square - wp.float64(1.0)) < wp.float64(wp.static(2.0 * _NEAR_CIRCLE))
            far = square > wp.float64(wp.static(math.exp(2.0 * _FAR_FROM_CIRCLE)))
            far = far or square < wp.float64(wp.static(math.exp(-2.0 * _FAR_FROM_CIRCLE)))
            bound = wp.where(
                near, wp.float64(wp.static(_ROOT_STEP**2)), wp.float64(wp.static(_FAR_STEP**2))
            )
            bound = wp.where(far, wp.float64(wp.inf), bound)
            unsettled = wp.max(unsettled, wp.where(change <= bound, wp.float64(0.0), change))
            i += 1
        iteration += 1
        if unsettled == wp.float64(0.0):
            iteration = wp.static(_ROOT_ITERATIONS)
    return real, imaginary


@no_type_check
@wp.func
def root_error(
    real: vec16, imaginary: vec16, x: wp.float64, y: wp.float64, leading: wp.float64,
    noise: wp.float64,
) -> wp.float64:  # fmt: skip
    """Return the error of a root near the unit circle for an error of the polynomial.

    The polynomial is its leading coefficient times the distances to the roots. The error of a
    cluster of m roots is the m-th root of the error of the polynomial over the other factors, for
    the smallest cluster that is so much smaller than the distance to the next root.

    Args:
        real: Real parts of the roots.
        imaginary: Their imaginary parts.
        x: Real part of the root.
        y: Its imaginary part.
        leading: Size of the leading coefficient.
        noise: Error of the polynomial.
    """
    distances = vec16()
    i = int(0)
    while i < wp.static(ROOTS):
        dx = real[i] - x
        dy = imaginary[i] - y
        distance = wp.sqrt(dx * dx + dy * dy)
        at = i
        while at > 0 and distances[wp.max(at - 1, 0)] > distance:
            distances[at] = distances[at - 1]
            at -= 1
        distances[at] = distance
        i += 1
    error = wp.pow(noise / leading, wp.float64(wp.static(1.0 / ROOTS)))
    rest = leading
    cluster = int(wp.static(ROOTS - 1))
    while cluster > 0:
        # The first distance is that of the root to itself.
        rest *= distances[cluster]
        here = wp.pow(noise / rest, wp.float64(1.0) / wp.float64(cluster))
        if here <= wp.float64(0.5) * distances[cluster]:
            error = here
        cluster -= 1
    return error


@no_type_check
@wp.func
def middle_angles(w: vec6) -> vec2:
    """Return the angles of joints 4 and 5 [rad] of a vector (x_4, 1) * (x_5^2, x_5, 1)."""
    cross = wp.float64(0.0)
    excess = wp.float64(0.0)
    for k in range(3):
        cross += wp.float64(2.0) * w[k] * w[3 + k]
        excess += w[3 + k] * w[3 + k] - w[k] * w[k]
    q4 = wp.float64(wp.static(_FROM_4)) + arctangent(cross, excess)
    cross = wp.float64(2.0) * (w[0] * w[1] + w[1] * w[2] + w[3] * w[4] + w[4] * w[5])
    excess = w[2] * w[2] + w[5] * w[5] - w[0] * w[0] - w[3] * w[3]
    q5 = wp.float64(wp.static(_FROM_5)) + arctangent(cross, excess)
    return vec2(q4, q5)


@no_type_check
@wp.func
def mixtures(high_0: vec6, low_0: vec6, high_1: vec6, low_1: vec6):
    """Return the mixtures of two vectors at which high is a multiple of low.

    Returns:
        Two rows of factors, and their discriminant relative to the size of the pencil; negative if
        there is no real mixture.
    """
    c = wp.float64(wp.static(math.cos(_PENCIL_TURN)))
    s = wp.float64(wp.static(math.sin(_PENCIL_TURN)))
    p_0 = c * low_0 - s * high_0
    p_1 = c * low_1 - s * high_1
    q_0 = c * high_0 + s * low_0
    q_1 = c * high_1 + s * low_1
    # Least squares: eigenvalues of G^-1 K with G = P^T P and K = P^T Q.
    g_00 = wp.dot(p_0, p_0)
    g_01 = wp.dot(p_0, p_1)
    g_11 = wp.dot(p_1, p_1)
    k_00 = wp.dot(p_0, q_0)
    k_01 = wp.dot(p_0, q_1)
    k_10 = wp.dot(p_1, q_0)
    k_11 = wp.dot(p_1, q_1)
    # Rows of adj(G) K; the common factor det G does not matter.
    m_00 = g_11 * k_00 - g_01 * k_10
    m_01 = g_11 * k_01 - g_01 * k_11
    m_10 = g_00 * k_10 - g_01 * k_00
    m_11 = g_00 * k_11 - g_01 * k_01
    half = wp.float64(0.5) * (m_00 - m_11)
    discriminant = half * half + m_01 * m_10
    size = m_00 * m_00 + m_01 * m_01 + m_10 * m_10 + m_11 * m_11
    root = wp.sqrt(wp.max(discriminant, wp.float64(0.0)))
    first = vec2()
    second = vec2()
    # Eigenvectors of larger length of the two possible forms.
    if half >= wp.float64(0.0):
        first = vec2(half + root, m_10)
        second = vec2(m_01, -half - root)
    else:
        first = vec2(m_01, root - half)
        second = vec2(half - root, m_10)
    return first, second, discriminant / wp.max(size, wp.float64(1.0e-300))


@no_type_check
@wp.func
def two_vectors(x: vec6, y: vec6):
    """Return the vectors of solutions in the span of two null vectors.

    They are eigenvectors of a matrix pencil of joint 4, or of joint 5 if its eigenvalues are
    farther apart.

    Returns:
        Two vectors, and whether there are two; otherwise the first is x.
    """
    zero = wp.float64(0.0)
    first, second, four = mixtures(
        vec6(x[0], x[1], x[2], zero, zero, zero), vec6(x[3], x[4], x[5], zero, zero, zero),
        vec6(y[0], y[1], y[2], zero, zero, zero), vec6(y[3], y[4], y[5], zero, zero, zero),
    )  # fmt: skip
    other_first, other_second, five = mixtures(
        vec6(x[0], x[1], x[3], x[4], zero, zero), vec6(x[1], x[2], x[4], x[5], zero, zero),
        vec6(y[0], y[1], y[3], y[4], zero, zero), vec6(y[1], y[2], y[4], y[5], zero, zero),
    )  # fmt: skip
    best = four
    if five > four:
        best = five
        first = other_first
        second = other_second
    if best <= zero:
        return x, y, False
    return first[0] * x + first[1] * y, second[0] * x + second[1] * y, True


@no_type_check
@wp.func
def outer_angles(
    h: mat63, p: mat63, a: vec14, b: vec14, g: vec14, R: mat33, q3: wp.float64, q4: wp.float64,
    q5: wp.float64,
) -> vec6:  # fmt: skip
    """Return all angles [rad] from those of joints 3 to 5.

    Args:
        h: Directions of the axes in the frame of axis 2.
        p: Points on them.
        a: Right side, coefficients of the cosine of joint 1.
        b: Those of its sine.
        g: Its constants.
        R: Rotation of the motion M.
        q3: Angle of joint 3.
        q4: Angle of joint 4.
        q5: Angle of joint 5.
    """
    point = p[4] + turned(h[4], q5, p[5] - p[4])
    line = turned(h[4], q5, h[5])
    point = p[3] + turned(h[3], q4, point - p[3])
    line = turned(h[3], q4, line)
    point = p[2] + turned(h[2], q3, point - p[2])
    line = turned(h[2], q3, line)
    f = line_functions(point, line)
    aa = wp.float64(0.0)
    ab = wp.float64(0.0)
    bb = wp.float64(0.0)
    af = wp.float64(0.0)
    bf = wp.float64(0.0)
    for k in range(6):
        at = _LEFT[k]
        rest = f[at] - g[at]
        aa += a[at] * a[at]
        ab += a[at] * b[at]
        bb += b[at] * b[at]
        af += a[at] * rest
        bf += b[at] * rest
    q1 = arctangent(aa * bf - ab * af, bb * af - ab * bf)
    sc = sincos(q1)
    right = sc[1] * a + sc[0] * b + g
    along = wp.float64(0.0)
    across = wp.float64(0.0)
    for k in range(4):
        there = pair(right, k)
        here = pair(f, k)
        along += wp.dot(here, there)
        across += here[0] * there[1] - here[1] * there[0]
    q2 = arctangent(across, along)
    # A vector normal to axis 6, and where joint 6 must turn it.
    side = wp.cross(h[5], frame_of(h[5])[0])
    goal = turned(h[0], -q1, R * side)
    goal = turned(h[1], -q2, goal)
    goal = turned(h[2], -q3, goal)
    goal = turned(h[3], -q4, goal)
    goal = turned(h[4], -q5, goal)
    q6 = arctangent(wp.dot(h[5], wp.cross(side, goal)), wp.dot(side, goal))
    return vec6(q1, q2, q3, q4, q5, q6)
