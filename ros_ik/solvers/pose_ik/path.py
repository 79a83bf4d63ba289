# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A sequence of poses becomes a continuous joint path: what planners ask of GetCartesianPath.

Each pose is solved from the configuration of the one before, without restarts, so that the arm
stays on its branch. Where a joint would move further than allowed, the way between the two poses
is halved until either every part is short, or the jump stays: a flip, and the path breaks there.
With the start left free, every branch of the first pose is followed at once and the one that gets
furthest, then the one that moves least, is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import functools
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.arguments import checked_count
from ros_ik.kinematics.evaluate import eval_fk
from ros_ik.model import poses as pose_math
from ros_ik.model.checks import link_index
from ros_ik.numbers import check_bounded
from ros_ik.numbers import real_array
from ros_ik.solvers.pose_ik.result import ChainIKSettings
from ros_ik.solvers.pose_ik.solver import ChainIK
from ros_ik.solvers.status import SolveStatus

if TYPE_CHECKING:
    from ros_ik.model import JointGroup
    from ros_ik.model import Model

# Stay on the branch: one attempt from the seed, with patience.
_LOCAL = ChainIKSettings(max_attempts=1, window=12)
# A jump that survives this many halvings of the way is a flip: 1 / 64 of a step.
_MAX_HALVINGS = 6


@dataclasses.dataclass(frozen=True)
class PathResult:
    """A joint path along n poses.

    Attributes:
        joint_q: Configurations, shape [n, joint_coord_count]. From the first break on each is
            the nearest solution of its pose, or the best configuration found.
        status: :class:`SolveStatus` codes, shape [n].
        breaks: Indices of poses that cannot be reached from the one before without a jump, or
            not at all.
        fraction: Part of the poses before the first break, 1 for a whole path.
    """

    joint_q: np.ndarray
    status: np.ndarray
    breaks: tuple[int, ...]
    fraction: float


def solve_path(
    model: Model,
    link: str | int,
    poses: np.ndarray,
    start: np.ndarray | None = None,
    *,
    max_joint_step: float = 0.3,
    position_tolerance: float = 1e-4,
    rotation_tolerance: float = 1e-3,
    n_branches: int = 16,
    joint_group: JointGroup | str | Sequence[str] | None = None,
    offset: np.ndarray | None = None,
) -> PathResult:
    """Find a continuous joint path along poses.

    Args:
        model: The model.
        link: Name or index of the link that follows the poses.
        poses: Poses in the world, shape [n, 7], x y z qx qy qz qw.
        start: Configuration to come from, shape [joint_coord_count]: the path stays on its
            branch. None to choose the branch that gets furthest.
        max_joint_step: Largest change of a joint between two poses that counts as continuous
            [rad or m].
        position_tolerance: Largest distance of a solution [m].
        rotation_tolerance: Largest angle of a solution [rad].
        n_branches: Solutions of the first pose to follow where ``start`` is None.
        joint_group: Joints that may move; None for every joint between world and link. The
            others are held at ``start``.
        offset: Pose of the tool in the link, shape [7].

    Raises:
        ArgumentError: A wrong shape or value, an unknown link, an unsuitable chain.
    """
    targets = _checked_poses(poses)
    checked_count('n_branches', n_branches, 1)
    if not max_joint_step > 0.0:
        raise ArgumentError(f'max_joint_step must be positive, got {max_joint_step}')
    make = functools.partial(
        ChainIK,
        model,
        link,
        joint_group=joint_group,
        joint_q=start,
        offset=offset,
        position_tolerance=position_tolerance,
        rotation_tolerance=rotation_tolerance,
    )
    if start is None:
        ends = make(n_solutions=n_branches).solve(targets[:1])
        starts = ends.joint_q.reshape(n_branches, -1)[: max(1, int(ends.n_found[0]))].copy()
    else:
        starts = _checked_start(model, start)[None]
    walker = _Walker(
        local=make(settings=_LOCAL),
        search=make(n_solutions=n_branches),
        max_joint_step=max_joint_step,
    )
    if start is not None:
        return walker.walk(targets, starts[0], _frame_pose(model, link, starts[0], offset))
    paths = [walker.walk(targets, branch, targets[0]) for branch in starts]
    return max(paths, key=lambda path: (path.fraction, -_length(path.joint_q)))


@dataclasses.dataclass
class _Walker:
    """Walks along poses on one branch."""

    local: ChainIK  # one attempt, from the seed
    search: ChainIK  # all attempts
    max_joint_step: float

    def walk(self, targets: np.ndarray, start: np.ndarray, start_pose: np.ndarray) -> PathResult:
        """Follow the poses from a configuration and its pose."""
        n = len(targets)
        joint_q = np.empty((n, len(start)))
        status = np.full(n, int(SolveStatus.CONVERGED))
        breaks = []
        before, pose = start, start_pose
        for k, target in enumerate(targets):
            after = self._advance(before, pose, target, _MAX_HALVINGS)
            if after is None:
                breaks.append(k)
                answer = self.search.solve(target[None], before[None])
                after = answer.joint_q.reshape(-1, len(start))[0].copy()
                status[k] = answer.status[0]
            joint_q[k] = before = after
            pose = target
        fraction = (breaks[0] if breaks else n) / n
        return PathResult(joint_q, status, tuple(breaks), fraction)

    def _advance(
        self, before: np.ndarray, pose: np.ndarray, target: np.ndarray, halvings: int
    ) -> np.ndarray | None:
        """Return the configuration at ``target`` on the branch of ``before``, None if it ends."""
        answer = self.local.solve(target[None], before[None])
        after = answer.joint_q[0].copy()
        short = np.max(np.abs(after - before)) <= self.max_joint_step
        if answer.status[0] == SolveStatus.CONVERGED and short:
            return after
        if halvings == 0:
            return None
        middle = _halfway(pose, target)
        there = self._advance(before, pose, middle, halvings - 1)
        return None if there is None else self._advance(there, middle, target, halvings - 1)


def _checked_poses(poses: np.ndarray) -> np.ndarray:
    """Return finite poses with unit quaternions, or raise ArgumentError."""
    targets = real_array('poses', poses)
    if targets.ndim != 2 or targets.shape[1] != 7 or not len(targets):
        raise ArgumentError(f'poses must have shape [n, 7], n > 0, got {list(targets.shape)}')
    rows = pose_math.pose_rows(targets)
    wrong = np.flatnonzero(np.isnan(rows[:, 0]))
    if len(wrong):
        first = int(wrong[0])
        raise ArgumentError(f'poses[{first}]: {pose_math.pose_fault(targets[first].tolist())}')
    return rows


def _checked_start(model: Model, start: np.ndarray) -> np.ndarray:
    """Return the start as float64 [joint_coord_count], or raise ArgumentError."""
    joint_q = real_array('start', start)
    if joint_q.shape != (model.joint_coord_count,):
        raise ArgumentError(f'start must be {model.joint_coord_count} numbers, got {start}')
    check_bounded('start', joint_q)
    return joint_q


def _frame_pose(
    model: Model, link: str | int, joint_q: np.ndarray, offset: np.ndarray | None
) -> np.ndarray:
    """Return the pose of the tool at a configuration, shape [7]."""
    body_q = np.zeros((1, model.body_count, 7))
    eval_fk(model, joint_q[None], body_q)
    pose = body_q[0, link_index(model, link, least=0)]
    if offset is None:
        return pose
    return pose_math.multiply(pose, np.asarray(offset, dtype=np.float64))


def _halfway(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the pose halfway: the mean position, the rotation halfway along the shorter arc."""
    middle = 0.5 * (a + b)
    rotation = a[3:] + (b[3:] if a[3:] @ b[3:] >= 0.0 else -b[3:])
    middle[3:] = rotation / np.linalg.norm(rotation)
    return middle


def _length(joint_q: np.ndarray) -> float:
    """Return the length of a joint path."""
    return float(np.sum(np.linalg.norm(np.diff(joint_q, axis=0), axis=1)))
