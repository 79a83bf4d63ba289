# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Colours for all kinds of colour vision (Okabe and Ito, 2008)."""

from __future__ import annotations

import numpy as np

Color = tuple[int, int, int]

GREY: Color = (160, 164, 168)
ORANGE: Color = (230, 159, 0)
SKY: Color = (86, 180, 233)
GREEN: Color = (0, 158, 115)
BLUE: Color = (0, 114, 178)
VERMILLION: Color = (213, 94, 0)
PURPLE: Color = (204, 121, 167)


def vertex_colors(colors: np.ndarray) -> np.ndarray:
    """Return colours for the vertices of lines, uint8 [..].

    viser takes these as linear light and every other colour as sRGB.

    Args:
        colors: sRGB colours, 0 to 255 [..].
    """
    part = np.asarray(colors, dtype=float) / 255.0
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return np.round(255.0 * linear).astype(np.uint8)
