# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Barrier that keeps a robot and its carried objects away from obstacles.

h_i = d_i - d_min   for the n closest pairs of a primitive and an obstacle
"""

from __future__ import annotations

import numpy as np

from ros_ik.barriers.collision_barrier import CollisionBarrier
from ros_ik.barriers.collision_scene import CollisionScene
from ros_ik.errors import ArgumentError
from ros_ik.model import Model
from ros_ik.model.shapes.collision_geometry import as_geometry
from ros_ik.model.shapes.collision_geometry import CollisionGeometry


class WorldCollisionBarrier(CollisionBarrier):
    """Keep the robot at least d_min away from the obstacles of its scene.

    ``barrier.scene.add_obstacle(..)`` and the other methods of the scene change the obstacles
    without recording graphs again. All robots of a batch are in the same world.
    """

    construction_only = frozenset(('source', 'max_obstacles'))

    def __init__(
        self,
        source: Model | CollisionGeometry | CollisionScene,
        *,
        max_obstacles: int = 16,
        n_collision_pairs: int | None = 4,
        gain: float = 1.0,
        safe_displacement_gain: float = 1.0,
        margin: float = 0.0,
        d_min: float = 0.02,
        d_max: float | None = 0.25,
        name: str = '',
    ) -> None:
        """Create the barrier.

        Args:
            source: A scene, which other barriers may share. For a new scene: primitives, or a
                model, whose shapes are used unchanged.
            max_obstacles: Largest number of obstacles at a time in a new scene.
            n_collision_pairs: Number of closest pairs that get a row; None for all possible
                pairs.
            gain: Fraction of the distance that may be used up per second [1/s].
            safe_displacement_gain: Weight of the damping cost; see :class:`Barrier`.
            margin: Distance kept beyond d_min in the step [m].
            d_min: Least distance [m].
            d_max: Distance [m] beyond which a pair is inactive; None: all are active.
            name: Name of the barrier in status texts.

        Raises:
            ArgumentError: A value outside its range, a scene without room for obstacles, or a
                robot without primitives.
        """
        scene = source
        if not isinstance(scene, CollisionScene):
            geometry = as_geometry('source', source)
            scene = CollisionScene(geometry, max_obstacles=max_obstacles)
        if not scene.max_obstacles:
            raise ArgumentError('max_obstacles must be at least 1, got 0')
        if not len(scene.geometry) and not scene.max_attached:
            raise ArgumentError('the geometry has no primitives')
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

    @property
    def max_pairs(self) -> int:
        """Largest possible number of pairs."""
        return self.scene.max_obstacles * (len(self.scene.geometry) + self.scene.max_attached)

    def current_pairs(self) -> np.ndarray:
        """Return the current pairs; see :meth:`CollisionBarrier.current_pairs`."""
        return self.scene.world_pairs()
