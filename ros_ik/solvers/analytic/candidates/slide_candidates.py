# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel for candidate configurations of six joints with prismatic ones, a thread per pose.

The notation is that of :mod:`ros_ik.solvers.analytic.candidates.candidates`. E_i(q) of a prismatic
joint translates by q along h_i.

Three prismatic joints: they do not change the rotation, so the rotation of the three revolute
joints is known, R_a R_b R_c = R_M. The position is linear in the prismatic joints.

Three axes through one point c (joints 4, 5, 6) and prismatic joints among 1, 2, 3: with
u = E_3(y) c and v = E_1(x)^-1 M c, joint 2 moves u to v. If it is revolute, h_2 . u = h_2 . v and
|u - p_2| = |v - p_2|. If it is prismatic, u - v is parallel to h_2. Both u and v are linear in a
prismatic joint, or in sine and cosine of an angle. These two equations determine x and y.
"""

import functools
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.analytic.candidates.candidates import MAX_CANDIDATES
from ros_ik.solvers.analytic.candidates.candidates import tool_motion
from ros_ik.solvers.analytic.candidates.spherical_wrist import wrist_angles
from ros_ik.solvers.analytic.structure.structure import RIGHT_ANGLE
from ros_ik.solvers.analytic.subproblems.angle_equations import circle_roots
from ros_ik.solvers.analytic.subproblems.angle_equations import FourPairs
from ros_ik.solvers.analytic.subproblems.angle_equations import line_roots
from ros_ik.solvers.analytic.subproblems.angle_equations import one_then_other
from ros_ik.solvers.analytic.subproblems.angle_equations import Pairs
from ros_ik.solvers.analytic.subproblems.angle_equations import swapped
from ros_ik.solvers.analytic.subproblems.angle_equations import two_angle_equation
from ros_ik.solvers.analytic.subproblems.angle_equations import vec5
from ros_ik.solvers.analytic.subproblems.angle_equations import with_either_eliminated
from ros_ik.solvers.analytic.subproblems.rotations import angle_of
from ros_ik.solvers.analytic.subproblems.rotations import carry_angle
from ros_ik.solvers.analytic.subproblems.rotations import mat22
from ros_ik.solvers.analytic.subproblems.rotations import mat33
from ros_ik.solvers.analytic.subproblems.rotations import mat63
from ros_ik.solvers.analytic.subproblems.rotations import rotated
from ros_ik.solvers.analytic.subproblems.rotations import side_of
from ros_ik.solvers.analytic.subproblems.rotations import sincos
from ros_ik.solvers.analytic.subproblems.rotations import slope
from ros_ik.solvers.analytic.subproblems.rotations import turned
from ros_ik.solvers.analytic.subproblems.rotations import vec2
from ros_ik.solvers.analytic.subproblems.rotations import vec3
from ros_ik.solvers.analytic.subproblems.rotations import vec6
from ros_ik.solvers.analytic.subproblems.rotations import within_half_turn

# Damping for prismatic joints that are linearly dependent.
_DAMPING = 1e-14


@no_type_check
@functools.cache
def slide_axes_struct() -> Any:
    """Return the struct of the axes of a chart."""

    @wp.struct
    class SlideAxes:
        directions: wp.array(dtype=wp.vec3d)  # [6], in the order of the chart
        points: wp.array(dtype=wp.vec3d)  # [6]
        slides: wp.array(dtype=wp.int32)  # [6], 1 for a joint that slides
        order: wp.array(dtype=wp.int32)  # [6], joint of each axis
        center: wp.vec3d  # c
        three_slides: int  # 1: three slides, 0: three axes in one point
        backwards: int  # 1: the chain is read from the tool to the base
        tool: wp.transformd  # inverse of the pose of the tool with every joint at zero
        origin: wp.vec3d  # [m]
        reach: wp.float64  # [m]
        opening: wp.float64  # separates roots that nearly coincide
        loose: wp.float64  # largest residual of a near root of the quartic

    return SlideAxes


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


@no_type_check
@functools.cache
def slide_candidates_kernel() -> wp.Kernel:
    """Build the kernel, which is the same for all charts.

    The kernel writes ``candidates`` [n_problems, 16, 6], joint positions in the order of the
    chain, and ``misses`` [n_problems, 16], see ``candidates_kernel``.
    """
    SlideAxes = slide_axes_struct()

    @wp.func
    def first_stage(
        chart: SlideAxes, h: mat63, p: mat63, moved: vec3, free_x: vec2, free_y: vec2
    ):
        """Return values of joints 1 and 3 as rows (x, y, miss), and their number."""
        pairs = Pairs()
        count = int(0)
        swap = bool(False)
        c = chart.center
        h1, h2, h3 = h[0], h[1], h[2]
        if chart.slides[0] != 0 and chart.slides[2] != 0:
            if wp.abs(wp.dot(h2, h1)) > wp.abs(wp.dot(h2, h3)):
                pairs, count = slide_and_slide(h2, c - p[1], h3, moved - p[1], -h1)
            else:
                swap = True
                pairs, count = slide_and_slide(h2, moved - p[1], -h1, c - p[1], h3)
        elif chart.slides[0] != 0:
            pairs, count = slide_and_turn(
                chart.slides[1], h2, p[1], moved, -h1, h3, p[2], c - p[2], chart.loose,
                chart.opening,
            )  # fmt: skip
        elif chart.slides[2] != 0:
            swap = True
            pairs, count = slide_and_turn(
                chart.slides[1], h2, p[1], c, h3, -h1, p[0], moved - p[0], chart.loose,
                chart.opening,
            )  # fmt: skip
        else:
            pairs, count = turn_and_turn(
                h2, h1, p[0], moved - p[0], h3, p[2], c - p[2], free_x, free_y, chart.loose,
                chart.opening,
            )  # fmt: skip
        if swap:
            pairs = swapped(pairs, count)
        return pairs, count

    @wp.func
    def value_of(chart: SlideAxes, k: int, first: wp.float64, cosine: wp.float64) -> wp.float64:
        """Return the value of a joint from two entries of a row: a length, or a direction."""
        if chart.slides[k] != 0:
            return first
        return angle_of(vec2(first, cosine))

    @wp.func
    def carried(chart: SlideAxes, h: mat63, p: mat63, k: int, value: wp.float64, x: vec3) -> vec3:
        """Return the point x moved by a joint."""
        if chart.slides[k] != 0:
            return x + value * h[k]
        return p[k] + turned(h[k], value, x - p[k])

    @wp.func
    def back(chart: SlideAxes, h: mat63, q: vec6, v: vec3) -> vec3:
        """Return the direction v rotated back by joints 1, 2 and 3."""
        rest = v
        for k in range(3):
            if chart.slides[k] == 0:
                rest = turned(h[k], -q[k], rest)
        return rest

    @wp.func
    def solve_slides(chart: SlideAxes, h: mat63, p: mat63, q: vec6, t: vec3):
        """Solve for the prismatic joints that move the origin to t, with the others given."""
        directions = mat33()
        at = vec3()
        number = int(0)
        for step in range(6):
            k = 5 - step
            if chart.slides[k] == 0:
                at = p[k] + turned(h[k], q[k], at - p[k])
                for j in range(number):
                    direction = vec3(directions[0, j], directions[1, j], directions[2, j])
                    direction = turned(h[k], q[k], direction)
                    for i in range(3):
                        directions[i, j] = direction[i]
            else:
                for i in range(3):
                    directions[i, number] = h[k][i]
                number += 1
        damped = directions * wp.transpose(directions)
        damped += wp.float64(wp.static(_DAMPING)) * wp.identity(n=3, dtype=wp.float64)
        values = wp.transpose(directions) * (wp.inverse(damped) * (t - at))
        miss = wp.length(t - at - directions * values)
        full = q
        number = int(0)
        for step in range(6):
            k = 5 - step
            if chart.slides[k] != 0:
                full[k] = values[number]
                number += 1
        return full, miss

    @compiled_kernel(registers=255)
    def slide_candidates(
        chart: SlideAxes,
        target: wp.array(dtype=wp.transformd),  # [n_problems], unit quaternions
        seed: wp.array2d(dtype=wp.float64),  # [n_problems, 6]
        candidates: wp.array3d(dtype=wp.float64),  # [n_problems, 16, 6]
        misses: wp.array2d(dtype=wp.float64),  # [n_problems, 16]
    ):
        problem = wp.tid()
        R, t = tool_motion(
            target[problem], chart.tool, chart.origin, chart.reach, chart.backwards
        )
        h = mat63()
        p = mat63()
        free = vec6()
        # Indices of the revolute joints.
        turning = wp.vec3i()
        number = int(0)
        for k in range(6):
            free[k] = seed[problem, chart.order[k]]
            h[k] = chart.directions[k]
            p[k] = chart.points[k]
            if chart.slides[k] == 0 and number < 3:
                turning[number] = k
                number += 1
        moved = R * chart.center + t
        pairs = Pairs()
        count = int(1)
        if chart.three_slides == 0:
            turning = wp.vec3i(3, 4, 5)
            pairs, count = first_stage(chart, h, p, moved, sincos(free[0]), sincos(free[2]))
        h4, h5, h6 = h[turning[0]], h[turning[1]], h[turning[2]]
        side = side_of(h6)
        k = int(0)
        while k < count:
            q = vec6()
            tip = R * h6
            flag = R * side
            if chart.three_slides == 0:
                q[0] = value_of(chart, 0, pairs[k, 0], pairs[k, 1])
                q[2] = value_of(chart, 2, pairs[k, 2], pairs[k, 3])
                u = carried(chart, h, p, 2, q[2], chart.center)
                v = carried(chart, h, p, 0, -q[0], moved)
                if chart.slides[1] != 0:
                    q[1] = wp.dot(h[1], v - u)
                else:
                    q[1] = carry_angle(h[1], u - p[1], v - p[1], free[1])
                tip = back(chart, h, q, tip)
                flag = back(chart, h, q, flag)
            low, high, off = wrist_angles(
                h4, h5, h6, tip, side, flag, free[turning[0]], free[turning[2]], chart.opening
            )
            branch = int(0)
            while branch < 2:
                angles = wp.where(branch == 0, low, high)
                miss = pairs[k, 4] + off
                for i in range(3):
                    q[turning[i]] = angles[i]
                if chart.three_slides != 0:
                    q, left = solve_slides(chart, h, p, q, t)
                    miss += left
                for j in range(6):
                    value = q[j] * chart.reach
                    if chart.slides[j] == 0:
                        value = within_half_turn(q[j])
                    candidates[problem, 2 * k + branch, chart.order[j]] = value
                misses[problem, 2 * k + branch] = miss
                branch += 1
            k += 1
        slot = 2 * count
        while slot < wp.static(MAX_CANDIDATES):
            misses[problem, slot] = wp.float64(wp.inf)
            slot += 1

    return slide_candidates
