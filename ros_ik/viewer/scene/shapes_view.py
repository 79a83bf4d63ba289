# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Collision shapes on the page, from ~/markers."""

from __future__ import annotations

import numpy as np
import trimesh
import viser
from visualization_msgs.msg import Marker
from visualization_msgs.msg import MarkerArray

from ros_ik.node.transport.pose_messages import pose_numbers
from ros_ik.viewer.robot.palette import COLLISION_SHAPE
from ros_ik.viewer.scene.robot_view import place

_NAMESPACE = 'collision_shapes'
# Smallest motion of a shape that is sent [m, and the same number for quaternions].
_STILL = 1e-4


class ShapesView:
    """Drawing of the collision shapes; for one thread."""

    def __init__(self, server: viser.ViserServer) -> None:
        """Start empty."""
        self._server = server
        self._root = server.scene.add_frame('/shapes', show_axes=False)
        self._handles: list[viser.MeshHandle] = []
        self._kinds: list[tuple[float, ...]] = []
        self._drawn = np.zeros((0, 7))

    @property
    def count(self) -> int:
        """Number of drawn shapes."""
        return len(self._handles)

    def show(self, message: MarkerArray, base: np.ndarray) -> None:
        """Draw the shapes of a message.

        Args:
            message: Markers of the node.
            base: Pose of the frame of its markers in the world [7].
        """
        markers = [marker for marker in message.markers if marker.ns == _NAMESPACE]
        kinds: list[tuple[float, ...]] = [
            (m.type, m.scale.x, m.scale.y, m.scale.z) for m in markers
        ]
        if kinds != self._kinds:
            self.clear()
            self._handles = [self._add(row, kind) for row, kind in enumerate(kinds)]
            self._kinds, self._drawn = kinds, np.full((len(kinds), 7), np.nan)
        place(self._root, base)
        placed = np.array([pose_numbers(marker.pose) for marker in markers]).reshape(-1, 7)
        # NaN before the first update.
        moved = ~(np.abs(placed - self._drawn).max(axis=1, initial=0.0) <= _STILL)
        for row in np.flatnonzero(moved).tolist():
            place(self._handles[row], placed[row])
            self._drawn[row] = placed[row]

    def clear(self) -> None:
        """Draw no shapes."""
        for handle in self._handles:
            handle.remove()
        self._handles, self._kinds, self._drawn = [], [], np.zeros((0, 7))

    def _add(self, row: int, kind: tuple[float, ...]) -> viser.MeshHandle:
        """Add a collision shape at the origin of the scene."""
        shape, *size = kind
        if shape == Marker.CUBE:
            mesh = trimesh.creation.box(extents=size)
        elif shape == Marker.CYLINDER:
            mesh = trimesh.creation.cylinder(radius=0.5 * size[0], height=size[2], sections=16)
        else:
            mesh = trimesh.creation.icosphere(subdivisions=2, radius=0.5 * size[0])
        return self._server.scene.add_mesh_simple(
            f'/shapes/{row}',
            np.asarray(mesh.vertices, dtype=np.float32),
            np.asarray(mesh.faces, dtype=np.uint32),
            color=COLLISION_SHAPE.color,
            opacity=COLLISION_SHAPE.opacity,
            cast_shadow=False,
            receive_shadow=False,
        )
