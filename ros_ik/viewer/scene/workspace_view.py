# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Boxes for frames on the page: the node's barriers.position parameters."""

from __future__ import annotations

from collections.abc import Mapping
import itertools
from typing import Any

import numpy as np
import viser

from ros_ik.settings.reading import names_between
from ros_ik.viewer.robot.palette import WORKSPACE
from ros_ik.viewer.scene.robot_view import place

PREFIX = 'barriers.position.'
# Drawn extent of a box on an open side [m].
_FAR = 1.5
_LINE_WIDTH = 2.0
_CORNERS = np.array(list(itertools.product((0, 1), repeat=3)))
# Pairs of corners that differ in one coordinate.
_EDGES = [
    (a, b)
    for a, b in itertools.combinations(range(8), 2)
    if np.sum(_CORNERS[a] != _CORNERS[b]) == 1
]


def read_boxes(values: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the lower and the upper corner of each box in the base frame [2, 3], m, by name.

    Args:
        values: Parameters of the node by name. Incomplete boxes are ignored.
    """
    boxes = {}
    for name in names_between(PREFIX, values):
        corners = [values.get(f'{PREFIX}{name}.{corner}') for corner in ('min', 'max')]
        axes = values.get(f'{PREFIX}{name}.axes', (True, True, True))
        if any(corner is None or len(corner) != 3 for corner in corners) or len(axes) != 3:
            continue
        open_box = np.array([[-np.inf] * 3, [np.inf] * 3])
        boxes[name] = np.where(np.array(axes, dtype=bool), np.array(corners, float), open_box)
    return boxes


class WorkspaceView:
    """View of the boxes of the workspace.

    Attributes:
        names: Names of the drawn boxes.
    """

    def __init__(self, server: viser.ViserServer) -> None:
        """Start without boxes."""
        self._server = server
        self._root = server.scene.add_frame('/workspace', show_axes=False)
        self._handles: list[viser.SceneNodeHandle] = []
        self.names: tuple[str, ...] = ()

    def show(self, boxes: Mapping[str, np.ndarray]) -> None:
        """Draw these boxes instead of the previous ones.

        Args:
            boxes: Corners in the base frame [2, 3], m, by name; not finite on open sides.
        """
        for handle in self._handles:
            handle.remove()
        self._handles = []
        for name, corners in boxes.items():
            low, high = np.clip(corners, -_FAR, _FAR)
            points = np.where(_CORNERS == 1, high, low)
            edges = np.array([[points[a], points[b]] for a, b in _EDGES], dtype=np.float32)
            scene = self._server.scene
            self._handles += [
                scene.add_line_segments(
                    f'/workspace/{name}', edges, WORKSPACE,
                    thickness=_LINE_WIDTH, thickness_units='screen',
                ),
                scene.add_label(f'/workspace/{name}_name', name, position=points[-1]),
            ]  # fmt: skip
        self.names = tuple(boxes)

    def update(self, base: np.ndarray, is_shown: bool) -> None:
        """Move the boxes with the base frame, whose pose in the world is given [7]."""
        if self._root.visible != is_shown:
            self._root.visible = is_shown
        if self.names and is_shown:
            place(self._root, base)
