# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that searches the solution of seven joints nearest to a seed, from solutions at values.

The search follows the curves on which the nearest samples lie, see
:mod:`ros_ik.solvers.analytic.redundancy.curve_search`.
"""

import functools
from typing import no_type_check
import zlib

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.analytic.redundancy.curve_functions import curve_functions
from ros_ik.solvers.analytic.redundancy.curve_search import followed_function
from ros_ik.solvers.analytic.redundancy.redundant_joint import number_of_six
from ros_ik.solvers.analytic.redundancy.redundant_joint import redundancy_struct
from ros_ik.solvers.pose_ik.kernels.functions import direct_chain_functions
from ros_ik.solvers.pose_ik.kernels.kernel import unit_pose_function

# Number of curves that are followed from their nearest samples, half of them from samples within
# the limits, and least distance of samples of different curves in any joint [rad or m].
STARTS, _APART = 16, 0.4
# Penalty as a squared distance for each radian outside the limits, in the choice of samples.
_OUTSIDE = 20.0


@no_type_check
@functools.cache
def nearest_kernel(n: int, has_slides: bool, lanes: int) -> wp.Kernel:
    """Build the kernel for arms of seven joints.

    The kernel writes the solution nearest to the seed among those reached from the samples.

    Args:
        n: Number of joints.
        has_slides: True for chains with prismatic joints; see ``polish_functions``.
        lanes: Number of curves that are followed together, a divisor of STARTS.
    """
    structure = zlib.crc32(repr((n, has_slides, lanes)).encode()) & 0x7FFFFFFF
    functions = direct_chain_functions(n, has_slides)
    Chain, vecm = functions.Chain, functions.vecm
    outside = curve_functions(n, has_slides).outside
    followed = followed_function(n, has_slides, lanes)
    unit_pose = unit_pose_function()
    Redundancy = redundancy_struct()
    StartNumbers = wp.types.vector(STARTS, wp.float64)
    StartJoints = wp.types.matrix((n, STARTS), wp.float64)
    LaneNumbers = wp.types.vector(lanes, wp.float64)
    LaneJoints = wp.types.matrix((n, lanes), wp.float64)
    infinity = wp.float64(wp.inf)

    @wp.func
    def all_joints(
        index: int, value: wp.float64, solutions: wp.array3d(dtype=wp.float64), row: int, k: int
    ) -> vecm:
        """Return the positions of all joints in a solution of the other six."""
        q = vecm()
        for j in range(n):
            if j == index:
                q[j] = value
            else:
                q[j] = solutions[row, k, number_of_six(j, index)]
        return q

    # Starts are selected and followed in one function: passed on, they would be copied.
    @wp.func
    def nearest_on_curves(
        chain: Chain,
        redundancy: Redundancy,
        problem: int,
        n_problems: int,
        center: vecm,
        lower: vecm,
        upper: vecm,
        R_t: wp.mat33d,
        p_t: wp.vec3d,
        length: wp.float64,
        tolerance: wp.float64,
        values: wp.array(dtype=wp.float64),
        solutions: wp.array3d(dtype=wp.float64),
        distances: wp.array2d(dtype=wp.float64),
        n_exist: wp.array(dtype=wp.int32),
        n_beside: wp.array(dtype=wp.int32),
    ):
        """Return the solution nearest to the centre on curves, and its squared distance."""
        q_of = StartJoints()
        nearest = StartNumbers()
        start = int(0)
        while start < wp.static(STARTS):
            nearest[start] = infinity
            start += 1
        # Select the nearest samples of different curves; the first half is within the limits.
        half = wp.static(STARTS // 2)
        farthest = wp.vec2i(0, half)
        row = int(problem)
        while row < values.shape[0]:
            change = values[row] - center[redundancy.index]
            k = int(0)
            while k < wp.min(n_exist[row] + n_beside[row], distances.shape[1]):
                side = wp.where(k < n_exist[row], 0, 1)
                distance = distances[row, k] + change * change
                if distance < nearest[farthest[side]]:
                    q = all_joints(redundancy.index, values[row], solutions, row, k)
                    # For a curve outside the limits, use the sample where it enters them.
                    if side == 1:
                        distance += wp.float64(wp.static(_OUTSIDE)) * outside(q, lower, upper)
                    end = (side + 1) * half
                    to = int(farthest[side])
                    start = int(side * half)
                    while start < end:
                        apart = wp.float64(0.0)
                        for j in range(n):
                            apart = wp.max(apart, wp.abs(q[j] - q_of[j, start]))
                        is_near = apart < wp.float64(wp.static(_APART))
                        if is_near and nearest[start] < infinity:
                            to = start
                        start += 1
                    if distance < nearest[to]:
                        nearest[to] = distance
                        for j in range(n):
                            q_of[j, to] = q[j]
                    worst = int(side * half)
                    start = int(side * half + 1)
                    while start < end:
                        if nearest[start] > nearest[worst]:
                            worst = start
                        start += 1
                    farthest[side] = worst
                k += 1
            row += n_problems
        nearest_q = vecm()
        nearest_distance = infinity
        first = int(0)
        while first < wp.static(STARTS):
            q_first = LaneJoints()
            start_distances = LaneNumbers()
            lane = int(0)
            while lane < wp.static(lanes):
                start_distances[lane] = nearest[first + lane]
                for j in range(n):
                    q_first[j, lane] = q_of[j, first + lane]
                lane += 1
            end_q, end_distance = followed(
                chain, q_first, start_distances, center, lower, upper, R_t, p_t, length, tolerance
            )
            if end_distance < nearest_distance:
                nearest_q = end_q
                nearest_distance = end_distance
            first += wp.static(lanes)
        return nearest_q, nearest_distance

    @compiled_kernel(max_unroll=16, registers=255)
    def nearest_solution(
        chain: Chain,
        redundancy: Redundancy,
        length: wp.float64,  # [m], weight of a radian
        tolerance: wp.float64,  # [m, length], of the solution
        known: int,  # 1 if there is a nearest one so far
        target: wp.array(dtype=wp.transformd),  # [n], of the tool in the world
        seed: wp.array2d(dtype=wp.float64),  # [n, 7]
        values: wp.array(dtype=wp.float64),  # [rows]
        solutions: wp.array3d(dtype=wp.float64),  # [rows, entries, 6]
        distances: wp.array2d(dtype=wp.float64),  # [rows, entries], squares
        n_exist: wp.array(dtype=wp.int32),  # [rows]
        n_beside: wp.array(dtype=wp.int32),  # [rows], just outside the limits, after the others
        best: wp.array(dtype=wp.float64),  # [n], values of the nearest solutions
        nearest_solutions: wp.array3d(dtype=wp.float64),  # [n, entries, 6], in the first entry
        nearest_distances: wp.array2d(dtype=wp.float64),  # [n, entries]
        found: wp.array(dtype=wp.int32),  # [n], 1 if there is one
    ):
        _structure = wp.static(structure)
        problem = wp.tid()
        pose, valid = unit_pose(problem, target, seed)
        R_t = wp.quat_to_matrix(wp.transform_get_rotation(pose))
        p_t = wp.transform_get_translation(pose)
        center = vecm()
        lower = vecm()
        upper = vecm()
        for j in range(n):
            center[j] = seed[problem, j]
            lower[j] = chain.lower[j]
            upper[j] = chain.upper[j]
        nearest_q = vecm()
        nearest = infinity
        if valid:
            nearest_q, nearest = nearest_on_curves(
                chain, redundancy, problem, seed.shape[0], center, lower, upper, R_t, p_t, length,
                tolerance, values, solutions, distances, n_exist, n_beside,
            )  # fmt: skip
        before = infinity
        if known != 0 and found[problem] == 1:
            change = best[problem] - center[redundancy.index]
            before = nearest_distances[problem, 0] + change * change
        if nearest < before:
            value = wp.float64(0.0)
            for j in range(n):
                if j == redundancy.index:
                    value = nearest_q[j]
                else:
                    k = number_of_six(j, redundancy.index)
                    nearest_solutions[problem, 0, k] = nearest_q[j]
            change = value - center[redundancy.index]
            best[problem] = value
            nearest_distances[problem, 0] = nearest - change * change
            found[problem] = 1
        elif before == infinity:
            best[problem] = wp.float64(wp.nan)
            found[problem] = 0

    return nearest_solution
