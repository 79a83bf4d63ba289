# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Steps from pose to pose on several branches at a time."""

from __future__ import annotations

import numpy as np

from ros_ik.solvers.path.branch_follower import halfway
from ros_ik.solvers.path.branch_follower import MAX_DETOUR
from ros_ik.solvers.path.branch_follower import MAX_HALVINGS
from ros_ik.solvers.path.branch_follower import SHORT_STEP
from ros_ik.solvers.path.motion_check import MotionCheck
from ros_ik.solvers.pose_ik.solver import ChainIK
from ros_ik.solvers.status import SolveStatus


class BranchBundle:
    """Follower of several branches along poses, by the rules of :class:`BranchFollower`.

    One solve serves all branches, which takes a fraction of the time of one solve each.
    """

    def __init__(self, local: ChainIK, check: MotionCheck, max_joint_step: float) -> None:
        """Store solver and limits.

        Args:
            local: Solver with the settings ``LOCAL``, of as many poses as branches are followed at
                a time.
            check: Check of motions for collisions.
            max_joint_step: Largest change of a joint from one pose to the next [rad or m].
        """
        self._local, self._check, self._max_joint_step = local, check, max_joint_step

    def follow(self, targets: np.ndarray, starts: np.ndarray) -> list[np.ndarray]:
        """Return the configurations of each branch up to its first break.

        Args:
            targets: Poses [n, 7].
            starts: Configurations at the first pose, [m, joint_coord_count].

        Returns:
            For each start the configurations [k, joint_coord_count] of k poses, 0 <= k <= n.
        """
        size, found = self._local.n_problems, []
        for first in range(0, len(starts), size):
            found += self._follow(targets, starts[first : first + size])
        return found

    def _follow(self, targets: np.ndarray, starts: np.ndarray) -> list[np.ndarray]:
        """Follow at most as many branches as the solver has poses."""
        n, size, every = len(starts), self._local.n_problems, np.arange(len(starts))
        paths = np.empty((n, len(targets), starts.shape[1]))
        count = np.zeros(n, dtype=int)
        is_followed = np.ones(n, dtype=bool)
        # Configuration at the last pose, and farthest from it; the current one and its pose.
        begin, far = starts.copy(), np.full(n, np.inf)
        joint_q, pose = starts.copy(), np.tile(targets[0], (n, 1))
        # Poses to go to, the next one at the top of a stack, and how often each may be halved.
        stack, top = np.tile(targets[0], (n, MAX_HALVINGS + 1, 1)), np.zeros(n, dtype=int)
        left = np.full(stack.shape[:2], MAX_HALVINGS)
        asked, seeds = np.full((size, 7), np.nan), np.tile(starts[0], (size, 1))
        short = min(self._max_joint_step, SHORT_STEP)
        while is_followed.any():
            goal = stack[every, top]
            # The solver leaves out poses that are not finite.
            asked[every] = np.where(is_followed[:, None], goal, np.nan)
            seeds[every] = joint_q
            answer = self._local.solve(asked, seeds)
            after = answer.joint_q[every]
            is_there = answer.status[every] == SolveStatus.CONVERGED
            is_there &= np.max(np.abs(after - joint_q), axis=1) <= short
            can_go_on = np.where(
                is_there, np.max(np.abs(after - begin), axis=1) <= far, left[every, top] > 0
            )
            is_followed &= can_go_on
            is_there &= is_followed
            joint_q[is_there], pose[is_there] = after[is_there], goal[is_there]
            top[is_there] -= 1

            arrived = np.flatnonzero(is_there & (top < 0))
            is_followed[arrived] = self._are_allowed(
                begin[arrived], joint_q[arrived], count[arrived] > 0
            )
            arrived = arrived[is_followed[arrived]]
            paths[arrived, count[arrived]] = begin[arrived] = joint_q[arrived]
            far[arrived] = MAX_DETOUR * self._max_joint_step
            count[arrived] += 1
            is_followed[arrived] = count[arrived] < len(targets)
            onward = arrived[is_followed[arrived]]
            stack[onward, 0], left[onward, 0] = targets[count[onward]], MAX_HALVINGS
            top[onward] = 0

            split = np.flatnonzero(is_followed & ~is_there)
            at = top[split]
            left[split, at] -= 1
            stack[split, at + 1] = halfway(pose[split], goal[split])
            left[split, at + 1] = left[split, at]
            top[split] += 1
        return [path[:k] for path, k in zip(paths, count, strict=True)]

    def _are_allowed(
        self, before: np.ndarray, after: np.ndarray, is_bounded: np.ndarray
    ) -> np.ndarray:
        """Return which motions between poses are short, where they are bounded, and free.

        Args:
            before: Configurations, [k, joint_coord_count].
            after: Configurations, [k, joint_coord_count].
            is_bounded: True for motions that must be short, [k].

        Returns:
            bool [k].
        """
        step = np.max(np.abs(after - before), axis=1, initial=0.0)
        allowed = ~is_bounded | (step <= self._max_joint_step)
        if allowed.any():
            allowed[allowed] = self._check.is_free_to(before[allowed], after[allowed])
        return allowed
