# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The parameters of the shown node on the page: inputs of one section, and boxes of the workspace.

Changes by users are sent to the node.
"""

from __future__ import annotations

from typing import Any

from ros_ik.viewer.client.node_parameters import NodeParameters
from ros_ik.viewer.client.node_parameters import section_of
from ros_ik.viewer.gui.parameter_panel import ParameterPanel
from ros_ik.viewer.scene.workspace_view import PREFIX as BOX_PREFIX
from ros_ik.viewer.scene.workspace_view import read_boxes
from ros_ik.viewer.scene.workspace_view import WorkspaceView


class ParameterView:
    """Parameters, their panel and the boxes among them; for the ROS thread."""

    def __init__(
        self, parameters: NodeParameters, panel: ParameterPanel, workspace: WorkspaceView
    ) -> None:
        """Start without a value.

        Args:
            parameters: Parameters of the node.
            panel: Inputs on the page.
            workspace: Boxes in the scene.
        """
        self._parameters, self._panel, self._workspace = parameters, panel, workspace
        # Newest requested value by parameter, because a slider changes faster than the node
        # answers.
        self._changes: dict[str, Any] = {}
        self._boxes: tuple[str, ...] = ()

    def change(self, name: str, value: Any) -> None:
        """Request a new value with the next update."""
        self._changes[name] = value

    def update(self) -> None:
        """Send the changes, and show the selected section and the boxes."""
        parameters, panel = self._parameters, self._panel
        for name, value in self._changes.items():
            parameters.change(name, value)
        self._changes = {}
        parameters.list()
        if parameters.names:
            # Without names, after a restart, the chosen section would be lost.
            panel.set_sections(parameters.sections)
        of_boxes = [name for name in parameters.names if name.startswith(BOX_PREFIX)]
        if of_boxes:
            parameters.read(['base_frame', *of_boxes])
        chosen = [name for name in parameters.names if section_of(name) == panel.section]
        parameters.read(chosen)
        known = {
            name: parameters.values[name]
            for name in chosen
            if name in parameters.values and not parameters.descriptors[name].read_only
        }
        panel.show(known, parameters.descriptors, parameters.take_refused())
        boxes = read_boxes(parameters.values)
        if set(boxes) != set(self._boxes):
            self._boxes = tuple(boxes)
            self._workspace.show(boxes)
