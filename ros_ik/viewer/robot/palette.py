# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Colours for all kinds of colour vision (Okabe and Ito, 2008)."""

Color = tuple[int, int, int]

GREY: Color = (160, 164, 168)
ORANGE: Color = (230, 159, 0)
SKY: Color = (86, 180, 233)
GREEN: Color = (0, 158, 115)
BLUE: Color = (0, 114, 178)
VERMILLION: Color = (213, 94, 0)
PURPLE: Color = (204, 121, 167)
