# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joint path that follows a branch from pose to pose, for any chain.

Without a start configuration, every branch of the first pose is followed to its first break. The
branch that gets furthest is chosen, and among equals the one with the least joint motion. The
poses after the first break are solved in batches, because unreachable poses take the most
attempts.
"""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np

from ros_ik.solvers.path.branch_follower import BranchFollower
from ros_ik.solvers.path.branch_follower import LOCAL
from ros_ik.solvers.path.problem import PathProblem
from ros_ik.solvers.path.problem import PathResult
from ros_ik.solvers.status import SolveStatus

# Number of poses solved at a time after the first break; bounds the memory.
_MAX_POSES = 1024


def path_along_branch(problem: PathProblem, n_branches: int) -> PathResult:
    """Follow the branch of the start, or each of the first pose.

    Args:
        problem: The problem.
        n_branches: Number of solutions of the first pose to follow if no start is given.
    """
    targets = problem.targets
    check = problem.motion_check()
    follower = BranchFollower(problem.solver(settings=LOCAL), check, problem.max_joint_step)
    if problem.start is not None:
        come_from = problem.start
        path = follower.follow(targets, come_from, problem.start_pose())
    else:
        ends = problem.free_solver(n_solutions=n_branches).solve(targets[:1])
        branches = ends.joint_q.reshape(n_branches, -1)[: max(1, int(ends.n_found[0]))].copy()
        followed = [follower.follow(targets, branch, targets[0]) for branch in branches]
        best = max(range(len(followed)), key=lambda k: (len(followed[k]), -_length(followed[k])))
        come_from, path = branches[best], followed[best]
    result = _completed(problem, follower, n_branches, come_from, path)
    return dataclasses.replace(result, start_pair=check.colliding_links(problem.start))


def _completed(
    problem: PathProblem,
    follower: BranchFollower,
    n_branches: int,
    start: np.ndarray,
    path: list[np.ndarray],
) -> PathResult:
    """Complete a path after its first break.

    Args:
        problem: The problem.
        follower: Follower that continues the path after a break.
        n_branches: Number of solutions of a pose to choose from after a break.
        start: Start configuration of the path.
        path: Configurations up to the first break.
    """
    targets = problem.targets
    n, first = len(targets), len(path)
    joint_q = np.empty((n, len(start)))
    joint_q[:first] = np.reshape(path, (first, len(start)))
    status = np.full(n, int(SolveStatus.CONVERGED))
    breaks: list[int] = []
    before = path[-1] if path else start
    for begin in range(first, n, _MAX_POSES):
        rows = targets[begin : begin + _MAX_POSES]
        solver = problem.free_solver(len(rows), n_solutions=n_branches)
        answer = solver.solve(rows, np.tile(before, (len(rows), 1)))
        solutions = answer.joint_q.reshape(len(rows), solver.n_solutions, -1)
        for k, target in enumerate(rows, begin):
            found = int(answer.n_found[k - begin])
            after = None
            if found and k > first:
                after = follower.advance(before, targets[k - 1], target, is_bounded=True)
            if after is None:
                breaks.append(k)
                status[k] = answer.status[k - begin]
                several = solutions[k - begin, : max(1, found)]
                away = np.linalg.norm(several - before, axis=1)
                after = several[np.argmin(away)].copy()
            joint_q[k] = before = after
    return PathResult(joint_q, status, tuple(breaks), first / n)


def _length(path: list[np.ndarray]) -> float:
    """Return the length of a joint path."""
    pairs = itertools.pairwise(path)
    return float(sum(np.linalg.norm(after - before) for before, after in pairs))
