# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Determinant and null vectors of the eliminated equations, at several angles of joint 3 together.

The equations are those of :mod:`ros_ik.solvers.analytic.candidates.general_axes.elimination`.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.solvers.analytic.subproblems.rotations import sincos

# Ratio of the second singular value to the first below which there is a second null vector.
SECOND_NULL = 1e-2
# Iterations for the null vectors.
_NULL_ITERATIONS = 3


@no_type_check
@functools.cache
def determinant_functions(lanes: int) -> SimpleNamespace:
    """Build the functions that process several angles of joint 3 together.

    Args:
        lanes: Number of angles, see :mod:`ros_ik.kinematics.runtime.lanes`.
    """
    LaneNumbers = wp.types.vector(lanes, wp.float64)
    Work = wp.types.matrix((81, lanes), wp.float64)
    Vectors = wp.types.matrix((12, lanes), wp.float64)
    Diagonal = wp.types.matrix((6, lanes), wp.float64)

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
        diagonal = Diagonal()
        i = int(0)
        while i < 6:
            lane = int(0)
            while lane < wp.static(lanes):
                u = work[10 * (3 + i), lane]
                floor = wp.float64(1.0e-14) * largest[lane] + wp.float64(1.0e-300)
                diagonal[i, lane] = wp.where(wp.abs(u) < floor, floor, u)
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
                        x[vector + i, lane] = x[vector + i, lane] / diagonal[i, lane]
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
                        x[vector + i, lane] = x[vector + i, lane] / diagonal[i, lane]
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
