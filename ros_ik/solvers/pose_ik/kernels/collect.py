# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that collects and verifies the solutions found by the lanes of a problem."""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.tree import tree_struct
from ros_ik.solvers.pose_ik.kernels.kernel import unit_pose_function
from ros_ik.solvers.pose_ik.kernels.phase import NEVER
from ros_ik.solvers.pose_ik.kernels.placement import configuration_functions
from ros_ik.solvers.pose_ik.kernels.placement import placement_struct
from ros_ik.solvers.pose_ik.kernels.tool_errors import tool_error_functions
from ros_ik.solvers.pose_ik.kernels.unsolved_status import unsolved_function
from ros_ik.solvers.status import SolveStatus


@no_type_check
@functools.cache
def collect_kernel() -> wp.Kernel:
    """Build the kernel, which is the same for all robots."""
    Placement = placement_struct()
    Tree = tree_struct(wp.float64)
    unit_pose = unit_pose_function()
    tool_error, unsolved = tool_error_functions().tool_error, unsolved_function()
    write_configurations = configuration_functions().write_configurations

    @wp.func
    def nearest_beyond(
        problem: int,
        lanes: int,
        after: int,
        floor: wp.float64,
        seed: wp.array2d(dtype=wp.float64),
        solutions: wp.array3d(dtype=wp.float64),
        found: wp.array(dtype=wp.int32),
    ):
        """Return row, slot and squared distance of the next solution in order of distance to the
        seed.

        Solutions at equal distances are ordered by their index: at distance ``floor``, only those
        after index ``after`` are considered.
        """
        best_row = int(-1)
        best_slot = int(0)
        best = wp.float64(wp.inf)
        for lane in range(lanes):
            row = problem * lanes + lane
            for slot in range(found[row]):
                distance = wp.float64(0.0)
                for j in range(seed.shape[1]):
                    change = solutions[row, slot, j] - seed[problem, j]
                    distance += change * change
                index = row * solutions.shape[1] + slot
                beyond = distance > floor or (distance == floor and index > after)
                if beyond and distance < best:
                    best = distance
                    best_row = row
                    best_slot = slot
        return best_row, best_slot, best

    @wp.func
    def is_new(
        placement: Placement,
        row: int,
        slot: int,
        start: int,
        count: int,
        solutions: wp.array3d(dtype=wp.float64),
        joint_q: wp.array2d(dtype=wp.float64),
    ) -> bool:
        """Return True if a solution is new; several lanes may find the same one."""
        for k in range(count):
            apart = wp.float64(0.0)
            for j in range(placement.coordinate.shape[0]):
                written = joint_q[start + k, placement.coordinate[j]]
                apart = wp.max(apart, wp.abs(solutions[row, slot, j] - written))
            if apart < placement.separation:
                return False
        return True

    @wp.func
    def lane_of_least_cost(problem: int, lanes: int, lane_cost: wp.array(dtype=wp.float64)) -> int:
        best = problem * lanes
        for lane in range(1, lanes):
            if lane_cost[problem * lanes + lane] < lane_cost[best]:
                best = problem * lanes + lane
        return best

    @wp.func
    def leave_out_later(
        row: int,
        end: int,
        found_at: wp.array2d(dtype=wp.int32),
        found: wp.array(dtype=wp.int32),
    ):
        """Discard solutions found by a lane after the iteration of the first success."""
        count = found[row]
        while count > 0 and found_at[row, wp.max(count - 1, 0)] > end:
            count -= 1
        found[row] = count

    @compiled_kernel(registers=168)
    def collect(
        tree: Tree,
        placement: Placement,
        lanes: int,
        first: int,  # problem of the first thread
        target: wp.array(dtype=wp.transformd),  # [n_problems]
        seed: wp.array2d(dtype=wp.float64),  # [n_problems, m]
        solutions: wp.array3d(dtype=wp.float64),  # [n_problems * lanes, n_solutions, m]
        found_at: wp.array2d(dtype=wp.int32),  # [n_problems * lanes, n_solutions], iterations
        found: wp.array(dtype=wp.int32),  # [n_problems * lanes]
        lane_cost: wp.array(dtype=wp.float64),  # [n_problems * lanes]
        joint_q: wp.array2d(dtype=wp.float64),  # [n_problems * n_solutions, joint_coord_count]
        position_error: wp.array2d(dtype=wp.float64),  # [n_problems, n_solutions]
        rotation_error: wp.array2d(dtype=wp.float64),  # [n_problems, n_solutions]
        n_found: wp.array(dtype=wp.int32),  # [n_problems]
        status: wp.array(dtype=wp.int32),  # [n_problems]
        solved: wp.array(dtype=wp.int32),  # [n_problems], made ready for the next search
    ):
        problem = first + wp.tid()
        n_solutions = position_error.shape[1]
        start = problem * n_solutions
        pose, is_finite = unit_pose(problem, target, seed)
        for lane in range(lanes):
            leave_out_later(problem * lanes + lane, solved[problem], found_at, found)
        count = int(0)
        row = int(0)
        slot = int(0)
        distance = wp.float64(-1.0)
        within_limits = bool(True)
        while row >= 0 and count < n_solutions:
            after = row * solutions.shape[1] + slot
            row, slot, distance = nearest_beyond(
                problem, lanes, after, distance, seed, solutions, found
            )
            if row >= 0 and is_new(placement, row, slot, start, count, solutions, joint_q):
                insides = write_configurations(
                    placement, start + count, row, slot, slot + 1, slot + 1, solutions, joint_q
                )
                within_limits = within_limits and insides[0] > wp.float64(0.0)
                count += 1
        n_found[problem] = count
        code = wp.static(int(SolveStatus.CONVERGED))
        if not is_finite:
            code = wp.static(int(SolveStatus.NON_FINITE_INPUT))
            for k in range(placement.base.shape[0]):
                joint_q[start, k] = placement.base[k]
        elif count == 0:
            row = lane_of_least_cost(problem, lanes, lane_cost)
            insides = write_configurations(placement, start, row, 0, 1, 1, solutions, joint_q)
            code = unsolved(tree, placement, start, joint_q, pose)
        for k in range(n_solutions):
            out = start + k
            if k >= wp.max(count, 1):
                for c in range(joint_q.shape[1]):
                    joint_q[out, c] = joint_q[start, c]
            moved, turned, inside = tool_error(tree, placement, out, joint_q, pose)
            if not is_finite:
                moved = wp.float64(wp.inf)
                turned = wp.float64(wp.inf)
            position_error[problem, k] = moved
            rotation_error[problem, k] = turned
            if k < count and not (inside and within_limits):
                code = wp.static(int(SolveStatus.NUMERICAL_FAILURE))
        status[problem] = code
        solved[problem] = wp.static(NEVER)

    return collect
