# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Collision check of straight joint motions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import warp as wp

from ros_ik.kinematics.collision.checks.collisions import CollisionChecker
from ros_ik.model import Model

# Largest joint motion between two checks [rad or m], and number of configurations in a batch.
_CHECKED_STEP, _AT_ONCE = 0.01, 512

# Tests which motions from variables [k, v] to others [k, v] are free of collisions, bool [k].
FreeMotionCheck = Callable[[np.ndarray, np.ndarray], np.ndarray]


class MotionCheck:
    """Collision check of configurations and of the motions between them.

    Attributes:
        checker: Check of single configurations; None if nothing is checked.
    """

    def __init__(self, model: Model, pairs: np.ndarray | None, margins: np.ndarray) -> None:
        """Prepare the check.

        Args:
            model: The model.
            pairs: Pairs of shapes, int [n_pairs, 2]; None to disable the check.
            margins: Distance [m] that each pair must keep, [n_pairs].
        """
        self.checker: CollisionChecker | None = None
        if pairs is not None:
            self.checker = CollisionChecker(
                model, _AT_ONCE, margin=margins, pairs=pairs, scalar=wp.float64
            )

    def is_free(self, joint_q: np.ndarray) -> np.ndarray:
        """Return which configurations [k, joint_coord_count] are collision-free, bool [k]."""
        if self.checker is None:
            return np.ones(len(joint_q), dtype=bool)
        parts = [
            ~self.checker.check(joint_q[first : first + _AT_ONCE])
            for first in range(0, len(joint_q), _AT_ONCE)
        ]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=bool)

    def colliding_links(self, joint_q: np.ndarray | None) -> tuple[str, str]:
        """Return the links of a pair that collides at a configuration, or two empty names.

        Args:
            joint_q: The configuration, [joint_coord_count]; None if there is none.
        """
        if joint_q is None or self.checker is None or self.is_free(joint_q[None])[0]:
            return '', ''
        _, pair = self.checker.distances(joint_q[None])
        (first, _), (second, _) = self.checker.pair_names(int(pair[0]))
        return first, second

    def is_free_along(self, joint_q: np.ndarray) -> np.ndarray:
        """Return which configurations of a path, and the motions to them, are collision-free.

        Args:
            joint_q: Configurations of the path, [n, joint_coord_count].

        Returns:
            bool [n].
        """
        return np.append(self.is_free(joint_q[:1]), self.is_free_to(joint_q[:-1], joint_q[1:]))

    def is_free_to(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Return which motions are collision-free, including their ends but not their starts.

        Args:
            before: Start configurations [k, joint_coord_count].
            after: End configurations; the joints move in straight lines.

        Returns:
            bool [k].
        """
        if self.checker is None:
            return np.ones(len(before), dtype=bool)
        longest = np.max(np.abs(after - before), axis=1, initial=0.0)
        counts = np.maximum(1, np.ceil(longest / _CHECKED_STEP)).astype(int)
        motion = np.repeat(np.arange(len(before)), counts)
        sample = np.arange(len(motion)) - np.repeat(np.cumsum(counts) - counts, counts) + 1
        part = (sample / counts[motion])[:, None]
        free = np.ones(len(before), dtype=bool)
        for first in range(0, len(motion), _AT_ONCE):
            rows = slice(first, first + _AT_ONCE)
            start = before[motion[rows]]
            collides = self.checker.check(start + part[rows] * (after[motion[rows]] - start))
            free[motion[rows][collides]] = False
        return free
