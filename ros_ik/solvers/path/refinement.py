# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Refinement of a joint path of seven joints: the shortest path through self-motions beside it.

From each configuration of the path, self-motions lead to configurations that reach the same pose,
at even distances to both sides. Dynamic programming finds the shortest path through them. It is
repeated about the path found, and then at smaller distances.
"""

from __future__ import annotations

from collections.abc import Callable
import dataclasses

import numpy as np

from ros_ik.solvers.path.motion_check import FreeMotionCheck
from ros_ik.solvers.path.smoothing import Correct
from ros_ik.solvers.path.smoothing import Tangents

# Distances between configurations of a self-motion [rad or m], one after the other, and the number
# of configurations to either side. The last distance is within 1e-6 of the least length.
COARSE, FINE = (0.08, 0.02), (0.005, 1.25e-3, 3e-4)
_SIDE = 5
# Largest number of repetitions at a distance, and relative decrease of the cost to go on.
_REPETITIONS, _GAIN = 6, 1e-4
# Cost of each rad or m by which a step is too long, more than any way around takes.
_TOO_LONG = 100.0
# Number of motions in collision that are avoided, one after the other, before a path is refused.
_COLLISIONS = 16
# Number of steps whose costs are computed at a time; bounds the memory.
_AT_ONCE = 256

# Tests which configurations [k, v] are free of collisions, bool [k].
FreeCheck = Callable[[np.ndarray], np.ndarray]


@dataclasses.dataclass(frozen=True)
class PathRules:
    """Functions and bounds for changes of a path of n configurations.

    Attributes:
        tangents: Function that computes unit vectors of the self-motion.
        correct: Function that corrects configurations to reach their poses.
        are_free: Check of configurations for collisions.
        motions_are_free: Check of motions for collisions.
        max_step: Largest step of a variable, the aim [rad or m].
        longest: Largest allowed step of a variable between two poses [rad or m], [n - 1].
        is_start_fixed: True if the first configuration is given.
    """

    tangents: Tangents
    correct: Correct
    are_free: FreeCheck
    motions_are_free: FreeMotionCheck
    max_step: float
    longest: np.ndarray
    is_start_fixed: bool


def refined(path: np.ndarray, rules: PathRules, distances: tuple[float, ...]) -> np.ndarray:
    """Return a path of less length at the same poses, or the same path.

    Args:
        path: Variables of the chain at each pose, [n, v].
        rules: Functions and bounds.
        distances: Distances between configurations of a self-motion [rad or m], decreasing.
    """
    for distance in distances:
        for _ in range(_REPETITIONS):
            nodes, is_node = _beside(path, rules, distance)
            before = _cost(path, rules)
            found = _shortest(nodes, is_node, rules)
            if found is None or not _cost(found, rules) < before:
                break
            gain, path = before - _cost(found, rules), found
            if gain < _GAIN * before:
                break
    return path


def _beside(
    path: np.ndarray, rules: PathRules, distance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return configurations [n, m, v] beside a path, the path itself in the middle, bool [n, m].

    The second array is True for those that reach their pose without a collision.
    """
    tangents = distance * rules.tangents(path)
    sides = []
    for step in (-tangents, tangents):
        last, here, reached = path - step, path, np.ones(len(path), dtype=bool)
        side = []
        for _ in range(_SIDE):
            there, solved = rules.correct(2.0 * here - last)
            reached = reached & solved
            # A row that does not reach its pose stays, so that no later one is far from it.
            there[~reached] = here[~reached]
            side.append((there, reached))
            last, here = here, there
        sides.append(side)
    columns = [*sides[0][::-1], (path, np.ones(len(path), dtype=bool)), *sides[1]]
    nodes = np.stack([rows for rows, _ in columns], axis=1)
    is_node = np.stack([reached for _, reached in columns], axis=1)
    if rules.is_start_fixed:
        is_node[0] = np.arange(len(columns)) == _SIDE
    beside = is_node.copy()
    beside[:, _SIDE] = False
    is_node[beside] = rules.are_free(nodes[beside])
    return nodes, is_node


def _cost(path: np.ndarray, rules: PathRules) -> float:
    """Return the length of a path, with a penalty for steps that are too long."""
    return float(np.sum(_costs(np.diff(path, axis=0), rules.max_step)))


def _costs(steps: np.ndarray, max_step: float) -> np.ndarray:
    """Return the costs [..] of steps [.., v]."""
    excess = np.max(np.abs(steps), axis=-1) - max_step
    return np.linalg.norm(steps, axis=-1) + _TOO_LONG * np.maximum(excess, 0.0)


def _shortest(nodes: np.ndarray, is_node: np.ndarray, rules: PathRules) -> np.ndarray | None:
    """Return the path [n, v] of the least cost whose motions are free; None if there is none."""
    costs = _motion_costs(nodes, is_node, rules)
    rows = np.arange(len(nodes))
    known: set[tuple[int, int, int]] = set()
    for _ in range(_COLLISIONS):
        columns = _cheapest_columns(costs, is_node[0])
        if columns is None:
            return None
        path = nodes[rows, columns]
        ways = zip(rows[:-1].tolist(), columns[:-1].tolist(), columns[1:].tolist(), strict=True)
        motions = list(ways)
        asked = np.array([motion[0] for motion in motions if motion not in known], dtype=int)
        known.update(motions)
        hit = asked[~rules.motions_are_free(path[asked], path[asked + 1])]
        if not len(hit):
            return path
        costs[hit, columns[hit], columns[hit + 1]] = np.inf
    return None


def _motion_costs(nodes: np.ndarray, is_node: np.ndarray, rules: PathRules) -> np.ndarray:
    """Return the costs [n - 1, m, m] of all motions, inf for those that are not allowed."""
    parts = []
    for first in range(0, len(nodes) - 1, _AT_ONCE):
        last = min(first + _AT_ONCE, len(nodes) - 1)
        steps = nodes[first + 1 : last + 1, None] - nodes[first:last, :, None]
        costs = _costs(steps, rules.max_step)
        longest = rules.longest[first:last, None, None]
        costs[np.max(np.abs(steps), axis=-1) > longest] = np.inf
        parts.append(costs)
    costs = np.concatenate(parts)
    costs[~is_node[:-1]] = np.inf
    costs[np.broadcast_to(~is_node[1:, None], costs.shape)] = np.inf
    return costs


def _cheapest_columns(costs: np.ndarray, is_start: np.ndarray) -> np.ndarray | None:
    """Return the column of each configuration of the cheapest path, [n]; None without one.

    Args:
        costs: Costs of motions, [n - 1, m, m].
        is_start: True for columns in which the path may begin, [m].
    """
    total = np.where(is_start, 0.0, np.inf)
    parents = []
    for motion in costs:
        ways = total[:, None] + motion
        parent = np.argmin(ways, axis=0)
        total = ways[parent, np.arange(len(parent))]
        parents.append(parent)
    column = int(np.argmin(total))
    if not np.isfinite(total[column]):
        return None
    columns = [column]
    for parent in reversed(parents):
        columns.append(int(parent[columns[-1]]))
    return np.array(columns[::-1])
