# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Obstacles of a command."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from ros_ik.model.shapes.collision_primitive import CollisionShape


@dataclasses.dataclass(frozen=True, eq=False)
class Obstacle:
    """An obstacle.

    Attributes:
        name: Identifier.
        kind: 'sphere', 'box', 'cylinder', 'capsule' or 'half_space'.
        dimensions: Of a sphere the radius; of a box the size along x, y, z; of a cylinder radius
            and height; of a capsule radius and height of its cylindrical part; of a half-space
            none [m].
        pose: x y z [m] qx qy qz qw of its centre in ``frame_link``, unit quaternion, float64 [7].
        frame_link: Link in whose frame the pose is given, at the time of receipt.
    """

    name: str
    kind: str
    dimensions: tuple[float, ...]
    pose: np.ndarray
    frame_link: int

    @functools.cached_property
    def shape(self) -> CollisionShape:
        """Shape for collision checks."""
        size = self.dimensions
        if self.kind == 'sphere':
            return CollisionShape.sphere(size[0])
        if self.kind == 'box':
            return CollisionShape.box([0.5 * length for length in size])
        if self.kind == 'cylinder':
            return CollisionShape.cylinder(size[0], 0.5 * size[1])
        if self.kind == 'capsule':
            return CollisionShape.capsule(size[0], 0.5 * size[1])
        return CollisionShape.half_space()
