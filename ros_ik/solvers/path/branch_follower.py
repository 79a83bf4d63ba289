# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Steps from pose to pose on one branch, or on several at a time."""

from __future__ import annotations

from collections.abc import Generator
from collections.abc import Sequence
from typing import Any
from typing import NamedTuple
from typing import TypeVar

import numpy as np

from ros_ik.solvers.path.motion_check import MotionCheck
from ros_ik.solvers.pose_ik.interface.result import ChainIKSettings
from ros_ik.solvers.pose_ik.solver import ChainIK
from ros_ik.solvers.status import SolveStatus

# Settings that stay on the branch, with a single attempt from the seed.
LOCAL = ChainIKSettings(max_attempts=1, window=12)
# Joint motion between two poses above which the segment is subdivided [rad or m].
SHORT_STEP = 0.3
# Number of halvings of a segment, to 1 / 64, after which a jump is a change of the branch.
MAX_HALVINGS = 6
# Distance from the last pose, in largest steps, beyond which a branch is not followed to the next.
# It would have to come back, and many steps of a path that is too fast are thus saved.
MAX_DETOUR = 2.0

_T = TypeVar('_T')


class _Search(NamedTuple):
    """Question for the solution of a pose; the answer is it or None."""

    target: np.ndarray
    seed: np.ndarray


class _Motion(NamedTuple):
    """Question for a motion; the answer is True if it is free of collisions."""

    before: np.ndarray
    after: np.ndarray


# Walk along a branch, which asks questions.
_Walk = Generator[_Search | _Motion, Any, _T]


class BranchFollower:
    """Follower of branches along poses.

    Each pose is solved from the previous configuration, without restarts. If a joint would move
    far, the segment between the two poses is halved repeatedly, until every part is a short
    motion. If a jump remains, the branch changes, and the path ends. It also ends if the total
    motion of a joint is longer than allowed, or if the motion collides.

    One solve serves several branches, which takes a fraction of the time of one solve each.
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

    def advance(
        self, before: np.ndarray, pose: np.ndarray, target: np.ndarray, *, is_bounded: bool
    ) -> np.ndarray | None:
        """Return the configuration at ``target`` on the branch of ``before``, or None.

        Args:
            before: Configuration at ``pose``, [joint_coord_count].
            pose: Start of the segment, [7].
            target: End of the segment, [7].
            is_bounded: True if the motion must be as short as from pose to pose of a path.
        """
        (after,) = self._results([self._step(before, pose, target, is_bounded)])
        return after

    def follow(
        self, targets: np.ndarray, starts: np.ndarray, start_pose: np.ndarray
    ) -> list[np.ndarray]:
        """Return the configurations of each branch up to its first break.

        Args:
            targets: Poses [n, 7].
            starts: Configurations at ``start_pose``, [m, joint_coord_count].
            start_pose: Pose before the first one, [7]; the motion from it may have any length.

        Returns:
            For each start the configurations [k, joint_coord_count] of k poses, 0 <= k <= n.
        """
        walks = [self._path(targets, start, start_pose) for start in starts]
        size, found = self._local.n_problems, []
        for first in range(0, len(walks), size):
            found += self._results(walks[first : first + size])
        return [np.reshape(path, (-1, starts.shape[1])) for path in found]

    def _results(self, walks: Sequence[_Walk[_T]]) -> list[_T]:
        """Return the results of walks, at most as many as the solver has poses."""
        results: dict[int, _T] = {}
        asking = {k: next(walk) for k, walk in enumerate(walks)}
        while asking:
            for k, answer in self._answers(asking):
                try:
                    asking[k] = walks[k].send(answer)
                except StopIteration as end:
                    results[k] = end.value
                    del asking[k]
        return [results[k] for k in range(len(walks))]

    def _answers(self, asking: dict[int, _Search | _Motion]) -> list[tuple[int, Any]]:
        """Answer all questions for motions, or if there are none, all for poses."""
        motions = {k: asked for k, asked in asking.items() if isinstance(asked, _Motion)}
        if motions:
            before, after = map(np.array, zip(*motions.values(), strict=True))
            return list(zip(motions, self._check.is_free_to(before, after), strict=True))
        # The solver leaves out poses that are not finite.
        targets = np.full((self._local.n_problems, 7), np.nan)
        seeds = np.zeros((len(targets), self._local.model.joint_coord_count))
        for k, asked in asking.items():
            targets[k], seeds[k] = asked
        found = self._local.solve(targets, seeds)
        is_found, joint_q = found.status == SolveStatus.CONVERGED, found.joint_q.copy()
        return [(k, joint_q[k] if is_found[k] else None) for k in asking]

    def _path(
        self, targets: np.ndarray, start: np.ndarray, start_pose: np.ndarray
    ) -> _Walk[list[np.ndarray]]:
        """Walk along poses up to the first break, and return the configurations."""
        path: list[np.ndarray] = []
        before, pose = start, start_pose
        for target in targets:
            after = yield from self._step(before, pose, target, bool(path))
            if after is None:
                break
            path.append(after)
            before, pose = after, target
        return path

    def _step(
        self, before: np.ndarray, pose: np.ndarray, target: np.ndarray, is_bounded: bool
    ) -> _Walk[np.ndarray | None]:
        """Walk to the next pose; return the configuration there, or None."""
        far = MAX_DETOUR * self._max_joint_step if is_bounded else np.inf
        after = yield from self._segment(before, pose, target, MAX_HALVINGS, (before, far))
        if after is None:
            return None
        if is_bounded and np.abs(after - before).max() > self._max_joint_step:
            return None
        is_free = self._check.checker is None or (yield _Motion(before, after))
        return after if is_free else None

    def _segment(
        self,
        before: np.ndarray,
        pose: np.ndarray,
        target: np.ndarray,
        halvings: int,
        ball: tuple[np.ndarray, float],
    ) -> _Walk[np.ndarray | None]:
        """Walk to ``target`` without a jump; return the configuration there, or None.

        Args:
            before: Configuration at ``pose``.
            pose: Start of the segment, [7].
            target: End of the segment, [7].
            halvings: Number of times that the segment may be halved.
            ball: Configuration, and the distance that no joint may have from it [rad or m].
        """
        after = yield _Search(target, before)
        short = min(self._max_joint_step, SHORT_STEP)
        if after is not None and np.abs(after - before).max() <= short:
            center, far = ball
            return after if np.abs(after - center).max() <= far else None
        if halvings == 0:
            return None
        middle = halfway(pose, target)
        there = yield from self._segment(before, pose, middle, halvings - 1, ball)
        if there is None:
            return None
        return (yield from self._segment(there, middle, target, halvings - 1, ball))


def halfway(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the poses halfway, with mean position and interpolated rotation (shorter arc).

    Args:
        a: Poses [.., 7].
        b: Poses [.., 7].
    """
    middle = 0.5 * (a + b)
    same = np.sum(a[..., 3:] * b[..., 3:], axis=-1, keepdims=True) >= 0.0
    rotation = a[..., 3:] + np.where(same, b[..., 3:], -b[..., 3:])
    middle[..., 3:] = rotation / np.linalg.norm(rotation, axis=-1, keepdims=True)
    return middle
