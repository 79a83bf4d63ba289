# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""One obstacle on the page, and its conversion to ros_ik_interfaces/Obstacle."""

from __future__ import annotations

import dataclasses

import numpy as np
import trimesh

from ros_ik.model.conventions import poses
from ros_ik.node.transport.pose_messages import fill_pose
from ros_ik.node.transport.pose_messages import pose_numbers
from ros_ik_interfaces.msg import Obstacle

# Shapes that can be added on the page.
SHAPES = {
    'box': Obstacle.BOX,
    'sphere': Obstacle.SPHERE,
    'cylinder': Obstacle.CYLINDER,
    'capsule': Obstacle.CAPSULE,
}
# Shape that only other nodes can send; it has no size.
HALF_SPACE = 'half space'
_TYPES = {**SHAPES, HALF_SPACE: Obstacle.HALF_SPACE}
_NAMES = {number: name for name, number in _TYPES.items()}
_MIN_STRAIGHT = 1e-3
# Size of the plate that shows a half-space [m].
_PLATE = (4.0, 4.0, 0.01)
# Rounding error of a round trip to the node [m, and the same number for quaternions].
_SAME = 1e-6


@dataclasses.dataclass(frozen=True, eq=False)
class PlacedObstacle:
    """One obstacle.

    Attributes:
        shape: One of ``SHAPES``, or ``HALF_SPACE``.
        size: Size along its axes [m]; the first is the diameter of round shapes.
        pose: Pose in the world [7].
    """

    shape: str
    size: tuple[float, float, float]
    pose: np.ndarray

    @classmethod
    def from_message(cls, entry: Obstacle, frame_pose: np.ndarray) -> PlacedObstacle | None:
        """Return the obstacle of a message, or None for an unknown shape.

        Args:
            entry: The message.
            frame_pose: Pose of its frame in the world [7].
        """
        shape, sizes = _NAMES.get(entry.type, ''), list(entry.dimensions)
        if shape == 'box' and len(sizes) == 3:
            x, y, z = sizes
        elif shape == 'sphere' and len(sizes) == 1:
            x = y = z = 2.0 * sizes[0]
        elif shape in ('cylinder', 'capsule') and len(sizes) == 2:
            x = y = 2.0 * sizes[0]
            z = sizes[1] + (x if shape == 'capsule' else 0.0)
        elif shape == HALF_SPACE:
            x = y = z = 0.0
        else:
            return None
        pose = poses.multiply(frame_pose, np.array(pose_numbers(entry.pose)))
        return cls(shape, (x, y, z), pose)

    def message(self, name: str, from_world: np.ndarray, frame: str) -> Obstacle:
        """Return an ADD message for it.

        Args:
            name: Its name.
            from_world: Pose of the world in the frame [7].
            frame: Link in whose frame poses are given.
        """
        kind, sizes = _TYPES[self.shape], self.dimensions()
        entry = Obstacle(id=name, operation=Obstacle.ADD, type=kind, dimensions=sizes)
        entry.header.frame_id = frame
        fill_pose(entry.pose, poses.multiply(from_world, self.pose).tolist())
        return entry

    def dimensions(self) -> list[float]:
        """Return the dimensions as ros_ik_interfaces/Obstacle has them."""
        x, y, z = self.size
        if self.shape == 'box':
            return [x, y, z]
        if self.shape == 'sphere':
            return [0.5 * x]
        if self.shape == 'cylinder':
            return [0.5 * x, z]
        if self.shape == 'capsule':
            return [0.5 * x, max(z - x, _MIN_STRAIGHT)]
        return []

    def is_like(self, other: PlacedObstacle) -> bool:
        """Return True if another obstacle is equal up to rounding errors."""
        if self.shape != other.shape:
            return False
        turn = self.pose[3:] * np.sign(self.pose[3:] @ other.pose[3:])
        here, there = (
            [*one.dimensions(), *one.pose[:3], *angles]
            for one, angles in ((self, turn), (other, other.pose[3:]))
        )
        return bool(np.abs(np.subtract(here, there)).max() <= _SAME)

    def mesh(self) -> trimesh.Trimesh:
        """Return its mesh about its origin."""
        sizes = self.dimensions()
        if self.shape == 'box':
            return trimesh.creation.box(extents=sizes)
        if self.shape == 'sphere':
            return trimesh.creation.icosphere(subdivisions=3, radius=sizes[0])
        if self.shape == 'cylinder':
            return trimesh.creation.cylinder(radius=sizes[0], height=sizes[1])
        if self.shape == 'capsule':
            return trimesh.creation.capsule(radius=sizes[0], height=sizes[1])
        plate = trimesh.creation.box(extents=_PLATE)
        return plate.apply_translation([0.0, 0.0, -0.5 * _PLATE[2]])
