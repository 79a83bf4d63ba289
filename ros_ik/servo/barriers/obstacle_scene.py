# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Scene of the robot's primitives and obstacles; obstacles change all at once.

The pose of an obstacle is evaluated when it arrives; afterwards the obstacle is fixed in the
world.
"""

from __future__ import annotations

import numpy as np

from ros_ik.barriers import CollisionScene
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.conventions.poses import multiply
from ros_ik.model.shapes.collision_geometry import CollisionGeometry
from ros_ik.servo.interface.obstacle import Obstacle

# Columns of the table that depend on obstacles and margins; obstacles have no points.
_SHAPE_COLUMNS = ('kind', 'pose', 'size', 'radius', 'bound')


class ObstacleScene(CollisionScene):
    """Scene with the obstacles of a command; no object is attached to the robot."""

    def __init__(
        self, geometry: CollisionGeometry, max_obstacles: int, link_only: int = 0
    ) -> None:
        """Allocate the rows.

        Args:
            geometry: The primitives of the robot.
            max_obstacles: Maximum number of obstacles.
            link_only: Number of the last primitives that meet no obstacles and have no margin.
        """
        super().__init__(
            geometry, max_obstacles=max_obstacles, max_attached=0, link_only=link_only
        )
        # The obstacle in each slot.
        self._slots: list[Obstacle | None] = [None] * max_obstacles
        # Their own dimensions, and the margin added to them.
        self._thickness = {name: np.zeros(max_obstacles) for name in ('radius', 'bound')}
        self._more = 0.0
        self._margins: tuple[float, float] | None = None
        # Kinds of the rows whose pairs the barriers have.
        self._paired_kinds = self.rows.kind.copy()
        own = np.array(self.meeting_rows, dtype=int)
        self._own = own[(geometry.kind[own] != int(GeoType.PLANE)) & (geometry.body[own] >= 0)]

    def set_margins(self, between_links: float, around_obstacles: float) -> None:
        """Thicken shapes so that distance zero is the margin [m].

        Primitives that are only for pairs of links stay as they are.

        Args:
            between_links: Margin between links.
            around_obstacles: Margin between links and obstacles.
        """
        if (between_links, around_obstacles) == self._margins:
            return  # writing them takes much of a tick
        own, others = self.meeting_rows.stop, slice(self.obstacle_rows.start, None)
        half = 0.5 * between_links
        self._more = around_obstacles - half
        for name in ('radius', 'bound'):
            column = getattr(self.rows, name)
            column[:own] = getattr(self.geometry, name)[:own] + half
            column[others] = self._thickness[name] + self._more
        self._write()
        self._margins = between_links, around_obstacles

    def set_obstacles(self, obstacles: tuple[Obstacle, ...], body_q: np.ndarray) -> None:
        """Apply the obstacles; existing ones keep their pose.

        After an error, the same obstacles may be applied again.

        Args:
            obstacles: At most ``max_obstacles``, with different names.
            body_q: Link poses at which the poses of new ones are evaluated [body_count, 7].
        """
        slots = list(self._slots)
        wanted = {one.name: one for one in obstacles[: self.max_obstacles]}
        slot_of = {known.name: slot for slot, known in enumerate(slots) if known is not None}
        for name in slot_of.keys() - wanted.keys():
            slots[slot_of[name]] = None
            self.rows.clear(self.obstacle_rows[slot_of[name]])
        free = iter([slot for slot, known in enumerate(slots) if known is None])
        changed = []
        for obstacle in wanted.values():
            slot = slot_of[obstacle.name] if obstacle.name in slot_of else next(free)
            if slots[slot] is not obstacle:
                slots[slot] = obstacle
                changed.append((slot, obstacle))
        if changed:
            self._place(changed, body_q)
        self._slots = slots
        self._write()
        if not np.array_equal(self._paired_kinds, self.rows.kind):
            self._refresh()
            self._paired_kinds = self.rows.kind.copy()

    def world_pairs(self) -> np.ndarray:
        """Return the pairs of the robot's primitives and obstacles, int [n, 2]."""
        rows = [self.obstacle_rows[k] for k, one in enumerate(self._slots) if one is not None]
        own, others = np.meshgrid(self._own, np.array(rows, dtype=int), indexing='ij')
        return np.column_stack([own.ravel(), others.ravel()])

    def row_name(self, row: int) -> str:
        """Return the name of the link or obstacle of a row."""
        if row < len(self.geometry):
            return super().row_name(row)
        obstacle = self._slots[row - self.obstacle_rows.start]
        return obstacle.name if obstacle is not None else ''

    def _place(self, changed: list[tuple[int, Obstacle]], body_q: np.ndarray) -> None:
        """Write obstacles into their rows on the host."""
        rows, first = self.rows, self.obstacle_rows.start
        for slot, obstacle in changed:
            shape, row = obstacle.shape, first + slot
            rows.kind[row], rows.size[row] = int(shape.kind), shape.size
            self._thickness['radius'][slot] = shape.radius
            self._thickness['bound'][slot] = shape.bound
            rows.radius[row], rows.bound[row] = shape.radius + self._more, shape.bound + self._more
        placed = multiply(
            body_q[[obstacle.frame_link for _, obstacle in changed]],
            np.array([obstacle.pose for _, obstacle in changed]),
        )
        rows.pose[[first + slot for slot, _ in changed]] = placed

    @shares_launch_lock
    def _write(self) -> None:
        """Copy the changed columns to the devices."""
        for table in self._tables.values():
            for name in _SHAPE_COLUMNS:
                getattr(table.shapes, name).assign(getattr(self.rows, name))
            table.center.assign(self.rows.pose[:, :3])
            table.axis.assign(self.rows.axis())
