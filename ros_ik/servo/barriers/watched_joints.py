# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joints on whose positions distances depend, and those of them whose state is unknown.

A distance between two links depends on every joint between them. Joints without a state count as
being at their neutral positions, where their links may not be. So answers about distances name
these joints.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence

import numpy as np

from ros_ik.model.conventions.flags import ShapeFlags
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.conventions.labels import listed
from ros_ik.servo.interface.obstacle import Obstacle
from ros_ik.servo.robot.controlled_robot import ControlledRobot


class WatchedJoints:
    """Joints on which the distances depend that some joints change."""

    def __init__(
        self,
        robot: ControlledRobot,
        joint_names: Iterable[str],
        pairs: np.ndarray,
        solid: np.ndarray,
        boxes: np.ndarray,
    ) -> None:
        """Find the joints.

        Args:
            robot: The robot.
            joint_names: Joints that move, none of them a mimic joint.
            pairs: Pairs of links whose distance is watched if these joints change it, int [n, 2].
            solid: Links that are kept away from obstacles if these joints move them, int [k].
            boxes: Pairs of links whose relative position is watched in any case, int [m, 2].
        """
        model, links = robot.model, robot.link_joints
        moving = np.isin(model.joint_label, list(joint_names))
        pairs = np.unique(np.sort(pairs.reshape(-1, 2), axis=1), axis=0)
        self._links, self._names = links, model.joint_label
        self._of_robot = links.between(
            np.concatenate([pairs[links.moved(pairs, moving)], boxes.reshape(-1, 2)])
        )
        in_world = np.column_stack([solid, np.full_like(solid, -1)])
        self._solid = solid[links.moved(in_world, moving)]
        # The last obstacles, and the joints of which distances to them depend.
        self._obstacles: tuple[Obstacle, ...] = ()
        self._of_all = self._of_robot

    @classmethod
    def of_barriers(cls, robot: ControlledRobot, joint_names: Iterable[str]) -> WatchedJoints:
        """Return the joints on which the barriers of some joints depend."""
        settings, none = robot.settings, np.zeros(0, dtype=int)
        pairs = solid = none
        if settings.barriers_self_collision_enabled:
            pairs = robot.shapes.geometry.body[robot.shapes.pairs]
        if settings.barriers_world_enabled:
            geometry = robot.shapes.geometry
            bounded = (geometry.kind != int(GeoType.PLANE)) & (geometry.body >= 0)
            solid = np.unique(geometry.body[bounded])
        boxes = np.array([(link, robot.base_link) for link in robot.barrier_links], dtype=int)
        return cls(robot, joint_names, pairs, solid, boxes)

    @classmethod
    def of_contacts(cls, robot: ControlledRobot, joint_names: Iterable[str]) -> WatchedJoints:
        """Return the joints on which contacts of all shapes depend that some joints move."""
        model = robot.model
        body = model.shape_body.numpy()
        collides = (model.shape_flags.numpy() & int(ShapeFlags.COLLIDE_SHAPES)) != 0
        pairs = body[model.shape_contact_pairs.numpy().reshape(-1, 2)]
        solid = np.unique(body[collides & (body >= 0)])
        return cls(robot, joint_names, pairs, solid, np.zeros((0, 2), dtype=int))

    def unknown(
        self, known: np.ndarray, obstacles: tuple[Obstacle, ...] = ()
    ) -> tuple[str, ...]:
        """Return the names of the joints whose state is unknown, in the order of the model.

        Args:
            known: Mask of the known coordinates, bool [joint_coord_count].
            obstacles: Obstacles, each fixed to its link as far as its place is known.
        """
        unknown = self._links.without_state(known) & self._among(obstacles)
        return tuple(self._names[joint] for joint in np.flatnonzero(unknown))

    def _among(self, obstacles: tuple[Obstacle, ...]) -> np.ndarray:
        """Return the joints on which distances depend, bool [joint_count]."""
        if obstacles is not self._obstacles:
            frames = np.unique([obstacle.frame_link for obstacle in obstacles]).astype(int)
            solid, frame = np.meshgrid(self._solid, frames, indexing='ij')
            pairs = np.column_stack([solid.ravel(), frame.ravel()])
            self._of_all = self._of_robot | self._links.between(pairs)
            self._obstacles = obstacles
        return self._of_all


def unknown_sentence(names: Sequence[str], most: int | None = None) -> str:
    """Return a sentence about joints whose state is unknown, or ''.

    Args:
        names: The joints.
        most: Number of names after which the others are counted; None to name all.
    """
    if not names:
        return ''
    which = listed(names, len(names) if most is None else most)
    return f'no current joint states of {which}, on which distances depend'
