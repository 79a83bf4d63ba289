# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Types of joints and shapes, with Newton's numbers."""

from __future__ import annotations

import enum


class JointType(enum.IntEnum):
    """Kinds of joints; the numbers are those of ``newton.JointType``."""

    PRISMATIC = 0
    REVOLUTE = 1
    BALL = 2
    FIXED = 3
    FREE = 4
    DISTANCE = 5
    D6 = 6


class GeoType(enum.IntEnum):
    """Kinds of shapes; the numbers are those of ``newton.GeoType``."""

    NONE = 0
    PLANE = 1
    HFIELD = 2
    SPHERE = 3
    CAPSULE = 4
    ELLIPSOID = 5
    CYLINDER = 6
    BOX = 7
    MESH = 8
    CONE = 9
    CONVEX_MESH = 10
