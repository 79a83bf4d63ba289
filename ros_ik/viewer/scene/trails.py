# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Trails of frames and of their targets during the last seconds."""

from __future__ import annotations

import collections
from collections.abc import Mapping
import dataclasses

import numpy as np
import viser

from ros_ik.viewer.robot.palette import Color
from ros_ik.viewer.robot.palette import FRAME_TRAIL
from ros_ik.viewer.robot.palette import TARGET_TRAIL
from ros_ik.viewer.robot.palette import vertex_colors

# Minimum distance between two points of a trail [m], and maximum number of points.
_STEP, _MAX_POINTS = 0.004, 200
# Time without a new point after which a trail is removed [s].
_LIFETIME = 8.0
_LINE_WIDTH = 4.0


@dataclasses.dataclass
class _Trail:
    """One trail: its line, and the time of its last point [s]."""

    line: viser.LineSegmentsHandle
    color: np.ndarray
    points: collections.deque[np.ndarray]
    grown: float


class Trails:
    """The trails of the frames, blue, and of their targets, vermillion; for one thread."""

    def __init__(self, server: viser.ViserServer) -> None:
        """Start without trails."""
        self._server = server
        self._trails: dict[str, _Trail] = {}

    def length(self, name: str) -> int:
        """Return the number of points of a trail, 'frame/<task>' or 'target/<task>'."""
        return len(self._trails[name].points) if name in self._trails else 0

    def update(
        self, frames: Mapping[str, np.ndarray], targets: Mapping[str, np.ndarray], now: float
    ) -> None:
        """Add points to the trails.

        Args:
            frames: Positions of the frames in the world [3], m, by task.
            targets: Positions of the targets since the last update.
            now: Time on a steady clock [s].
        """
        kinds = ('frame', FRAME_TRAIL, frames), ('target', TARGET_TRAIL, targets)
        for kind, color, positions in kinds:
            for task, position in positions.items():
                self._grow(f'{kind}/{task}', color, position, now)
        for name, trail in list(self._trails.items()):
            if now - trail.grown > _LIFETIME:
                trail.line.remove()
                del self._trails[name]

    def clear(self) -> None:
        """Remove all trails."""
        for trail in self._trails.values():
            trail.line.remove()
        self._trails = {}

    def _grow(self, name: str, color: Color, position: np.ndarray, now: float) -> None:
        """Extend a trail to a position, once it is far enough from the last one."""
        trail = self._trails.get(name)
        if trail is None:
            # A line that begins with one colour stays white once its vertices have colours.
            nothing = np.zeros((1, 2, 3))
            line = self._server.scene.add_line_segments(
                f'/trails/{name}',
                nothing.astype(np.float32),
                nothing.astype(np.uint8),
                thickness=_LINE_WIDTH,
                thickness_units='screen',
            )
            points = collections.deque([position.copy()], maxlen=_MAX_POINTS)
            self._trails[name] = _Trail(line, np.array(color, dtype=float), points, now)
            return
        if np.linalg.norm(position - trail.points[-1]) < _STEP:
            return
        trail.points.append(position.copy())
        trail.grown = now
        path = np.array(trail.points, dtype=np.float32)
        # The oldest part fades into the background.
        shade = np.linspace(0.2, 1.0, len(path))[:, None]
        colors = vertex_colors(shade * trail.color + (1.0 - shade) * 255.0)
        trail.line.points = np.stack([path[:-1], path[1:]], axis=1)
        trail.line.colors = np.stack([colors[:-1], colors[1:]], axis=1)
