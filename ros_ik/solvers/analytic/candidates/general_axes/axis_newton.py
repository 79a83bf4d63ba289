# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Newton's method on the axes of six revolute joints, for several configurations together."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.solvers.analytic.candidates.general_axes.elimination import mat66
from ros_ik.solvers.analytic.subproblems.rotations import mat33
from ros_ik.solvers.analytic.subproblems.rotations import mat63
from ros_ik.solvers.analytic.subproblems.rotations import sincos
from ros_ik.solvers.analytic.subproblems.rotations import vec3
from ros_ik.solvers.analytic.subproblems.rotations import vec6
from ros_ik.solvers.qp.small_system import small_system_functions

# Largest error of a solution [rad, reaches].
SOLVED = 1e-12
# Error at which a configuration does not change any more.
_FINE = 1e-14
# Distances at which a second solution is searched next to one [rad], and number of starts.
_TWINS = wp.types.vector(4, wp.float64)(0.01, 0.03, 0.1, 0.3)
TWIN_STARTS = 8
# Damping of the direction in which a singular configuration can move, over the trace of J^T J.
_RIDGE = 1e-15
# Longest step of a joint [rad].
_LONGEST_STEP = 0.5


@no_type_check
@wp.func
def turn_matrix(h: vec3, angle: wp.float64) -> mat33:
    sc = sincos(angle)
    c = sc[1]
    s = sc[0]
    v = (wp.float64(1.0) - c) * h
    return mat33(
        v[0] * h[0] + c, v[0] * h[1] - s * h[2], v[0] * h[2] + s * h[1],
        v[1] * h[0] + s * h[2], v[1] * h[1] + c, v[1] * h[2] - s * h[0],
        v[2] * h[0] - s * h[1], v[2] * h[1] + s * h[0], v[2] * h[2] + c,
    )  # fmt: skip


@no_type_check
@functools.cache
def newton_functions(lanes: int) -> SimpleNamespace:
    """Build ``newton`` and ``twin_starts``.

    Args:
        lanes: Number of configurations, see :mod:`ros_ik.kinematics.runtime.lanes`.
    """
    LaneNumbers = wp.types.vector(lanes, wp.float64)
    LaneAngles = wp.types.matrix((6, lanes), wp.float64)
    Columns = wp.types.matrix((42, lanes), wp.float64)
    system = small_system_functions(wp.float64, 6)
    solve_all, iteration_start = system.solve_all, system.iteration_start
    Turns = wp.types.matrix((9, lanes), wp.float64)
    Positions = wp.types.matrix((3, lanes), wp.float64)
    one, zero = wp.float64(1.0), wp.float64(0.0)

    @wp.func
    def errors(h: mat63, p: mat63, angles: LaneAngles, R: mat33, t: vec3):
        """Return the Jacobian with the twists to M as seventh column, and the errors."""
        J = Columns()
        turns = Turns()
        positions = Positions()
        off = LaneNumbers()
        lane = int(0)
        while lane < wp.static(lanes):
            for i in range(3):
                turns[4 * i, lane] = one
            lane += 1
        k = int(0)
        while k < 6:
            axis_there = h[k]
            point_there = p[k]
            lane = int(0)
            while lane < wp.static(lanes):
                turn = mat33()
                for i in range(9):
                    turn[i // 3, i % 3] = turns[i, lane]
                position = vec3(positions[0, lane], positions[1, lane], positions[2, lane])
                axis = turn * axis_there
                at = turn * point_there + position
                moment = wp.cross(at, axis)
                turn = turn * turn_matrix(axis_there, angles[k, lane])
                position = at - turn * point_there
                for i in range(3):
                    J[7 * i + k, lane] = axis[i]
                    J[7 * (3 + i) + k, lane] = moment[i]
                    positions[i, lane] = position[i]
                for i in range(9):
                    turns[i, lane] = turn[i // 3, i % 3]
                lane += 1
            k += 1
        lane = int(0)
        while lane < wp.static(lanes):
            turn = mat33()
            for i in range(9):
                turn[i // 3, i % 3] = turns[i, lane]
            position = vec3(positions[0, lane], positions[1, lane], positions[2, lane])
            E = R * wp.transpose(turn)
            rotation = wp.float64(0.5) * vec3(
                E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1]
            )
            move = t - E * position
            # At half a turn this rotation vector vanishes, but not what the trace lacks.
            error = wp.max(one - wp.trace(E), zero)
            for i in range(3):
                error = wp.max(error, wp.max(wp.abs(rotation[i]), wp.abs(move[i])))
                J[7 * i + 6, lane] = rotation[i]
                J[7 * (3 + i) + 6, lane] = move[i]
            off[lane] = error
            lane += 1
        return J, off

    @wp.func
    def newton(h: mat63, p: mat63, start: LaneAngles, R: mat33, t: vec3, steps: int):
        """Improve configurations, and return them and their errors.

        Args:
            h: Directions of the axes.
            p: Points on them.
            start: The configurations.
            R: Rotation of the motion M = E_1 .. E_6.
            t: Its translation.
            steps: Largest number of steps.
        """
        angles = start
        off = LaneNumbers()
        step = int(0)
        while step <= steps:
            J, off_now = errors(h, p, angles, R, t)
            off = off_now
            most = zero
            lane = int(0)
            while lane < wp.static(lanes):
                most = wp.max(most, off[lane])
                lane += 1
            if most <= wp.float64(wp.static(SOLVED)):
                step = steps
            if step < steps:
                # Householder reflections of [J, twist], then substitution.
                column = int(0)
                while column < 6:
                    square = LaneNumbers()
                    row = column + 1
                    while row < 6:
                        lane = int(0)
                        while lane < wp.static(lanes):
                            x = J[7 * row + column, lane]
                            square[lane] = square[lane] + x * x
                            lane += 1
                        row += 1
                    head = LaneNumbers()
                    factor = LaneNumbers()
                    lane = int(0)
                    while lane < wp.static(lanes):
                        x = J[8 * column, lane]
                        norm = wp.sqrt(x * x + square[lane])
                        signed = wp.where(x < zero, -norm, norm)
                        head[lane] = x + signed
                        J[8 * column, lane] = -signed
                        half_square = norm * norm + wp.abs(x) * norm
                        factor[lane] = one / wp.max(half_square, wp.float64(1.0e-300))
                        lane += 1
                    other = column + 1
                    while other < 7:
                        dot = LaneNumbers()
                        lane = int(0)
                        while lane < wp.static(lanes):
                            dot[lane] = head[lane] * J[7 * column + other, lane]
                            lane += 1
                        row = column + 1
                        while row < 6:
                            lane = int(0)
                            while lane < wp.static(lanes):
                                dot[lane] = (
                                    dot[lane]
                                    + J[7 * row + column, lane] * J[7 * row + other, lane]
                                )
                                lane += 1
                            row += 1
                        lane = int(0)
                        while lane < wp.static(lanes):
                            dot[lane] = dot[lane] * factor[lane]
                            J[7 * column + other, lane] = (
                                J[7 * column + other, lane] - head[lane] * dot[lane]
                            )
                            lane += 1
                        row = column + 1
                        while row < 6:
                            lane = int(0)
                            while lane < wp.static(lanes):
                                J[7 * row + other, lane] = (
                                    J[7 * row + other, lane]
                                    - J[7 * row + column, lane] * dot[lane]
                                )
                                lane += 1
                            row += 1
                        other += 1
                    column += 1
                # Each angle in turn replaces its twist.
                longest = LaneNumbers()
                i = int(5)
                while i >= 0:
                    k = i + 1
                    while k < 6:
                        lane = int(0)
                        while lane < wp.static(lanes):
                            J[7 * i + 6, lane] = (
                                J[7 * i + 6, lane] - J[7 * i + k, lane] * J[7 * k + 6, lane]
                            )
                            lane += 1
                        k += 1
                    lane = int(0)
                    while lane < wp.static(lanes):
                        u = J[8 * i, lane]
                        u = wp.where(wp.abs(u) < wp.float64(1.0e-12), wp.float64(1.0e-12), u)
                        change = J[7 * i + 6, lane] / u
                        J[7 * i + 6, lane] = change
                        longest[lane] = wp.max(longest[lane], wp.abs(change))
                        lane += 1
                    i -= 1
                k = int(0)
                while k < 6:
                    lane = int(0)
                    while lane < wp.static(lanes):
                        part = wp.float64(wp.static(_LONGEST_STEP)) / wp.max(
                            longest[lane], wp.float64(wp.static(_LONGEST_STEP))
                        )
                        # Solved configurations stay where they are.
                        part = wp.where(off[lane] <= wp.float64(wp.static(_FINE)), zero, part)
                        angles[k, lane] = angles[k, lane] + part * J[7 * k + 6, lane]
                        lane += 1
                    k += 1
            step += 1
        return angles, off

    @wp.func
    def twin_starts(
        h: mat63, p: mat63, q: vec6, R: mat33, t: vec3, first: int
    ) -> LaneAngles:  # fmt: skip
        """Return configurations on both sides of q in the direction that moves the tool least.

        ``first`` of the TWIN_STARTS configurations is the first one.
        """
        starts = LaneAngles()
        for k in range(6):
            starts[k, 0] = q[k]
        J, _off = errors(h, p, starts, R, t)
        H = mat66()
        for i in range(6):
            for j in range(6):
                for row in range(6):
                    H[i, j] += J[7 * row + i, 0] * J[7 * row + j, 0]
        x = iteration_start()
        iteration = int(0)
        while iteration < 3:
            x = wp.normalize(solve_all(H, x, wp.float64(wp.static(_RIDGE)) * wp.trace(H)))
            iteration += 1
        lane = int(0)
        while lane < wp.static(lanes):
            start = first + lane
            offset = _TWINS[start // 2] * wp.float64(1 - 2 * (start % 2))
            for k in range(6):
                starts[k, lane] = q[k] + offset * x[k]
            lane += 1
        return starts

    return SimpleNamespace(newton=newton, twin_starts=twin_starts, LaneAngles=LaneAngles)
