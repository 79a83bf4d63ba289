# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Poses x y z qx qy qz qw on the host, float64, over any leading dimensions."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

IDENTITY_POSE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
# Shorter quaternions have no direction that could be trusted.
_LEAST_NORM = 1e-6


def unit_pose(values: Sequence[float] | np.ndarray) -> np.ndarray | None:
    """Return a pose [7] with a unit quaternion, of one whose quaternion may have any length.

    Returns:
        The pose; None where a number is not finite or the quaternion is as good as zero.
    """
    x, y, z, *quaternion = values
    norm = math.hypot(*quaternion)
    # The norm is not between two numbers where one of the quaternion is not finite.
    if not (_LEAST_NORM < norm < math.inf and all(map(math.isfinite, (x, y, z)))):
        return None
    qx, qy, qz, qw = quaternion
    return np.array((x, y, z, qx / norm, qy / norm, qz / norm, qw / norm), dtype=np.float64)


def rotate(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return v + 2 u x (u x v + w v) for unit quaternions (u, w), shape [.., 3]."""
    u, w = quaternion[..., :3], quaternion[..., 3:]
    return vector + 2.0 * np.cross(u, np.cross(u, vector) + w * vector)


def multiply(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the poses first * second, shape [.., 7]; leading dimensions broadcast."""
    p = first[..., :3] + rotate(first[..., 3:], second[..., :3])
    u, w = first[..., 3:6], first[..., 6:]
    v, s = second[..., 3:6], second[..., 6:]
    vector = w * v + s * u + np.cross(u, v)
    scalar = w * s - np.sum(u * v, axis=-1, keepdims=True)
    return np.concatenate([p, vector, scalar], axis=-1)


def inverse(pose: np.ndarray) -> np.ndarray:
    """Return the inverse poses, shape [.., 7]."""
    conjugate = pose[..., 3:] * np.array([-1.0, -1.0, -1.0, 1.0])
    return np.concatenate([-rotate(conjugate, pose[..., :3]), conjugate], axis=-1)


def quaternion_between(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the shortest rotation that takes one unit vector [3] to another, shape [4].

    Between opposite vectors it turns by pi about an axis normal to both.
    """
    w = 1.0 + float(first @ second)
    vector = np.cross(first, second)
    if w < 1e-9:
        helper = np.eye(3)[int(np.argmin(np.abs(first)))]
        vector, w = np.cross(first, helper), 0.0
    quaternion = np.array([*vector, w])
    return quaternion / np.linalg.norm(quaternion)
