# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel of the candidate configurations of six general revolute joints, a thread per pose.

The elimination of :mod:`ros_ik.solvers.analytic.candidates.general_axes.elimination` can begin at
any joint and read the chain in either direction. With E_1' = M^-1 E_1 M (axis 1 moved by M^-1),
E_2 .. E_6 E_1' = M has the same solutions, and so on for six shifts. Each of these twelve charts
fails for some arms and poses. Its first two axes must be skew. If all neighbouring axes of an arm
intersect or are parallel, only the pair of axis 6 and axis 1' remains, and poses can make these
parallel, often for a tool that points straight down.

Charts are tried in a given order. Newton's method improves each candidate on the actual axes, so
that a chart is known to be complete: each real root must have a solution, and there must be as
many distinct ones as real roots. If all charts lose too many digits, slightly rotated targets are
solved.
"""

import functools
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.spatial import arctangent
from ros_ik.solvers.analytic.candidates.general_axes.axis_newton import newton_functions
from ros_ik.solvers.analytic.candidates.general_axes.axis_newton import SOLVED
from ros_ik.solvers.analytic.candidates.general_axes.axis_newton import turn_matrix
from ros_ik.solvers.analytic.candidates.general_axes.axis_newton import TWIN_STARTS
from ros_ik.solvers.analytic.candidates.general_axes.branch_angles import middle_angles
from ros_ik.solvers.analytic.candidates.general_axes.branch_angles import outer_angles
from ros_ik.solvers.analytic.candidates.general_axes.branch_angles import two_vectors
from ros_ik.solvers.analytic.candidates.general_axes.determinant import determinant_functions
from ros_ik.solvers.analytic.candidates.general_axes.determinant import SECOND_NULL
from ros_ik.solvers.analytic.candidates.general_axes.elimination import frame_of
from ros_ik.solvers.analytic.candidates.general_axes.elimination import right_side
from ros_ik.solvers.analytic.candidates.general_axes.elimination import write_equations
from ros_ik.solvers.analytic.candidates.general_axes.trigonometric_roots import harmonics_of
from ros_ik.solvers.analytic.candidates.general_axes.trigonometric_roots import root_error
from ros_ik.solvers.analytic.candidates.general_axes.trigonometric_roots import ROOTS
from ros_ik.solvers.analytic.candidates.general_axes.trigonometric_roots import SAMPLES
from ros_ik.solvers.analytic.candidates.general_axes.trigonometric_roots import unit_circle_roots
from ros_ik.solvers.analytic.candidates.general_axes.trigonometric_roots import vec16
from ros_ik.solvers.analytic.candidates.general_axes.trigonometric_roots import vec24
from ros_ik.solvers.analytic.subproblems.rotations import mat63
from ros_ik.solvers.analytic.subproblems.rotations import sincos
from ros_ik.solvers.analytic.subproblems.rotations import vec6
from ros_ik.solvers.analytic.subproblems.rotations import within_half_turn

# Number of roots that are processed together on a CPU; a divisor of SAMPLES.
ROOT_LANES = 8
# Largest number of candidates of a pose: 16 solutions, and others that Newton's method leaves.
GENERAL_CANDIDATES = 48
# Largest imaginary part of a root that may be real [rad]. Double roots have an error of the square
# root of the rounding. For a rotated target it is about the square root of the angle, 0.14 rad; a
# bound of 0.2 rad found no more solutions.
NEARLY_REAL = 0.08
# Largest imaginary part of a root that must have a solution [rad].
_REAL = 1e-4
# Error of the determinant in units of its largest harmonic, relative to the measured rounding, and
# errors of a root within which it may be real.
_NOISE, _ERRORS = 10.0, 3.0
# Largest distance of a solution from its root [rad].
_MAX_ROOT_DISTANCE = 0.02
# Number of roots of each pose that become candidates even if they are not real. They are the
# starts of the search for the nearest configuration of an unreachable pose.
_MIN_ROOTS = 2
# Largest number of accurate charts at a pose.
_MAX_ACCURATE_CHARTS = 4
# Largest relative rounding of the determinant for which an elimination is trusted.
_MAX_ROUNDING = 1e-12
# Largest error of a configuration that is left to the polishing [rad, reaches].
_NEARLY_SOLVED = 1e-2
# Distance of distinct solutions [rad].
_SEPARATION = 1e-5


@no_type_check
@functools.cache
def general_axes_struct() -> Any:
    """Return the struct of the axes of an arm and its charts."""

    @wp.struct
    class GeneralAxes:
        directions: wp.array(dtype=wp.vec3d)  # [6], by joint
        points: wp.array(dtype=wp.vec3d)  # [6]
        tool: wp.transformd  # inverse of the pose of the tool with every joint at zero
        origin: wp.vec3d  # [m]
        reach: wp.float64  # [m]
        shifts: wp.array(dtype=wp.int32)  # of each chart, joints moved from the front to the end
        backwards: wp.array(dtype=wp.int32)  # 1: the shifted chain is then read from its end
        aside: wp.array(dtype=wp.vec3d)  # rotation of the target [rad]
        newton_steps: int

    return GeneralAxes


@no_type_check
@functools.cache
def general_candidates_kernel(lanes: int) -> wp.Kernel:
    """Build the kernel.

    It writes ``candidates`` [n_problems, 48, 6], joint positions within half a turn of zero,
    solutions first, and ``misses`` [n_problems, 48], 0 for solutions, the imaginary parts of roots
    for nearly solved ones, these plus 1 for other configurations, and inf for unused entries.
    """
    GeneralAxes = general_axes_struct()
    functions = determinant_functions(lanes)
    triangular, null_vectors = functions.triangular, functions.null_vectors
    LaneNumbers = functions.LaneNumbers
    functions = newton_functions(lanes)
    newton, twin_starts, LaneAngles = functions.newton, functions.twin_starts, functions.LaneAngles
    one, zero = wp.float64(1.0), wp.float64(0.0)

    @wp.func
    def is_new(
        q: vec6, order: vec6, problem: int, count: int, candidates: wp.array3d(dtype=wp.float64)
    ) -> bool:
        """Return True if q differs from the first candidates."""
        k = int(0)
        while k < count:
            most = zero
            for j in range(6):
                change = within_half_turn(q[j] - candidates[problem, k, int(order[j])])
                most = wp.max(most, wp.abs(change))
            if most < wp.float64(wp.static(_SEPARATION)):
                return False
            k += 1
        return True

    @wp.func
    def read(problem: int, k: int, candidates: wp.array3d(dtype=wp.float64)) -> vec6:
        q = vec6()
        for j in range(6):
            q[j] = candidates[problem, k, j]
        return q

    @wp.func
    def plain_axes(general: GeneralAxes):
        """Return the axes in the order of the chain, and this order."""
        h = mat63()
        p = mat63()
        order = vec6()
        for k in range(6):
            h[k] = general.directions[k]
            p[k] = general.points[k]
            order[k] = wp.float64(k)
        return h, p, order

    # Loops over joints and coordinates unroll.
    @compiled_kernel(max_unroll=16, registers=255)
    def general_candidates(
        general: GeneralAxes,
        target: wp.array(dtype=wp.transformd),  # [n_problems], unit quaternions
        seed: wp.array2d(dtype=wp.float64),  # [n_problems, 6]
        equations: wp.array3d(dtype=wp.float64),  # [n_problems, 3, 54], work space
        candidates: wp.array3d(dtype=wp.float64),  # [n_problems, 48, 6]
        misses: wp.array2d(dtype=wp.float64),  # [n_problems, 48]
    ):
        problem = wp.tid()
        solved = int(0)  # solutions, in the first slots
        last = int(wp.static(GENERAL_CANDIDATES))  # first of the other candidates, from the end
        slot = int(0)
        while slot < wp.static(GENERAL_CANDIDATES):
            misses[problem, slot] = wp.float64(wp.inf)
            slot += 1
        pose = target[problem]
        chart = int(0)
        if not wp.isfinite(wp.length(wp.transform_get_rotation(pose))):
            chart = general.shifts.shape[0]
        good_charts = int(0)
        is_complete = chart > 0
        place = (wp.transform_get_translation(pose) - general.origin) / general.reach
        # Points outside a sphere of the reach about a point of axis 1 are unreachable.
        out = place - general.points[0]
        distance = wp.length(out)
        beyond = zero
        if distance > one:
            place = general.points[0] + out / distance
            beyond = one
        motion = wp.transformd(place, wp.normalize(wp.transform_get_rotation(pose)))
        motion = motion * general.tool
        R_0 = wp.quat_to_matrix(wp.transform_get_rotation(motion))
        t_0 = wp.transform_get_translation(motion)
        while chart < general.shifts.shape[0]:
            shift = general.shifts[chart]
            backwards = general.backwards[chart] != 0
            aside = general.aside[chart]
            angle_aside = wp.length(aside)
            order = vec6()
            h = mat63()
            p = mat63()
            for k in range(6):
                from_start = k
                if backwards:
                    from_start = 5 - k
                joint = (from_start + shift) % 6
                order[k] = wp.float64(joint)
                axis = general.directions[joint]
                point = general.points[joint]
                if joint < shift:
                    axis = wp.transpose(R_0) * axis
                    point = wp.transpose(R_0) * (point - t_0)
                if backwards:
                    axis = -axis
                h[k] = axis
                p[k] = point
            R = R_0
            t = t_0
            if backwards:
                R = wp.transpose(R_0)
                t = -(R * t_0)
            # The frame of axis 2: its direction is z, and it passes through the origin.
            F = frame_of(h[1])
            corner = p[1]
            t = F * (t + R * corner - corner)
            R = F * R * wp.transpose(F)
            for k in range(6):
                p[k] = F * (p[k] - corner)
                h[k] = F * h[k]
            R_solved = R
            if angle_aside > zero:
                R_solved = R * turn_matrix(aside / angle_aside, angle_aside)
            a, b, g = right_side(h, p, R_solved * p[5] + t, R_solved * h[5])
            determined = write_equations(problem, h, p, a, b, g, equations)
            det = vec24()
            sample = int(0)
            while sample < wp.static(SAMPLES):
                angle = LaneNumbers()
                lane = int(0)
                while lane < wp.static(lanes):
                    angle[lane] = wp.float64(wp.static(wp.TAU / SAMPLES)) * wp.float64(
                        sample + lane
                    )
                    lane += 1
                _work, dets = triangular(problem, angle, equations)
                lane = int(0)
                while lane < wp.static(lanes):
                    det[sample + lane] = dets[lane]
                    lane += 1
                sample += wp.static(lanes)
            cosines, sines, rounding = harmonics_of(det)
            good = determined and rounding <= wp.float64(wp.static(_MAX_ROUNDING))
            root_x, root_y = unit_circle_roots(cosines, sines)
            leading = wp.sqrt(cosines[8] * cosines[8] + sines[8] * sines[8])
            noise = wp.float64(wp.static(_NOISE)) * wp.max(rounding, wp.float64(1.0e-16))
            roots = vec16()
            imaginary = vec16()
            i = int(0)
            while i < wp.static(ROOTS):
                roots[i] = arctangent(root_y[i], root_x[i])
                square = root_x[i] * root_x[i] + root_y[i] * root_y[i]
                imaginary[i] = wp.abs(
                    wp.float64(0.5) * wp.log(wp.max(square, wp.float64(1.0e-300)))
                )
                i += 1
            # Nearly real roots first, and at least some.
            count = int(0)
            i = int(0)
            while i < wp.static(ROOTS):
                rank = int(0)
                j = int(0)
                while j < wp.static(ROOTS):
                    if imaginary[j] < imaginary[i]:
                        rank += 1
                    j += 1
                nearly = imaginary[i] < wp.float64(wp.static(NEARLY_REAL))
                if nearly or rank < wp.static(_MIN_ROOTS):
                    this_root = roots[i]
                    this_imaginary = imaginary[i]
                    roots[i] = roots[count]
                    imaginary[i] = imaginary[count]
                    roots[count] = this_root
                    imaginary[count] = this_imaginary
                    count += 1
                i += 1
            real_roots = int(0)
            missing = int(0)
            first = int(0)
            while first < count:
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
                matched = LaneNumbers()
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
                    q = outer_angles(h, p, a, b, g, R_solved, angle[lane], middle[0], middle[1])
                    for k in range(6):
                        starts[k, lane] = q[k]
                    if two and first + lane < count:
                        middle = middle_angles(y)
                        q = outer_angles(
                            h, p, a, b, g, R_solved, angle[lane], middle[0], middle[1]
                        )
                        for k in range(6):
                            others[k, n_others] = q[k]
                        other_of[n_others] = wp.float64(lane)
                        n_others += 1
                    lane += 1
                part = int(0)
                while part < 2:
                    in_part = wp.min(count - first, wp.static(lanes))
                    if part == 1:
                        starts = others
                        in_part = n_others
                    if in_part > 0:
                        ends, off = newton(h, p, starts, R, t, general.newton_steps)
                        lane = int(0)
                        while lane < in_part:
                            root = lane
                            if part == 1:
                                root = int(other_of[lane])
                            miss = imaginary[first + root]
                            q = vec6()
                            for k in range(6):
                                q[k] = ends[k, lane]
                            solves = off[lane] <= wp.float64(wp.static(SOLVED))
                            solves = solves or general.newton_steps == 0
                            if solves:
                                away = wp.abs(within_half_turn(q[2] - roots[first + root]))
                                if away < wp.float64(wp.static(_MAX_ROOT_DISTANCE)):
                                    matched[root] = one
                            else:
                                # The start, from which other methods get further.
                                for k in range(6):
                                    q[k] = starts[k, lane]
                                far_off = off[lane] > wp.float64(wp.static(_NEARLY_SOLVED))
                                if far_off and angle_aside == zero:
                                    miss += one
                            place_of = int(-1)
                            if solves:
                                if solved < last and is_new(q, order, problem, solved, candidates):
                                    place_of = solved
                                    solved += 1
                                    miss = zero
                            elif last > wp.static(ROOTS) and wp.isfinite(wp.length_sq(q)):
                                last -= 1
                                place_of = last
                            if place_of >= 0:
                                for k in range(6):
                                    candidates[problem, place_of, int(order[k])] = (
                                        within_half_turn(q[k])
                                    )
                                misses[problem, place_of] = miss + beyond
                            lane += 1
                    part += 1
                lane = int(0)
                while lane < wp.static(lanes):
                    if first + lane < count:
                        beside = imaginary[first + lane]
                        may_be_real = beside < wp.float64(wp.static(_REAL))
                        if not may_be_real and beside < wp.float64(wp.static(NEARLY_REAL)):
                            on_circle = sincos(roots[first + lane])
                            error = root_error(
                                root_x, root_y, on_circle[1], on_circle[0], leading, noise
                            )
                            may_be_real = beside < wp.float64(wp.static(_ERRORS)) * error
                        if may_be_real:
                            real_roots += 1
                            if matched[lane] == zero:
                                missing += 1
                    lane += 1
                first += wp.static(lanes)
            chart += 1
            if good:
                good_charts += 1
                # A regular pose has an even number of solutions.
                is_complete = missing == 0 and solved >= real_roots and solved % 2 == 0
                is_complete = is_complete and angle_aside == zero
                if is_complete or good_charts >= wp.static(_MAX_ACCURATE_CHARTS):
                    chart = general.shifts.shape[0]
        # Two solutions that nearly meet may have been found as one.
        k = int(0)
        while k < solved and not is_complete and general.newton_steps > 0:
            q = read(problem, k, candidates)
            h, p, order = plain_axes(general)
            start = int(0)
            while start < wp.static(TWIN_STARTS):
                starts = twin_starts(h, p, q, R_0, t_0, start)
                ends, off = newton(h, p, starts, R_0, t_0, general.newton_steps)
                lane = int(0)
                while lane < wp.static(lanes):
                    for j in range(6):
                        q[j] = ends[j, lane]
                    if off[lane] <= wp.float64(wp.static(SOLVED)) and solved < last:
                        if is_new(q, order, problem, solved, candidates):
                            for j in range(6):
                                candidates[problem, solved, j] = within_half_turn(q[j])
                            misses[problem, solved] = beyond
                            solved += 1
                    lane += 1
                start += wp.static(lanes)
            k += 1

    return general_candidates
