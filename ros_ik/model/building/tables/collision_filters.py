# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Collision filters of a builder: adjacent links, and named pairs."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from itertools import product

import numpy as np

from ros_ik.model.building.tables.custom_values import CustomValues
from ros_ik.model.building.tables.rigid_parts import adjacent_bodies
from ros_ik.model.conventions.checks import checked_index
from ros_ik.model.conventions.flags import ShapeFlags
from ros_ik.model.readers.srdf import SemanticDescription


class CollisionFilters(CustomValues):
    """Methods of ModelBuilder for pairs of shapes that must not collide.

    Pairs on one body need no entry: they never collide.
    """

    def __init__(self) -> None:
        """Start without pairs."""
        super().__init__()
        self._shapes_of: dict[int, list[int]] = defaultdict(list)
        self._joints_of: dict[int, list[int]] = defaultdict(list)
        self._indexed_shapes = self._indexed_joints = 0

    def add_shape_collision_filter_pair(self, shape_a: int, shape_b: int) -> None:
        """Disable collisions of two shapes.

        Args:
            shape_a: One shape.
            shape_b: The other, in any order.

        Raises:
            ArgumentError: A shape that does not exist.
        """
        for name, shape in (('shape_a', shape_a), ('shape_b', shape_b)):
            checked_index(name, shape, self.shape_count)
        self.shape_collision_filter_pairs.append((min(shape_a, shape_b), max(shape_a, shape_b)))

    def filter_joint(self, joint: int) -> None:
        """Disable collisions between the shapes of parent and child of a joint."""
        self._filter_bodies(self.joint_parent[joint], self.joint_child[joint])

    def filter_shape(self, shape: int) -> None:
        """Disable collisions of a shape with those of bodies connected by filtered joints."""
        self._index()
        body = self.shape_body[shape]
        for joint in self._joints_of[body]:
            if not self.joint_collision_filter_parent[joint]:
                continue
            other = self.joint_parent[joint] + self.joint_child[joint] - body
            for neighbour in self._colliding(other):
                self.add_shape_collision_filter_pair(shape, neighbour)

    def filter_description(self, semantic: SemanticDescription | None) -> None:
        """Disable pairs of a robot description: adjacent links, and those named by its SRDF.

        Links connected by fixed joints are one rigid part. They never collide with each other, nor
        with adjacent parts. ``enable_collisions`` of the SRDF takes precedence.

        Args:
            semantic: The SRDF; names of links that the robot lacks are ignored.
        """
        self._index()
        bodies = sorted(body for body in self._shapes_of if body >= 0 and self._colliding(body))
        adjacent = self._adjacent() if len(bodies) > 1 else np.zeros((0, 0), dtype=bool)
        pairs = set(self.shape_collision_filter_pairs)
        for first, second in combinations(bodies, 2):
            never = bool(adjacent[first, second])
            if semantic is not None:
                names = self.body_label[first], self.body_label[second]
                never = semantic.collision_disabled(*names, never)
            between = {
                (min(a, b), max(a, b))
                for a, b in product(self._colliding(first), self._colliding(second))
            }
            (pairs.update if never else pairs.difference_update)(between)
        self.shape_collision_filter_pairs = sorted(pairs)

    def _adjacent(self) -> np.ndarray:
        """Return which bodies are one rigid part or adjacent at a joint, the world last."""
        joints = (self.joint_parent, self.joint_child, self.joint_type)
        return adjacent_bodies(
            self.body_count, *(np.array(column, dtype=np.int64) for column in joints)
        )

    def _filter_bodies(self, parent: int, child: int) -> None:
        """Filter all pairs of colliding shapes of two bodies."""
        self._index()
        for first, second in product(self._colliding(parent), self._colliding(child)):
            self.add_shape_collision_filter_pair(first, second)

    def _colliding(self, body: int) -> list[int]:
        """Return the shapes of a body that take part in collisions."""
        shapes = self._shapes_of.get(body, [])
        return [s for s in shapes if self.shape_flags[s] & ShapeFlags.COLLIDE_SHAPES]

    def _index(self) -> None:
        """Index the shapes and joints added since the last call, by body."""
        for shape in range(self._indexed_shapes, self.shape_count):
            self._shapes_of[self.shape_body[shape]].append(shape)
        for joint in range(self._indexed_joints, self.joint_count):
            self._joints_of[self.joint_parent[joint]].append(joint)
            self._joints_of[self.joint_child[joint]].append(joint)
        self._indexed_shapes, self._indexed_joints = self.shape_count, self.joint_count
