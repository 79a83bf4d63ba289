# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Light and floor around the robot."""

from __future__ import annotations

import viser

_SKY, _GROUND, _SKY_INTENSITY = (255, 255, 255), (120, 120, 120), 1.9
# Direction of the sun, from the front and above, so that upright faces differ in brightness.
_SUN, _SUN_INTENSITY = (1.0, 0.4, 1.6), 1.8
_FLOOR_SIZE, _CELL_SIZE = 4.0, 0.1


class LightsAndFloor:
    """Light of a sky and a sun, and a floor below the robot."""

    def __init__(self, server: viser.ViserServer) -> None:
        """Show a floor at height 0, without shadows."""
        scene = server.scene
        # Reflections of viser's environment map take a processor without a graphics card half of
        # the time of a picture.
        scene.configure_environment_map(hdri=None)
        scene.configure_default_lights(enabled=False, cast_shadow=False)
        scene.add_light_hemisphere(
            '/sky',
            sky_color=_SKY,
            ground_color=_GROUND,
            intensity=_SKY_INTENSITY,
            position=(0.0, 0.0, 1.0),
        )
        self._sun = scene.add_light_directional('/sun', intensity=_SUN_INTENSITY, position=_SUN)
        self._floor = scene.add_grid(
            '/floor', width=_FLOOR_SIZE, height=_FLOOR_SIZE, cell_size=_CELL_SIZE
        )

    @property
    def casts_shadows(self) -> bool:
        """True while the sun casts shadows."""
        return bool(self._sun.cast_shadow)

    def cast_shadows(self, is_on: bool) -> None:
        """Let the sun cast shadows, or not."""
        self._sun.cast_shadow = is_on

    @property
    def floor_height(self) -> float:
        """Height of the floor in the world [m]."""
        return float(self._floor.position[2])

    def put_floor(self, height: float) -> None:
        """Move the floor to a height in the world [m]."""
        self._floor.position = 0.0, 0.0, height
