# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels for the values of a redundant joint: poses of the other six, samples, merging.

Row k n + i of an array [rows] is for value k of pose i, of n poses.
"""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.spatial import sincos_function
from ros_ik.solvers.analytic.redundancy.redundant_joint import joint_of_six
from ros_ik.solvers.analytic.redundancy.redundant_joint import redundancy_struct
from ros_ik.solvers.analytic.refinement.branch_functions import MAX_COUNT
from ros_ik.solvers.analytic.refinement.sorted_entries import insert_sorted
from ros_ik.solvers.pose_ik.kernels.kernel import unit_pose_function


@no_type_check
@functools.cache
def six_joint_poses_kernel() -> wp.Kernel:
    """Build the kernel that computes the poses which the other six joints must reach at each
    value.

    A value of NaN gives a pose of NaN, as does a seed of NaN.
    """
    Redundancy = redundancy_struct()
    sincos = sincos_function(wp.float64)

    @compiled_kernel()
    def six_joint_poses(
        redundancy: Redundancy,
        values: wp.array(dtype=wp.float64),  # [rows]
        target: wp.array(dtype=wp.transformd),  # [n], unit quaternions
        seed: wp.array2d(dtype=wp.float64),  # [n, 7]
        moved: wp.array(dtype=wp.transformd),  # [rows]
        seeds: wp.array2d(dtype=wp.float64),  # [rows, 6]
    ):
        row = wp.tid()
        problem = row % target.shape[0]
        change = redundancy.locked_value - values[row]
        if not wp.isfinite(seed[problem, redundancy.index]):
            change = wp.float64(wp.nan)
        motion = wp.transformd(redundancy.axis * change, wp.quat_identity(dtype=wp.float64))
        if redundancy.slides == 0:
            half = sincos(wp.float64(0.5) * change)
            axis = redundancy.axis * half[0]
            turn = wp.quatd(axis[0], axis[1], axis[2], half[1])
            motion = wp.transformd(
                redundancy.pivot - wp.quat_rotate(turn, redundancy.pivot), turn
            )
        if redundancy.index == 0:
            moved[row] = motion * target[problem]
        else:
            moved[row] = target[problem] * motion
        for j in range(seeds.shape[1]):
            seeds[row, j] = seed[problem, joint_of_six(j, redundancy.index)]

    return six_joint_poses


@no_type_check
@functools.cache
def sampled_values_kernel() -> wp.Kernel:
    """Build the kernel that writes the seed's value, then the centres of equal intervals."""
    Redundancy = redundancy_struct()

    @compiled_kernel()
    def sampled_values(
        redundancy: Redundancy,
        seed: wp.array2d(dtype=wp.float64),  # [n, 7]
        bounds: wp.array(dtype=wp.vec2d),  # [n]
        values: wp.array(dtype=wp.float64),  # [rows]
    ):
        row = wp.tid()
        n = bounds.shape[0]
        problem = row % n
        low = bounds[problem][0]
        high = bounds[problem][1]
        value = wp.clamp(seed[problem, redundancy.index], low, high)
        if row >= n:
            part = (wp.float64(row // n) - wp.float64(0.5)) / wp.float64(values.shape[0] // n - 1)
            value = low + (high - low) * part
        values[row] = value

    return sampled_values


@no_type_check
@functools.cache
def unsolved_kernel() -> wp.Kernel:
    """Build the kernel that marks poses without a solution at any value."""

    @compiled_kernel()
    def mark_unsolved(
        row_exist: wp.array(dtype=wp.int32),  # [rows]
        is_unsolved: wp.array(dtype=wp.int32),  # [n]
    ):
        problem = wp.tid()
        unsolved = int(1)
        row = int(problem)
        while row < row_exist.shape[0] and unsolved == 1:
            if row_exist[row] > 0:
                unsolved = 0
            row += is_unsolved.shape[0]
        is_unsolved[problem] = unsolved

    return mark_unsolved


@no_type_check
@functools.cache
def searched_poses_kernel() -> wp.Kernel:
    """Build the kernel that hands marked poses to a search, and NaN for the others."""
    unit_pose = unit_pose_function()

    @compiled_kernel()
    def searched_poses(
        is_marked: wp.array(dtype=wp.int32),  # [n]
        target: wp.array(dtype=wp.transformd),  # [n]
        seed: wp.array2d(dtype=wp.float64),  # [n, 7]
        searched: wp.array(dtype=wp.transformd),  # [n]
        search_seed: wp.array2d(dtype=wp.float64),  # [n, 7]
    ):
        problem = wp.tid()
        pose, _valid = unit_pose(problem, target, seed)
        if is_marked[problem] == 0:
            for k in range(7):
                pose[k] = wp.float64(wp.nan)
        searched[problem] = pose
        for j in range(seed.shape[1]):
            search_seed[problem, j] = seed[problem, j]

    return searched_poses


@no_type_check
@functools.cache
def found_values_kernel() -> wp.Kernel:
    """Build the kernel that writes the values found by a search, within their range.

    They are NaN for poses that are not marked.
    """

    @compiled_kernel()
    def found_values(
        is_marked: wp.array(dtype=wp.int32),  # [n]
        bounds: wp.array(dtype=wp.vec2d),  # [n]
        joint_q: wp.array2d(dtype=wp.float64),  # [n, joint_coord_count]
        coordinate: int,  # of the redundant joint
        values: wp.array(dtype=wp.float64),  # [n]
    ):
        problem = wp.tid()
        value = wp.float64(wp.nan)
        if is_marked[problem] > 0:
            low = bounds[problem][0]
            value = wp.clamp(joint_q[problem, coordinate], low, bounds[problem][1])
        values[problem] = value

    return found_values


@no_type_check
@functools.cache
def merge_kernel() -> wp.Kernel:
    """Build the kernel that sorts the solutions at all values by distance to the seed.

    A repeated value gives the same solutions and is left out. A pose without a solution gets the
    configuration of least cost.
    """
    Redundancy = redundancy_struct()

    @wp.func
    def is_repeated(
        redundancy: Redundancy, row: int, n: int, values: wp.array(dtype=wp.float64),
        n_exist: wp.array(dtype=wp.int32),
    ) -> bool:  # fmt: skip
        """Return True if a value repeats an earlier one that has solutions."""
        other = row % n
        while other < row:
            apart = wp.abs(values[row] - values[other])
            if apart < redundancy.separation and n_exist[other] > 0:
                return True
            other += n
        return False

    @compiled_kernel()
    def merge(
        redundancy: Redundancy,
        seed: wp.array2d(dtype=wp.float64),  # [n, 7]
        values: wp.array(dtype=wp.float64),  # [rows]
        solutions: wp.array3d(dtype=wp.float64),  # [rows, entries, 6]
        distances: wp.array2d(dtype=wp.float64),  # [rows, entries]
        row_directions: wp.array3d(dtype=wp.float64),  # [rows, entries, 6]
        row_singular: wp.array2d(dtype=wp.bool),  # [rows, entries]
        row_exist: wp.array(dtype=wp.int32),  # [rows]
        row_branches: wp.array(dtype=wp.int32),  # [rows]
        least_cost: wp.array(dtype=wp.float64),  # [rows]
        nearest: wp.array2d(dtype=wp.float64),  # [n, s], squares of distances to the seed
        origin: wp.array2d(dtype=wp.int32),  # [n, s], row and entry of each
        merged: wp.array3d(dtype=wp.float64),  # [n, s, 7]
        directions: wp.array3d(dtype=wp.float64),  # [n, s, 7]
        singular: wp.array2d(dtype=wp.bool),  # [n, s]
        n_exist: wp.array(dtype=wp.int32),  # [n]
        n_merged: wp.array(dtype=wp.int32),  # [n]
        n_branches: wp.array(dtype=wp.int32),  # [n]
    ):
        problem = wp.tid()
        n = seed.shape[0]
        room = nearest.shape[1]
        n_entries = distances.shape[1]
        exist = int(0)
        found = int(0)
        branches = int(0)
        best = wp.float64(wp.inf)
        origin[problem, 0] = problem * n_entries
        row = int(problem)
        while row < values.shape[0]:
            branches += row_branches[row]
            if row_exist[row] == 0 and least_cost[row] < best and exist == 0:
                best = least_cost[row]
                origin[problem, 0] = row * n_entries
            if row_exist[row] > 0 and not is_repeated(redundancy, row, n, values, row_exist):
                exist += wp.min(row_exist[row], wp.static(MAX_COUNT) - exist)
                change = values[row] - seed[problem, redundancy.index]
                for k in range(wp.min(row_exist[row], n_entries)):
                    distance = distances[row, k] + change * change
                    insert_sorted(distance, row * n_entries + k, problem, found, nearest, origin)
                    found = wp.min(found + 1, room)
            row += n
        n_exist[problem] = exist
        n_merged[problem] = found
        n_branches[problem] = branches
        for k in range(room):
            is_singular = bool(False)
            if k < wp.max(found, 1):
                value_row = origin[problem, k] // n_entries
                entry = origin[problem, k] % n_entries
                if found > 0:
                    is_singular = row_singular[value_row, entry]
                merged[problem, k, redundancy.index] = values[value_row]
                for other in range(6):
                    j = joint_of_six(other, redundancy.index)
                    merged[problem, k, j] = solutions[value_row, entry, other]
                    if is_singular:
                        directions[problem, k, j] = row_directions[value_row, entry, other]
            # Directions are zero where there is no mark.
            if singular[problem, k] and not is_singular:
                for j in range(7):
                    directions[problem, k, j] = wp.float64(0.0)
            singular[problem, k] = is_singular

    return merge
