# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Intervals of the redundant joint of seven in which poses have solutions within the limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.numbers import host_array
from ros_ik.solvers.analytic.redundant import RedundantClosedFormIK
from ros_ik.solvers.analytic.result import ClosedFormSettings

if TYPE_CHECKING:
    from ros_ik.model import JointGroup
    from ros_ik.model import Model

# Bisections of a sampling step at an end, to 1e-12 of the step, the rounding of a joint position.
_HALVINGS = 40
# Number of poses solved at a time; bounds the memory.
_AT_ONCE = 256


def redundant_intervals(
    model: Model,
    link: str | int,
    poses: np.ndarray,
    joint_group: JointGroup | str | Sequence[str] | None = None,
    *,
    redundant_values: int = 256,
    joint_q: np.ndarray | None = None,
    offset: np.ndarray | None = None,
    settings: ClosedFormSettings | None = None,
) -> list[np.ndarray]:
    """Return the feasible intervals of the redundant joint of a chain of seven, for each pose.

    In these intervals the other six joints have a solution within their limits. An interval ends
    where a joint reaches its limit, where two branches meet in a singular configuration, or after
    a whole turn of the redundant joint. That joint is sampled, and each change between two samples
    is located by bisection. Intervals and gaps narrower than the sampling step may be missed.

    Args:
        model: The model.
        link: Name or index of the link whose frame is to reach the poses.
        poses: Targets in the world, shape [n, 7] or [7], x y z qx qy qz qw.
        joint_group: Joints that may move; None for all joints between world and link.
        redundant_values: Number of evenly spaced samples of the redundant joint, at least 2.
        joint_q: Configuration at which the other joints are locked, shape [joint_coord_count];
            None for the neutral one.
        offset: Pose of the tool in the link, shape [7]; None for the link's own frame.
        settings: Tolerances and other settings.

    Returns:
        For each pose its intervals in ascending order, shape [k, 2], rad or m; k = 0 for an
        unreachable or invalid pose.

    Raises:
        ArgumentError: A chain with another number of joints, or without a closed form, with the
            reason; poses of another shape; fewer than two samples.
    """
    redundant_values = checked_count('redundant_values', redundant_values, 2)
    targets = np.atleast_2d(host_array(poses, 'poses'))
    if targets.ndim != 2 or targets.shape[1] != 7:
        raise ArgumentError(f'poses must have shape [n, 7], got {list(targets.shape)}')
    found: list[np.ndarray] = []
    solver: RedundantClosedFormIK | None = None
    for first in range(0, len(targets), _AT_ONCE):
        some = targets[first : first + _AT_ONCE]
        if solver is None or solver.n_problems != len(some):
            solver = RedundantClosedFormIK(
                model, link, len(some), 1, redundant_values=redundant_values,
                joint_group=joint_group, joint_q=joint_q, offset=offset, settings=settings,
            )  # fmt: skip
        found += _intervals(solver, some, redundant_values)
    return found


def _intervals(solver: RedundantClosedFormIK, poses: np.ndarray, count: int) -> list[np.ndarray]:
    low, high = solver.redundant_range()
    values = np.linspace(low, high, count)
    solved = solver.solved_at(poses, np.tile(values, (len(poses), 1)))
    # Each change is between a value with a solution and a neighbour without. The columns are the
    # changes of a pose, padded with NaN.
    row, left = np.nonzero(solved[:, 1:] != solved[:, :-1])
    changes = np.bincount(row, minlength=len(poses))
    column = np.arange(len(row)) - np.repeat(np.cumsum(changes) - changes, changes)
    opens = ~solved[row, left]
    inside, outside = np.full((2, len(poses), changes.max()), np.nan)
    inside[row, column] = np.where(opens, values[left + 1], values[left])
    outside[row, column] = np.where(opens, values[left], values[left + 1])
    for _ in range(_HALVINGS if len(row) else 0):
        middle = 0.5 * (inside + outside)
        solves = solver.solved_at(poses, middle)
        inside, outside = np.where(solves, middle, inside), np.where(solves, outside, middle)
    found = []
    for k in range(len(poses)):
        # In ascending order, ends alternately open and close an interval.
        ends = [low] * bool(solved[k, 0]), inside[k, : changes[k]], [high] * bool(solved[k, -1])
        found.append(np.concatenate(ends).reshape(-1, 2))
    return found
