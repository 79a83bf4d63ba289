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
from ros_ik.solvers.path.motion_check import FreeMotionCheck

_TURN = 2.0 * np.pi
# Tolerance for solutions at a limit, which rounding may put outside [rad or m].
_AT_LIMIT = 1e-9
# Ends of paths are distinct if any joint differs by more than this [rad or m].
_SEPARATION = 0.5
# Largest numbers of turns of a joint, and of configurations in all turns, at which paths start.
MAX_TURNS, MAX_STARTS = 64, 16_384
# Largest number of local searches from the solutions of a layer that have none of the next nearby.
_MAX_LOCAL_SEARCHES = 32

# Walks from variables [n] of a layer, given by its index, to the next one; None if that fails.
LocalSearch = Callable[[np.ndarray, int], np.ndarray | None]


@dataclasses.dataclass(frozen=True)
class _ReachedSolutions:
    """Solutions of a layer that paths have reached.

    Attributes:
        joint_q: Their variables, in the turns of the paths, [a, n].
        cost: Joint motion up to each, [a].
        parent: Row of the previous layer from which each was reached, [a].
        solution: Number of each; those of the same number differ by whole turns, [a].
    """

    joint_q: np.ndarray
    cost: np.ndarray
    parent: np.ndarray
    solution: np.ndarray


@dataclasses.dataclass(frozen=True)
class _Motions:
    """Motions from reached solutions to those of the next layer.

    Attributes:
        before: Row of the solution from which each starts, [w].
        row: Row of the layer in which each ends, [w].
        after: Its end, [w, n].
        kind: Number of each; those of the same number differ by whole turns, [w].
    """

    before: np.ndarray
    row: np.ndarray
    after: np.ndarray
    kind: np.ndarray


class LayeredGraph:
    """Graph that connects the solutions of neighbouring poses."""

    def __init__(
        self,
        chain: SerialChain,
        max_step: float,
        are_free: FreeMotionCheck,
        local_search: LocalSearch | None,
    ) -> None:
        """Store the rules for connections.

        Args:
            chain: The chain of the variables.
            max_step: Largest change of a variable between two layers [rad or m].
            are_free: Check of the motions between solutions.
            local_search: Function that continues from a solution if none of the next layer is
                near; None to end the path there.
        """
        self._lower, self._upper = chain.lower - _AT_LIMIT, chain.upper + _AT_LIMIT
        self._turns = ~np.array(chain.slides)
        # Turns of a joint are distinct only if its range exceeds a turn and has limits.
        room = chain.upper - chain.lower
        self._has_several_turns = self._turns & (room >= _TURN) & np.isfinite(room)
        self._max_step, self._are_free, self._local_search = max_step, are_free, local_search

    def furthest_paths(
        self,
        layers: Sequence[Layer],
        first: int,
        nodes: np.ndarray,
        solution: np.ndarray,
        cost: np.ndarray,
        count: int = 1,
    ) -> list[np.ndarray]:
        """Return the paths through the most layers, the shortest first.

        Args:
            layers: Solutions of each pose.
            first: First layer.
            nodes: Start variables, [a, n].
            solution: Number of each of them; those of the same number differ by whole turns, [a].
            cost: Joint motion up to each of them, [a].
            count: Largest number of paths; their ends are distinct.

        Returns:
            Variables in the layers from ``first`` to the last one reached, each [layers, n].
        """
        reached = [_ReachedSolutions(nodes, cost, np.zeros(len(nodes), dtype=int), solution)]
        for k in range(first, len(layers) - 1):
            if not layers[k + 1].is_solved:
                break
            following = self._extend(reached[-1], layers[k + 1], k)
            if not len(following.cost):
                break
            reached.append(following)
        ends = reached[-1].joint_q
        paths: list[np.ndarray] = []
        for row in np.argsort(reached[-1].cost):
            if all(np.max(np.abs(ends[row] - path[-1])) > _SEPARATION for path in paths):
                paths.append(_trace_path(reached, int(row)))
            if len(paths) == count:
                break
        return paths

    def all_turns(self, joint_q: np.ndarray, near: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return variables [a, n] in all turns within the limits, [b, n], and their rows, [b].

        Of more than MAX_STARTS configurations, or MAX_TURNS turns of a joint, only the nearest to
        ``near`` [n] are returned.
        """
        several = self._has_several_turns
        origin = np.arange(len(joint_q))
        turned = np.where(several, self.nearest_turn(joint_q, near), joint_q)
        for c in np.flatnonzero(several):
            middle = np.rint((turned[:, c] - joint_q[origin, c]) / _TURN)
            lowest = np.ceil((self._lower[c] - joint_q[origin, c]) / _TURN)
            highest = np.floor((self._upper[c] - joint_q[origin, c]) / _TURN)
            lowest = np.maximum(lowest, middle - MAX_TURNS // 2)
            highest = np.minimum(highest, middle + MAX_TURNS // 2)
            count = (highest - lowest + 1).astype(int)
            row = np.repeat(np.arange(len(turned)), count)
            turn = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
            turned, origin = turned[row], origin[row]
            turned[:, c] = joint_q[origin, c] + _TURN * (lowest[row] + turn)
            if len(turned) > MAX_STARTS:
                # The joints to come are at their nearest turns, so that none is lost.
                away = np.linalg.norm((turned - near)[:, several], axis=1)
                kept = np.sort(np.argsort(away, kind='stable')[:MAX_STARTS])
                turned, origin = turned[kept], origin[kept]
        return turned, origin

    def nearest_turn(self, joint_q: np.ndarray, near: np.ndarray) -> np.ndarray:
        """Return variables in the turns within the limits that are nearest to ``near``."""
        turn = np.rint((near - joint_q) / _TURN)
        lowest = np.ceil((self._lower - joint_q) / _TURN)
        highest = np.floor((self._upper - joint_q) / _TURN)
        turn = np.where(lowest <= highest, np.clip(turn, lowest, highest), 0.0)
        return joint_q + np.where(self._turns, _TURN * turn, 0.0)

    def _extend(self, reached: _ReachedSolutions, layer: Layer, k: int) -> _ReachedSolutions:
        """Return the solutions of layer ``k + 1`` that are reached."""
        motions = self._small_motions(reached, layer.joint_q)
        if self._local_search is not None:
            searched = np.setdiff1d(np.arange(len(reached.cost)), motions.before)
            searched = searched[np.argsort(reached.cost[searched])][:_MAX_LOCAL_SEARCHES]
            motions = self._add_local_motions(reached.joint_q, searched, k, motions, layer)
        before, row, after = motions.before, motions.row, motions.after
        cost = reached.cost[before] + np.linalg.norm(after - reached.joint_q[before], axis=1)
        turns = np.rint((after - layer.joint_q[row]) / _TURN)[:, self._has_several_turns]
        node = _pair_numbers(row, turns)
        order = np.lexsort((cost, node))
        starts = np.ones(len(order), dtype=bool)
        starts[1:] = node[order][1:] != node[order][:-1]
        chosen = self._first_free(reached.joint_q, motions, order, np.flatnonzero(starts))
        # A local search does not end exactly at a solution, and has no others in other turns.
        number = np.where(motions.kind < 0, len(layer.joint_q) + np.arange(len(before)), row)
        return _ReachedSolutions(after[chosen], cost[chosen], before[chosen], number[chosen])

    def _small_motions(self, reached: _ReachedSolutions, layer: np.ndarray) -> _Motions:
        """Return the motions to solutions of a layer that every joint reaches by a small motion.

        Solutions that differ by whole turns have the same motions, but for the limits.
        """
        columns = range(layer.shape[1])
        _, first, number = np.unique(reached.solution, return_index=True, return_inverse=True)
        starts = reached.joint_q[first]
        start, end = np.nonzero(
            np.abs(self._gap(starts[:, None, 0], layer[None, :, 0], 0)) <= self._max_step
        )
        for c in columns[1:]:
            gap = self._gap(starts[start, c], layer[end, c], c)
            near = np.abs(gap) <= self._max_step
            start, end = start[near], end[near]
        gaps = np.column_stack([self._gap(starts[start, c], layer[end, c], c) for c in columns])
        # Each reached solution has the motions of its number, which are rows in a sequence.
        count = np.bincount(start, minlength=len(first))
        each = count[number]
        before = np.repeat(np.arange(len(number)), each)
        skipped = np.arange(len(before)) - np.repeat(np.cumsum(each) - each, each)
        kind = (np.cumsum(count) - count)[number][before] + skipped
        after = reached.joint_q[before] + gaps[kind]
        inside = np.all((after >= self._lower) & (after <= self._upper), axis=1)
        kind = kind[inside]
        return _Motions(before[inside], end[kind], after[inside], kind)

    def _gap(self, a: np.ndarray, b: np.ndarray, column: int) -> np.ndarray:
        """Return the motion from ``a`` to the nearest turn of ``b`` [rad or m]."""
        gap = b - a
        return gap - _TURN * np.rint(gap / _TURN) if self._turns[column] else gap

    def _add_local_motions(
        self, reached: np.ndarray, rows: np.ndarray, k: int, motions: _Motions, layer: Layer
    ) -> _Motions:
        """Add the local searches from ``rows`` of layer ``k``; the kind of these motions is -1."""
        assert self._local_search is not None
        before, to, ends = [motions.before], [motions.row], [motions.after]
        for row in rows:
            there = self._local_search(reached[row], k)
            if there is None:
                continue
            gaps = [self._gap(there[c], layer.joint_q[:, c], c) for c in range(len(there))]
            nearest = int(np.argmin(np.max(np.abs(gaps), axis=0)))
            before.append(np.array([row]))
            to.append(np.array([nearest]))
            ends.append(there[None])
        kind = np.append(motions.kind, np.full(len(before) - 1, -1))
        return _Motions(np.concatenate(before), np.concatenate(to), np.concatenate(ends), kind)

    def _first_free(
        self, reached: np.ndarray, motions: _Motions, order: np.ndarray, starts: np.ndarray
    ) -> np.ndarray:
        """Return the first free motion of each group.

        Args:
            reached: Solutions from which the motions start, [a, n].
            motions: The motions, w of them. One of each kind is checked.
            order: Motions grouped, the best of each group first, [w].
            starts: Index in ``order`` of the first motion of each group.

        Returns:
            Indices of motions, at most one for each group.
        """
        own = motions.kind.max(initial=0) + 1 + np.arange(len(order))
        kind = np.where(motions.kind < 0, own, motions.kind)
        is_known, is_free = np.zeros((2, kind.max(initial=0) + 1), dtype=bool)
        ends = np.append(starts[1:], len(order))
        chosen, position = [], starts
        while len(position):
            rows = order[position]
            kinds, first = np.unique(kind[rows], return_index=True)
            asked = rows[first[~is_known[kinds]]]
            is_free[kind[asked]] = self._are_free(
                reached[motions.before[asked]], motions.after[asked]
            )
            is_known[kinds] = True
            free = is_free[kind[rows]]
            chosen.append(rows[free])
            position, ends = position[~free] + 1, ends[~free]
            position, ends = position[position < ends], ends[position < ends]
        return np.concatenate(chosen) if chosen else np.zeros(0, dtype=int)


def _pair_numbers(row: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Return a number of each pair of a row [w] and turns [w, t], the same for the same pair."""
    number = row
    for column in turns.T.astype(int):
        lowest = column.min(initial=0)
        number = number * (column.max(initial=0) - lowest + 1) + column - lowest
    return number


def _trace_path(reached: Sequence[_ReachedSolutions], row: int) -> np.ndarray:
    """Return the variables of the path to a row of the last layer, [layers, n]."""
    path = []
    for layer in reversed(reached):
        path.append(layer.joint_q[row])
        row = int(layer.parent[row])
    return np.array(path[::-1])
