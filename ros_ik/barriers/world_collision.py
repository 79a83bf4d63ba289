# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Barrier: a robot and what it carries stay away from obstacles in the world.

h_i = d_i - d_min   for the n closest pairs of a primitive and an obstacle
"""

from __future__ import annotations

import numpy as np

from ros_ik.barriers.collision_barrier import CollisionBarrier
from ros_ik.barriers.collision_scene import CollisionScene
from ros_ik.errors import ArgumentError
from ros_ik.model import Model
from ros_ik.model.shapes.collision_geometry import CollisionGeometry


class WorldCollisionBarrier(CollisionBarrier):
    """The robot stays at least d_min away from the obstacles of its scene.

    Obstacles come and go by the scene, ``barrier.scene.add_obstacle(..)``, without a new graph.
    All robots of a batch live in the same world.
    """

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
            source: A scene, which other barriers may share; or primitives, or a model whose
                shapes are taken as they are, for a scene of its own.
            max_obstacles: Most obstacles at a time in a scene of its own.
            n_collision_pairs: Number of closest pairs that make a row; None for all pairs that
                there may be.
            gain: Part of the distance that may be used up per second [1/s].
            safe_displacement_gain: Weight of the calming cost; see :class:`Barrier`.
            margin: Distance kept beyond d_min in the step [m].
            d_min: Least distance [m].
            d_max: Distance [m] from which on a pair is switched off; None for never.
            name: What to call the barrier in a status.

        Raises:
            ArgumentError: A value outside its range, a scene without room for obstacles, or a
                robot without primitives.
        """
        scene = source
        if not isinstance(scene, CollisionScene):
            scene = CollisionScene(scene, max_obstacles=max_obstacles)
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
        """Most pairs that there may be."""
        return self.scene.max_obstacles * (len(self.scene.geometry) + self.scene.max_attached)

    def current_pairs(self) -> np.ndarray:
        """Return the pairs that are watched now; see :meth:`CollisionBarrier.current_pairs`."""
        return self.scene.world_pairs()
