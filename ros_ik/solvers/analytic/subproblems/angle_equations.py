# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions that solve equations linear in sines and cosines of angles, in float64.

They solve the subproblems of Elias and Wen, "IK-Geo" (2022): one equation a sin t + b cos t = d
(SP3 and SP4), and two equations in two angles, A [sin x, cos x] + B [sin y, cos y] = d (SP2, SP5
and SP6). If an equation has no real root, they return the angle of least residual, and this
residual ("miss").
"""

from typing import no_type_check

import warp as wp

from ros_ik.kinematics.spatial import arctangent
from ros_ik.solvers.analytic.subproblems.rotations import FREE
from ros_ik.solvers.analytic.subproblems.rotations import mat22
from ros_ik.solvers.analytic.subproblems.rotations import sincos
from ros_ik.solvers.analytic.subproblems.rotations import slope
from ros_ik.solvers.analytic.subproblems.rotations import vec2
from ros_ik.solvers.analytic.subproblems.rotations import vec3

vec5 = wp.types.vector(5, wp.float64)
# Roots of one equation: angle, miss.
Roots = wp.types.matrix((8, 2), wp.float64)
# Solutions of two equations: sine and cosine of x and of y, or a length instead of a sine; miss.
Pairs = wp.types.matrix((8, 5), wp.float64)
FourPairs = wp.types.matrix((4, 5), wp.float64)
# Largest number of iterations of a bracketed root search; bisection alone needs 60 for all bits.
_ITERATIONS = 70


@no_type_check
@wp.func
def both_sides(a: vec2, root: wp.float64, d: wp.float64):
    """Return the directions of a minus and plus the angle of the direction (root, d)."""
    scale = wp.float64(1.0) / wp.sqrt(wp.dot(a, a) * (root * root + d * d))
    sine = root * scale
    cosine = d * scale
    low = vec2(a[0] * cosine - a[1] * sine, a[1] * cosine + a[0] * sine)
    high = vec2(a[0] * cosine + a[1] * sine, a[1] * cosine - a[0] * sine)
    return low, high


@no_type_check
@wp.func
def line_roots(a: vec2, d: wp.float64, free: vec2, opening: wp.float64):
    """Solve a . (sin t, cos t) = d; return the directions of both roots, and their residual.

    ``opening`` separates the two roots of an equation with a double root or a near root; its
    square root is about half their distance.
    """
    r = wp.length(a)
    if r < wp.float64(wp.static(FREE)):
        return free, free, wp.abs(d)
    room = (r - d) * (r + d)
    miss = wp.max(wp.abs(d) - r, wp.float64(0.0))
    low, high = both_sides(a, wp.sqrt(wp.max(room, opening * r * r)), d)
    return low, high, miss


@no_type_check
@wp.func
def two_angle_equation(
    h1: vec3, a: vec3, out: vec3, h3: vec3, b: vec3, far: vec3, gap: wp.float64
):
    """Return the coefficients A, B and d of an equation in two angles.

    The equation a . R(h1, x)^T out = b . R(h3, y) far + gap is written as
    A . (sin x, cos x) + B . (sin y, cos y) = d.
    """
    d = gap + wp.dot(b, h3) * wp.dot(h3, far) - wp.dot(a, h1) * wp.dot(h1, out)
    return slope(-h1, a, out), -slope(h3, b, far), d


@no_type_check
@wp.func
def direction_roots(k: vec3, a: vec3, b: vec3, goal: vec3, opening: wp.float64):
    """Solve a . R(k, t) b = a . goal for unit vectors; return as :func:`line_roots`.

    If R b is nearly along a, the small angle between them cannot be computed accurately from
    1 - a . goal, but from the chord between a and the goal.
    """
    a_angle = arctangent(wp.length(wp.cross(k, a)), wp.dot(k, a))
    b_angle = arctangent(wp.length(wp.cross(k, b)), wp.dot(k, b))
    coefficients = slope(k, a, b)
    r = wp.length(coefficients)
    half = wp.float64(0.5)
    two = wp.float64(2.0)
    apart = sincos(half * (a_angle - b_angle))[0]
    sum_apart = sincos(half * (a_angle + b_angle))[1]
    # r - d and r + d, with d the part of a . goal that depends on the angle.
    below = half * wp.length_sq(a - goal) - two * apart * apart
    above = half * wp.length_sq(a + goal) - two * sum_apart * sum_apart
    room = below * above
    miss = wp.max(-wp.min(below, above), wp.float64(0.0))
    root = wp.sqrt(wp.max(room, opening * r * r))
    low, high = both_sides(coefficients, root, half * (above - below))
    return low, high, miss


@no_type_check
@wp.func
def polynomial(p: vec5, u: wp.float64) -> wp.float64:
    return (((p[4] * u + p[3]) * u + p[2]) * u + p[1]) * u + p[0]


@no_type_check
@wp.func
def derivative(p: vec5) -> vec5:
    return vec5(
        p[1], wp.float64(2.0) * p[2], wp.float64(3.0) * p[3], wp.float64(4.0) * p[4],
        wp.float64(0.0),
    )  # fmt: skip


@no_type_check
@wp.func
def root_between(p: vec5, low: wp.float64, high: wp.float64) -> wp.float64:
    """Return the root of p in an interval with a change of sign, by a bracketed Newton method."""
    slopes = derivative(p)
    a = low
    b = high
    rising = polynomial(p, b) > wp.float64(0.0)
    u = wp.float64(0.5) * (a + b)
    n = int(0)
    while n < wp.static(_ITERATIONS):
        value = polynomial(p, u)
        if (value > wp.float64(0.0)) == rising:
            b = u
        else:
            a = u
        n += 1
        following = u - value / polynomial(slopes, u)
        # Outside of (a, b), or NaN.
        if not (following > a and following < b):
            following = wp.float64(0.5) * (a + b)
        if wp.abs(following - u) <= wp.float64(1.0e-15) * (wp.float64(1.0) + wp.abs(u)):
            n = wp.static(_ITERATIONS)
        u = following
    return u


@no_type_check
@wp.func
def next_roots(p: vec5, turns: Roots, n_turns: int, bound: wp.float64, loose: wp.float64):
    """Return the roots of p in [-bound, bound], given its turning points in ascending order.

    A turning point without adjacent roots is returned too if |p| / (1 + u^2)^2 is at most
    ``loose``, with this value as its residual.
    """
    roots = Roots()
    n = int(0)
    left = -bound
    left_value = polynomial(p, left)
    crossed = bool(False)
    k = int(0)
    while k <= n_turns:
        right = bound
        if k < n_turns:
            right = wp.clamp(turns[k, 0], -bound, bound)
        right_value = polynomial(p, right)
        crossing = (left_value > wp.float64(0.0)) != (right_value > wp.float64(0.0))
        scale = wp.float64(1.0) + left * left
        size = wp.abs(left_value) / (scale * scale)
        if crossing:
            roots[n, 0] = root_between(p, left, right)
            n += 1
        elif k > 0 and not crossed and size <= loose:
            roots[n, 0] = left
            roots[n, 1] = size
            n += 1
        crossed = crossing
        left = right
        left_value = right_value
        k += 1
    return roots, n


@no_type_check
@wp.func
def circle_roots(f: vec5, loose: wp.float64):
    """Solve f0 + f1 sin t + f2 cos t + f3 sin 2t + f4 cos 2t = 0; return up to four angles.

    In u = tan((t - t0) / 2) the function is a quartic over (1 + u^2)^2. t0 is chosen so that the
    function is large at u = infinity. The real roots of a polynomial are separated by the roots of
    its derivative, so quadratic, cubic and quartic are solved in turn, with each root in a
    bracket. Local extremes up to ``loose`` are near roots, and are returned with their residuals.
    If there are no roots, all extremes are returned.
    """
    base = wp.float64(0.0)
    most = wp.float64(-1.0)
    for k in range(5):
        t = wp.float64(wp.static(2.0 * 3.141592653589793 / 5.0)) * wp.float64(k)
        value = f[0] + wp.dot(vec2(f[1], f[2]), sincos(t))
        value += wp.dot(vec2(f[3], f[4]), sincos(wp.float64(2.0) * t))
        if wp.abs(value) > most:
            most = wp.abs(value)
            base = t
    # t = base + pi + w, w = 2 atan(u), so that u = infinity at t = base.
    once = -sincos(base)
    twice = sincos(wp.float64(2.0) * base)
    sine = f[1] * once[1] - f[2] * once[0]
    cosine = f[1] * once[0] + f[2] * once[1]
    sine2 = f[3] * twice[1] - f[4] * twice[0]
    cosine2 = f[3] * twice[0] + f[4] * twice[1]
    two = wp.float64(2.0)
    p = vec5(
        f[0] + cosine + cosine2,
        two * sine + wp.float64(4.0) * sine2,
        two * f[0] - wp.float64(6.0) * cosine2,
        two * sine - wp.float64(4.0) * sine2,
        f[0] - cosine + cosine2,
    )
    roots = Roots()
    n = int(0)
    if most > wp.float64(0.0):
        # Cauchy's bound of the roots.
        bound = wp.float64(1.0) + wp.max(
            wp.max(wp.abs(p[0]), wp.abs(p[1])), wp.max(wp.abs(p[2]), wp.abs(p[3]))
        ) / wp.abs(p[4])
        first = derivative(p)
        second = derivative(first)
        turns = Roots()
        n_turns = int(0)
        # The second derivative is a quadratic.
        discriminant = second[1] * second[1] - wp.float64(4.0) * second[2] * second[0]
        if discriminant > wp.float64(0.0):
            half = wp.float64(-0.5) * (
                second[1] + wp.where(second[1] < wp.float64(0.0), -wp.sqrt(discriminant),
                                     wp.sqrt(discriminant))
            )  # fmt: skip
            low = half / second[2]
            high = second[0] / half
            turns[0, 0] = wp.min(low, high)
            turns[1, 0] = wp.max(low, high)
            n_turns = 2
        # A flat turning point of the derivative is treated as its root, because it may separate
        # two roots.
        turns, n_turns = next_roots(first, turns, n_turns, bound, wp.float64(1.0e-9) * most)
        roots, n = next_roots(p, turns, n_turns, bound, loose)
        if n == 0:
            # Without near roots, the extremes are starts of the search for the nearest pose.
            roots, n = next_roots(p, turns, n_turns, bound, wp.float64(wp.inf))
    for k in range(n):
        roots[k, 0] = base + wp.float64(wp.PI) + two * arctangent(roots[k, 0], wp.float64(1.0))
    return roots, n


@no_type_check
@wp.func
def adjugate(m: mat22) -> mat22:
    return mat22(m[1, 1], -m[0, 1], -m[1, 0], m[0, 0])


@no_type_check
@wp.func
def swapped(pairs: Pairs, count: int) -> Pairs:
    """Return the rows with x and y exchanged."""
    rows = Pairs()
    for k in range(count):
        for j in range(2):
            rows[k, j] = pairs[k, 2 + j]
            rows[k, 2 + j] = pairs[k, j]
        rows[k, 4] = pairs[k, 4]
    return rows


@no_type_check
@wp.func
def one_then_other(
    a: vec2, d: wp.float64, C: vec2, D: vec2, e: wp.float64, free_first: vec2, free_other: vec2,
    opening: wp.float64, column: int,
) -> FourPairs:  # fmt: skip
    """Solve a . X = d for the first angle, then C . X + D . Y = e for the other.

    ``column`` is that of the first angle in the four rows that are returned: 0 or 2.
    """
    pairs = FourPairs()
    low, high, miss = line_roots(a, d, free_first, opening)
    for k in range(2):
        X = wp.where(k == 0, low, high)
        other_low, other_high, other_miss = line_roots(D, e - wp.dot(C, X), free_other, opening)
        for j in range(2):
            Y = wp.where(j == 0, other_low, other_high)
            for i in range(2):
                pairs[2 * k + j, column + i] = X[i]
                pairs[2 * k + j, 2 - column + i] = Y[i]
            pairs[2 * k + j, 4] = miss + other_miss
    return pairs


@no_type_check
@wp.func
def both_at_once(
    A: mat22, B: mat22, d: vec2, free: vec2, loose: wp.float64, opening: wp.float64
):
    """Solve A X + B Y = d for pairs (x, y), if both equations depend on both angles.

    X = A^-1 (d - B Y) has length one if |adj(A) (d - B Y)|^2 = det(A)^2, which is a quartic in y.
    A near root within ``loose`` is returned on both sides, at the square root of ``opening``.

    Returns:
        Rows (x, y, miss), and their number.
    """
    adj = adjugate(A)
    det = A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
    g = adj * d
    G = adj * B
    u = vec2(G[0, 0], G[1, 0])  # of sin y
    v = vec2(G[0, 1], G[1, 1])  # of cos y
    two = wp.float64(2.0)
    mean = wp.float64(0.5) * (wp.dot(u, u) + wp.dot(v, v))
    f = vec5(
        wp.dot(g, g) - det * det + mean, -two * wp.dot(g, u), -two * wp.dot(g, v),
        wp.dot(u, v), wp.float64(0.5) * (wp.dot(v, v) - wp.dot(u, u)),
    )  # fmt: skip
    size = wp.dot(g, g) + det * det + wp.float64(2.0) * mean
    roots, n = circle_roots(f, loose * size)
    pairs = Pairs()
    count = int(0)
    # If A is nearly singular, X follows from one equation, with two roots.
    larger = int(0)
    if A[1, 0] * A[1, 0] + A[1, 1] * A[1, 1] > A[0, 0] * A[0, 0] + A[0, 1] * A[0, 1]:
        larger = 1
    a = vec2(A[larger, 0], A[larger, 1])
    b = vec2(B[0, 0], B[0, 1])
    if wp.ddot(A, A) < wp.float64(wp.static(FREE * FREE)):
        # Neither equation depends on x.
        row = wp.where(B[1, 0] * B[1, 0] + B[1, 1] * B[1, 1] > wp.length_sq(b), int(1), int(0))
        b = vec2(B[row, 0], B[row, 1])
        zero = vec2(wp.float64(0.0), wp.float64(1.0))
        low, high, line_miss = line_roots(b, d[row], zero, wp.float64(0.0))
        for j in range(2):
            Y = wp.where(j == 0, low, high)
            for i in range(2):
                pairs[j, i] = free[i]
                pairs[j, 2 + i] = Y[i]
            pairs[j, 4] = line_miss
        return pairs, int(2)
    regular = wp.abs(det) > wp.float64(1.0e-6) * wp.dot(a, a)
    for k in range(2 * n):
        near = roots[k // 2, 1] > wp.float64(0.0)
        side = wp.float64(2 * (k % 2) - 1)
        if (near or k % 2 == 0) and count < 7:
            y = roots[k // 2, 0]
            if near:
                y += side * wp.sqrt(opening)
            Y = sincos(y)
            rest = d - B * Y
            miss = roots[k // 2, 1] / wp.max(size, wp.float64(1.0e-300))
            if regular:
                X = wp.normalize(adj * rest)
                if det < wp.float64(0.0):
                    X = -X
                for i in range(2):
                    pairs[count, i] = X[i]
                    pairs[count, 2 + i] = Y[i]
                pairs[count, 4] = miss
                count += 1
            else:
                low, high, line_miss = line_roots(a, rest[larger], free, wp.float64(0.0))
                for j in range(2):
                    X = wp.where(j == 0, low, high)
                    for i in range(2):
                        pairs[count + j, i] = X[i]
                        pairs[count + j, 2 + i] = Y[i]
                    pairs[count + j, 4] = miss + line_miss
                count += 2
    return pairs, count


@no_type_check
@wp.func
def with_either_eliminated(
    A: mat22, B: mat22, d: vec2, free_x: vec2, free_y: vec2, loose: wp.float64,
    opening: wp.float64,
):  # fmt: skip
    """Solve as :func:`both_at_once`, by elimination of x or y.

    The eliminated angle is the one whose matrix has the larger least singular value, which is
    about its determinant over its norm.
    """
    least_a = wp.abs(wp.determinant(A)) * wp.sqrt(wp.ddot(B, B))
    least_b = wp.abs(wp.determinant(B)) * wp.sqrt(wp.ddot(A, A))
    swap = least_b > least_a
    C = wp.where(swap, B, A)
    D = wp.where(swap, A, B)
    free = wp.where(swap, free_y, free_x)
    pairs, count = both_at_once(C, D, d, free, loose, opening)
    if swap:
        pairs = swapped(pairs, count)
    return pairs, count
