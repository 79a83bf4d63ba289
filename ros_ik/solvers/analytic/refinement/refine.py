# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that makes solutions of candidates, polished, distinct, within the limits, sorted."""

import functools
from typing import no_type_check
import zlib

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.row_list import row_list_functions
from ros_ik.solvers.analytic.refinement.bit_mask import is_marked
from ros_ik.solvers.analytic.refinement.branch_functions import branch_functions
from ros_ik.solvers.analytic.refinement.distinct_branches import distinct_branch_functions
from ros_ik.solvers.analytic.refinement.polish import polish_functions
from ros_ik.solvers.analytic.refinement.solution_functions import solution_functions
from ros_ik.solvers.analytic.refinement.within_limits import limit_functions
from ros_ik.solvers.pose_ik.kernels.kernel import unit_pose_function

# Number of candidates that are examined together on a CPU.
CANDIDATE_LANES = 8


@no_type_check
@functools.cache
def refine_kernel(
    n: int, has_slides: bool, has_free_turns: bool, all_turns: bool, lanes: int
) -> wp.Kernel:
    """Build the kernel for a kind of chain and pose; see ``polish_functions``.

    With ``all_turns`` it returns all turns of a joint within its limits. Few use them, and their
    code would slow down the kernel for all others.
    """
    kind = n, has_slides, has_free_turns
    structure = zlib.crc32(repr((*kind, all_turns, lanes)).encode()) & 0x7FFFFFFF
    polishing = polish_functions(*kind)
    units, weakest_direction, vecm = polishing.units, polishing.weakest_direction, polishing.vecm
    Chain, Refinement = polishing.Chain, polishing.Refinement
    comparing = solution_functions(*kind)
    read, outside = comparing.read, comparing.outside
    branching = distinct_branch_functions(*kind, all_turns, lanes)
    distinct_branches, add_twins = branching.distinct_branches, branching.add_twins
    limiting = limit_functions(*kind)
    insert_nearest, write_beside = limiting.insert_nearest, limiting.write_beside
    insert_at_limit, insert_all_turns = limiting.insert_at_limit, limiting.insert_all_turns
    insert = branch_functions(*kind).insert
    rows_functions = row_list_functions()
    Rows, listed_row = rows_functions.Rows, rows_functions.listed_row
    unit_pose = unit_pose_function()

    @wp.func
    def mark_singular(
        chain: Chain, refinement: Refinement, problem: int, written: int, regular: int,
        solutions: wp.array3d(dtype=wp.float64), branch_of: wp.array2d(dtype=wp.int32),
        directions: wp.array3d(dtype=wp.float64), singular: wp.array2d(dtype=wp.bool),
    ):  # fmt: skip
        """Write which solutions are singular, and the direction in which each of these can move.

        Directions are zero for regular solutions.
        """
        _structure = wp.static(structure)
        shown = solutions.shape[1]
        if refinement.sparse != 0:
            shown = written
        for k in range(shown):
            flag = int(0)
            x = vecm()
            if k < written and not is_marked(regular, branch_of[problem, k]):
                x, value = weakest_direction(chain, refinement, read(problem, k, solutions))
                x = wp.normalize(wp.cw_mul(x, units(chain, refinement)))
                if value < refinement.singular_value:
                    flag = 1
            if flag == 1 or singular[problem, k]:
                singular[problem, k] = flag == 1
                for j in range(n):
                    directions[problem, k, j] = x[j] * wp.float64(flag)

    @wp.func
    def insert_branches(
        chain: Chain, refinement: Refinement, R_t: wp.mat33d, p_t: wp.vec3d, problem: int,
        branches: int, allowed: int, seed: wp.array2d(dtype=wp.float64),
        candidates: wp.array3d(dtype=wp.float64), solutions: wp.array3d(dtype=wp.float64),
        distances: wp.array2d(dtype=wp.float64), branch_of: wp.array2d(dtype=wp.int32),
    ) -> int:  # fmt: skip
        """Insert the solutions of all branches; return their number.

        ``allowed`` is a bit mask of branches within the limits.
        """
        _structure = wp.static(structure)
        count = int(0)
        branch = int(0)
        while branch < branches:
            q = read(problem, branch, candidates)
            off = wp.float64(0.0)
            if not is_marked(allowed, branch):
                off = outside(chain, q)
            if wp.static(all_turns):
                count = insert_all_turns(
                    chain, refinement, R_t, p_t, q, off, branch, problem, count, seed, solutions,
                    distances, branch_of,
                )  # fmt: skip
            elif off <= wp.float64(0.0):
                # The usual case, apart from the rest for its time.
                count = insert(
                    q, branch, problem, count, seed, solutions, distances, branch_of
                )
            elif off <= refinement.at_limit:
                count = insert_at_limit(
                    chain, refinement, R_t, p_t, q, branch, problem, count, seed, solutions,
                    distances, branch_of,
                )  # fmt: skip
            branch += 1
        return count

    @wp.func
    def is_left_out(
        refinement: Refinement, problem: int, misses: wp.array2d(dtype=wp.float64)
    ) -> bool:
        """Return True for a pose without candidates that leaves unused entries unchanged."""
        result = refinement.sparse != 0 and refinement.least_error == 0
        slot = int(0)
        while result and slot < misses.shape[1]:
            result = not (misses[problem, slot] <= refinement.slack)
            slot += 1
        return result

    # Loops over the joints unroll.
    @compiled_kernel(max_unroll=16, registers=255)
    def refine(
        chain: Chain,
        refinement: Refinement,
        rows: Rows,  # of the problems to solve
        target: wp.array(dtype=wp.transformd),  # [n_problems], of the tool in the world
        seed: wp.array2d(dtype=wp.float64),  # [n_problems, n]
        candidates: wp.array3d(dtype=wp.float64),  # [n_problems, room, n], overwritten
        misses: wp.array2d(dtype=wp.float64),  # [n_problems, room]
        solutions: wp.array3d(dtype=wp.float64),  # [n_problems, max_solutions, n]
        distances: wp.array2d(dtype=wp.float64),  # [n_problems, max_solutions]
        branch_of: wp.array2d(dtype=wp.int32),  # [n_problems, max_solutions]
        directions: wp.array3d(dtype=wp.float64),  # [n_problems, max_solutions, n]
        singular: wp.array2d(dtype=wp.bool),  # [n_problems, max_solutions]
        n_exist: wp.array(dtype=wp.int32),  # [n_problems], solutions inside the limits
        n_branches: wp.array(dtype=wp.int32),  # [n_problems], solutions regardless of limits
        n_beside: wp.array(dtype=wp.int32),  # [n_problems], solutions just outside the limits
        least_cost: wp.array(dtype=wp.float64),  # [n_problems], of the best one without solutions
    ):
        _structure = wp.static(structure)
        thread = wp.tid()
        problem = listed_row(rows, thread)
        more = problem >= 0
        if wp.static(lanes > 1):
            # Poses without candidates, before the loop whose constants take time to prepare.
            while more and is_left_out(refinement, problem, misses):
                pose, valid = unit_pose(problem, target, seed)
                if valid:
                    q = vecm()
                    for j in range(n):
                        q[j] = seed[problem, j]
                    insert(q, 0, problem, 0, seed, solutions, distances, branch_of)
                n_beside[problem] = 0
                n_exist[problem] = 0
                n_branches[problem] = 0
                least_cost[problem] = wp.float64(wp.inf)
                thread += 1
                more = thread < target.shape[0]
                if more:
                    problem = listed_row(rows, thread)
                    more = problem >= 0
        while more:
            pose, valid = unit_pose(problem, target, seed)
            R_t = wp.quat_to_matrix(wp.transform_get_rotation(pose))
            p_t = wp.transform_get_translation(pose)
            branches = int(0)
            beyond = int(0)
            regular = int(0)
            count = int(0)
            least = wp.float64(wp.inf)
            written = int(0)
            if valid:
                distinct, beyond, regular, allowed, count = distinct_branches(
                    chain, refinement, R_t, p_t, problem, seed, candidates, misses, solutions,
                    distances, branch_of,
                )
                branches = add_twins(
                    chain, refinement, R_t, p_t, problem, distinct, seed, candidates
                )
                if count == 0:
                    count = insert_branches(
                        chain, refinement, R_t, p_t, problem, branches, allowed, seed, candidates,
                        solutions, distances, branch_of,
                    )
                if count == 0:
                    least, solves = insert_nearest(
                        chain, refinement, R_t, p_t, problem, seed, candidates, misses,
                        solutions, distances, branch_of,
                    )
                    regular = 0
                    count = wp.where(solves, 1, 0)
                written = wp.min(wp.max(count, 1), solutions.shape[1])
            n_beside[problem] = write_beside(
                chain, refinement, problem, branches, count, seed, candidates, solutions,
                distances,
            )
            if refinement.sparse != 0:
                written = wp.min(count, solutions.shape[1])
            mark_singular(
                chain, refinement, problem, written, regular, solutions, branch_of, directions,
                singular,
            )
            n_exist[problem] = count
            n_branches[problem] = branches + beyond
            least_cost[problem] = least
            thread += 1
            more = wp.static(lanes > 1) and thread < target.shape[0]
            if more:
                problem = listed_row(rows, thread)
                more = problem >= 0

    return refine
