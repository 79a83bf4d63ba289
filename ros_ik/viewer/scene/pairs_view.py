# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Closest pairs on the page: lines coloured by barrier value, from ~/markers."""

from __future__ import annotations

import numpy as np
import viser
from visualization_msgs.msg import Marker
from visualization_msgs.msg import MarkerArray

from ros_ik.model.conventions import poses
from ros_ik.node.markers.shapes import barrier_fraction
from ros_ik.viewer.robot.palette import pair_colors
from ros_ik.viewer.robot.palette import vertex_colors

_NAMESPACE = 'closest_pairs'
_LINE_WIDTH = 4.0


class PairsView:
    """Lines between the nearest points of links and obstacles.

    Attributes:
        count: Number of drawn pairs.
    """

    def __init__(self, server: viser.ViserServer) -> None:
        """Start empty."""
        nothing = np.zeros((1, 2, 3))
        self._lines = server.scene.add_line_segments(
            '/pairs/lines',
            nothing.astype(np.float32),
            nothing.astype(np.uint8),
            thickness=_LINE_WIDTH,
            thickness_units='screen',
            visible=False,
        )
        self._label = server.scene.add_label('/pairs/nearest', '', visible=False)
        self.count = 0

    def show(self, message: MarkerArray, base: np.ndarray) -> None:
        """Draw the pairs of a message.

        Args:
            message: Markers of the node.
            base: Pose of the frame of its markers in the world [7].
        """
        has_pairs = False
        for marker in message.markers:
            if marker.ns != _NAMESPACE:
                continue
            if marker.type == Marker.LINE_LIST and marker.points:
                has_pairs = True
                self._draw_lines(marker, base)
            elif marker.type == Marker.TEXT_VIEW_FACING:
                where = marker.pose.position
                at = base[:3] + poses.rotate(base[3:], np.array([where.x, where.y, where.z]))
                self._label.text = marker.text
                self._label.position = at
        if not has_pairs:
            self.clear()

    def clear(self) -> None:
        """Draw no pairs."""
        if self.count:
            self._lines.visible = self._label.visible = False
        self.count = 0

    def _draw_lines(self, marker: Marker, base: np.ndarray) -> None:
        points = np.array([[p.x, p.y, p.z] for p in marker.points])
        placed = base[:3] + poses.rotate(base[3:], points)
        colors = pair_colors(np.array([barrier_fraction(shade) for shade in marker.colors]))
        self._lines.points = placed.reshape(-1, 2, 3).astype(np.float32)
        self._lines.colors = vertex_colors(colors.reshape(-1, 2, 3))
        if not self.count:
            self._lines.visible = self._label.visible = True
        self.count = len(points) // 2
