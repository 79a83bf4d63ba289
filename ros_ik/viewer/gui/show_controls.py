# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Switches of drawn elements on the page."""

from __future__ import annotations

from collections.abc import Callable

import viser

from ros_ik.viewer.gui.focus import return_keys


class ShowControls:
    """Switches of what the page shows.

    Attributes:
        ghost: True if the commanded robot is drawn.
        targets: True if targets have gizmos.
        trails: True if frames and targets leave trails.
        workspace: True if the boxes for frames are drawn.
        pairs: True if the closest pairs are drawn.
        shapes: True if the collision shapes are drawn.
        shadows: True if the sun casts shadows.
    """

    def __init__(self, server: viser.ViserServer, cast_shadows: Callable[[bool], None]) -> None:
        """Add the switches to the current container.

        Args:
            server: Server of the page.
            cast_shadows: Switches the shadows on or off.
        """
        gui = server.gui
        with gui.add_folder('Show', expand_by_default=False):
            self.ghost = gui.add_checkbox(
                'commanded robot', True, hint='The ghost: where the node wants the robot to be.'
            )
            self.targets = gui.add_checkbox('targets', True)
            self.trails = gui.add_checkbox(
                'trails', True, hint='Blue: the frames of tasks. Vermillion: their targets.'
            )
            self.workspace = gui.add_checkbox(
                'workspace', True, hint='The boxes of barriers.position.'
            )
            self.pairs = gui.add_checkbox(
                'closest pairs',
                True,
                hint='Blue: far from the margin of the barrier. Red: the margin is used up.',
            )
            self.shapes = gui.add_checkbox(
                'collision shapes', False, hint='What the node keeps apart.'
            )
            self.shadows = gui.add_checkbox(
                'shadows',
                False,
                hint='They take half the time of a picture without a graphics card.',
            )

        async def on_shadows(event: object) -> None:
            cast_shadows(self.shadows.value)

        self.shadows.on_update(on_shadows)
        return_keys(self.ghost, self.targets, self.trails, self.workspace)
        return_keys(self.pairs, self.shapes, self.shadows)
