# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Colours of the page and their meanings, for all kinds of colour vision.

Most colours are those of Okabe and Ito (2008). Colours that are seen together and differ in
meaning are at least 10 apart (CIEDE2000) as drawn on white, also in the simulations of protanopia,
deuteranopia and tritanopia by Machado et al. (2009).
"""

from __future__ import annotations

import dataclasses

import numpy as np

Color = tuple[int, int, int]


@dataclasses.dataclass(frozen=True)
class Fill:
    """Appearance of a surface.

    Attributes:
        color: Its colour.
        opacity: 1 hides everything behind it, in (0, 1].
    """

    color: Color
    opacity: float


ORANGE: Color = (230, 159, 0)
SKY: Color = (86, 180, 233)
GREEN: Color = (0, 158, 115)
BLUE: Color = (0, 114, 178)
VERMILLION: Color = (213, 94, 0)
PURPLE: Color = (204, 121, 167)
GREY: Color = (150, 154, 158)
# The purple of Okabe and Ito is grey in deuteranopia.
VIOLET: Color = (110, 30, 130)

# Surfaces. Links without a colour of their own are opaque.
LINK = Fill(GREY, 1.0)
GHOST = Fill(ORANGE, 0.45)
OWN_OBSTACLE = Fill(SKY, 0.6)
OTHER_OBSTACLE = Fill(GREY, 0.5)
COLLISION_SHAPE = Fill(VIOLET, 0.5)

# Lines.
FRAME_TRAIL, TARGET_TRAIL, WORKSPACE = BLUE, VERMILLION, GREEN

# States of the node: it does what is asked, something holds it back, it does not move.
GOOD, HELD, BAD = GREEN, ORANGE, VERMILLION

# Curves of a plot.
CURVES: tuple[Color, ...] = (BLUE, ORANGE, GREEN, VERMILLION, SKY, PURPLE)


def hex_code(color: Color) -> str:
    """Return a colour as ``#rrggbb``."""
    return '#{:02x}{:02x}{:02x}'.format(*color)


def pair_colors(room: np.ndarray) -> np.ndarray:
    """Return colours of closest pairs, 0 to 255 [n, 3]: vermillion, then blue.

    Args:
        room: Part of the distance scale that is left above the margin, 0 to 1 [n].
    """
    part = np.asarray(room, dtype=float)[:, None]
    return part * np.array(BLUE) + (1.0 - part) * np.array(VERMILLION)


def vertex_colors(colors: np.ndarray) -> np.ndarray:
    """Return colours for the vertices of lines, uint8 [..].

    viser takes these as linear light and every other colour as sRGB.

    Args:
        colors: sRGB colours, 0 to 255 [..].
    """
    part = np.asarray(colors, dtype=float) / 255.0
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return np.round(255.0 * linear).astype(np.uint8)
