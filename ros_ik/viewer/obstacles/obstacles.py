# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Obstacles on the page: users add, drag, resize and remove those of the node."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import functools
import itertools
import secrets
import threading

import numpy as np
import viser

from ros_ik.viewer.gui.focus import return_keys
from ros_ik.viewer.obstacles.placed_obstacle import HALF_SPACE
from ros_ik.viewer.obstacles.placed_obstacle import PlacedObstacle
from ros_ik.viewer.obstacles.placed_obstacle import SHAPES
from ros_ik.viewer.obstacles.shared_obstacles import SharedObstacles
from ros_ik.viewer.robot.palette import OTHER_OBSTACLE
from ros_ik.viewer.robot.palette import OWN_OBSTACLE
from ros_ik.viewer.scene.robot_view import place
from ros_ik.viewer.scene.robot_view import pose_of
from ros_ik_interfaces.msg import ObstacleArray

# Maximum number of obstacles from one page.
_MAX_OBSTACLES = 20
_START_SIZE = (0.2, 0.2, 0.2)
_MIN_SIZE, _MAX_SIZE = 0.01, 5.0


@dataclasses.dataclass(eq=False)
class _Drawing:
    """Drawing of one obstacle.

    Attributes:
        obstacle: The drawn obstacle.
        is_own: True if it has the colour of obstacles last changed by this page.
        has_gizmo: True if it can be dragged.
        path: Path in the scene: a number, because names may contain any characters.
        root: Its gizmo or frame.
    """

    obstacle: PlacedObstacle
    is_own: bool
    has_gizmo: bool
    path: str
    root: viser.SceneNodeHandle


class Obstacles:
    """Obstacles of one page, and their controls; any thread may call it."""

    def __init__(self, server: viser.ViserServer) -> None:
        """Add the controls."""
        self._server, self._lock = server, threading.RLock()
        self._shared = SharedObstacles()
        self._drawings: dict[str, _Drawing] = {}
        self._numbers = itertools.count()
        # The obstacle whose size is shown; users may be typing while it is drawn.
        self._sized: PlacedObstacle | None = None
        # Random, so that two viewers do not choose the same names.
        self._token = secrets.token_hex(2)
        self.start = np.array([0.5, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0])
        gui = server.gui
        with gui.add_folder('Obstacles', expand_by_default=False):
            shape = gui.add_dropdown('shape', tuple(SHAPES), initial_value='box')
            add = gui.add_button('Add')
            self._selected = gui.add_dropdown('selected', ('',), initial_value='')
            self._size = gui.add_vector3(
                'size x, y, z [m]',
                _START_SIZE,
                min=(_MIN_SIZE,) * 3,
                max=(_MAX_SIZE,) * 3,
                step=0.01,
                hint='Round shapes have the first one for their diameter.',
            )
            remove = gui.add_button('Remove')

        # Coroutines run in the order of events, in the thread of the browser connections.
        async def on_add(event: object) -> None:
            self.add(shape.value)

        async def on_remove(event: object) -> None:
            self.remove(self._selected.value)

        async def on_size(event: viser.GuiEvent) -> None:
            # Not yet a size: the first digits of 0.05, for instance. An answer would replace them.
            is_size = all(_MIN_SIZE <= size <= _MAX_SIZE for size in self._size.value)
            if event.client is not None and is_size:
                self.resize(self._selected.value, self._size.value)

        async def on_select(event: object) -> None:
            with self._lock:
                self._update()

        add.on_click(on_add)
        remove.on_click(on_remove)
        self._size.on_update(on_size)
        self._selected.on_update(on_select)
        return_keys(shape, self._selected)

    @property
    def placed(self) -> dict[str, PlacedObstacle]:
        """All obstacles by name."""
        with self._lock:
            return dict(self._shared.placed)

    @property
    def own(self) -> set[str]:
        """Names of the obstacles last changed by this page."""
        with self._lock:
            return set(self._shared.own)

    def add(self, shape: str) -> str:
        """Add an obstacle and select it; return its name, or '' if there are too many."""
        with self._lock:
            if len(self._shared.own) >= _MAX_OBSTACLES:
                return ''
            names = (f'viewer_{shape}_{self._token}_{number}' for number in itertools.count(1))
            name = next(name for name in names if self._shared.is_free(name))
            self._shared.put(name, PlacedObstacle(shape, _START_SIZE, self.start.copy()))
            self._update(selected=name)
            return name

    def move(self, name: str, pose: np.ndarray) -> None:
        """Move an obstacle to a pose in the world [7]."""
        self._change(name, lambda obstacle: dataclasses.replace(obstacle, pose=pose))

    def resize(self, name: str, size: tuple[float, float, float]) -> None:
        """Set the size of an obstacle along its axes [m]."""

        def resized(obstacle: PlacedObstacle) -> PlacedObstacle:
            # Other nodes may send larger ones than the controls can show.
            sizes = [
                before if after == shown else min(max(float(after), _MIN_SIZE), _MAX_SIZE)
                for before, shown, after in zip(
                    obstacle.size, _shown_size(obstacle), size, strict=True
                )
            ]
            return dataclasses.replace(obstacle, size=(sizes[0], sizes[1], sizes[2]))

        if name in self.placed and self.placed[name].shape != HALF_SPACE:
            self._change(name, resized)

    def remove(self, name: str) -> None:
        """Remove an obstacle."""
        with self._lock:
            if name in self._shared.placed:
                self._shared.remove(name)
                own = [other for other in self._shared.placed if other in self._shared.own]
                self._update(selected=own[-1] if own else '')

    def process_node_list(
        self,
        message: ObstacleArray,
        link_pose: Callable[[str], np.ndarray | None],
        is_other_node: bool,
    ) -> None:
        """Process the obstacles of the node, see SharedObstacles."""
        with self._lock:
            self._shared.process_node_list(message, link_pose, is_other_node)

    def refresh(self) -> None:
        """Draw the current obstacles."""
        with self._lock:
            self._shared.adopt_node_list()
            self._update()

    def take_message(self, from_world: np.ndarray, frame: str) -> ObstacleArray | None:
        """Return the changes made here since the last call, or None.

        Args:
            from_world: Pose of the world in the frame [7].
            frame: Link in whose frame poses are given.
        """
        with self._lock:
            return self._shared.take_message(from_world, frame)

    def _change(self, name: str, change: Callable[[PlacedObstacle], PlacedObstacle]) -> None:
        with self._lock:
            if name in self._shared.placed:
                self._shared.put(name, change(self._shared.placed[name]))
                self._update()

    def _update(self, selected: str | None = None) -> None:
        """List and draw the obstacles; select one if named."""
        placed = self._shared.placed
        # Only users select obstacles, because a selected one has a gizmo.
        options = '', *placed
        if options != self._selected.options:
            self._selected.options = options
        if selected is not None:
            self._selected.value = selected  # type: ignore[misc]
        chosen = self._selected.value
        if chosen in placed and placed[chosen] is not self._sized:
            self._sized = placed[chosen]
            self._size.value = _shown_size(self._sized)  # type: ignore[misc]
        for name in set(self._drawings) - set(placed):
            self._drawings.pop(name).root.remove()
        for name, obstacle in placed.items():
            is_own = name in self._shared.own
            self._draw(name, obstacle, is_own, has_gizmo=is_own or name == chosen)

    def _draw(self, name: str, obstacle: PlacedObstacle, is_own: bool, has_gizmo: bool) -> None:
        """Draw one obstacle, if its drawing has changed."""
        drawn = self._drawings.get(name)
        if drawn is not None and drawn.has_gizmo != has_gizmo:
            self._drawings.pop(name).root.remove()
            drawn = None
        if drawn is None:
            path = f'/obstacles/{next(self._numbers)}'
            root = self._root(name, path, has_gizmo)
            drawn = _Drawing(obstacle, is_own, has_gizmo, path, root)
            self._drawings[name] = drawn
            place(root, obstacle.pose)
        elif drawn.obstacle is obstacle and drawn.is_own == is_own:
            return
        else:
            if not np.array_equal(drawn.obstacle.pose, obstacle.pose):
                place(drawn.root, obstacle.pose)
            look = drawn.obstacle.shape, drawn.obstacle.size, drawn.is_own
            drawn.obstacle, drawn.is_own = obstacle, is_own
            if look == (obstacle.shape, obstacle.size, is_own):
                return
        mesh, fill = obstacle.mesh(), OWN_OBSTACLE if is_own else OTHER_OBSTACLE
        self._server.scene.add_mesh_simple(
            f'{drawn.path}/shape',
            np.asarray(mesh.vertices, dtype=np.float32),
            np.asarray(mesh.faces, dtype=np.uint32),
            color=fill.color,
            opacity=fill.opacity,
        )

    def _root(self, name: str, path: str, has_gizmo: bool) -> viser.SceneNodeHandle:
        if not has_gizmo:
            return self._server.scene.add_frame(path, show_axes=False)
        gizmo = self._server.scene.add_transform_controls(
            path, scale=0.2, depth_test=False, opacity=0.7
        )
        gizmo.on_update(functools.partial(self._on_drag, name))
        return gizmo

    async def _on_drag(self, name: str, event: viser.TransformControlsEvent) -> None:
        with self._lock:
            drawn = self._drawings.get(name)
            if drawn is None or drawn.root is not event.target:
                return
            pose = pose_of(event.target)
            # The browsers already show it there.
            drawn.obstacle = dataclasses.replace(drawn.obstacle, pose=pose)
            self._change(name, lambda obstacle: dataclasses.replace(obstacle, pose=pose))


def _shown_size(obstacle: PlacedObstacle) -> tuple[float, float, float]:
    """Return the size that the controls can show [m]."""
    x, y, z = (min(max(size, _MIN_SIZE), _MAX_SIZE) for size in obstacle.size)
    return x, y, z
