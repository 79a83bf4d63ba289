# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Continuous joint path along a sequence of poses, as MoveIt's GetCartesianPath computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_choice
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_model
from ros_ik.kinematics.runtime.arguments import checked_number
from ros_ik.model.conventions import poses as pose_math
from ros_ik.model.conventions.checks import checked_flag
from ros_ik.model.conventions.checks import checked_pose
from ros_ik.numbers import check_bounded
from ros_ik.numbers import real_array
from ros_ik.numbers import real_value
from ros_ik.solvers.analytic.structure.form import closed_form
from ros_ik.solvers.analytic.structure.form import ClosedForm
from ros_ik.solvers.path.path_along_branch import path_along_branch
from ros_ik.solvers.path.path_solvers import path_solvers
from ros_ik.solvers.path.path_solvers import PathCoordinates
from ros_ik.solvers.path.problem import PathProblem
from ros_ik.solvers.path.problem import PathResult
from ros_ik.solvers.path.shortest import shortest_path
from ros_ik.solvers.pose_ik.interface.tolerance import PoseTolerance

if TYPE_CHECKING:
    from ros_ik.model import JointGroup
    from ros_ik.model import Model

_METHODS = ('auto', 'closed_form', 'search')
# Least number of joints that can reach arbitrary poses.
_POSE_JOINTS = 6


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
    method: str = 'auto',
    joint_group: JointGroup | str | Sequence[str] | None = None,
    offset: np.ndarray | None = None,
    check_collisions: bool = False,
    collision_pairs: Sequence[Sequence[int]] | np.ndarray | None = None,
    collision_margin: float = 0.0,
) -> PathResult:
    """Find a continuous joint path along poses.

    Solvers are kept with the model, for calls with the same link, joint group, locked joints,
    offset and collision checks.

    Without ``start``, and after a break, a path of a closed form begins in any turn of each joint
    within its limits. Of more than 64 turns of a joint, or 16,384 configurations, these are the
    nearest to the middle of the limits, or to the configuration before the break.

    Args:
        model: The model.
        link: Name or index of the link that follows the poses.
        poses: Poses in the world, shape [n, 7], x y z qx qy qz qw.
        start: Start configuration, shape [joint_coord_count]. The path stays on its branch. The
            motion from it to the first pose follows a straight line of any length; if that leaves
            the branch, the path breaks at the first pose. None to choose the branch that gets
            furthest, and among equals the one of the least joint motion.
        max_joint_step: Largest change of a joint from one pose to the next [rad or m]. Between
            its configurations, a path deviates from the line by about reach times step^2 / 8. If
            that matters, give poses close to each other, or a smaller step. The path also breaks
            if a search leaves the last configuration by twice this step. inf only forbids jumps.
        position_tolerance: Largest distance of a solution [m].
        rotation_tolerance: Largest angle of a solution [rad].
        n_branches: Number of solutions of the first pose to follow if ``start`` is None. After a
            break the search follows as many solutions near the last configuration, and as many of
            a path that begins there. Chains of six joints with a closed form follow all solutions.
        method: 'closed_form' to find the path of the least joint motion over all branches; for
            seven joints, the best of those near samples of all solutions. 'search' to follow
            branches from pose to pose. 'auto' for 'closed_form' if :func:`closed_form` supports
            the chain of six or seven joints, otherwise 'search'.
        joint_group: Joints that may move; None for every joint between world and link. The
            others are locked at ``start``.
        offset: Pose of the tool in the link, shape [7].
        check_collisions: True to break the path at collisions. It is checked at its
            configurations, and between them at joint motions of at most 0.01 rad or m.
        collision_pairs: Pairs of shapes to check, see :func:`inverse_kinematics`.
        collision_margin: Distance [m] that the shapes of a pair must keep.

    Raises:
        ArgumentError: A wrong shape or value, an unknown link, an unsuitable chain, or pairs of
            shapes that cannot be checked.
    """
    checked_model(model)
    checked_choice('method', method, _METHODS)
    n_branches = checked_count('n_branches', n_branches, 1)
    max_joint_step = checked_number('max_joint_step', max_joint_step, positive=True, finite=False)
    check_collisions = checked_flag('check_collisions', check_collisions)
    tolerance = PoseTolerance.checked(position_tolerance, rotation_tolerance)
    if tolerance.by_axis:
        raise ArgumentError(
            'position_tolerance and rotation_tolerance must be one number each for a path, got '
            f'{position_tolerance} and {rotation_tolerance}'
        )
    targets = _checked_poses(poses)
    begin = None if start is None else _checked_start(model, start)
    tool = None if offset is None else checked_pose('offset', offset)
    # Paths share solvers, which depend neither on joints that may move nor, without collision
    # checks, on joints elsewhere.
    coordinates = PathCoordinates.of(model, link, joint_group)
    locked_joint_q = neutral = model.locked_joint_q('start', None)
    near = begin
    if begin is not None:
        near = begin.copy()
        if not check_collisions:
            near[coordinates.elsewhere] = neutral[coordinates.elsewhere]
        locked_joint_q = near.copy()
        locked_joint_q[coordinates.moved] = neutral[coordinates.moved]
    with path_solvers(
        model, link, joint_group=joint_group, joint_q=locked_joint_q, offset=tool,
        check_collisions=check_collisions, collision_pairs=collision_pairs,
        collision_margin=collision_margin,
    ) as solvers:  # fmt: skip
        problem = PathProblem(solvers, targets, near, max_joint_step, tolerance.lengths)
        form = None if method == 'search' else _form(problem, joint_group, method)
        if form is None:
            path = path_along_branch(problem, n_branches)
        else:
            path = shortest_path(problem, form, n_branches)
    if begin is not None:
        others = model.apply_mimic(begin)[coordinates.elsewhere]
        path.joint_q[:, coordinates.elsewhere] = others
    return path


def _form(
    problem: PathProblem, joint_group: JointGroup | str | Sequence[str] | None, method: str
) -> ClosedForm | None:
    """Return the closed form of a path, or None for a search.

    Raises:
        ArgumentError: ``method`` is 'closed_form', and there is none.
    """
    solvers = problem.solvers
    form = closed_form(
        solvers.model, solvers.link, joint_group, joint_q=solvers.locked_joint_q,
        offset=solvers.offset,
    )  # fmt: skip
    reason = form.reason
    if np.isinf(problem.tolerances).any():
        reason = 'a tolerance is infinite; closed forms need finite ones'
    # Fewer joints reach only some poses. If a pose differs from those by rounding, only the
    # search finds solutions.
    if not reason and (method == 'closed_form' or len(form.joints) >= _POSE_JOINTS):
        return form
    if method == 'closed_form':
        raise ArgumentError(f'method closed_form: {reason}')
    return None


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
    joint_q = real_value('start', start)
    if joint_q.shape != (model.joint_coord_count,):
        raise ArgumentError(f'start must be {model.joint_coord_count} numbers, got {start}')
    check_bounded('start', joint_q)
    return model.locked_joint_q('start', joint_q)
