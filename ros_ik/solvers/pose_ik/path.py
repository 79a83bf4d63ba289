# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A sequence of poses becomes a continuous joint path: what planners ask of GetCartesianPath.

Each pose is solved from the configuration of the one before, without restarts, so that the arm
stays on its branch. Where a joint would move far, the way between the two poses is halved until
either every part is short, or the jump stays: a flip, and the path breaks there. It breaks too
where a joint moves further than allowed in all, and where the way collides.

With the start left free, every branch of the first pose is followed to its first break, and the
one that gets furthest, then the one that moves least, is taken. All poses behind the first break
are solved in one batch: those out of reach take the most attempts.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import dataclasses
import functools
import itertools
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.arguments import checked_count
from ros_ik.kinematics.collisions import CollisionChecker
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
# A longer motion of a joint between two poses is looked at closer [rad or m].
_SHORT = 0.3
# A jump that survives this many halvings of the way is a flip: 1 / 64 of a step.
_MAX_HALVINGS = 6
# Largest change of a joint between two checks for collisions [rad or m], and checks at a time.
_CHECKED_STEP, _CHECKED = 0.01, 64
# Poses solved at a time behind the first break: bounds the memory.
_MOST_POSES = 1024


@dataclasses.dataclass(frozen=True)
class PathResult:
    """A joint path along n poses.

    Attributes:
        joint_q: Configurations, shape [n, joint_coord_count]. From the first break on each is
            the nearest solution of its pose, or the best configuration found.
        status: :class:`SolveStatus` codes, shape [n].
        breaks: Indices of poses that cannot be reached from the one before without a jump, a
            longer step or a collision, or not at all.
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
    check_collisions: bool = False,
    collision_pairs: Sequence[Sequence[int]] | np.ndarray | None = None,
    collision_margin: float = 0.0,
) -> PathResult:
    """Find a continuous joint path along poses.

    Args:
        model: The model.
        link: Name or index of the link that follows the poses.
        poses: Poses in the world, shape [n, 7], x y z qx qy qz qw.
        start: Configuration to come from, shape [joint_coord_count]: the path stays on its
            branch. The motion from it to the first pose may be of any length. None to choose
            the branch that gets furthest.
        max_joint_step: Largest change of a joint from one pose to the next [rad or m]. Between
            its configurations a path leaves the line by about reach times step^2 / 8: give
            poses close to each other, or a smaller step, where that matters. inf to ask for no
            more than that no joint jumps.
        position_tolerance: Largest distance of a solution [m].
        rotation_tolerance: Largest angle of a solution [rad].
        n_branches: Solutions of the first pose to follow where ``start`` is None.
        joint_group: Joints that may move; None for every joint between world and link. The
            others are held at ``start``.
        offset: Pose of the tool in the link, shape [7].
        check_collisions: Break the path where it collides: at its configurations, and between
            them wherever a joint has moved by another 0.01 rad or m.
        collision_pairs: Pairs of shapes to check, see :func:`inverse_kinematics`.
        collision_margin: Distance [m] that the shapes of a pair must keep.

    Raises:
        ArgumentError: A wrong shape or value, an unknown link, an unsuitable chain, or pairs of
            shapes that cannot be checked.
    """
    targets = _checked_poses(poses)
    start = None if start is None else _checked_start(model, start)
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
    search = functools.partial(
        make,
        n_solutions=n_branches,
        check_collisions=check_collisions,
        collision_pairs=collision_pairs,
        collision_margin=collision_margin,
    )
    first, checker = search(), None
    if check_collisions:
        checker = CollisionChecker(
            model,
            _CHECKED,
            margin=first.collision_margins,
            pairs=first.collision_pairs,
            scalar=wp.float64,
        )
    walker = _Walker(make(settings=_LOCAL), checker, max_joint_step)
    if start is not None:
        come_from = start
        path = walker.follow(targets, start, _frame_pose(model, link, start, offset))
    else:
        ends = first.solve(targets[:1])
        branches = ends.joint_q.reshape(n_branches, -1)[: max(1, int(ends.n_found[0]))].copy()
        followed = [walker.follow(targets, branch, targets[0]) for branch in branches]
        best = max(range(len(followed)), key=lambda k: (len(followed[k]), -_length(followed[k])))
        come_from, path = branches[best], followed[best]
    return _completed(walker, search, targets, come_from, path)


@dataclasses.dataclass
class _Walker:
    """Walks along poses on one branch."""

    local: ChainIK  # one attempt, from the seed
    checker: CollisionChecker | None
    max_joint_step: float

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
        return after if self._is_free(before, after) else None

    def _advance(
        self, before: np.ndarray, pose: np.ndarray, target: np.ndarray, halvings: int
    ) -> np.ndarray | None:
        """Return the configuration at ``target`` without a jump, None where there is one."""
        answer = self.local.solve(target[None], before[None])
        after = answer.joint_q[0].copy()
        short = np.max(np.abs(after - before)) <= min(self.max_joint_step, _SHORT)
        if answer.status[0] == SolveStatus.CONVERGED and short:
            return after
        if halvings == 0:
            return None
        middle = _halfway(pose, target)
        there = self._advance(before, pose, middle, halvings - 1)
        return None if there is None else self._advance(there, middle, target, halvings - 1)

    def _is_free(self, before: np.ndarray, after: np.ndarray) -> bool:
        """Tell whether no shapes collide on the straight way of the joints."""
        if self.checker is None:
            return True
        way = after - before
        count = max(1, int(np.ceil(np.max(np.abs(way)) / _CHECKED_STEP)))
        rows = before + np.arange(1, count + 1)[:, None] / count * way
        starts = range(0, count, _CHECKED)
        return not any(self.checker.check(rows[k : k + _CHECKED]).any() for k in starts)


def _completed(
    walker: _Walker,
    search: Callable[..., ChainIK],
    targets: np.ndarray,
    start: np.ndarray,
    path: list[np.ndarray],
) -> PathResult:
    """Return a path with what there is behind its first break.

    Args:
        walker: What goes on behind a break.
        search: Makes a solver of every attempt for ``n_problems`` poses.
        targets: The poses, [n, 7].
        start: Configuration that the path comes from.
        path: Configurations up to the first break.
    """
    n, first = len(targets), len(path)
    joint_q = np.empty((n, len(start)))
    joint_q[:first] = np.reshape(path, (first, len(start)))
    status = np.full(n, int(SolveStatus.CONVERGED))
    breaks: list[int] = []
    before = path[-1] if path else start
    for begin in range(first, n, _MOST_POSES):
        rows = targets[begin : begin + _MOST_POSES]
        solver = search(n_problems=len(rows))
        answer = solver.solve(rows, np.tile(before, (len(rows), 1)))
        solutions = answer.joint_q.reshape(len(rows), solver.n_solutions, -1)
        for k, target in enumerate(rows, begin):
            found = int(answer.n_found[k - begin])
            after = None
            if found and k > first:
                after = walker.advance(before, targets[k - 1], target, is_bounded=True)
            if after is None:
                breaks.append(k)
                status[k] = answer.status[k - begin]
                several = solutions[k - begin, : max(1, found)]
                away = np.linalg.norm(several - before, axis=1)
                after = several[np.argmin(away)].copy()
            joint_q[k] = before = after
    return PathResult(joint_q, status, tuple(breaks), first / n)


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


def _length(path: list[np.ndarray]) -> float:
    """Return the length of a joint path."""
    pairs = itertools.pairwise(path)
    return float(sum(np.linalg.norm(after - before) for before, after in pairs))
