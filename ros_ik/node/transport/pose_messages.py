# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Conversion between pose messages and numbers x y z qx qy qz qw."""

from __future__ import annotations

from collections.abc import Sequence

from geometry_msgs.msg import Pose


def pose_numbers(pose: Pose) -> tuple[float, ...]:
    """Return the seven numbers of a message."""
    p, q = pose.position, pose.orientation
    return p.x, p.y, p.z, q.x, q.y, q.z, q.w


def fill_pose(pose: Pose, numbers: Sequence[float]) -> None:
    """Write seven numbers into a message."""
    p, q = pose.position, pose.orientation
    p.x, p.y, p.z, q.x, q.y, q.z, q.w = numbers
