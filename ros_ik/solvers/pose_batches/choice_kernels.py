# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels that compute costs of the solutions of poses, and choose those of least cost."""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel


@no_type_check
@functools.cache
def distance_cost_kernel() -> wp.Kernel:
    """Build the kernel of the squared distance to a configuration."""

    @compiled_kernel()
    def distance_cost(
        joint_q: wp.array3d(dtype=wp.float64),  # [n, s, joint_coord_count]
        coordinate: wp.array(dtype=wp.int32),  # [m], of each variable
        unit: wp.array(dtype=wp.float64),  # [m]
        center: wp.array2d(dtype=wp.float64),  # [n or 1, joint_coord_count]
        cost: wp.array2d(dtype=wp.float64),  # [n, s]
    ):
        row, slot = wp.tid()
        own = wp.min(row, center.shape[0] - 1)
        total = wp.float64(0.0)
        for k in range(coordinate.shape[0]):
            c = coordinate[k]
            change = (joint_q[row, slot, c] - center[own, c]) / unit[k]
            total += change * change
        cost[row, slot] = total

    return distance_cost


@no_type_check
@functools.cache
def measure_cost_kernel() -> wp.Kernel:
    """Build the kernel of the negative of a measure that whole turns of joints do not change.

    Solutions of a pose that differ only by whole turns, within the accuracy of a search, have the
    cost of the first of them.
    """

    @wp.func
    def agree_but_for_turns(
        row: int,
        one: int,
        other: int,
        joint_q: wp.array3d(dtype=wp.float64),
        coordinate: wp.array(dtype=wp.int32),
        turn: wp.array(dtype=wp.float64),
        separation: wp.float64,
    ) -> bool:
        for k in range(coordinate.shape[0]):
            change = joint_q[row, one, coordinate[k]] - joint_q[row, other, coordinate[k]]
            if turn[k] < wp.float64(wp.inf):
                change -= turn[k] * wp.round(change / turn[k])
            if wp.abs(change) >= separation:
                return False
        return True

    @compiled_kernel()
    def measure_cost(
        joint_q: wp.array3d(dtype=wp.float64),  # [n, s, joint_coord_count]
        coordinate: wp.array(dtype=wp.int32),  # [m], of each variable
        turn: wp.array(dtype=wp.float64),  # [m], change of each in a whole turn, or inf
        separation: wp.float64,  # least distance of distinct solutions [rad or m]
        measure: wp.array(dtype=wp.float64),  # [n * s]
        cost: wp.array2d(dtype=wp.float64),  # [n, s]
    ):
        row, slot = wp.tid()
        first = int(0)
        while not agree_but_for_turns(row, first, slot, joint_q, coordinate, turn, separation):
            first += 1
        cost[row, slot] = -measure[row * cost.shape[1] + first]

    return measure_cost


@no_type_check
@functools.cache
def choose_solutions_kernel() -> wp.Kernel:
    """Build the kernel that chooses the solutions of least cost of all poses of a problem.

    Solutions of equal cost keep their order, so the choice is the same each time. Those of a pose
    are distinct already; one that is close to a chosen one of another pose is left out. If a
    problem has no solution, the first configuration of the nearest pose is chosen. Places after
    the last solution repeat the first.
    """

    @wp.func
    def next_in_order(
        start: int,
        n_goals: int,
        after: int,
        floor: wp.float64,
        cost: wp.array2d(dtype=wp.float64),
        n_found: wp.array(dtype=wp.int32),
    ) -> int:
        """Return the index of the solution that follows index ``after`` of cost ``floor``, or -1.

        Indices count the entries of the poses of the problem, whose first row is ``start``.
        """
        following = int(-1)
        least = wp.float64(wp.inf)
        for goal in range(n_goals):
            for slot in range(n_found[start + goal]):
                value = cost[start + goal, slot]
                index = goal * cost.shape[1] + slot
                follows = value > floor or (value == floor and index > after)
                if follows and (following < 0 or value < least):
                    following = index
                    least = value
        return following

    @wp.func
    def is_chosen(
        problem: int,
        count: int,
        goal: int,
        row: int,
        slot: int,
        joint_q: wp.array3d(dtype=wp.float64),
        coordinate: wp.array(dtype=wp.int32),
        separation: wp.float64,
        best_q: wp.array3d(dtype=wp.float64),
        best_goal: wp.array2d(dtype=wp.int32),
    ) -> bool:
        """Return True if the first ``count`` choices have one of another pose this close."""
        for k in range(count):
            if best_goal[problem, k] != goal:
                apart = wp.float64(0.0)
                for j in range(coordinate.shape[0]):
                    c = coordinate[j]
                    apart = wp.max(apart, wp.abs(joint_q[row, slot, c] - best_q[problem, k, c]))
                if apart < separation:
                    return True
        return False

    @wp.func
    def nearest_goal(
        start: int,
        n_goals: int,
        radian: wp.float64,
        position_error: wp.array2d(dtype=wp.float64),
        rotation_error: wp.array2d(dtype=wp.float64),
    ) -> int:
        """Return the index of the pose with the smallest error; NaN and inf come last."""
        nearest = int(0)
        least = wp.float64(wp.inf)
        for goal in range(n_goals):
            away = position_error[start + goal, 0] + radian * rotation_error[start + goal, 0]
            if away < least:
                least = away
                nearest = goal
        return nearest

    @compiled_kernel()
    def choose_solutions(
        n_goals: int,  # poses of a problem
        radian: wp.float64,  # weight of an angle in the choice of the nearest pose [m]
        cost: wp.array2d(dtype=wp.float64),  # [n * n_goals, s]
        joint_q: wp.array3d(dtype=wp.float64),  # [n * n_goals, s, joint_coord_count]
        status: wp.array(dtype=wp.int32),  # [n * n_goals]
        n_found: wp.array(dtype=wp.int32),  # [n * n_goals]
        coordinate: wp.array(dtype=wp.int32),  # [m], of each variable
        separation: wp.float64,  # least distance of distinct solutions [rad or m]
        position_error: wp.array2d(dtype=wp.float64),  # [n * n_goals, s]
        rotation_error: wp.array2d(dtype=wp.float64),  # [n * n_goals, s]
        best_q: wp.array3d(dtype=wp.float64),  # [n, wanted, joint_coord_count]
        best_status: wp.array(dtype=wp.int32),  # [n]
        n_best: wp.array(dtype=wp.int32),  # [n]
        best_position_error: wp.array2d(dtype=wp.float64),  # [n, wanted]
        best_rotation_error: wp.array2d(dtype=wp.float64),  # [n, wanted]
        best_goal: wp.array2d(dtype=wp.int32),  # [n, wanted]
    ):
        problem = wp.tid()
        start = problem * n_goals
        s = cost.shape[1]
        count = int(0)
        first = int(0)
        index = int(-1)
        floor = wp.float64(-wp.inf)
        for k in range(best_q.shape[1]):
            following = int(-1)
            is_searching = count == k
            while is_searching:
                following = next_in_order(start, n_goals, index, floor, cost, n_found)
                is_searching = False
                if following >= 0:
                    index = following
                    goal = index // s
                    floor = cost[start + goal, index % s]
                    is_searching = is_chosen(
                        problem, count, goal, start + goal, index % s, joint_q, coordinate,
                        separation, best_q, best_goal,
                    )  # fmt: skip
            if following >= 0:
                count += 1
            elif k == 0:
                index = s * nearest_goal(start, n_goals, radian, position_error, rotation_error)
            else:
                index = first
            if k == 0:
                first = index
            row = start + index // s
            slot = index % s
            for c in range(best_q.shape[2]):
                best_q[problem, k, c] = joint_q[row, slot, c]
            best_position_error[problem, k] = position_error[row, slot]
            best_rotation_error[problem, k] = rotation_error[row, slot]
            best_goal[problem, k] = index // s
        n_best[problem] = count
        best_status[problem] = status[start + first // s]

    return choose_solutions
