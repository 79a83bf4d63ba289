# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels that make solutions of candidates which need no polishing, for large batches on a GPU.

The closed form of exact axes gives nearly all candidates to rounding. Only those next to a
singular configuration need iterations. The code of iterations takes all registers of a thread and
more, which also slows down the poses that do not need it. So a first kernel grades each candidate
in a thread of its own, and a second one selects the distinct solutions of a pose and sorts them.
Poses of which a candidate needs more than that are marked, and
:mod:`ros_ik.solvers.analytic.refinement.refine` solves them again in a later launch.
"""

import functools
from typing import no_type_check
import zlib

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.analytic.refinement.polish import polish_functions
from ros_ik.solvers.analytic.refinement.solution_functions import solution_functions
from ros_ik.solvers.pose_ik.kernels.kernel import unit_pose_function

# Largest number of candidates of a pose, one bit of a mask each.
MAX_MASKED_CANDIDATES = 31
# Grades of candidates that are no solutions within the limits, whose grade is their squared
# distance to the seed: unused ones, those to be polished, those far outside the limits, and
# solutions outside the limits.
_UNUSED, _INEXACT, _FAR_OUTSIDE, _OUTSIDE = -1.0, -2.0, -3.0, -4.0


@no_type_check
@functools.cache
def grade_kernel(n: int, has_slides: bool, has_free_turns: bool) -> wp.Kernel:
    """Build the kernel for a kind of chain and pose; see ``polish_functions``."""
    structure = zlib.crc32(repr((n, has_slides, has_free_turns)).encode()) & 0x7FFFFFFF
    functions = polish_functions(n, has_slides, has_free_turns)
    examine, nearest_turns = functions.examine, functions.nearest_turns
    Chain, Refinement = functions.Chain, functions.Refinement
    shared = solution_functions(n, has_slides, has_free_turns)
    read, least_outside = shared.read, shared.least_outside
    outside, far_outside = shared.outside, shared.far_outside
    distance_to = shared.distance_to
    unit_pose = unit_pose_function()

    # Loops over the joints unroll.
    @compiled_kernel(max_unroll=16, max_registers=128)
    def grade_candidates(
        chain: Chain,
        refinement: Refinement,
        target: wp.array(dtype=wp.transformd),  # [n_problems], of the tool in the world
        seed: wp.array2d(dtype=wp.float64),  # [n_problems, n]
        candidates: wp.array3d(dtype=wp.float64),  # [n_problems, room, n], turned
        misses: wp.array2d(dtype=wp.float64),  # [n_problems, room]
        grades: wp.array2d(dtype=wp.float64),  # [n_problems, room]
    ):
        _structure = wp.static(structure)
        # Threads of a warp are at the same slot and access neighbouring memory.
        slot, problem = wp.tid()
        grade = wp.float64(wp.static(_UNUSED))
        if misses[problem, slot] <= refinement.slack:
            pose, valid = unit_pose(problem, target, seed)
            R_t = wp.quat_to_matrix(wp.transform_get_rotation(pose))
            p_t = wp.transform_get_translation(pose)
            q = read(problem, slot, candidates)
            q = nearest_turns(chain, q, problem, seed, refinement.at_limit)
            q = least_outside(chain, q)
            is_fine, is_regular = examine(chain, refinement, q, R_t, p_t)
            off = outside(chain, q)
            grade = distance_to(q, problem, seed)
            if off > wp.float64(0.0):
                grade = wp.float64(wp.static(_OUTSIDE))
            is_beside = off > wp.float64(0.0) and off <= refinement.at_limit
            if is_beside or not (valid and is_fine and is_regular):
                grade = wp.float64(wp.static(_INEXACT))
            if far_outside(chain, refinement, refinement.margin, q):
                grade = wp.float64(wp.static(_FAR_OUTSIDE))
            for j in range(n):
                candidates[problem, slot, j] = q[j]
        grades[problem, slot] = grade

    return grade_candidates


@no_type_check
@functools.cache
def accept_kernel(n: int, has_slides: bool, has_free_turns: bool) -> wp.Kernel:
    """Build the kernel for a kind of chain and pose; see ``polish_functions``."""
    structure = zlib.crc32(repr((n, has_slides, has_free_turns)).encode()) & 0x7FFFFFFF
    Refinement = polish_functions(n, has_slides, has_free_turns).Refinement
    Chain = polish_functions(n, has_slides, has_free_turns).Chain
    shared = solution_functions(n, has_slides, has_free_turns)
    read, is_apart = shared.read, shared.is_apart

    @compiled_kernel(max_unroll=16)
    def accept(
        chain: Chain,
        refinement: Refinement,
        grades: wp.array2d(dtype=wp.float64),  # [n_problems, room]
        candidates: wp.array3d(dtype=wp.float64),  # [n_problems, room, n], turned
        solutions: wp.array3d(dtype=wp.float64),  # [n_problems, max_solutions, n]
        distances: wp.array2d(dtype=wp.float64),  # [n_problems, max_solutions]
        branch_of: wp.array2d(dtype=wp.int32),  # [n_problems, max_solutions]
        directions: wp.array3d(dtype=wp.float64),  # [n_problems, max_solutions, n]
        singular: wp.array2d(dtype=wp.int32),  # [n_problems, max_solutions]
        n_exist: wp.array(dtype=wp.int32),  # [n_problems], solutions inside the limits
        n_branches: wp.array(dtype=wp.int32),  # [n_problems], solutions regardless of limits
        n_beside: wp.array(dtype=wp.int32),  # [n_problems], 0
        least_cost: wp.array(dtype=wp.float64),  # [n_problems], inf
        left: wp.array(dtype=wp.int32),  # [n_problems], 1 for poses that need more than this
    ):
        _structure = wp.static(structure)
        problem = wp.tid()
        distinct = int(0)  # bit masks of distinct candidates, and of those inside the limits
        inside = int(0)
        branches = int(0)
        count = int(0)
        accepted = bool(True)
        for slot in range(candidates.shape[1]):
            grade = grades[problem, slot]
            if grade == wp.float64(wp.static(_INEXACT)):
                accepted = False
            elif grade == wp.float64(wp.static(_FAR_OUTSIDE)):
                branches += 1
            elif grade != wp.float64(wp.static(_UNUSED)) and accepted:
                q = read(problem, slot, candidates)
                is_new = bool(True)
                for k in range(slot):
                    if is_new and ((distinct >> k) & 1) == 1:
                        is_new = is_apart(chain, q, problem, k, refinement, candidates)
                if is_new:
                    distinct = distinct | (1 << slot)
                    branches += 1
                    if grade >= wp.float64(0.0):
                        inside = inside | (1 << slot)
                        count += 1
        accepted = accepted and count > 0
        left[problem] = wp.where(accepted, 0, 1)
        if accepted:
            for slot in range(candidates.shape[1]):
                if ((inside >> slot) & 1) == 1:
                    distance = grades[problem, slot]
                    # Of solutions at the same distance, the one in the lower slot comes first.
                    rank = int(0)
                    for k in range(candidates.shape[1]):
                        if ((inside >> k) & 1) == 1:
                            other = grades[problem, k]
                            if other < distance or (other == distance and k < slot):
                                rank += 1
                    if rank < solutions.shape[1]:
                        for j in range(n):
                            solutions[problem, rank, j] = candidates[problem, slot, j]
                        distances[problem, rank] = distance
                        branch_of[problem, rank] = slot
            for k in range(solutions.shape[1]):
                # Directions are zero for regular solutions.
                if singular[problem, k] != 0:
                    singular[problem, k] = 0
                    for j in range(n):
                        directions[problem, k, j] = wp.float64(0.0)
            n_exist[problem] = count
            n_branches[problem] = branches
            n_beside[problem] = 0
            least_cost[problem] = wp.float64(wp.inf)

    return accept
