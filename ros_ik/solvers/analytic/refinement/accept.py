# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that makes solutions of candidates which need no polishing, for large batches on a GPU.

The closed form of exact axes gives nearly all candidates to rounding. Only those next to a
singular configuration need iterations. The code of iterations takes all registers of a thread and
more, which also slows down the poses that do not need it. This kernel measures the errors of the
candidates. If one of a pose needs more than that, the kernel marks the pose, and
:mod:`ros_ik.solvers.analytic.refinement.refine` solves it again in a later launch.
"""

import functools
from typing import no_type_check
import zlib

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.analytic.refinement.bit_mask import is_marked
from ros_ik.solvers.analytic.refinement.bit_mask import marked
from ros_ik.solvers.analytic.refinement.polish import polish_functions
from ros_ik.solvers.analytic.refinement.solution_functions import solution_functions
from ros_ik.solvers.analytic.refinement.sorted_entries import insert_sorted
from ros_ik.solvers.pose_ik.kernels.kernel import unit_pose_function


@no_type_check
@functools.cache
def accept_kernel(n: int, has_slides: bool, has_free_turns: bool) -> wp.Kernel:
    """Build the kernel for a kind of chain and pose; see ``polish_functions``."""
    structure = zlib.crc32(repr((n, has_slides, has_free_turns)).encode()) & 0x7FFFFFFF
    functions = polish_functions(n, has_slides, has_free_turns)
    examine, nearest_turns = functions.examine, functions.nearest_turns
    Chain, Refinement = functions.Chain, functions.Refinement
    shared = solution_functions(n, has_slides, has_free_turns)
    read, least_outside, is_apart = shared.read, shared.least_outside, shared.is_apart
    outside, far_outside = shared.outside, shared.far_outside
    distance_to = shared.distance_to
    unit_pose = unit_pose_function()

    # Loops over the joints unroll.
    @compiled_kernel(max_unroll=16, max_registers=128)
    def accept(
        chain: Chain,
        refinement: Refinement,
        target: wp.array(dtype=wp.transformd),  # [n_problems], of the tool in the world
        seed: wp.array2d(dtype=wp.float64),  # [n_problems, n]
        candidates: wp.array3d(dtype=wp.float64),  # [n_problems, room, n], turned
        misses: wp.array2d(dtype=wp.float64),  # [n_problems, room]
        solutions: wp.array3d(dtype=wp.float64),  # [n_problems, max_solutions, n]
        distances: wp.array2d(dtype=wp.float64),  # [n_problems, max_solutions]
        branch_of: wp.array2d(dtype=wp.int32),  # [n_problems, max_solutions]
        directions: wp.array3d(dtype=wp.float64),  # [n_problems, max_solutions, n]
        singular: wp.array2d(dtype=wp.bool),  # [n_problems, max_solutions]
        n_exist: wp.array(dtype=wp.int32),  # [n_problems], solutions inside the limits
        n_branches: wp.array(dtype=wp.int32),  # [n_problems], solutions regardless of limits
        n_beside: wp.array(dtype=wp.int32),  # [n_problems], 0
        least_cost: wp.array(dtype=wp.float64),  # [n_problems], inf
        left: wp.array(dtype=wp.int32),  # [n_problems], 1 for poses that need more than this
    ):
        _structure = wp.static(structure)
        problem = wp.tid()
        pose, accepted = unit_pose(problem, target, seed)
        R_t = wp.quat_to_matrix(wp.transform_get_rotation(pose))
        p_t = wp.transform_get_translation(pose)
        chosen = int(0)  # bit mask of the distinct candidates
        branches = int(0)
        beyond = int(0)
        count = int(0)
        slot = int(0)
        # All threads of a warp are at the same slot, so that they examine candidates together and
        # access neighbouring memory.
        while accepted and slot < candidates.shape[1]:
            if misses[problem, slot] <= refinement.slack:
                q = read(problem, slot, candidates)
                q = nearest_turns(chain, q, problem, seed, refinement.at_limit)
                q = least_outside(chain, refinement.at_limit, q)
                if far_outside(chain, refinement, refinement.margin, q):
                    beyond += 1
                else:
                    is_fine, is_regular = examine(chain, refinement, q, R_t, p_t)
                    off = outside(chain, q)
                    inside = off <= wp.float64(0.0)
                    accepted = is_fine and is_regular and (inside or off > refinement.at_limit)
                    is_new = accepted
                    for k in range(slot):
                        if is_new and is_marked(chosen, k):
                            is_new = is_apart(chain, q, problem, k, refinement, candidates)
                    if is_new:
                        chosen = marked(chosen, slot)
                        branches += 1
                        for j in range(n):
                            candidates[problem, slot, j] = q[j]
                        if inside:
                            distance = distance_to(q, problem, seed)
                            insert_sorted(
                                distance, slot, problem, count, distances, branch_of
                            )
                            count += 1
            slot += 1
        accepted = accepted and count > 0
        left[problem] = wp.where(accepted, 0, 1)
        if accepted:
            written = wp.min(count, solutions.shape[1])
            for k in range(written):
                q = read(problem, branch_of[problem, k], candidates)
                for j in range(n):
                    solutions[problem, k, j] = q[j]
            for k in range(solutions.shape[1]):
                # Directions are zero for regular solutions.
                if singular[problem, k]:
                    singular[problem, k] = False
                    for j in range(n):
                        directions[problem, k, j] = wp.float64(0.0)
            n_exist[problem] = count
            n_branches[problem] = branches + beyond
            n_beside[problem] = 0
            least_cost[problem] = wp.float64(wp.inf)

    return accept
