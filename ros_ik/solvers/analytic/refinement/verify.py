# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that writes solutions as configurations of the model and verifies each one.

On a CPU a thread verifies all solutions of the listed poses, several together. On a GPU it
verifies a single solution, so that threads access neighbouring memory.
"""

from collections.abc import Sequence
import functools
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.runtime.lanes import lanes_on
from ros_ik.kinematics.runtime.lanes import threads_of
from ros_ik.kinematics.runtime.row_list import row_list_functions
from ros_ik.kinematics.tree import tree_struct
from ros_ik.launch_lock import LAUNCH_LOCK
from ros_ik.solvers.pose_ik.kernels.kernel import unit_pose_function
from ros_ik.solvers.pose_ik.kernels.placement import configuration_functions
from ros_ik.solvers.pose_ik.kernels.placement import placement_struct
from ros_ik.solvers.pose_ik.kernels.tool_errors import tool_error_functions
from ros_ik.solvers.pose_ik.kernels.unsolved_status import unsolved_function
from ros_ik.solvers.status import SolveStatus

# Number of solutions that are verified together on a CPU.
_LANES = 8
# Number of poses whose solutions neighbouring threads of a GPU verify. Solutions are read from an
# interleaved array, of which four numbers are one transaction, and written row by row.
_TILE = 4


@no_type_check
@functools.cache
def verify_kernel(lanes: int) -> wp.Kernel:
    """Build the kernel, which is the same for all robots.

    Args:
        lanes: Number of solutions that are verified together; with 1, a thread verifies a single
            solution, and the codes in ``status`` must be 0 before.
    """
    is_alone = lanes == 1
    Placement = placement_struct()
    Tree = tree_struct(wp.float64)
    unit_pose = unit_pose_function()
    tool_errors = tool_error_functions(lanes).tool_errors
    write_configurations = configuration_functions(lanes).write_configurations
    unsolved = unsolved_function()
    rows_functions = row_list_functions()
    Rows, listed_row = rows_functions.Rows, rows_functions.listed_row

    @compiled_kernel(max_registers=128)
    def verify(
        tree: Tree,
        placement: Placement,
        target: wp.array(dtype=wp.transformd),  # [n_problems]
        seed: wp.array2d(dtype=wp.float64),  # [n_problems, m]
        solutions: wp.array3d(dtype=wp.float64),  # [n_problems, max_solutions, m]
        n_exist: wp.array(dtype=wp.int32),  # [n_problems]
        n_branches: wp.array(dtype=wp.int32),  # [n_problems], regardless of limits
        rows: Rows,  # of the problems to verify, read with several lanes
        joint_q: wp.array2d(dtype=wp.float64),  # [n_problems * max_solutions, coordinates]
        position_error: wp.array2d(dtype=wp.float64),  # [n_problems, max_solutions]
        rotation_error: wp.array2d(dtype=wp.float64),  # [n_problems, max_solutions]
        n_found: wp.array(dtype=wp.int32),  # [n_problems], solutions in joint_q
        status: wp.array(dtype=wp.int32),  # [n_problems]
    ):
        thread = wp.tid()
        problem = int(thread)
        room = solutions.shape[1]
        begin = int(0)
        end = room
        if wp.static(is_alone):
            tile = problem // (wp.static(_TILE) * room)
            begin = problem // wp.static(_TILE) % room
            end = begin + 1
            problem = tile * wp.static(_TILE) + problem % wp.static(_TILE)
        else:
            problem = listed_row(rows, thread)
        more = problem < target.shape[0] and (wp.static(is_alone) or problem >= 0)
        while more:
            start = problem * room
            first = int(begin)
            pose, valid = unit_pose(problem, target, seed)
            count = wp.min(n_exist[problem], room)
            code = int(SolveStatus.CONVERGED)
            written = wp.max(count, 1)
            # Errors of the first solution, which unused entries repeat.
            distance = wp.float64(wp.inf)
            angle = wp.float64(wp.inf)
            while first < end and valid:
                insides = write_configurations(
                    placement, start + first, problem, first, written, room, solutions, joint_q
                )
                # A thread for a single solution does not know the errors of the first one.
                if wp.static(is_alone) or first < written:
                    distances, angles, near = tool_errors(
                        tree, placement, start + first, joint_q, pose
                    )
                    if first == 0:
                        distance = distances[0]
                        angle = angles[0]
                    lane = int(0)
                    while lane < wp.static(lanes) and (
                        wp.static(is_alone) or first + lane < written
                    ):
                        k = first + lane
                        if k < count and insides[lane] * near[lane] == wp.float64(0.0):
                            code = wp.static(int(SolveStatus.NUMERICAL_FAILURE))
                        position_error[problem, k] = distances[lane]
                        rotation_error[problem, k] = angles[lane]
                        lane += 1
                first += wp.static(lanes)
            k = written
            if wp.static(is_alone):
                k = end
            if not valid:
                code = wp.static(int(SolveStatus.NON_FINITE_INPUT))
                for row in range(start + begin, start + end):
                    for c in range(placement.base.shape[0]):
                        joint_q[row, c] = placement.base[c]
                k = begin
            while k < end:
                position_error[problem, k] = distance
                rotation_error[problem, k] = angle
                k += 1
            if begin == 0:
                n_found[problem] = count
            if valid and count == 0 and begin == 0:
                code = unsolved(tree, placement, start, joint_q, pose)
                if n_branches[problem] > 0:
                    code = wp.static(int(SolveStatus.AT_LIMITS))
            if wp.static(is_alone):
                # The codes of a pose are all that of success or one other.
                wp.atomic_max(status, problem, code)
            else:
                status[problem] = code
            thread += 1
            more = wp.static(not is_alone) and thread < target.shape[0]
            if more:
                problem = listed_row(rows, thread)
                more = problem >= 0

    return verify


def launch_verification(
    inputs: Sequence[Any], outputs: Sequence[Any], device: wp.DeviceLike, rows: Any = None
) -> None:
    """Enqueue the verification of the solutions of poses.

    Args:
        inputs: Arguments of the kernel up to ``n_branches``.
        outputs: The others.
        device: Device of the arrays.
        rows: List of the poses on a CPU, a struct ``Rows``; None for all.
    """
    lanes = lanes_on(device, _LANES)
    solutions, status = inputs[4], outputs[-1]
    n, room = solutions.shape[:2]
    n_threads = threads_of(lanes, -(-n // _TILE) * _TILE * room)
    if lanes == 1:
        with LAUNCH_LOCK.shared():
            status.zero_()
    if rows is None:
        rows = row_list_functions().Rows()
    launch(
        verify_kernel(lanes), dim=n_threads, inputs=[*inputs, rows], outputs=outputs,
        device=device,
    )  # fmt: skip
