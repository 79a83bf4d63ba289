# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""More solutions of poses with seven joints, between those at values of the redundant joint.

The solutions of a pose form curves, its self-motions. Where the other joints move much further
than the redundant one, its values leave long gaps, and curves between two values are missed. From
each solution a step along its curve leads to the next, until all gaps are short. A solution that
is far from all of the next or the previous pose is corrected to reach that pose, too.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import dataclasses

import numpy as np

from ros_ik.solvers.path.branches import Layer
from ros_ik.solvers.path.smoothing import Tangents

_TURN = 2.0 * np.pi
# Length of a step along a curve, in the joint that moves most, and least distance of a new
# solution from all others [rad or m].
_STEP, _SEPARATION = 0.15, 0.08
# Largest number of steps from a solution, and of new solutions of a pose.
_MAX_STEPS, _MAX_ADDED = 20, 256

# Corrects variables [k, v] to reach the poses of the given numbers [k], within the limits and
# without collisions; returns which rows succeeded, bool [k].
CorrectAt = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


class ArcSamples:
    """Solutions of the poses of a path, to which others along their curves are added."""

    def __init__(
        self,
        layers: Sequence[Layer],
        slides: Sequence[bool],
        max_step: float,
        tangents: Tangents,
        correct: CorrectAt,
    ) -> None:
        """Store the solutions.

        Args:
            layers: Solutions of each pose.
            slides: True for prismatic joints, [v].
            max_step: Largest change of a variable between two poses [rad or m].
            tangents: Function that computes unit vectors of the self-motion.
            correct: Function that corrects configurations to reach poses.
        """
        self._layers, self._turns = layers, ~np.array(slides)
        self._max_step, self._tangents, self._correct = max_step, tangents, correct
        self._rows = [layer.joint_q if layer.is_solved else layer.joint_q[:0] for layer in layers]
        self._most = [len(rows) + _MAX_ADDED for rows in self._rows]

    def filled(self) -> list[Layer]:
        """Return the layers with more solutions."""
        self._fill(list(self._rows))
        n = len(self._rows)
        before = [len(rows) for rows in self._rows]
        for k in range(n - 1):
            self._continue(k, k + 1)
        for k in range(n - 1, 0, -1):
            self._continue(k, k - 1)
        self._fill([rows[count:] for rows, count in zip(self._rows, before, strict=True)])
        return [
            dataclasses.replace(layer, joint_q=rows) if layer.is_solved else layer
            for layer, rows in zip(self._layers, self._rows, strict=True)
        ]

    def _fill(self, starts: list[np.ndarray]) -> None:
        """Add solutions along the curves through some of each pose, [k, v] each."""
        index = np.repeat(np.arange(len(starts)), [len(rows) for rows in starts])
        here = np.concatenate(starts)
        motion = self._steps(here)
        index, here = np.tile(index, 2), np.tile(here, (2, 1))
        motion = np.concatenate((motion, -motion))
        for _ in range(_MAX_STEPS):
            if not len(here):
                return
            there, solved = self._correct(index, here + motion)
            solved &= np.max(np.abs(there - here), axis=1) <= 2.0 * _STEP
            index, here, there = index[solved], here[solved], there[solved]
            added = self._add(index, there)
            index, here, there = index[added], here[added], there[added]
            motion = self._steps(there)
            # On along the curve, not back.
            backwards = np.sum(motion * (there - here), axis=1) < 0.0
            motion[backwards] *= -1.0
            here = there

    def _steps(self, joint_q: np.ndarray) -> np.ndarray:
        """Return steps [k, v] along the curves through solutions [k, v]."""
        tangents = self._tangents(joint_q)
        size = np.max(np.abs(tangents), axis=1, initial=0.0, keepdims=True)
        return _STEP * tangents / np.maximum(size, 1e-9)

    def _continue(self, k: int, to: int) -> None:
        """Add solutions of pose ``to`` near those of pose ``k`` that are far from all of it."""
        if not self._layers[to].is_solved or not len(self._rows[k]):
            return
        away = self._gaps(self._rows[k], self._rows[to]).min(axis=1, initial=np.inf)
        far = self._rows[k][away > 0.5 * self._max_step]
        if not len(far):
            return
        index = np.full(len(far), to)
        there, solved = self._correct(index, far)
        solved &= np.max(np.abs(there - far), axis=1) <= self._max_step
        self._add(index[solved], there[solved])

    def _add(self, index: np.ndarray, joint_q: np.ndarray) -> np.ndarray:
        """Add solutions [k, v] of poses of the given numbers [k] that are new; bool [k]."""
        added = np.zeros(len(index), dtype=bool)
        for k in np.unique(index).tolist():
            there = np.flatnonzero(index == k)
            away = self._gaps(joint_q[there], self._rows[k]).min(axis=1, initial=np.inf)
            there = there[away > _SEPARATION]
            # Of new ones near each other, the first remains.
            is_near = self._gaps(joint_q[there], joint_q[there]) <= _SEPARATION
            chosen: list[int] = []
            for row in range(min(len(there), self._most[k] - len(self._rows[k]))):
                if not is_near[row, chosen].any():
                    chosen.append(row)
            self._rows[k] = np.concatenate((self._rows[k], joint_q[there[chosen]]))
            added[there[chosen]] = True
        return added

    def _gaps(self, joint_q: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the distances [k, m] of rows [k, v] from others [m, v], whole turns apart."""
        distances = np.zeros((len(joint_q), len(others)))
        for c, turns in enumerate(self._turns):
            gap = joint_q[:, c, None] - others[:, c]
            if turns:
                gap -= _TURN * np.rint(gap / _TURN)
            np.maximum(distances, np.abs(gap), out=distances)
        return distances
