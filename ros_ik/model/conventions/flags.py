# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Flags of bodies and shapes, with Newton's numbers."""

from __future__ import annotations

import enum


class BodyFlags(enum.IntFlag):
    """State of a body; the numbers are those of ``newton.BodyFlags``."""

    DYNAMIC = 1
    KINEMATIC = 2


class ShapeFlags(enum.IntFlag):
    """Uses of a shape; the numbers are those of ``newton.ShapeFlags``."""

    VISIBLE = 1
    COLLIDE_SHAPES = 2
    COLLIDE_PARTICLES = 4
    SITE = 8
