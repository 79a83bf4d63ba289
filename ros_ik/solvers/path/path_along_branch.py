# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joint path that follows branches from pose to pose, for any chain.

Without a start configuration, every branch of the first pose is followed to its first break. The
branch that gets furthest is chosen, and among equals the one with the least joint motion. So is
the branch after each break, among the solutions nearest to the last configuration and those that
a path without a start would follow from there.

The poses after the first break are searched for one solution each in batches, because unreachable
poses take the most attempts. No branch is followed to a pose without a solution. All branches
together are thus followed to each pose at most twice ``n_branches`` times.
"""

from __future__ import annotations

import functools

import numpy as np

from ros_ik.solvers.path.branch_follower import BranchFollower
from ros_ik.solvers.path.branch_follower import LOCAL
from ros_ik.solvers.path.path_solvers import batch_size
from ros_ik.solvers.path.path_solvers import padded
from ros_ik.solvers.path.problem import path_rank
from ros_ik.solvers.path.problem import PathProblem
from ros_ik.solvers.path.problem import PathResult
from ros_ik.solvers.pose_ik.interface.result import ChainIKResult
from ros_ik.solvers.pose_ik.solver import ChainIK
from ros_ik.solvers.status import SolveStatus

# Number of poses searched at a time after the first break; bounds the memory.
_MAX_POSES = 1024
# Number of branches followed at a time.
_MAX_BRANCHES = 64
# Solutions of two searches are the same if no joint differs by more than this [rad or m].
_SAME = 1e-2


def path_along_branch(problem: PathProblem, n_branches: int) -> PathResult:
    """Follow the branch of the start, or each of the first pose.

    Args:
        problem: The problem.
        n_branches: Number of solutions to follow from the first pose if no start is given, and
            from a pose after a break.
    """
    return _BranchPath(problem, n_branches).solve()


class _BranchPath:
    """Path along branches, from break to break."""

    def __init__(self, problem: PathProblem, n_branches: int) -> None:
        self._problem, self._n_branches = problem, n_branches
        self._check = problem.check

    def solve(self) -> PathResult:
        """Return the path."""
        start, targets = self._problem.start, self._problem.targets
        if start is not None:
            (followed,) = self._one.follow(targets, start[None], self._problem.start_pose())
            path = list(followed)
        else:
            found = self._solver.solve(targets[:1])
            branches = self._rows(found, max(1, int(found.n_found[0])))
            paths = self._several.follow(targets, branches, targets[0])
            best = max(range(len(paths)), key=lambda k: path_rank(paths[k]))
            start, path = branches[best], list(paths[best])
        first, n = len(path), len(targets)
        nearest, status = self._searched(first, path[-1] if path else start)
        is_reached = status == SolveStatus.CONVERGED
        unreached = np.append(np.flatnonzero(~is_reached), n)
        breaks: list[int] = []
        while len(path) < n:
            k, before = len(path), path[-1] if path else start
            if not is_reached[k]:
                breaks.append(k)
                path.append(nearest[k])
                continue
            end = int(unreached[np.searchsorted(unreached, k)])
            part = self._furthest(k, end, before, nearest[k])
            if k > 0 and not is_reached[k - 1]:
                # The path may pass the pose out of reach without a break behind it.
                onward = self._onward(k, end, before)
                if len(onward) >= len(part):
                    path += onward
                    continue
            breaks.append(k)
            path += part
        pair = self._check.colliding_links(self._problem.start)
        return PathResult(np.array(path), status, tuple(breaks), first / n, pair)

    def _searched(self, first: int, near: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Search for a solution of each pose from ``first`` on.

        Args:
            first: First pose.
            near: Seed of all, [joint_coord_count].

        Returns:
            Configurations [n, joint_coord_count], the best found of unreachable poses, and
            statuses [n]. For earlier poses they are undefined, and CONVERGED.
        """
        targets = self._problem.targets
        n = len(targets)
        joint_q = np.empty((n, len(near)))
        status = np.full(n, int(SolveStatus.CONVERGED))
        for begin in range(first, n, _MAX_POSES):
            rows = slice(begin, min(begin + _MAX_POSES, n))
            count = rows.stop - begin
            size = batch_size(count, _MAX_POSES)
            found = self._problem.free_solver(size).solve(
                padded(targets[rows], size), np.tile(near, (size, 1))
            )
            joint_q[rows], status[rows] = found.joint_q[:count], found.status[:count]
        return joint_q, status

    def _furthest(
        self, first: int, end: int, before: np.ndarray, known: np.ndarray
    ) -> list[np.ndarray]:
        """Return the longest part of a path that starts at pose ``first``, not empty.

        Args:
            first: First pose, which is reachable.
            end: Pose behind the last one to go to.
            before: Configuration of the path before it; of parts of equal length the one with the
                least joint motion from here is returned.
            known: A solution of the first pose.
        """
        targets = self._problem.targets[first:end]
        # Those of a search without a seed are the branches of a path without a start.
        near, free = self._solutions(first, before), self._solutions(first, None)
        away = np.max(np.abs(free[:, None] - near), axis=2)
        rows = np.vstack([near, free[np.min(away, axis=1, initial=np.inf) > _SAME]])
        followed = self._several.follow(targets, rows, targets[0])
        # A search that follows a solution may leave the space that is free of collisions.
        parts = [part if len(part) else rows[k, None] for k, part in enumerate(followed)]
        best = max([known[None], *parts], key=lambda part: path_rank(np.vstack([before, part])))
        return list(best)

    def _onward(self, first: int, end: int, before: np.ndarray) -> list[np.ndarray]:
        """Return the part of a path that goes on to pose ``first`` without a break, if any."""
        pose, *_ = targets = self._problem.targets[first - 1 : end]
        after = self._one.advance(before, pose, targets[1], is_bounded=True)
        if after is None:
            return []
        (followed,) = self._one.follow(targets[1:], after[None], targets[1])
        return list(followed) or [after]

    def _solutions(self, k: int, near: np.ndarray | None) -> np.ndarray:
        """Return solutions [m, joint_coord_count] of a pose; ``near`` is the search's seed."""
        seeds = None if near is None else near[None]
        found = self._solver.solve(self._problem.targets[k, None], seeds)
        return self._rows(found, int(found.n_found[0]))

    def _rows(self, found: ChainIKResult, count: int) -> np.ndarray:
        """Return the first configurations [count, joint_coord_count] of a search of one pose."""
        return found.joint_q.reshape(self._n_branches, -1)[:count].copy()

    @functools.cached_property
    def _one(self) -> BranchFollower:
        return self._follower(1)

    @functools.cached_property
    def _several(self) -> BranchFollower:
        return self._follower(min(2 * self._n_branches, _MAX_BRANCHES))

    def _follower(self, count: int) -> BranchFollower:
        """Return a follower of ``count`` branches at a time."""
        local = self._problem.solver(count, settings=LOCAL)
        return BranchFollower(local, self._check, self._problem.max_joint_step)

    @functools.cached_property
    def _solver(self) -> ChainIK:
        return self._problem.free_solver(n_solutions=self._n_branches)
