# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions for three axes through one point: spherical wrists (Pieper).

The notation is that of :class:`Chart`: directions h_i and points p_i of the axes in the
order of the chart, the motion M = E_1 .. E_6 of the tool, lengths in units of the reach. Axes 4, 5
and 6 meet in c. With u = E_3(y) c and v = E_1(x)^-1 M c, two equations determine x and y:

    h_2 . (u - p_2) = h_2 . (v - p_2),   |u - p_2|^2 = |v - p_2|^2

E_2 then moves u to v, and the rotation R_4 R_5 R_6 is known.
"""

from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.solvers.analytic.subproblems.angle_equations import direction_roots
from ros_ik.solvers.analytic.subproblems.angle_equations import two_angle_equation
from ros_ik.solvers.analytic.subproblems.rotations import angle_of
from ros_ik.solvers.analytic.subproblems.rotations import carry
from ros_ik.solvers.analytic.subproblems.rotations import mat22
from ros_ik.solvers.analytic.subproblems.rotations import mat33
from ros_ik.solvers.analytic.subproblems.rotations import mat63
from ros_ik.solvers.analytic.subproblems.rotations import reverse
from ros_ik.solvers.analytic.subproblems.rotations import rotated
from ros_ik.solvers.analytic.subproblems.rotations import side_of
from ros_ik.solvers.analytic.subproblems.rotations import sincos
from ros_ik.solvers.analytic.subproblems.rotations import vec2
from ros_ik.solvers.analytic.subproblems.rotations import vec3
from ros_ik.solvers.analytic.subproblems.rotations import vec6


@no_type_check
@wp.func
def spherical_equations(h: mat63, p: mat63, c: vec3, moved: vec3, R: mat33):
    """Return both equations of axes 1 and 3 as A X + B Y = d."""
    h1, h2, h3 = h[0], h[1], h[2]
    out = moved - p[0]
    far = c - p[2]
    A1, B1, d1 = two_angle_equation(h1, h2, out, h3, h2, far, wp.dot(h2, p[2] - p[0]))
    # Half of the squared distances to p_2: |p - p_2|^2 / 2 + |z|^2 / 2 + (p - p_2) . R z.
    before = p[0] - p[1]
    after = p[2] - p[1]
    half = wp.float64(0.5)
    gap = half * (wp.length_sq(after) + wp.length_sq(far))
    gap -= half * (wp.length_sq(before) + wp.length_sq(out))
    A2, B2, d2 = two_angle_equation(h1, before, out, h3, after, far, gap)
    A = mat22(A1[0], A1[1], A2[0], A2[1])
    B = mat22(B1[0], B1[1], B2[0], B2[1])
    return A, B, vec2(d1, d2)


@no_type_check
@wp.func
def wrist_angles(
    h4: vec3, h5: vec3, h6: vec3, tip: vec3, side: vec3, flag: vec3, free4: wp.float64,
    free6: wp.float64, opening: wp.float64,
):  # fmt: skip
    """Return both triples of wrist angles that rotate h_6 to tip, side to flag, and the miss."""
    low, high, miss = direction_roots(h5, h4, h6, tip, opening)
    first, last = sincos(free4), sincos(free6)
    low4 = carry(h4, rotated(h5, low, h6), tip, first)
    high4 = carry(h4, rotated(h5, high, h6), tip, first)
    low6 = carry(h6, side, rotated(h5, reverse(low), rotated(h4, reverse(low4), flag)), last)
    high6 = carry(h6, side, rotated(h5, reverse(high), rotated(h4, reverse(high4), flag)), last)
    return (
        vec3(angle_of(low4), angle_of(low), angle_of(low6)),
        vec3(angle_of(high4), angle_of(high), angle_of(high6)),
        miss,
    )


@no_type_check
@wp.func
def no_middle(h: mat63, R: mat33, x: vec2, y: vec2, free: vec6):
    """Return zeros; this structure has no intermediate angles."""
    return wp.float64(0.0), x, bool(False)


@no_type_check
@wp.func
def no_singular_middle(
    h: mat63, p: mat63, c: vec3, moved: vec3, R: mat33, t: vec3, x: vec2, y: vec2, free: vec6,
    known: int,
):  # fmt: skip
    return x, y, wp.float64(0.0), x


@no_type_check
@wp.func
def spherical_finish(
    h: mat63, p: mat63, c: vec3, moved: vec3, R: mat33, t: vec3, signs: vec3, x: vec2, y: vec2,
    total: wp.float64, sixth: vec2, free: vec6, opening: wp.float64,
):  # fmt: skip
    """Compute all angles from those of axes 1 and 3, for both branches of the wrist."""
    h1, h2, h3, h4, h5, h6 = h[0], h[1], h[2], h[3], h[4], h[5]
    x_back, y_back = reverse(x), reverse(y)
    u = p[2] + rotated(h3, y, c - p[2]) - p[1]
    v = p[0] + rotated(h1, x_back, moved - p[0]) - p[1]
    second = carry(h2, u, v, sincos(free[1]))
    second_back = reverse(second)
    # Q = (R_1 R_2 R_3)^T R_M applied to h_6 and to a vector perpendicular to it.
    side = side_of(h6)
    tip = rotated(h3, y_back, rotated(h2, second_back, rotated(h1, x_back, R * h6)))
    flag = rotated(h3, y_back, rotated(h2, second_back, rotated(h1, x_back, R * side)))
    low, high, miss = wrist_angles(h4, h5, h6, tip, side, flag, free[3], free[5], opening)
    q1, q2, q3 = angle_of(x), angle_of(second), angle_of(y)
    return (
        vec6(q1, q2, q3, low[0], low[1], low[2]),
        vec6(q1, q2, q3, high[0], high[1], high[2]),
        miss,
    )


SPHERICAL = SimpleNamespace(
    equations=spherical_equations, middle=no_middle, middle_of_singular=no_singular_middle,
    finish=spherical_finish,
)  # fmt: skip
