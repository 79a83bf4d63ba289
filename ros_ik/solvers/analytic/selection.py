# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Selection of the solutions of poses that are collision-free, distinct or most manipulable."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.kinematics.collision.checks.collisions import CollisionChecker
from ros_ik.model.conventions.checks import checked_pose
from ros_ik.model.conventions.checks import link_index
from ros_ik.solvers.analytic.manipulability import manipulability
from ros_ik.solvers.analytic.result import AllSolutions
from ros_ik.solvers.analytic.structure.form import folded_chain
from ros_ik.solvers.pose_ik.search.pairs import chain_pairs
from ros_ik.solvers.pose_ik.search.search import ChainProblem
from ros_ik.solvers.status import SolveStatus

if TYPE_CHECKING:
    from ros_ik.kinematics.serial_chain import SerialChain
    from ros_ik.model import JointGroup
    from ros_ik.model import Model

# Number of configurations checked at a time; bounds the memory of the checker.
_CHECKED_AT_ONCE = 1024
# Digits of manipulability that tell solutions apart.
_DIGITS = 9


def chain_checker(
    model: Model,
    link: str | int,
    *,
    joint_group: JointGroup | str | Sequence[str] | None,
    joint_q: np.ndarray | None,
    offset: np.ndarray | None,
    pairs: Sequence[Sequence[int]] | np.ndarray | None,
    margin: float,
) -> CollisionChecker:
    """Create a collision checker of the pairs that a chain moves.

    Args:
        model: The model.
        link: Link at the end of the chain.
        joint_group: Joints that may move.
        joint_q: Configuration at which the other joints are locked.
        offset: Pose of the tool in the link.
        pairs: Pairs of shapes to check, see :func:`inverse_kinematics`.
        margin: Distance [m] that the shapes of a pair must keep.

    Raises:
        ArgumentError: Pairs that cannot be checked.
    """
    chain, locked_joint_q = folded_chain(model, link, joint_group, joint_q, offset)
    tool = checked_pose('offset', offset)
    problem = ChainProblem(model, link_index(model, link, least=0), chain, locked_joint_q, tool)
    checked, margins = chain_pairs(problem, pairs, margin)
    return CollisionChecker(
        model, _CHECKED_AT_ONCE, pairs=checked, margin=margins, scalar=wp.float64
    )


def collision_free(
    found: AllSolutions, checker: CollisionChecker, max_solutions: int
) -> AllSolutions:
    """Return the collision-free solutions, in the same order.

    Args:
        found: Solutions, s entries per pose.
        checker: Collision checker.
        max_solutions: Number of entries of the result, at most s.

    Returns:
        The solutions; ``n_exist`` is the number of collision-free ones. If all solutions of a pose
        collide, its status is IN_COLLISION, and the first entry is the nearest one.
    """
    n, s = found.joint_q.shape[:2]
    exists = np.arange(s) < found.n_found[:, None]
    free = np.zeros((n, s), dtype=bool)
    rows = found.joint_q[exists]
    collides = [
        checker.check(rows[first : first + checker.n]) for first in range(0, len(rows), checker.n)
    ]
    free[exists] = ~np.concatenate(collides) if collides else False
    kept = _selected(found, free, max_solutions)
    blocked = (found.n_found > 0) & (kept.n_found == 0) & (found.status == SolveStatus.CONVERGED)
    status = np.where(blocked, int(SolveStatus.IN_COLLISION), found.status).astype(np.int32)
    return dataclasses.replace(kept, status=status)


def separated(found: AllSolutions, separation: float) -> AllSolutions:
    """Return distinct solutions in the same order, the first of each group of close ones.

    Args:
        found: Solutions, s entries per pose.
        separation: Solutions are distinct if any joint differs by more than this [rad or m].
    """
    kept = np.arange(found.joint_q.shape[1]) < found.n_found[:, None]
    for k in range(1, kept.shape[1]):
        away = np.abs(found.joint_q[:, :k] - found.joint_q[:, k, None]).max(axis=2)
        kept[:, k] &= ~np.any((away < separation) & kept[:, :k], axis=1)
    return _selected(found, kept, kept.shape[1])


def most_manipulable(
    found: AllSolutions, chain: SerialChain, free_rotation: str, device: wp.DeviceLike
) -> AllSolutions:
    """Return the solutions with the largest :func:`manipulability` first.

    Args:
        found: Solutions, s entries per pose.
        chain: The chain of the solutions.
        free_rotation: Axes of the tool about which rotations are ignored.
        device: Device of the computation.
    """
    exists = np.arange(found.joint_q.shape[1]) < found.n_found[:, None]
    measure = np.full(exists.shape, -1.0)
    measure[exists] = manipulability(chain, found.joint_q[exists], free_rotation, device)
    # Whole turns of joints change the last digits alone: of those the nearest stays first.
    order = np.argsort(-np.round(measure, _DIGITS), axis=1, kind='stable')
    return _reordered(found, order, found.n_exist, found.n_found)


def first_entries(found: AllSolutions, max_solutions: int) -> AllSolutions:
    """Return the first entries, at most as many as there are."""
    order = np.tile(np.arange(found.joint_q.shape[1]), (len(found.n_found), 1))
    return _reordered(found, order[:, :max_solutions], found.n_exist, found.n_found)


def _selected(found: AllSolutions, wanted: np.ndarray, max_solutions: int) -> AllSolutions:
    """Return the selected solutions, bool [n, s]; if none is selected, the first stays."""
    # Selected solutions first; a stable sort keeps their order.
    order = np.argsort(~wanted, axis=1, kind='stable')[:, :max_solutions]
    n_exist = wanted.sum(axis=1).astype(np.int32)
    return _reordered(found, order, n_exist, n_exist)


def _reordered(
    found: AllSolutions, order: np.ndarray, n_exist: np.ndarray, n_solutions: np.ndarray
) -> AllSolutions:
    """Return the solutions in a new order [n, s], of which the first ``n_solutions`` exist."""
    n, n_entries = order.shape
    n_found = np.minimum(n_solutions, n_entries).astype(np.int32)
    order = np.where(
        np.arange(order.shape[1]) < np.maximum(n_found, 1)[:, None], order, order[:, :1]
    )
    index = np.arange(n)[:, None], order
    return dataclasses.replace(
        found,
        joint_q=found.joint_q[index],
        n_found=n_found,
        n_exist=n_exist,
        position_error=found.position_error[index],
        rotation_error=found.rotation_error[index],
        singular=found.singular[index],
        free_direction=found.free_direction[index],
    )
