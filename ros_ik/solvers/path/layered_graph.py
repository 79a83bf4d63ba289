# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Shortest joint path through the solutions of a sequence of poses, by dynamic programming.

A layer holds the solutions of one pose. A solution is connected to those of the next pose that
every joint reaches by a small motion. The result is the path through the most layers, and among
equals the one with the least joint motion, the sum of the distances between its configurations.
From the first layer on, each joint continues to the nearest equivalent angle within its limits.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import dataclasses

import numpy as np

from ros_ik.kinematics.serial_chain import SerialChain
from ros_ik.solvers.path.branches import Layer

_TURN = 2.0 * np.pi
# Tolerance for solutions at a limit, which rounding may put outside [rad or m].
_AT_LIMIT = 1e-9
# Ends of paths are distinct if any joint differs by more than this [rad or m].
_APART = 0.5
# Number of solutions of a layer from which to walk on if no solution of the next layer is near.
_MOST_WALKED = 32

# Tests which motions between variables [k, n] and [k, n] are free of collisions, bool [k].
FreeWays = Callable[[np.ndarray, np.ndarray], np.ndarray]
# Walks from variables [n] of a layer, given by its index, to the next one; None if that fails.
Walk = Callable[[np.ndarray, int], np.ndarray | None]


@dataclasses.dataclass(frozen=True)
class _Reached:
    """Solutions of a layer that paths have reached.

    Attributes:
        joint_q: Their variables, in the turns of the paths, [a, n].
        cost: Joint motion up to each, [a].
        parent: Row of the previous layer from which each was reached, [a].
    """

    joint_q: np.ndarray
    cost: np.ndarray
    parent: np.ndarray


class LayeredGraph:
    """Graph that connects the solutions of neighbouring poses."""

    def __init__(
        self, chain: SerialChain, max_step: float, free_ways: FreeWays, walk: Walk | None
    ) -> None:
        """Store the rules for connections.

        Args:
            chain: The chain of the variables.
            max_step: Largest change of a variable between two layers [rad or m].
            free_ways: Check of the motions between solutions.
            walk: Function that continues from a solution if none of the next layer is near; None
                to end the path there.
        """
        self._lower, self._upper = chain.lower - _AT_LIMIT, chain.upper + _AT_LIMIT
        self._turns = ~np.array(chain.slides)
        # Turns of a joint are distinct only if its range exceeds a turn and has limits.
        room = chain.upper - chain.lower
        self._winds = self._turns & (room >= _TURN) & np.isfinite(room)
        self._max_step, self._free_ways, self._walk = max_step, free_ways, walk

    def furthest_paths(
        self,
        layers: Sequence[Layer],
        first: int,
        nodes: np.ndarray,
        cost: np.ndarray,
        count: int = 1,
    ) -> list[np.ndarray]:
        """Return the paths through the most layers, the shortest first.

        Args:
            layers: Solutions of each pose.
            first: First layer.
            nodes: Start variables, [a, n].
            cost: Joint motion up to each of them, [a].
            count: Largest number of paths; their ends are distinct.

        Returns:
            Variables in the layers from ``first`` to the last one reached, each [layers, n].
        """
        reached = [_Reached(nodes, cost, np.zeros(len(nodes), dtype=int))]
        for k in range(first, len(layers) - 1):
            if not layers[k + 1].is_solved:
                break
            following = self._extended(reached[-1], layers[k + 1], k)
            if not len(following.cost):
                break
            reached.append(following)
        ends = reached[-1].joint_q
        paths: list[np.ndarray] = []
        for row in np.argsort(reached[-1].cost):
            if all(np.max(np.abs(ends[row] - path[-1])) > _APART for path in paths):
                paths.append(_traced(reached, int(row)))
            if len(paths) == count:
                break
        return paths

    def turned(self, joint_q: np.ndarray) -> np.ndarray:
        """Return variables [a, n] in all turns within the limits, [b, n]."""
        for c in np.flatnonzero(self._winds):
            lowest = np.ceil((self._lower[c] - joint_q[:, c]) / _TURN)
            count = (np.floor((self._upper[c] - joint_q[:, c]) / _TURN) - lowest + 1).astype(int)
            row = np.repeat(np.arange(len(joint_q)), count)
            turn = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
            joint_q = joint_q[row]
            joint_q[:, c] += _TURN * (lowest[row] + turn)
        return joint_q

    def nearest_turn(self, joint_q: np.ndarray, near: np.ndarray) -> np.ndarray:
        """Return variables in the turns within the limits that are nearest to ``near``."""
        turn = np.rint((near - joint_q) / _TURN)
        lowest = np.ceil((self._lower - joint_q) / _TURN)
        highest = np.floor((self._upper - joint_q) / _TURN)
        turn = np.where(lowest <= highest, np.clip(turn, lowest, highest), 0.0)
        return joint_q + np.where(self._turns, _TURN * turn, 0.0)

    def _extended(self, reached: _Reached, layer: Layer, k: int) -> _Reached:
        """Return the solutions of layer ``k + 1`` that are reached."""
        before, place, after = self._ways(reached.joint_q, layer.joint_q)
        if self._walk is not None:
            walked = np.setdiff1d(np.arange(len(reached.cost)), before)
            walked = walked[np.argsort(reached.cost[walked])][:_MOST_WALKED]
            before, place, after = self._walked(
                reached.joint_q, walked, k, before, place, after, layer
            )
        length = np.linalg.norm(after - reached.joint_q[before], axis=1)
        cost = reached.cost[before] + length
        turns = np.rint((after - layer.joint_q[place]) / _TURN)[:, self._winds]
        order = np.lexsort((cost, *turns.T, place))
        key = np.column_stack([place, turns])[order]
        starts = np.ones(len(order), dtype=bool)
        starts[1:] = np.any(key[1:] != key[:-1], axis=1)
        chosen = self._first_free(reached.joint_q[before], after, order, np.flatnonzero(starts))
        return _Reached(after[chosen], cost[chosen], before[chosen])

    def _ways(
        self, reached: np.ndarray, layer: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the rows of both layers to connect, and the end of each motion."""
        columns = range(reached.shape[1])
        before, place = np.nonzero(
            np.abs(self._gap(reached[:, None, 0], layer[None, :, 0], 0)) <= self._max_step
        )
        for c in columns[1:]:
            gap = self._gap(reached[before, c], layer[place, c], c)
            near = np.abs(gap) <= self._max_step
            before, place = before[near], place[near]
        gaps = [self._gap(reached[before, c], layer[place, c], c) for c in columns]
        after = reached[before] + np.column_stack(gaps)
        inside = np.all((after >= self._lower) & (after <= self._upper), axis=1)
        return before[inside], place[inside], after[inside]

    def _gap(self, a: np.ndarray, b: np.ndarray, column: int) -> np.ndarray:
        """Return the motion from ``a`` to the nearest turn of ``b`` [rad or m]."""
        gap = b - a
        return gap - _TURN * np.rint(gap / _TURN) if self._turns[column] else gap

    def _walked(
        self,
        reached: np.ndarray,
        rows: np.ndarray,
        k: int,
        before: np.ndarray,
        place: np.ndarray,
        after: np.ndarray,
        layer: Layer,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Add the connections that a walk finds from ``rows`` of layer ``k``."""
        assert self._walk is not None
        for row in rows:
            there = self._walk(reached[row], k)
            if there is None:
                continue
            gaps = [self._gap(there[c], layer.joint_q[:, c], c) for c in range(len(there))]
            nearest = int(np.argmin(np.max(np.abs(gaps), axis=0)))
            before, place = np.append(before, row), np.append(place, nearest)
            after = np.vstack([after, there])
        return before, place, after

    def _first_free(
        self, before: np.ndarray, after: np.ndarray, order: np.ndarray, starts: np.ndarray
    ) -> np.ndarray:
        """Return the first free motion of each group.

        Args:
            before: Starts of the motions, [w, n].
            after: Ends of the motions.
            order: Motions grouped, the best of each group first, [w].
            starts: Index in ``order`` of the first motion of each group.

        Returns:
            Indices of motions, at most one for each group.
        """
        ends = np.append(starts[1:], len(order))
        chosen, place = [], starts
        while len(place):
            ways = order[place]
            free = self._free_ways(before[ways], after[ways])
            chosen.append(ways[free])
            place, ends = place[~free] + 1, ends[~free]
            place, ends = place[place < ends], ends[place < ends]
        return np.concatenate(chosen) if chosen else np.zeros(0, dtype=int)


def _traced(reached: Sequence[_Reached], row: int) -> np.ndarray:
    """Return the variables of the path to a row of the last layer, [layers, n]."""
    path = []
    for layer in reversed(reached):
        path.append(layer.joint_q[row])
        row = int(layer.parent[row])
    return np.array(path[::-1])
