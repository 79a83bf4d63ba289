# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel of the closed forms, up to 16 candidate configurations of each pose, a thread per pose.

:mod:`ros_ik.solvers.analytic.candidates.spherical_wrist` and
:mod:`ros_ik.solvers.analytic.candidates.parallel_axes` have the equations of the two structures.
"""

import functools
import math
from typing import Any
from typing import no_type_check
import zlib

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.analytic.candidates.parallel_axes import PARALLEL
from ros_ik.solvers.analytic.candidates.spherical_wrist import SPHERICAL
from ros_ik.solvers.analytic.structure.structure import ClosedFormFamily
from ros_ik.solvers.analytic.structure.structure import Split
from ros_ik.solvers.analytic.subproblems.angle_equations import line_roots
from ros_ik.solvers.analytic.subproblems.angle_equations import one_then_other
from ros_ik.solvers.analytic.subproblems.angle_equations import with_either_eliminated
from ros_ik.solvers.analytic.subproblems.rotations import angle_of
from ros_ik.solvers.analytic.subproblems.rotations import mat22
from ros_ik.solvers.analytic.subproblems.rotations import mat33
from ros_ik.solvers.analytic.subproblems.rotations import mat63
from ros_ik.solvers.analytic.subproblems.rotations import sincos
from ros_ik.solvers.analytic.subproblems.rotations import vec2
from ros_ik.solvers.analytic.subproblems.rotations import vec3
from ros_ik.solvers.analytic.subproblems.rotations import vec6
from ros_ik.solvers.analytic.subproblems.rotations import within_half_turn

# Number of pairs (x, y) that are processed together on a CPU. Most poses have as many, and none
# has more than twice as many.
PAIR_LANES = 4
# Number of candidates of a pose: eight of the closed form, and eight for additional near roots.
MAX_CANDIDATES = 16

mat62 = wp.types.matrix((6, 2), wp.float64)


@no_type_check
@wp.func
def tool_motion(
    target: wp.transformd, tool: wp.transformd, origin: vec3, reach: wp.float64, backwards: int
):
    """Return rotation R_M and translation of M, inverted for ``backwards``.

    The pose [m] has a unit quaternion.
    """
    pose = wp.transformd(
        (wp.transform_get_translation(target) - origin) / reach,
        wp.transform_get_rotation(target),
    )
    motion = pose * tool
    if backwards != 0:
        motion = wp.transform_inverse(motion)
    R = wp.quat_to_matrix(wp.transform_get_rotation(motion))
    return R, wp.transform_get_translation(motion)


@no_type_check
@functools.cache
def axes_struct() -> Any:
    """Return the struct of the axes of a chart."""

    @wp.struct
    class ChartAxes:
        directions: wp.array(dtype=wp.vec3d)  # [6], in the order of the chart
        points: wp.array(dtype=wp.vec3d)  # [6]
        signs: wp.vec3d  # of axes 2, 3, 4 along h
        center: wp.vec3d  # c
        order: wp.array(dtype=wp.int32)  # [6], joint of each axis
        tool: wp.transformd  # inverse of the pose of the tool with every joint at zero
        origin: wp.vec3d  # [m]
        reach: wp.float64  # [m]
        opening: wp.float64  # separates roots that nearly coincide
        loose: wp.float64  # largest residual of a near root of the quartic
        lower: wp.array(dtype=wp.float64)  # [6], by joint, where ``bounded`` leaves out the rest
        upper: wp.array(dtype=wp.float64)  # [6]
        bounded: int

    return ChartAxes


@no_type_check
@functools.cache
def candidates_kernel(
    family: ClosedFormFamily,
    split: Split,
    row: int,
    backwards: bool,
    wrapped: bool,
    lanes: int,
) -> wp.Kernel:
    """Build the kernel for one kind of chart.

    The kernel writes ``candidates`` [n_problems, 16, 6], joint positions in the order of the
    chain, within half a turn of zero, and ``misses`` [n_problems, 16], the residuals of their
    equations relative to the reach; inf for unused entries.
    """
    ChartAxes = axes_struct()
    LaneNumbers = wp.types.vector(lanes, wp.float64)
    LaneAngles = wp.types.matrix((6, lanes), wp.float64)
    stages = SPHERICAL if family is ClosedFormFamily.SPHERICAL else PARALLEL
    equations, finish = stages.equations, stages.finish
    middle, middle_of_singular = stages.middle, stages.middle_of_singular
    x_first, y_first = split is Split.X_FIRST, split is Split.Y_FIRST
    first_row, other_row = row, 1 - row
    y_axis = 2 if family is ClosedFormFamily.SPHERICAL else 4
    known = (Split.JOINT, Split.X_FIRST, Split.Y_FIRST).index(split)
    kind = repr((family, split, row, backwards, wrapped, lanes))
    structure = zlib.crc32(kind.encode()) & 0x7FFFFFFF

    @wp.func
    def solve_pairs(
        chart: ChartAxes, A: mat22, B: mat22, d: vec2, free_x: vec2, free_y: vec2
    ):
        if wp.static(x_first):
            rows = one_then_other(
                A[first_row], d[first_row], A[other_row], B[other_row], d[other_row],
                free_x, free_y, chart.opening, 0,
            )  # fmt: skip
            return rows, int(4)
        elif wp.static(y_first):
            rows = one_then_other(
                B[first_row], d[first_row], B[other_row], A[other_row], d[other_row],
                free_y, free_x, chart.opening, 2,
            )  # fmt: skip
            return rows, int(4)
        else:
            return with_either_eliminated(A, B, d, free_x, free_y, chart.loose, chart.opening)

    @wp.func
    def within(bounds: vec2, angle: wp.float64) -> bool:
        """Return True if any turn of an angle is within the bounds."""
        turns = wp.ceil((bounds[0] - angle) * wp.float64(wp.static(1.0 / math.tau)))
        return angle + wp.float64(wp.TAU) * turns <= bounds[1]

    @wp.func
    def may_exist(
        chart: ChartAxes, A: mat22, B: mat22, d: vec2, free_x: vec2, free_y: vec2
    ) -> bool:
        """Return True if the angle that is solved first has a root inside the limits."""
        a = A[first_row]
        free = free_x
        joint = chart.order[0]
        if wp.static(y_first):
            a = B[first_row]
            free = free_y
            joint = chart.order[wp.static(y_axis)]
        low, high, miss = line_roots(a, d[first_row], free, chart.opening)
        bounds = vec2(chart.lower[joint], chart.upper[joint])
        is_inside = within(bounds, angle_of(low)) or within(bounds, angle_of(high))
        return miss <= chart.loose and is_inside

    @wp.func
    def middles(h: mat63, R: mat33, pair_directions: LaneAngles, free: vec6):
        """Return the directions with those of axis 6, the middle angles and which are singular."""
        directions = pair_directions
        total = LaneNumbers()
        special = LaneNumbers()
        lane = int(0)
        while lane < wp.static(lanes):
            angle, sixth, is_special = middle(
                h, R, vec2(directions[0, lane], directions[1, lane]),
                vec2(directions[2, lane], directions[3, lane]), free,
            )  # fmt: skip
            total[lane] = angle
            directions[4, lane] = sixth[0]
            directions[5, lane] = sixth[1]
            special[lane] = wp.where(is_special, wp.float64(1.0), wp.float64(0.0))
            lane += 1
        return directions, total, special

    @wp.func
    def pair_misses(
        chart: ChartAxes, bounds: mat62, directions: LaneAngles, miss: LaneNumbers
    ) -> LaneNumbers:
        """Return the misses, inf for pairs of which no solution is within the bounds."""
        misses = LaneNumbers()
        lane = int(0)
        while lane < wp.static(lanes):
            x = angle_of(vec2(directions[0, lane], directions[1, lane]))
            y = angle_of(vec2(directions[2, lane], directions[3, lane]))
            inside = within(bounds[0], x) and within(bounds[wp.static(y_axis)], y)
            inside = inside and miss[lane] <= chart.loose
            misses[lane] = wp.where(inside, miss[lane], wp.float64(wp.inf))
            lane += 1
        return misses

    @wp.func
    def misses_within(bounds: mat62, q: LaneAngles, miss: LaneNumbers) -> LaneNumbers:
        """Return the misses of configurations, inf for those outside the bounds."""
        misses = LaneNumbers()
        lane = int(0)
        while lane < wp.static(lanes):
            inside = bool(True)
            for j in range(6):
                inside = inside and within(bounds[j], q[j, lane])
            misses[lane] = wp.where(inside, miss[lane], wp.float64(wp.inf))
            lane += 1
        return misses

    @wp.func
    def resolved(
        h: mat63, p: mat63, center: vec3, moved_center: vec3, R: mat33, t: vec3, free: vec6,
        found_directions: LaneAngles, found_total: LaneNumbers, special: LaneNumbers,
        miss: LaneNumbers, n_used: int,
    ):  # fmt: skip
        """Return the directions and middle angles at singular pairs, and if any pair is left."""
        directions = found_directions
        total = found_total
        wanted = bool(False)
        lane = int(0)
        while lane < wp.static(lanes):
            if lane < n_used and wp.isfinite(miss[lane]):
                wanted = True
                if special[lane] > wp.float64(0.0):
                    X, Y, angle, sixth = middle_of_singular(
                        h, p, center, moved_center, R, t,
                        vec2(directions[0, lane], directions[1, lane]),
                        vec2(directions[2, lane], directions[3, lane]), free, known,
                    )  # fmt: skip
                    for j in range(2):
                        directions[j, lane] = X[j]
                        directions[2 + j, lane] = Y[j]
                        directions[4 + j, lane] = sixth[j]
                    total[lane] = angle
            lane += 1
        return directions, total, wanted

    @wp.func
    def finished(
        chart: ChartAxes, h: mat63, p: mat63, moved_center: vec3, R: mat33, t: vec3, free: vec6,
        directions: LaneAngles, total: LaneNumbers,
    ):  # fmt: skip
        """Return both configurations of each pair, and the residuals of their last equations."""
        below = LaneAngles()
        above = LaneAngles()
        residual = LaneNumbers()
        lane = int(0)
        while lane < wp.static(lanes):
            low, high, off = finish(
                h, p, chart.center, moved_center, R, t, chart.signs,
                vec2(directions[0, lane], directions[1, lane]),
                vec2(directions[2, lane], directions[3, lane]), total[lane],
                vec2(directions[4, lane], directions[5, lane]), free, chart.opening,
            )  # fmt: skip
            for j in range(6):
                below[j, lane] = within_half_turn(low[j])
                above[j, lane] = within_half_turn(high[j])
            residual[lane] = off
            lane += 1
        return below, above, residual

    @wp.func
    def write_candidates(
        chart: ChartAxes, directions_at_zero: mat63, points_at_zero: mat63, problem: int,
        target: wp.array(dtype=wp.transformd), seed: wp.array2d(dtype=wp.float64),
        candidates: wp.array3d(dtype=wp.float64), misses: wp.array2d(dtype=wp.float64),
    ):  # fmt: skip
        """Write the candidates of a pose, two for each pair."""
        _structure = wp.static(structure)
        if not wp.isfinite(wp.length(wp.transform_get_rotation(target[problem]))):
            for slot in range(wp.static(MAX_CANDIDATES)):
                misses[problem, slot] = wp.float64(wp.inf)
            return
        R, t = tool_motion(
            target[problem], chart.tool, chart.origin, chart.reach, wp.static(int(backwards))
        )
        h = directions_at_zero
        p = points_at_zero
        free = vec6()
        for k in range(6):
            free[k] = seed[problem, chart.order[k]]
        if wp.static(wrapped):
            h[0] = R * directions_at_zero[0]
            p[0] = R * points_at_zero[0] + t
        moved_center = R * chart.center + t
        A, B, d = equations(h, p, chart.center, moved_center, R)
        free_x, free_y = sincos(free[0]), sincos(free[wp.static(y_axis)])
        if wp.static(x_first or y_first):
            if chart.bounded != 0 and not may_exist(chart, A, B, d, free_x, free_y):
                for slot in range(wp.static(MAX_CANDIDATES)):
                    misses[problem, slot] = wp.float64(wp.inf)
                return
        pairs, count = solve_pairs(chart, A, B, d, free_x, free_y)
        bounds = mat62()
        if chart.bounded != 0:
            for j in range(6):
                bounds[j, 0] = chart.lower[chart.order[j]]
                bounds[j, 1] = chart.upper[chart.order[j]]
        first = int(0)
        while first < count:
            directions = LaneAngles()
            miss = LaneNumbers()
            lane = int(0)
            while lane < wp.static(lanes):
                for j in range(4):
                    directions[j, lane] = pairs[first + lane, j]
                miss[lane] = pairs[first + lane, 4]
                lane += 1
            directions, total, special = middles(h, R, directions, free)
            if chart.bounded != 0:
                miss = pair_misses(chart, bounds, directions, miss)
            directions, total, wanted = resolved(
                h, p, chart.center, moved_center, R, t, free, directions, total, special, miss,
                count - first,
            )  # fmt: skip
            above_miss = miss
            if wanted:
                below, above, residual = finished(
                    chart, h, p, moved_center, R, t, free, directions, total
                )
                miss += residual
                above_miss = miss
                if chart.bounded != 0:
                    miss = misses_within(bounds, below, miss)
                    above_miss = misses_within(bounds, above, above_miss)
                lane = int(0)
                while lane < wp.static(lanes) and first + lane < count:
                    for j in range(6):
                        joint = chart.order[j]
                        candidates[problem, 2 * (first + lane), joint] = below[j, lane]
                        candidates[problem, 2 * (first + lane) + 1, joint] = above[j, lane]
                    lane += 1
            lane = int(0)
            while lane < wp.static(lanes) and first + lane < count:
                misses[problem, 2 * (first + lane)] = miss[lane]
                misses[problem, 2 * (first + lane) + 1] = above_miss[lane]
                lane += 1
            first += wp.static(lanes)
        slot = 2 * count
        while slot < wp.static(MAX_CANDIDATES):
            misses[problem, slot] = wp.float64(wp.inf)
            slot += 1

    @compiled_kernel(registers=255)
    def candidate_configurations(
        chart: ChartAxes,
        target: wp.array(dtype=wp.transformd),  # [n_problems], unit quaternions
        seed: wp.array2d(dtype=wp.float64),  # [n_problems, 6]
        candidates: wp.array3d(dtype=wp.float64),  # [n_problems, 16, 6]
        misses: wp.array2d(dtype=wp.float64),  # [n_problems, 16]
    ):
        _structure = wp.static(structure)
        problem = wp.tid()
        h = mat63()
        p = mat63()
        for k in range(6):
            h[k] = chart.directions[k]
            p[k] = chart.points[k]
        more = bool(True)
        while more:
            write_candidates(chart, h, p, problem, target, seed, candidates, misses)
            problem += 1
            more = wp.static(lanes > 1) and problem < target.shape[0]

    return candidate_configurations
