# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Solutions of singular poses between those of the poses around them, for chains of six joints.

At a singular pose the solutions form a curve, of which the closed form returns one point for each
seed. A path that had to pass through the points of one seed would make detours. Here the seeds lie
on straight motions of the joints, from each solution before a run of singular poses to those
behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
import dataclasses

import numpy as np

from ros_ik.solvers.path.branches import Layer

# Largest number of motions across a run of singular poses, the shortest ones.
_MAX_MOTIONS = 32
# Solutions are equal if no joint differs by more than this [rad or m].
_SAME = 1e-3

# Returns the solutions [m, n] nearest to seeds [k, n] of a pose, given by its index.
NearestSolutions = Callable[[int, np.ndarray], np.ndarray]
# Returns the turns of variables [k, n] that are nearest to others [k, n].
NearestTurn = Callable[[np.ndarray, np.ndarray], np.ndarray]


def with_solutions_between(
    layers: Sequence[Layer],
    start: np.ndarray | None,
    max_step: float,
    nearest_solutions: NearestSolutions,
    nearest_turn: NearestTurn,
) -> list[Layer]:
    """Return the layers with more solutions of their singular poses.

    Args:
        layers: Solutions of each pose.
        start: Variables with which the path begins, [n], or None.
        max_step: Largest change of a variable between two layers [rad or m].
        nearest_solutions: Function that solves a pose near seeds.
        nearest_turn: Function that returns nearest turns.
    """
    extended = list(layers)
    for first, last in _singular_runs(layers):
        before = start[None] if first == 0 and start is not None else _solutions(layers, first - 1)
        after = _solutions(layers, last + 1)
        if not len(before):
            before = after if len(after) else layers[first].joint_q
        if not len(after):
            after = before
        steps = last - first + 2
        begin, motion = _short_motions(before, after, steps * max_step, nearest_turn)
        for k in range(first, last + 1):
            seeds = begin + (k - first + 1) / steps * motion
            rows = _with_others(layers[k].joint_q, nearest_solutions(k, seeds))
            extended[k] = dataclasses.replace(layers[k], joint_q=rows)
    return extended


def _singular_runs(layers: Sequence[Layer]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last pose of each sequence of singular poses."""
    singular = [layer.is_singular and layer.is_solved for layer in layers]
    edges = np.flatnonzero(np.diff([False, *singular, False]))
    yield from ((int(a), int(b) - 1) for a, b in edges.reshape(-1, 2))


def _solutions(layers: Sequence[Layer], k: int) -> np.ndarray:
    """Return the solutions of a pose, [m, n]; none if there is no such pose."""
    n_variables = layers[0].joint_q.shape[1]
    if not 0 <= k < len(layers) or not layers[k].is_solved:
        return np.zeros((0, n_variables))
    return layers[k].joint_q


def _short_motions(
    before: np.ndarray, after: np.ndarray, longest: float, nearest_turn: NearestTurn
) -> tuple[np.ndarray, np.ndarray]:
    """Return the starts [k, n] and differences [k, n] of the shortest motions.

    The rows of ``before`` without a motion of at most ``longest`` remain where they are.
    """
    start, end = (grid.ravel() for grid in np.indices((len(before), len(after))))
    motion = nearest_turn(after[end], before[start]) - before[start]
    size = np.max(np.abs(motion), axis=1)
    chosen = np.argsort(size, kind='stable')[:_MAX_MOTIONS]
    chosen = chosen[size[chosen] <= longest]
    alone = np.setdiff1d(np.arange(len(before)), start[chosen])
    begin = np.concatenate((before[start[chosen]], before[alone]))
    return begin, np.concatenate((motion[chosen], np.zeros((len(alone), before.shape[1]))))


def _with_others(rows: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Return ``rows`` and those of ``found`` that differ from all before them."""
    distinct = list(rows)
    for row in found:
        if np.all(np.max(np.abs(np.array(distinct) - row), axis=1) > _SAME):
            distinct.append(row)
    return np.array(distinct)
