# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Collision filters of a builder: neighbours at a joint, and pairs that are named."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from itertools import product

from ros_ik.model.building.tables.custom_values import CustomValues
from ros_ik.model.conventions.checks import checked_index
from ros_ik.model.conventions.flags import ShapeFlags
from ros_ik.model.conventions.joint_type import JointType
from ros_ik.model.readers.srdf import SemanticDescription


class CollisionFilters(CustomValues):
    """Part of ModelBuilder: pairs of shapes that must not collide.

    Pairs on one body need no entry: they never collide.
    """

    def __init__(self) -> None:
        """Start without pairs."""
        super().__init__()
        self._shapes_of: dict[int, list[int]] = defaultdict(list)
        self._joints_of: dict[int, list[int]] = defaultdict(list)
        self._indexed_shapes = self._indexed_joints = 0

    def add_shape_collision_filter_pair(self, shape_a: int, shape_b: int) -> None:
        """Let two shapes never collide.

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
        """Let the shapes of the parent of a joint never collide with those of its child."""
        self._filter_bodies(self.joint_parent[joint], self.joint_child[joint])

    def filter_shape(self, shape: int) -> None:
        """Let a shape never collide with those of bodies that joints with filters connect."""
        self._index()
        body = self.shape_body[shape]
        for joint in self._joints_of[body]:
            if not self.joint_collision_filter_parent[joint]:
                continue
            other = self.joint_parent[joint] + self.joint_child[joint] - body
            for neighbour in self._colliding(other):
                self.add_shape_collision_filter_pair(shape, neighbour)

    def filter_description(self, semantic: SemanticDescription | None) -> None:
        """Filter the pairs of a robot description: adjacent links, and those its SRDF names.

        Links that fixed joints hold together move as one: they never collide with each other, nor
        with those that one joint separates from them. ``enable_collisions`` of the SRDF overrules
        both.

        Args:
            semantic: The SRDF; links that it names and the robot lacks are passed over.
        """
        self._index()
        rigid = self._rigid_parts()
        touching = {frozenset((part, part)) for part in rigid}
        for parent, child in zip(self.joint_parent, self.joint_child, strict=True):
            touching.add(frozenset((rigid[parent] if parent >= 0 else -1, rigid[child])))
        bodies = sorted(body for body in self._shapes_of if body >= 0 and self._colliding(body))
        pairs = set(self.shape_collision_filter_pairs)
        for first, second in combinations(bodies, 2):
            never = frozenset((rigid[first], rigid[second])) in touching
            if semantic is not None:
                names = self.body_label[first], self.body_label[second]
                never = semantic.collision_disabled(*names, never)
            between = {
                (min(a, b), max(a, b))
                for a, b in product(self._colliding(first), self._colliding(second))
            }
            (pairs.update if never else pairs.difference_update)(between)
        self.shape_collision_filter_pairs = sorted(pairs)

    def _filter_bodies(self, parent: int, child: int) -> None:
        """Filter all pairs of colliding shapes of two bodies."""
        self._index()
        for first, second in product(self._colliding(parent), self._colliding(child)):
            self.add_shape_collision_filter_pair(first, second)

    def _colliding(self, body: int) -> list[int]:
        """Return the shapes of a body that take part in collisions."""
        shapes = self._shapes_of.get(body, [])
        return [s for s in shapes if self.shape_flags[s] & ShapeFlags.COLLIDE_SHAPES]

    def _rigid_parts(self) -> list[int]:
        """Return for each body the first of those that fixed joints hold together with it."""
        part = list(range(self.body_count))
        for joint, kind in enumerate(self.joint_type):
            if kind == JointType.FIXED and self.joint_parent[joint] >= 0:
                part[self.joint_child[joint]] = self.joint_parent[joint]
        for body in range(self.body_count):
            path = [body]
            while part[path[-1]] != path[-1]:
                path.append(part[path[-1]])
            for passed in path:
                part[passed] = path[-1]
        return part

    def _index(self) -> None:
        """Note the shapes and joints that came since the last time, by body."""
        for shape in range(self._indexed_shapes, self.shape_count):
            self._shapes_of[self.shape_body[shape]].append(shape)
        for joint in range(self._indexed_joints, self.joint_count):
            self._joints_of[self.joint_parent[joint]].append(joint)
            self._joints_of[self.joint_child[joint]].append(joint)
        self._indexed_shapes, self._indexed_joints = self.shape_count, self.joint_count
