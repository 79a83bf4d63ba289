# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Steps of an arm from pose to pose that stay on one branch."""

from __future__ import annotations

import numpy as np

from ros_ik.solvers.path.motion_check import MotionCheck
from ros_ik.solvers.pose_ik.interface.result import ChainIKSettings
from ros_ik.solvers.pose_ik.solver import ChainIK
from ros_ik.solvers.status import SolveStatus

# Stay on the branch: one attempt from the seed, with patience.
LOCAL = ChainIKSettings(max_attempts=1, window=12)
# A longer motion of a joint between two poses is looked at closer [rad or m].
SHORT = 0.3
# A jump that survives this many halvings of the way is a flip: 1 / 64 of a step.
_MAX_HALVINGS = 6


class Walker:
    """Walks along poses on one branch.

    Each pose is solved from the configuration of the one before, without restarts. Where a joint
    would move far, the way between the two poses is halved until either every part is short, or
    the jump stays: a flip, and the walk ends there. It ends too where a joint moves further than
    allowed in all, and where the way collides.

    Attributes:
        max_joint_step: Largest change of a joint from one pose to the next [rad or m].
    """

    def __init__(self, local: ChainIK, check: MotionCheck, max_joint_step: float) -> None:
        """Walk with a solver.

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
        """Return the configuration at ``target`` on the branch of ``before``, None at a break."""
        after = self._advance(before, pose, target, _MAX_HALVINGS)
        if after is None:
            return None
        if is_bounded and np.max(np.abs(after - before)) > self.max_joint_step:
            return None
        return after if self._check.is_free_to(before[None], after[None])[0] else None

    def _advance(
        self, before: np.ndarray, pose: np.ndarray, target: np.ndarray, halvings: int
    ) -> np.ndarray | None:
        """Return the configuration at ``target`` without a jump, None where there is one."""
        answer = self._local.solve(target[None], before[None])
        after = answer.joint_q[0].copy()
        short = np.max(np.abs(after - before)) <= min(self.max_joint_step, SHORT)
        if answer.status[0] == SolveStatus.CONVERGED and short:
            return after
        if halvings == 0:
            return None
        middle = halfway(pose, target)
        there = self._advance(before, pose, middle, halvings - 1)
        return None if there is None else self._advance(there, middle, target, halvings - 1)


def halfway(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the pose halfway: the mean position, the rotation halfway along the shorter arc."""
    middle = 0.5 * (a + b)
    rotation = a[3:] + (b[3:] if a[3:] @ b[3:] >= 0.0 else -b[3:])
    middle[3:] = rotation / np.linalg.norm(rotation)
    return middle
