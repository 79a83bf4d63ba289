# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that writes solutions as configurations of the model and verifies each one."""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.tree import tree_struct
from ros_ik.solvers.pose_ik.kernel import unit_pose_function
from ros_ik.solvers.pose_ik.placement import placement_functions
from ros_ik.solvers.pose_ik.placement import placement_struct
from ros_ik.solvers.status import SolveStatus


@no_type_check
@functools.cache
def verify_kernel() -> wp.Kernel:
    """Build the kernel; it is the same for every robot."""
    Placement = placement_struct()
    Tree = tree_struct(wp.float64)
    unit_pose = unit_pose_function(wp.float64)
    functions = placement_functions()
    tool_error, write_configuration = functions.tool_error, functions.write_configuration
    within_limits, unsolved = functions.within_limits, functions.unsolved

    @compiled_kernel()
    def verify(
        tree: Tree,
        placement: Placement,
        target: wp.array(dtype=wp.transformd),  # [n_problems]
        seed: wp.array2d(dtype=wp.float64),  # [n_problems, m]
        solutions: wp.array3d(dtype=wp.float64),  # [n_problems, max_solutions, m]
        n_exist: wp.array(dtype=wp.int32),  # [n_problems]
        n_branches: wp.array(dtype=wp.int32),  # [n_problems], whatever the limits
        joint_q: wp.array2d(dtype=wp.float64),  # [n_problems * max_solutions, coordinates]
        position_error: wp.array2d(dtype=wp.float64),  # [n_problems, max_solutions]
        rotation_error: wp.array2d(dtype=wp.float64),  # [n_problems, max_solutions]
        status: wp.array(dtype=wp.int32),  # [n_problems]
    ):
        problem = wp.tid()
        room = solutions.shape[1]
        start = problem * room
        pose, valid = unit_pose(problem, target, seed)
        count = wp.min(n_exist[problem], room)
        code = wp.static(int(SolveStatus.CONVERGED))
        if not valid:
            code = wp.static(int(SolveStatus.NON_FINITE_INPUT))
            for k in range(placement.base.shape[0]):
                joint_q[start, k] = placement.base[k]
        for k in range(room):
            out = start + k
            if k >= wp.max(count, 1):
                for c in range(joint_q.shape[1]):
                    joint_q[out, c] = joint_q[start, c]
                position_error[problem, k] = position_error[problem, 0]
                rotation_error[problem, k] = rotation_error[problem, 0]
            else:
                moved = wp.float64(wp.inf)
                turned = wp.float64(wp.inf)
                inside = bool(False)
                if valid:
                    write_configuration(placement, out, problem, k, solutions, joint_q)
                    moved, turned, inside = tool_error(tree, placement, out, joint_q, pose)
                inside = inside and within_limits(placement, out, joint_q)
                if k < count and not inside:
                    code = wp.static(int(SolveStatus.NUMERICAL_FAILURE))
                position_error[problem, k] = moved
                rotation_error[problem, k] = turned
        if valid and count == 0:
            code = unsolved(tree, placement, start, joint_q, pose)
            if n_branches[problem] > 0:
                code = wp.static(int(SolveStatus.AT_LIMITS))
        status[problem] = code

    return verify
