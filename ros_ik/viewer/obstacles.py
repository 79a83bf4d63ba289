# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Obstacles that people put into the world on the page: added, dragged, resized, removed."""

from __future__ import annotations

import dataclasses
import functools
import threading

from geometry_msgs.msg import Pose
import numpy as np
import trimesh
import viser

from ros_ik.model import poses
from ros_ik.node.pose_messages import fill_pose
from ros_ik.viewer.palette import SKY
from ros_ik.viewer.robot_view import place
from ros_ik.viewer.robot_view import pose_of
from ros_ik_interfaces.msg import Obstacle
from ros_ik_interfaces.msg import ObstacleArray

SHAPES = {
    'box': Obstacle.BOX,
    'sphere': Obstacle.SPHERE,
    'cylinder': Obstacle.CYLINDER,
    'capsule': Obstacle.CAPSULE,
}
# More than this from one page is a mistake.
_MOST = 20
_START_SIZE = (0.2, 0.2, 0.2)
_LEAST_SIZE, _MOST_SIZE = 0.01, 5.0
_OPACITY = 0.6
_LEAST_STRAIGHT = 1e-3


@dataclasses.dataclass(eq=False)
class PlacedObstacle:
    """One obstacle.

    Attributes:
        shape: One of ``SHAPES``.
        size: Size along its axes [m]; what is round has the first for its diameter.
        pose: Pose in the world [7].
    """

    shape: str
    size: tuple[float, float, float]
    pose: np.ndarray

    def dimensions(self) -> list[float]:
        """Return the dimensions as ros_ik_interfaces/Obstacle has them."""
        x, y, z = self.size
        if self.shape == 'box':
            return [x, y, z]
        if self.shape == 'sphere':
            return [0.5 * x]
        if self.shape == 'cylinder':
            return [0.5 * x, z]
        return [0.5 * x, max(z - x, _LEAST_STRAIGHT)]

    def mesh(self) -> trimesh.Trimesh:
        """Return what is drawn of it, about its centre."""
        sizes = self.dimensions()
        if self.shape == 'box':
            return trimesh.creation.box(extents=sizes)
        if self.shape == 'sphere':
            return trimesh.creation.icosphere(subdivisions=3, radius=sizes[0])
        if self.shape == 'cylinder':
            return trimesh.creation.cylinder(radius=sizes[0], height=sizes[1])
        return trimesh.creation.capsule(radius=sizes[0], height=sizes[1])


class Obstacles:
    """The obstacles of one page, and its controls for them; any thread may call it."""

    def __init__(self, server: viser.ViserServer) -> None:
        """Add the controls."""
        self._server, self._lock = server, threading.RLock()
        self.placed: dict[str, PlacedObstacle] = {}
        self._removed: list[str] = []
        self._is_changed = False
        self._count = 0
        self._gizmos: dict[str, viser.TransformControlsHandle] = {}
        self.start = np.array([0.5, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0])
        gui = server.gui
        with gui.add_folder('Obstacles', expand_by_default=False):
            shape = gui.add_dropdown('shape', tuple(SHAPES), initial_value='box')
            add = gui.add_button('Add')
            self._selected = gui.add_dropdown('selected', ('',), initial_value='')
            self._size = gui.add_vector3(
                'size x, y, z [m]',
                _START_SIZE,
                min=(_LEAST_SIZE,) * 3,
                max=(_MOST_SIZE,) * 3,
                step=0.01,
                hint='Round shapes have the first one for their diameter.',
            )
            remove = gui.add_button('Remove')

        # Coroutines run in the order of events, in the one thread that hears the browsers.
        async def on_add(event: object) -> None:
            self.add(shape.value)

        async def on_remove(event: object) -> None:
            self.remove(self._selected.value)

        async def on_size(event: viser.GuiEvent) -> None:
            if event.client is not None:
                self.resize(self._selected.value, self._size.value)

        async def on_select(event: object) -> None:
            with self._lock:
                if self._selected.value in self.placed:
                    self._size.value = self.placed[self._selected.value].size  # type: ignore[misc]

        add.on_click(on_add)
        remove.on_click(on_remove)
        self._size.on_update(on_size)
        self._selected.on_update(on_select)

    def add(self, shape: str) -> str:
        """Add an obstacle and select it; return its name, '' where there are too many."""
        with self._lock:
            if len(self.placed) >= _MOST:
                return ''
            self._count += 1
            name = f'viewer_{shape}_{self._count}'
            self.placed[name] = PlacedObstacle(shape, _START_SIZE, self.start.copy())
            gizmo = self._server.scene.add_transform_controls(
                f'/obstacles/{name}', scale=0.2, depth_test=False, opacity=0.7
            )
            place(gizmo, self.start)
            gizmo.on_update(functools.partial(self._on_drag, name))
            self._gizmos[name] = gizmo
            self._draw(name)
            self._list(name)
            self._is_changed = True
            return name

    def move(self, name: str, pose: np.ndarray) -> None:
        """Move an obstacle to a pose in the world [7]."""
        with self._lock:
            if name in self.placed:
                self.placed[name].pose = pose
                place(self._gizmos[name], pose)
                self._is_changed = True

    def resize(self, name: str, size: tuple[float, float, float]) -> None:
        """Give an obstacle another size along its axes [m]."""
        with self._lock:
            if name in self.placed:
                x, y, z = (min(max(float(s), _LEAST_SIZE), _MOST_SIZE) for s in size)
                self.placed[name].size = x, y, z
                self._draw(name)
                self._is_changed = True

    def remove(self, name: str) -> None:
        """Remove an obstacle."""
        with self._lock:
            if name in self.placed:
                del self.placed[name]
                self._gizmos.pop(name).remove()
                self._removed.append(name)
                self._list(next(reversed(self.placed), ''))
                self._is_changed = True

    def take_message(self, from_world: np.ndarray, frame: str) -> ObstacleArray | None:
        """Return what has changed since the last call, None for nothing.

        It has every obstacle of this page, for who joins late, and clears none of others.

        Args:
            from_world: Pose of the world in the frame [7].
            frame: Link in which poses are given.
        """
        with self._lock:
            if not self._is_changed:
                return None
            gone, self._removed, self._is_changed = self._removed, [], False
            message = ObstacleArray()
            for name in gone:
                message.obstacles.append(Obstacle(id=name, operation=Obstacle.REMOVE))
            for name, obstacle in self.placed.items():
                entry = Obstacle(
                    id=name,
                    operation=Obstacle.ADD,
                    type=SHAPES[obstacle.shape],
                    dimensions=obstacle.dimensions(),
                    pose=Pose(),
                )
                entry.header.frame_id = frame
                fill_pose(entry.pose, poses.multiply(from_world, obstacle.pose).tolist())
                message.obstacles.append(entry)
            return message

    def _draw(self, name: str) -> None:
        mesh = self.placed[name].mesh()
        self._server.scene.add_mesh_simple(
            f'/obstacles/{name}/shape',
            np.asarray(mesh.vertices, dtype=np.float32),
            np.asarray(mesh.faces, dtype=np.uint32),
            color=SKY,
            opacity=_OPACITY,
        )

    def _list(self, selected: str) -> None:
        """Offer the obstacles that there are, with one of them selected."""
        self._selected.options = tuple(self.placed) or ('',)
        self._selected.value = selected  # type: ignore[misc]
        if selected:
            self._size.value = self.placed[selected].size  # type: ignore[misc]

    async def _on_drag(self, name: str, event: viser.TransformControlsEvent) -> None:
        with self._lock:
            if name in self.placed:
                self.placed[name].pose = pose_of(event.target)
                self._is_changed = True
