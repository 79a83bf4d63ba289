# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that adds to the solution of each pose its whole turns within the limits."""

import functools
from typing import no_type_check
import zlib

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.analytic.refinement.polish import polish_functions
from ros_ik.solvers.analytic.refinement.solution_functions import solution_functions
from ros_ik.solvers.analytic.refinement.within_limits import limit_functions
from ros_ik.solvers.pose_ik.kernels.kernel import unit_pose_function


@no_type_check
@functools.cache
def all_turns_kernel(n: int, has_slides: bool, has_free_turns: bool) -> wp.Kernel:
    """Build the kernel for a kind of chain and pose; see ``polish_functions``."""
    kind = n, has_slides, has_free_turns
    structure = zlib.crc32(repr(kind).encode()) & 0x7FFFFFFF
    functions = polish_functions(*kind)
    Chain, Refinement = functions.Chain, functions.Refinement
    comparing = solution_functions(*kind)
    read, outside = comparing.read, comparing.outside
    insert_all_turns = limit_functions(*kind).insert_all_turns
    unit_pose = unit_pose_function()

    @compiled_kernel(max_unroll=16, registers=255)
    def add_turns(
        chain: Chain,
        refinement: Refinement,
        target: wp.array(dtype=wp.transformd),  # [n_problems], of the tool in the world
        seed: wp.array2d(dtype=wp.float64),  # [n_problems, n]
        solutions: wp.array3d(dtype=wp.float64),  # [n_problems, entries, n], the first is given
        distances: wp.array2d(dtype=wp.float64),  # [n_problems, entries]
        branch_of: wp.array2d(dtype=wp.int32),  # [n_problems, entries]
        n_exist: wp.array(dtype=wp.int32),  # [n_problems], 1 if there is a solution
    ):
        _structure = wp.static(structure)
        problem = wp.tid()
        pose, valid = unit_pose(problem, target, seed)
        if valid and n_exist[problem] > 0:
            q = read(problem, 0, solutions)
            n_exist[problem] = insert_all_turns(
                chain, refinement, wp.quat_to_matrix(wp.transform_get_rotation(pose)),
                wp.transform_get_translation(pose), q, outside(chain, q), 0, problem, 0, seed,
                solutions, distances, branch_of,
            )  # fmt: skip

    return add_turns
