# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Barrier that keeps the links of a robot apart from each other.

h_i = d_i - d_min   for the n closest pairs of primitives
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ros_ik.barriers.collision_barrier import CollisionBarrier
from ros_ik.barriers.collision_scene import CollisionScene
from ros_ik.barriers.pair_sampling import always_close
from ros_ik.errors import ArgumentError
from ros_ik.kinematics.collision.checks.collision_arguments import checked_pair_table
from ros_ik.kinematics.runtime.read_once import read_only
from ros_ik.launch_lock import LAUNCH_LOCK
from ros_ik.model import Model
from ros_ik.model.shapes.collision_geometry import as_geometry
from ros_ik.model.shapes.collision_geometry import CollisionGeometry


class SelfCollisionBarrier(CollisionBarrier):
    """Keep links at least d_min apart; carried objects of the scene are treated as links.

    Attributes:
        pairs: The pairs of primitives, as rows of the geometry, int [n, 2].
        dropped_pairs: Pairs left out because they are in contact at d_min at nearly all
            configurations, see the argument ``pairs``, int [n, 2].
    """

    read_once = CollisionBarrier.read_once | {'pairs'}
    construction_only = frozenset(('source',))

    def __init__(
        self,
        source: Model | CollisionGeometry | CollisionScene,
        *,
        pairs: Sequence[Sequence[int]] | np.ndarray | None = None,
        n_collision_pairs: int | None = 1,
        gain: float = 1.0,
        safe_displacement_gain: float = 1.0,
        margin: float = 0.0,
        d_min: float = 0.02,
        d_max: float | None = 0.25,
        name: str = '',
    ) -> None:
        """Create the barrier.

        Args:
            source: A scene, which other barriers may share and which may hold carried objects; or
                primitives; or a model, whose shapes are used unchanged.
            pairs: Pairs of primitives, int [n, 2]; None for those of
                :meth:`CollisionGeometry.self_pairs` except the ones in contact at d_min at the
                neutral and at 95 % of 200 random configurations, ``dropped_pairs``. The barrier
                would hold the robot, whose links may be apart by less than d_min there.
            n_collision_pairs: Number of closest pairs that get a row; None for all pairs.
            gain: Fraction of the distance that may be used up per second [1/s].
            safe_displacement_gain: Weight of the damping cost; see :class:`Barrier`.
            margin: Distance kept beyond d_min in the step [m].
            d_min: Least distance [m].
            d_max: Distance [m] beyond which a pair is inactive; None: all are active.
            name: Name of the barrier in status texts.

        Raises:
            ArgumentError: A value outside its range, no pairs, or a pair that does not consist of
                primitives of two links.
        """
        scene = source
        if not isinstance(scene, CollisionScene):
            geometry = as_geometry('source', source)
            scene = CollisionScene(geometry, max_obstacles=0, max_attached=0)
        super().__init__(
            scene,
            n_collision_pairs=n_collision_pairs,
            d_min=d_min,
            d_max=d_max,
            gain=gain,
            safe_displacement_gain=safe_displacement_gain,
            margin=margin,
            name=name,
        )
        self.dropped_pairs = np.zeros((0, 2), dtype=int)
        if pairs is not None:
            self.pairs = read_only(_checked_pairs(scene.geometry, pairs))
        else:
            with LAUNCH_LOCK.shared():
                found = scene.geometry.self_pairs()
            close = always_close(scene.geometry, found, self.d_min)
            self.pairs, self.dropped_pairs = read_only(found[~close]), found[close]
        if not len(self.pairs) and not scene.max_attached:
            raise ArgumentError('pairs: the geometry has no pair of links that can collide')

    @property
    def max_pairs(self) -> int:
        """Largest possible number of pairs, of links and of carried objects."""
        carried = self.scene.max_attached
        own = len(self.scene.geometry)
        return len(self.pairs) + carried * own + carried * (carried - 1) // 2

    def current_pairs(self) -> np.ndarray:
        """Return the current pairs; see :meth:`CollisionBarrier.current_pairs`."""
        return np.concatenate([self.pairs, self.scene.attached_pairs()])


def _checked_pairs(geometry: CollisionGeometry, pairs: Any) -> np.ndarray:
    """Return pairs of primitives as int [n, 2], or raise ArgumentError."""
    table = checked_pair_table('pairs', pairs, geometry.body, 'primitives', 'links')
    _, counts = np.unique(np.sort(table, axis=1), axis=0, return_counts=True)
    if np.any(counts > 1):
        raise ArgumentError(f'pairs must name each pair once, got {pairs!r}')
    return table
