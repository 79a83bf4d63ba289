# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Differences of poses (x y z qx qy qz qw) in NumPy, independent of the library.

The rotation from pose a to pose b is the rotation vector r with R_b = exp([r]x) R_a, in the frame
in which both poses are given.
"""

from __future__ import annotations

import numpy as np


def rotation_vector(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the rotation from quaternions ``start`` to ``end``, rad, shape [..., 3]."""
    a, b = np.broadcast_arrays(np.asarray(start, np.float64), np.asarray(end, np.float64))
    vector = a[..., 3:] * b[..., :3] - b[..., 3:] * a[..., :3] - np.cross(b[..., :3], a[..., :3])
    cosine = np.sum(a * b, axis=-1, keepdims=True)
    sine = np.linalg.norm(vector, axis=-1, keepdims=True)
    # Both signs of a quaternion are the same rotation; use the one below half a turn.
    angle = 2.0 * np.arctan2(sine, np.abs(cosine))
    sign = np.where(cosine < 0.0, -1.0, 1.0)
    return sign * vector * np.where(sine > 1e-12, angle / np.maximum(sine, 1e-12), 2.0)


def pose_errors(poses: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distances in m and angles in rad between poses and targets, each [..., 7]."""
    poses, targets = np.asarray(poses), np.asarray(targets)
    distance = np.linalg.norm(poses[..., :3] - targets[..., :3], axis=-1)
    angle = np.linalg.norm(rotation_vector(poses[..., 3:], targets[..., 3:]), axis=-1)
    return distance, angle
