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
from ros_ik.solvers.analytic.subproblems.angle_equations import Pairs
from ros_ik.solvers.analytic.subproblems.angle_equations import swapped
from ros_ik.solvers.analytic.subproblems.rotations import angle_of
from ros_ik.solvers.analytic.subproblems.rotations import carry_angle
from ros_ik.solvers.analytic.subproblems.rotations import mat33
from ros_ik.solvers.analytic.subproblems.rotations import mat63
from ros_ik.solvers.analytic.subproblems.rotations import side_of
from ros_ik.solvers.analytic.subproblems.rotations import sincos
from ros_ik.solvers.analytic.subproblems.rotations import turned
from ros_ik.solvers.analytic.subproblems.rotations import vec2
from ros_ik.solvers.analytic.subproblems.rotations import vec3
from ros_ik.solvers.analytic.subproblems.rotations import vec6
from ros_ik.solvers.analytic.subproblems.rotations import within_half_turn
from ros_ik.solvers.analytic.subproblems.slide_equations import slide_and_slide
from ros_ik.solvers.analytic.subproblems.slide_equations import slide_and_turn
from ros_ik.solvers.analytic.subproblems.slide_equations import turn_and_turn

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
