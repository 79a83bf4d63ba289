# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel of the candidate configurations of six general revolute joints, a thread per pose.

The elimination of :mod:`ros_ik.solvers.analytic.candidates.general_axes.elimination` can begin at
any joint and read the chain in either direction, see
:mod:`ros_ik.solvers.analytic.candidates.general_axes.chart_axes`. Each of these twelve charts
fails for some arms and poses. Its first two axes must be skew. If all neighbouring axes of an arm
intersect or are parallel, only the pair of axis 6 and axis 1' remains, and poses can make these
parallel, often for a tool that points straight down.

Charts are tried in a given order. Newton's method improves each candidate on the actual axes, so
that a chart is known to be complete: each real root must have a solution, and there must be as
many distinct ones as real roots. If all charts lose too many digits, slightly rotated targets are
solved.
"""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.analytic.candidates.general_axes.axis_newton import newton_functions
from ros_ik.solvers.analytic.candidates.general_axes.axis_newton import SOLVED
from ros_ik.solvers.analytic.candidates.general_axes.axis_newton import turn_matrix
from ros_ik.solvers.analytic.candidates.general_axes.axis_newton import TWIN_STARTS
from ros_ik.solvers.analytic.candidates.general_axes.chart_axes import chart_axes_functions
from ros_ik.solvers.analytic.candidates.general_axes.chart_axes import general_axes_struct
from ros_ik.solvers.analytic.candidates.general_axes.elimination import right_side
from ros_ik.solvers.analytic.candidates.general_axes.elimination import write_equations
from ros_ik.solvers.analytic.candidates.general_axes.real_roots import may_be_real
from ros_ik.solvers.analytic.candidates.general_axes.real_roots import sorted_roots
from ros_ik.solvers.analytic.candidates.general_axes.root_starts import root_start_functions
from ros_ik.solvers.analytic.candidates.general_axes.trigonometric_roots import harmonics_of
from ros_ik.solvers.analytic.candidates.general_axes.trigonometric_roots import ROOTS
from ros_ik.solvers.analytic.candidates.general_axes.trigonometric_roots import unit_circle_roots
from ros_ik.solvers.analytic.subproblems.rotations import mat33
from ros_ik.solvers.analytic.subproblems.rotations import vec3
from ros_ik.solvers.analytic.subproblems.rotations import vec6
from ros_ik.solvers.analytic.subproblems.rotations import within_half_turn

# Number of roots that are processed together on a CPU; a divisor of SAMPLES.
ROOT_LANES = 8
# Largest number of candidates of a pose: 16 solutions, and others that Newton's method leaves.
GENERAL_CANDIDATES = 48
# Error of the determinant in units of its largest harmonic, relative to the measured rounding.
_NOISE = 10.0
# Largest distance of a solution from its root [rad].
_MAX_ROOT_DISTANCE = 0.02
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
def general_candidates_kernel(lanes: int) -> wp.Kernel:
    """Build the kernel.

    It writes ``candidates`` [n_problems, 48, 6], joint positions within half a turn of zero,
    solutions first, and ``misses`` [n_problems, 48], 0 for solutions, the imaginary parts of roots
    for nearly solved ones, these plus 1 for other configurations, and inf for unused entries.
    """
    GeneralAxes = general_axes_struct()
    axes = chart_axes_functions()
    axes_motion, chart_axes, plain_axes = axes.axes_motion, axes.chart_axes, axes.plain_axes
    functions = root_start_functions(lanes)
    sampled_determinant, root_starts = functions.sampled_determinant, functions.root_starts
    functions = newton_functions(lanes)
    newton, twin_starts = functions.newton, functions.twin_starts
    LaneAngles = functions.LaneAngles
    LaneNumbers = wp.types.vector(lanes, wp.float64)
    one, zero = wp.float64(1.0), wp.float64(0.0)

    @wp.func
    def is_new(
        q: vec6, order: vec6, problem: int, count: int, candidates: wp.array3d(dtype=wp.float64)
    ) -> bool:
        """Return True if q differs from the first candidates."""
        k = int(0)
        while k < count:
            largest = zero
            for j in range(6):
                change = within_half_turn(q[j] - candidates[problem, k, int(order[j])])
                largest = wp.max(largest, wp.abs(change))
            if largest < wp.float64(wp.static(_SEPARATION)):
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
    def add_twins(
        general: GeneralAxes, R_0: mat33, t_0: vec3, problem: int, count: int, last: int,
        beyond: wp.float64, candidates: wp.array3d(dtype=wp.float64),
        misses: wp.array2d(dtype=wp.float64),
    ):  # fmt: skip
        """Search the twins of ``count`` solutions, and write them in front of ``last``."""
        solved = count
        k = int(0)
        while k < solved:
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

    @wp.func
    def candidate_of(
        general: GeneralAxes, starts: LaneAngles, ends: LaneAngles, off: LaneNumbers, lane: int,
        imaginary: wp.float64, turned_aside: bool,
    ):  # fmt: skip
        """Return the candidate of a lane, its miss, and True if it is a solution.

        It is where Newton's method ends if that is a solution, otherwise where it starts, from
        which other methods get further.
        """
        q = vec6()
        miss = imaginary
        solves = off[lane] <= wp.float64(wp.static(SOLVED)) or general.newton_steps == 0
        for k in range(6):
            q[k] = wp.where(solves, ends[k, lane], starts[k, lane])
        far_off = off[lane] > wp.float64(wp.static(_NEARLY_SOLVED))
        if not solves and far_off and not turned_aside:
            miss += one
        return q, miss, solves

    @wp.func
    def free_slot(
        q: vec6, solves: bool, order: vec6, problem: int, solved: int, last: int,
        candidates: wp.array3d(dtype=wp.float64),
    ) -> int:  # fmt: skip
        """Return the slot of a candidate, -1 for none.

        It is ``solved`` for a new solution, and the slot before ``last`` for what is none.
        """
        slot = int(-1)
        if solves:
            if solved < last and is_new(q, order, problem, solved, candidates):
                slot = solved
        elif last > wp.static(ROOTS) and wp.isfinite(wp.length_sq(q)):
            slot = last - 1
        return slot

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
        accurate_charts = int(0)
        is_complete = chart > 0
        R_0, t_0, beyond = axes_motion(general, pose)
        while chart < general.shifts.shape[0]:
            aside = general.aside[chart]
            angle_aside = wp.length(aside)
            h, p, order, R, t = chart_axes(general, chart, R_0, t_0)
            R_solved = R
            if angle_aside > zero:
                R_solved = R * turn_matrix(aside / angle_aside, angle_aside)
            a, b, g = right_side(h, p, R_solved * p[5] + t, R_solved * h[5])
            determined = write_equations(problem, h, p, a, b, g, equations)
            det = sampled_determinant(problem, equations)
            cosines, sines, rounding = harmonics_of(det)
            is_accurate = determined and rounding <= wp.float64(wp.static(_MAX_ROUNDING))
            root_x, root_y = unit_circle_roots(cosines, sines)
            leading = wp.sqrt(cosines[8] * cosines[8] + sines[8] * sines[8])
            noise = wp.float64(wp.static(_NOISE)) * wp.max(rounding, wp.float64(1.0e-16))
            roots, imaginary, count = sorted_roots(root_x, root_y)
            real_roots = int(0)
            missing = int(0)
            first = int(0)
            while first < count:
                starts, others, other_of, n_others = root_starts(
                    problem, h, p, a, b, g, R_solved, roots, first, count, equations
                )
                matched = LaneNumbers()
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
                            q, miss, solves = candidate_of(
                                general, starts, ends, off, lane, imaginary[first + root],
                                angle_aside > zero,
                            )
                            away = wp.abs(within_half_turn(q[2] - roots[first + root]))
                            if solves and away < wp.float64(wp.static(_MAX_ROOT_DISTANCE)):
                                matched[root] = one
                            slot_of = free_slot(
                                q, solves, order, problem, solved, last, candidates
                            )
                            if slot_of >= 0:
                                for k in range(6):
                                    candidates[problem, slot_of, int(order[k])] = (
                                        within_half_turn(q[k])
                                    )
                                if solves:
                                    solved += 1
                                    miss = zero
                                else:
                                    last = slot_of
                                misses[problem, slot_of] = miss + beyond
                            lane += 1
                    part += 1
                lane = int(0)
                while lane < wp.static(lanes):
                    if first + lane < count:
                        if may_be_real(
                            roots[first + lane], imaginary[first + lane], root_x, root_y, leading,
                            noise,
                        ):  # fmt: skip
                            real_roots += 1
                            if matched[lane] == zero:
                                missing += 1
                    lane += 1
                first += wp.static(lanes)
            chart += 1
            if is_accurate:
                accurate_charts += 1
                # A regular pose has an even number of solutions.
                is_complete = missing == 0 and solved >= real_roots and solved % 2 == 0
                is_complete = is_complete and angle_aside == zero
                if is_complete or accurate_charts >= wp.static(_MAX_ACCURATE_CHARTS):
                    chart = general.shifts.shape[0]
        # Two solutions that nearly meet may have been found as one.
        if not is_complete and general.newton_steps > 0:
            add_twins(general, R_0, t_0, problem, solved, last, beyond, candidates, misses)

    return general_candidates
