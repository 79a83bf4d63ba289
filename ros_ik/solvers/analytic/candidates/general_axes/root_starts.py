# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions between the equations of a chart and the configurations at its roots."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.solvers.analytic.candidates.general_axes.axis_newton import newton_functions
from ros_ik.solvers.analytic.candidates.general_axes.branch_angles import middle_angles
from ros_ik.solvers.analytic.candidates.general_axes.branch_angles import outer_angles
from ros_ik.solvers.analytic.candidates.general_axes.branch_angles import two_vectors
from ros_ik.solvers.analytic.candidates.general_axes.determinant import determinant_functions
from ros_ik.solvers.analytic.candidates.general_axes.determinant import SECOND_NULL
from ros_ik.solvers.analytic.candidates.general_axes.elimination import vec14
from ros_ik.solvers.analytic.candidates.general_axes.trigonometric_roots import SAMPLES
from ros_ik.solvers.analytic.candidates.general_axes.trigonometric_roots import vec16
from ros_ik.solvers.analytic.candidates.general_axes.trigonometric_roots import vec24
from ros_ik.solvers.analytic.subproblems.rotations import mat33
from ros_ik.solvers.analytic.subproblems.rotations import mat63
from ros_ik.solvers.analytic.subproblems.rotations import vec6


@no_type_check
@functools.cache
def root_start_functions(lanes: int) -> SimpleNamespace:
    """Build the functions.

    Args:
        lanes: Number of roots that are processed together, a divisor of SAMPLES.

    Returns:
        The functions

        - ``sampled_determinant(problem, equations) -> det``;
        - ``root_starts(problem, h, p, a, b, g, R, roots, first, count, equations)
          -> starts, others, other_of, n_others``.
    """
    functions = determinant_functions(lanes)
    triangular, null_vectors = functions.triangular, functions.null_vectors
    LaneNumbers = functions.LaneNumbers
    LaneAngles = newton_functions(lanes).LaneAngles

    @wp.func
    def sampled_determinant(problem: int, equations: wp.array3d(dtype=wp.float64)) -> vec24:
        """Return the determinant at evenly spaced angles."""
        det = vec24()
        sample = int(0)
        while sample < wp.static(SAMPLES):
            angle = LaneNumbers()
            lane = int(0)
            while lane < wp.static(lanes):
                angle[lane] = wp.float64(wp.static(wp.TAU / SAMPLES)) * wp.float64(sample + lane)
                lane += 1
            _work, dets = triangular(problem, angle, equations)
            lane = int(0)
            while lane < wp.static(lanes):
                det[sample + lane] = dets[lane]
                lane += 1
            sample += wp.static(lanes)
        return det

    @wp.func
    def root_starts(
        problem: int, h: mat63, p: mat63, a: vec14, b: vec14, g: vec14, R: mat33, roots: vec16,
        first: int, count: int, equations: wp.array3d(dtype=wp.float64),
    ):  # fmt: skip
        """Return configurations at some roots, from the null vectors of the equations there.

        A double root may have two configurations; the others are returned with their lanes.
        """
        angle = LaneNumbers()
        lane = int(0)
        while lane < wp.static(lanes):
            angle[lane] = roots[wp.min(first + lane, count - 1)]
            lane += 1
        work, _dets = triangular(problem, angle, equations)
        vectors, ratio = null_vectors(work)
        starts = LaneAngles()
        others = LaneAngles()
        n_others = int(0)
        other_of = LaneNumbers()
        lane = int(0)
        while lane < wp.static(lanes):
            x = vec6()
            y = vec6()
            for k in range(6):
                x[k] = vectors[k, lane]
                y[k] = vectors[6 + k, lane]
            two = False
            if ratio[lane] < wp.float64(wp.static(SECOND_NULL)):
                x, y, two = two_vectors(x, y)
            middle = middle_angles(x)
            q = outer_angles(h, p, a, b, g, R, angle[lane], middle[0], middle[1])
            for k in range(6):
                starts[k, lane] = q[k]
            if two and first + lane < count:
                middle = middle_angles(y)
                q = outer_angles(h, p, a, b, g, R, angle[lane], middle[0], middle[1])
                for k in range(6):
                    others[k, n_others] = q[k]
                other_of[n_others] = wp.float64(lane)
                n_others += 1
            lane += 1
        return starts, others, other_of, n_others

    return SimpleNamespace(sampled_determinant=sampled_determinant, root_starts=root_starts)
