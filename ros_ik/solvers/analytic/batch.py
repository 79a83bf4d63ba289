# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Every solution of poses of one link, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.arguments import checked_count
from ros_ik.numbers import host_array
from ros_ik.solvers.analytic.result import AllSolutions
from ros_ik.solvers.analytic.result import ClosedFormSettings
from ros_ik.solvers.analytic.solver import ClosedFormIK

if TYPE_CHECKING:
    from ros_ik.model import JointGroup
    from ros_ik.model import Model

# Solutions of a solver; larger requests are split: at about 300 bytes this bounds its memory to
# 80 MB, and 200 MB for six general axes with 16 solutions. The answers themselves come on top.
_MAX_BATCH = 262_144


def all_solutions(
    model: Model,
    link: str | int,
    poses: np.ndarray,
    seeds: np.ndarray | None = None,
    max_solutions: int = 16,
    joint_group: JointGroup | str | Sequence[str] | None = None,
    *,
    joint_q: np.ndarray | None = None,
    offset: np.ndarray | None = None,
    all_turns: bool = False,
    settings: ClosedFormSettings | None = None,
) -> AllSolutions:
    """Find every configuration inside the joint limits that brings a link to each pose.

    For arms of six revolute joints; :func:`closed_form` tells how. It is fast where three
    consecutive axes meet in one point or are parallel. Each solution is polished to 1e-10 m and
    1e-10 rad and verified by a forward kinematics that shares nothing with it. To solve again and
    again, keep a :class:`ClosedFormIK` instead: it allocates once.

    Args:
        model: The model.
        link: Name or index of the link whose frame is to reach the poses.
        poses: Targets in the world, shape [n, 7] or [7], x y z qx qy qz qw.
        seeds: Configurations to be near to, shape [n, joint_coord_count] or [joint_coord_count];
            None for the middle of the limits.
        max_solutions: Most solutions returned per pose, those nearest to the seed.
        joint_group: Joints that may move, a group or what :meth:`Model.joint_group` takes; None
            for every joint between world and link.
        joint_q: Configuration that holds the other joints, shape [joint_coord_count]; None for
            the neutral one.
        offset: Pose of the tool in the link, shape [7]; None for the link's own frame.
        all_turns: Return each turn of a joint that its limits allow as a solution of its own;
            otherwise the turn nearest to the seed. Joints without limits have that one.
        settings: Tolerances.

    Returns:
        The solutions, in the order of the poses.

    Raises:
        ArgumentError: A chain without a closed form, with the reason; a wrong shape, type or
            size, an unknown link, or a free or ball joint among those that may move.
    """
    targets = np.atleast_2d(host_array(poses))
    n = len(targets)
    if n == 0:
        raise ArgumentError('poses must have at least one row, got none')
    starts = None if seeds is None else host_array(seeds)
    if starts is not None:
        if starts.ndim == 1:
            starts = np.broadcast_to(starts, (n, len(starts)))
        if len(starts) != n:
            raise ArgumentError(f'seeds must have one row per pose ({n}), got {len(starts)}')
    solver: ClosedFormIK | None = None
    parts: list[AllSolutions] = []
    most = max(1, _MAX_BATCH // checked_count('max_solutions', max_solutions, 1))
    for first in range(0, n, most):
        rows = slice(first, min(first + most, n))
        if solver is None or solver.n_problems != rows.stop - first:
            solver = ClosedFormIK(
                model,
                link,
                rows.stop - first,
                max_solutions,
                joint_group=joint_group,
                joint_q=joint_q,
                offset=offset,
                all_turns=all_turns,
                settings=settings,
            )
        parts.append(solver.solve(targets[rows], None if starts is None else starts[rows]).copy())
    return AllSolutions.concatenate(parts)
