# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Pairs of shapes for collision checks of solutions."""

from __future__ import annotations

from typing import Any
import warnings
import weakref

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.collision.checks.collision_arguments import checked_pairs
from ros_ik.kinematics.collision.checks.collisions import always_colliding_pairs
from ros_ik.kinematics.collision.checks.collisions import CollisionChecker
from ros_ik.kinematics.collision.checks.lasting_contact import CONTACT_SAMPLES
from ros_ik.kinematics.serial_chain import joints_to
from ros_ik.model import Model
from ros_ik.model.conventions.checks import checked_amount
from ros_ik.model.conventions.labels import listed
from ros_ik.solvers.pose_ik.search.search import ChainProblem

# Pairs of links of each model that a warning has named.
_WARNED: weakref.WeakKeyDictionary[Model, set[str]] = weakref.WeakKeyDictionary()


def chain_pairs(problem: ChainProblem, pairs: Any, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of shapes to check at solutions.

    Pairs that the chain does not move relative to each other are checked here, once. If no pairs
    are given, pairs of the model are left out with a warning: shapes that always collide, see
    :func:`always_colliding_pairs`, and shapes that collide because of the locked joints. The
    margin does not apply to pairs that are always closer.

    Args:
        problem: The problem.
        pairs: Pairs of shapes; None for ``model.shape_contact_pairs``.
        margin: Distance [m] that the shapes of a pair must keep.

    Returns:
        Pairs, int [n_pairs, 2], and the margin of each [m], [n_pairs].

    Raises:
        ArgumentError: A shape without geometry, no pairs, or a wrong type, shape or range.
    """
    model = problem.model
    distance = checked_amount('collision_margin', margin)
    asked = checked_pairs(model, pairs, 'collision_pairs')
    locked_joint_q = model.apply_mimic(problem.locked_joint_q)[None]
    checker = CollisionChecker(model, 1, pairs=asked, scalar=wp.float64)
    _check_ignored(checker, given=pairs is not None)
    asked = checker.pairs
    still = _still(problem, asked)
    now = checker.pair_distances(locked_joint_q)[0][0]
    if pairs is not None:
        keep = ~still | (now <= distance)
        return asked[keep], np.full(int(np.sum(keep)), distance)
    if not len(asked):
        raise ArgumentError('check_collisions: the model has no two shapes that may collide')
    overlap = _among(asked, always_colliding_pairs(model, pairs=asked))
    _warn_once(checker, overlap & ~still)
    stuck = still & (now <= 0.0) & ~overlap
    if np.any(stuck):
        names = [_pair_name(checker, k) for k in np.flatnonzero(stuck).tolist()]
        warnings.warn(
            f'{listed(names)} collide at joint_q; the chain does not move them relative to each '
            'other, so solutions are not checked for this',
            stacklevel=3,
        )
    margins = np.full(len(asked), distance)
    if distance > 0.0:
        apart = asked[~overlap]
        margins[_among(asked, always_colliding_pairs(model, pairs=apart, margin=distance))] = 0.0
    keep = ~still & ~overlap
    return asked[keep], margins[keep]


def _warn_once(checker: CollisionChecker, overlap: np.ndarray) -> None:
    """Warn about pairs that always collide, once for each model and pair of links.

    Args:
        checker: Checker of the pairs.
        overlap: Pairs to name, bool [n_pairs].
    """
    names = {_pair_name(checker, k): None for k in np.flatnonzero(overlap).tolist()}
    known = _WARNED.setdefault(checker.model, set())
    new = [name for name in names if name not in known]
    known.update(new)
    if new:
        warnings.warn(
            f'{listed(new)} collide at all of {CONTACT_SAMPLES} configurations, by their shapes '
            'or by the hulls of their meshes; solutions are not checked for this',
            stacklevel=4,
        )


def _check_ignored(checker: CollisionChecker, *, given: bool) -> None:
    """Raise ArgumentError if a pair cannot be checked."""
    if checker.ignored_shapes:
        raise ArgumentError(
            f'check_collisions: no geometry of {listed(checker.ignored_shapes)} is in memory: '
            'give Model.from_urdf the package_paths that hold the meshes, describe the shapes by '
            'a known geometry, or name the pairs to check in collision_pairs'
        )
    if given and len(checker.ignored_pairs):
        raise ArgumentError(
            f'collision_pairs: {checker.ignored_pairs[0].tolist()} are two planes, which have no '
            'distance'
        )


def _still(problem: ChainProblem, pairs: np.ndarray) -> np.ndarray:
    """Return which pairs the chain does not move relative to each other, bool [n_pairs]."""
    model = problem.model
    moving = set(np.asarray(problem.chain.coordinates).tolist())
    starts, drivers = model.joint_q_start.numpy(), model.mimic_driver
    moves = set()
    for joint in range(model.joint_count):
        driver = drivers.get(joint, (joint, 0.0, 1.0))[0]
        if moving & set(range(starts[driver], starts[driver + 1])):
            moves.add(joint)
    body = model.shape_body.numpy()[pairs]
    above = {k: moves.intersection(joints_to(model, k)) for k in np.unique(body).tolist()}
    return np.array([above[first] == above[second] for first, second in body.tolist()], dtype=bool)


def _among(pairs: np.ndarray, some: np.ndarray) -> np.ndarray:
    """Return which pairs are contained in others, bool [n_pairs]."""
    chosen = set(map(tuple, some.tolist()))
    return np.array([tuple(pair) in chosen for pair in pairs.tolist()], dtype=bool)


def _pair_name(checker: CollisionChecker, k: int) -> str:
    """Return the links of a pair for a message."""
    (first, _), (second, _) = checker.pair_names(k)
    return f'{first} and {second}'
