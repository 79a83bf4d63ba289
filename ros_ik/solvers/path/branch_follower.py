# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Steps from pose to pose on one branch."""

from __future__ import annotations

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


class BranchFollower:
    """Follower of one branch along poses.

    Each pose is solved from the previous configuration, without restarts. If a joint would move
    far, the segment between the two poses is halved repeatedly, until every part is a short
    motion. If a jump remains, the branch changes, and the path ends. It also ends if the total
    motion of a joint is longer than allowed, or if the motion collides.

    Attributes:
        max_joint_step: Largest change of a joint from one pose to the next [rad or m].
    """

    def __init__(self, local: ChainIK, check: MotionCheck, max_joint_step: float) -> None:
        """Store solver and limits.

        Args:
            local: Solver of one pose with the settings ``LOCAL``.
            check: Check of motions for collisions.
            max_joint_step: Largest change of a joint from one pose to the next [rad or m].
        """
        self._local, self._check, self.max_joint_step = local, check, max_joint_step

    def follow(
        self, targets: np.ndarray, start: np.ndarray, start_pose: np.ndarray
    ) -> list[np.ndarray]:
        """Return the configurations of the poses up to the first break."""
        path: list[np.ndarray] = []
        before, pose = start, start_pose
        for target in targets:
            after = self.advance(before, pose, target, is_bounded=bool(path))
            if after is None:
                break
            path.append(after)
            before, pose = after, target
        return path

    def advance(
        self, before: np.ndarray, pose: np.ndarray, target: np.ndarray, *, is_bounded: bool
    ) -> np.ndarray | None:
        """Return the configuration at ``target`` on the branch of ``before``, or None."""
        far = MAX_DETOUR * self.max_joint_step if is_bounded else np.inf
        after = self._advance(before, pose, target, MAX_HALVINGS, (before, far))
        if after is None:
            return None
        if is_bounded and np.max(np.abs(after - before)) > self.max_joint_step:
            return None
        return after if self._check.is_free_to(before[None], after[None])[0] else None

    def _advance(
        self,
        before: np.ndarray,
        pose: np.ndarray,
        target: np.ndarray,
        halvings: int,
        ball: tuple[np.ndarray, float],
    ) -> np.ndarray | None:
        """Return the configuration at ``target`` without a jump, or None.

        Args:
            before: Configuration at ``pose``.
            pose: Start of the segment, [7].
            target: End of the segment, [7].
            halvings: Number of times that the segment may be halved.
            ball: Configuration, and the distance that no joint may have from it [rad or m].
        """
        answer = self._local.solve(target[None], before[None])
        after = answer.joint_q[0].copy()
        short = np.max(np.abs(after - before)) <= min(self.max_joint_step, SHORT_STEP)
        if answer.status[0] == SolveStatus.CONVERGED and short:
            center, far = ball
            return after if np.max(np.abs(after - center)) <= far else None
        if halvings == 0:
            return None
        middle = halfway(pose, target)
        there = self._advance(before, pose, middle, halvings - 1, ball)
        return None if there is None else self._advance(there, middle, target, halvings - 1, ball)


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
