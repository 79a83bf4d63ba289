# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Angles of the other joints at a root of the eliminated equations.

The equations are those of :mod:`ros_ik.solvers.analytic.candidates.general_axes.elimination`.
"""

import math
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.spatial import arctangent
from ros_ik.solvers.analytic.candidates.general_axes.elimination import frame_of
from ros_ik.solvers.analytic.candidates.general_axes.elimination import FROM_4
from ros_ik.solvers.analytic.candidates.general_axes.elimination import FROM_5
from ros_ik.solvers.analytic.candidates.general_axes.elimination import LEFT
from ros_ik.solvers.analytic.candidates.general_axes.elimination import line_functions
from ros_ik.solvers.analytic.candidates.general_axes.elimination import pair
from ros_ik.solvers.analytic.candidates.general_axes.elimination import vec14
from ros_ik.solvers.analytic.subproblems.rotations import mat33
from ros_ik.solvers.analytic.subproblems.rotations import mat63
from ros_ik.solvers.analytic.subproblems.rotations import sincos
from ros_ik.solvers.analytic.subproblems.rotations import turned
from ros_ik.solvers.analytic.subproblems.rotations import vec2
from ros_ik.solvers.analytic.subproblems.rotations import vec6

# Rotation of the pencil of two null vectors [rad], to avoid a root at infinity for an angle of pi.
_PENCIL_TURN = 0.6


@no_type_check
@wp.func
def middle_angles(w: vec6) -> vec2:
    """Return the angles of joints 4 and 5 [rad] of a vector (x_4, 1) * (x_5^2, x_5, 1)."""
    cross = wp.float64(0.0)
    excess = wp.float64(0.0)
    for k in range(3):
        cross += wp.float64(2.0) * w[k] * w[3 + k]
        excess += w[3 + k] * w[3 + k] - w[k] * w[k]
    q4 = wp.float64(wp.static(FROM_4)) + arctangent(cross, excess)
    cross = wp.float64(2.0) * (w[0] * w[1] + w[1] * w[2] + w[3] * w[4] + w[4] * w[5])
    excess = w[2] * w[2] + w[5] * w[5] - w[0] * w[0] - w[3] * w[3]
    q5 = wp.float64(wp.static(FROM_5)) + arctangent(cross, excess)
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
        at = LEFT[k]
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
