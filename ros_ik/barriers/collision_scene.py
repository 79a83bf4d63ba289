# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Scene of collision barriers: primitives of the robot, carried objects and obstacles."""

from __future__ import annotations

from collections.abc import Iterable
import dataclasses
from typing import Any
from typing import Protocol
import weakref

import numpy as np
import warp as wp

from ros_ik.barriers.collision_table import CollisionRows
from ros_ik.barriers.collision_table import CollisionTable
from ros_ik.barriers.pair_measurement import needs_gjk
from ros_ik.errors import ArgumentError
from ros_ik.former_names import FormerName
from ros_ik.kinematics.runtime.read_once import ReadOnce
from ros_ik.model import Model
from ros_ik.model.conventions.checks import checked_flag
from ros_ik.model.conventions.checks import checked_index
from ros_ik.model.conventions.checks import checked_pose
from ros_ik.model.conventions.checks import checked_text
from ros_ik.model.conventions.checks import link_index
from ros_ik.model.conventions.checks import link_indices
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.shapes.collision_geometry import as_geometry
from ros_ik.model.shapes.collision_geometry import CollisionGeometry
from ros_ik.model.shapes.collision_geometry import rigid_parts
from ros_ik.model.shapes.collision_primitive import checked_shape
from ros_ik.model.shapes.collision_primitive import CollisionShape

# Largest permitted number of rows for obstacles, and for carried shapes; they take memory at once.
_MAX_SLOTS = 100_000


class SceneListener(Protocol):
    """Listener for rows that appear in a scene or disappear from it."""

    def refresh(self) -> None:
        """Collect the pairs again."""


@dataclasses.dataclass
class _Obstacle:
    """Row and shape of an obstacle, links that ignore it, and whether it is enabled."""

    row: int
    shape: CollisionShape
    ignored: frozenset[int]
    enabled: bool


@dataclasses.dataclass
class _AttachedShape:
    """Row of a carried object and the links that it may touch."""

    row: int
    link: int
    touched: frozenset[int]


class CollisionScene(ReadOnce):
    """A robot's primitives with room for obstacles and carried objects.

    Several barriers of one or several solvers may share a scene. A change of the scene takes
    effect in the next step, without capturing graphs again. Call the methods between two steps, in
    the thread that calls the solver.

    Attributes:
        geometry: The primitives of the robot.
        max_obstacles: Largest number of obstacles at a time.
        max_attached: Largest number of carried objects at a time.
        link_only: Number of the last primitives of the robot that are only for pairs of links;
            they meet neither obstacles nor carried objects.
        rows: All primitives: those of the robot, then carried objects, then obstacles.
    """

    read_once = frozenset(('geometry', 'max_obstacles', 'max_attached', 'link_only'))

    def __init__(
        self,
        geometry: CollisionGeometry | Model,
        *,
        max_obstacles: int = 16,
        max_attached: int = 4,
        link_only: int = 0,
    ) -> None:
        """Allocate the rows.

        Args:
            geometry: The primitives, or a model, whose shapes are used unchanged.
            max_obstacles: Largest number of obstacles at a time.
            max_attached: Largest number of carried objects at a time.
            link_only: Number of the last primitives that are only for pairs of links.

        Raises:
            ArgumentError: Neither primitives nor a model, or a number of rows out of range.
        """
        self.geometry = geometry = as_geometry('geometry', geometry)
        self.max_obstacles = checked_index('max_obstacles', max_obstacles, _MAX_SLOTS)
        self.max_attached = checked_index('max_attached', max_attached, _MAX_SLOTS)
        self.link_only = checked_index('link_only', link_only, max(len(geometry), 1))
        self.rows = CollisionRows(geometry, self.max_obstacles + self.max_attached)
        self._rigid = rigid_parts(geometry.model)
        self._obstacles: dict[str, _Obstacle] = {}
        self._carried: dict[str, _AttachedShape] = {}
        self._tables: dict[tuple, CollisionTable] = {}
        self._listeners: weakref.WeakSet[Any] = weakref.WeakSet()

    @property
    def model(self) -> Model:
        """The model."""
        return self.geometry.model

    @property
    def needs_gjk(self) -> bool:
        """True if there can be shapes other than spheres, capsules and half-spaces."""
        slots = self.max_obstacles + self.max_attached
        return slots > 0 or needs_gjk(self.geometry.kind)

    is_convex = FormerName('needs_gjk')

    @property
    def obstacle_names(self) -> tuple[str, ...]:
        """Names of the obstacles, enabled or not."""
        return tuple(self._obstacles)

    @property
    def attached_names(self) -> tuple[str, ...]:
        """Names of the carried objects."""
        return tuple(self._carried)

    @property
    def meeting_rows(self) -> range:
        """Rows of the robot that meet obstacles and carried objects."""
        return range(len(self.geometry) - self.link_only)

    def is_link_only(self, pair: tuple[int, int]) -> bool:
        """Return True if a pair of rows has a primitive that is only for pairs of links."""
        return any(self.meeting_rows.stop <= row < len(self.geometry) for row in pair)

    @property
    def attached_rows(self) -> range:
        """Rows for carried objects."""
        return range(len(self.geometry), len(self.geometry) + self.max_attached)

    @property
    def obstacle_rows(self) -> range:
        """Rows for obstacles."""
        return range(self.attached_rows.stop, self.attached_rows.stop + self.max_obstacles)

    def add_obstacle(
        self,
        name: str,
        shape: CollisionShape,
        pose: Any = None,
        *,
        ignored_links: Iterable[int | str] = (),
        enabled: bool = True,
    ) -> None:
        """Add an obstacle.

        Args:
            name: Its name, which must be new.
            shape: Its shape.
            pose: Its pose in the world, x y z qx qy qz qw; None for the identity.
            ignored_links: Links that may touch it, such as a base on its table; so may the objects
                that they carry.
            enabled: True if it is enabled from the start.

        Raises:
            ArgumentError: A name in use, an unknown link, an invalid pose or shape, or no room.
        """
        checked_text('name', name)
        enabled = checked_flag('enabled', enabled)
        placed = checked_pose(f'obstacle {name!r} pose', pose)
        ignored = frozenset(link_indices('ignored_links', self.model, ignored_links))
        checked_shape(f'obstacle {name!r} shape', shape)
        row = self._free_row('obstacle', name, self._obstacles, self.obstacle_rows)
        self._obstacles[name] = _Obstacle(row, shape, ignored, enabled)
        self._fill(row, -1, shape, placed)

    def move_obstacle(self, name: str, pose: Any) -> None:
        """Move an obstacle to a pose in the world, x y z qx qy qz qw.

        Raises:
            ArgumentError: An unknown obstacle or an invalid pose.
        """
        obstacle = self._obstacle(name)
        placed = checked_pose(f'obstacle {name!r} pose', pose)
        self.rows.place(obstacle.row, obstacle.shape, placed)
        for table in self._tables.values():
            table.write_pose(obstacle.row)

    def enable_obstacle(self, name: str, enabled: bool = True) -> None:
        """Enable or disable an obstacle.

        Raises:
            ArgumentError: There is no such obstacle.
        """
        obstacle, enabled = self._obstacle(name), checked_flag('enabled', enabled)
        if obstacle.enabled != enabled:
            obstacle.enabled = enabled
            self._refresh()

    def remove_obstacle(self, name: str) -> None:
        """Remove an obstacle.

        Raises:
            ArgumentError: There is no such obstacle.
        """
        self._clear(self._obstacle(name).row, self._obstacles, name)

    def attach(
        self,
        name: str,
        link: int | str,
        shape: CollisionShape,
        pose: Any = None,
        *,
        touch_links: Iterable[int | str] = (),
    ) -> None:
        """Attach an object to a link, as part of the robot.

        It may touch the links that are fixed to this link.

        Args:
            name: Its name, which must be new among carried objects.
            link: The link that carries it.
            shape: Its shape, which must not be a half-space.
            pose: Its pose in the link, x y z qx qy qz qw; None for the identity.
            touch_links: More links that it may touch, such as the fingers that hold it.

        Raises:
            ArgumentError: A name in use, an unknown link, an invalid pose or shape, or no room.
        """
        checked_text('name', name)
        placed = checked_pose(f'attached object {name!r} pose', pose)
        checked_shape(f'attached object {name!r} shape', shape)
        body = link_index(self.model, link)
        if body < 0 or shape.kind == GeoType.PLANE:
            raise ArgumentError(
                f'attached object {name!r} must be a bounded shape on a link of the robot, got '
                f'{shape.kind.name} on link {link!r}'
            )
        rigid = np.flatnonzero(self._rigid[:-1] == self._rigid[body])
        touched = frozenset(link_indices('touch_links', self.model, touch_links)) | {
            int(k) for k in rigid
        }
        row = self._free_row('attached object', name, self._carried, self.attached_rows)
        self._carried[name] = _AttachedShape(row, body, touched)
        self._fill(row, body, shape, placed)

    def detach(self, name: str) -> None:
        """Remove a carried object.

        Raises:
            ArgumentError: There is no such object.
        """
        checked_text('name', name)
        if name not in self._carried:
            raise ArgumentError(
                f'there is no attached object {name!r}; there are {sorted(self._carried)}'
            )
        self._clear(self._carried[name].row, self._carried, name)

    def attached_pairs(self) -> np.ndarray:
        """Return the pairs of carried objects with the robot and each other, int [n, 2]."""
        body = self.geometry.body[self.meeting_rows]
        pairs = []
        carried = list(self._carried.values())
        for k, one in enumerate(carried):
            others = np.flatnonzero(~np.isin(body, list(one.touched)))
            pairs += [(one.row, int(other)) for other in others]
            pairs += [(one.row, other.row) for other in carried[k + 1 :]]
        return np.array(pairs, dtype=int).reshape(-1, 2)

    def world_pairs(self) -> np.ndarray:
        """Return the pairs of robot and carried objects with enabled obstacles, int [n, 2]."""
        own = np.array([*self.meeting_rows, *(c.row for c in self._carried.values())])
        own = own[self.rows.kind[own] != int(GeoType.PLANE)] if len(own) else own.astype(int)
        body = self.rows.body[own]
        pairs = [np.zeros((0, 2), dtype=int)]
        for obstacle in self._obstacles.values():
            if obstacle.enabled:
                near = own[(body >= 0) & ~np.isin(body, list(obstacle.ignored))]
                pairs.append(np.column_stack([near, np.full(len(near), obstacle.row)]))
        return np.concatenate(pairs)

    def table(self, scalar: type, device: wp.DeviceLike) -> CollisionTable:
        """Return the rows on a device; every call returns the same table."""
        key = scalar, str(device)
        if key not in self._tables:
            self._tables[key] = CollisionTable(self.rows, scalar, device)
        return self._tables[key]

    def add_listener(self, user: SceneListener) -> None:
        """Register a barrier, by weak reference, to notify when rows appear or disappear."""
        self._listeners.add(user)

    def row_name(self, row: int) -> str:
        """Return the name of the link, carried object or obstacle of a row."""
        for entries in (self._obstacles, self._carried):
            for name, entry in entries.items():
                if entry.row == row:
                    return name
        body = int(self.rows.body[row])
        return self.model.body_label[body] if body >= 0 else 'world'

    def _obstacle(self, name: str) -> _Obstacle:
        """Return an obstacle by name."""
        checked_text('name', name)
        if name not in self._obstacles:
            raise ArgumentError(
                f'there is no obstacle {name!r}; there are {sorted(self._obstacles)}'
            )
        return self._obstacles[name]

    def _free_row(self, what: str, name: str, entries: dict, rows: range) -> int:
        """Return an unused row for a new name."""
        if name in entries:
            raise ArgumentError(f'there is already an {what} {name!r}')
        taken = {entry.row for entry in entries.values()}
        for row in rows:
            if row not in taken:
                return row
        raise ArgumentError(f'no room for {what} {name!r}: the scene holds at most {len(rows)}')

    def _fill(self, row: int, body: int, shape: CollisionShape, pose: np.ndarray) -> None:
        """Write a shape into a row, on every device."""
        self.rows.fill(row, body, shape)
        self.rows.place(row, shape, pose)
        for table in self._tables.values():
            table.write(row)
        self._refresh()

    def _clear(self, row: int, entries: dict, name: str) -> None:
        """Remove an entry and empty its row."""
        del entries[name]
        self.rows.clear(row)
        for table in self._tables.values():
            table.write(row)
        self._refresh()

    def _refresh(self) -> None:
        """Let the registered barriers collect their pairs again."""
        for user in list(self._listeners):
            user.refresh()
