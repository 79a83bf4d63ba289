# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rotations on the host, with tf_transformations or transforms3d.

tf_transformations is part of ROS and wraps transforms3d from PyPI, which is used if it is missing.
Quaternions are x, y, z, w; roll, pitch, yaw are rotations about fixed x, y, z axes (URDF,
REP-103).
"""

from __future__ import annotations

import importlib.util

import numpy as np

# Faster than np.roll.
_VECTOR_FIRST = [1, 2, 3, 0]
HAS_TF_TRANSFORMATIONS = importlib.util.find_spec('tf_transformations') is not None

if HAS_TF_TRANSFORMATIONS:
    import tf_transformations
else:
    from transforms3d import euler
    from transforms3d import quaternions


def quaternion_from_rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Return the unit quaternion of roll, pitch and yaw [rad], shape [4]."""
    if HAS_TF_TRANSFORMATIONS:
        return np.asarray(tf_transformations.quaternion_from_euler(roll, pitch, yaw, 'sxyz'))
    return _xyzw(euler.euler2quat(roll, pitch, yaw, 'sxyz'))


def quaternion_from_matrix(rotation: np.ndarray) -> np.ndarray:
    """Return the unit quaternion of a rotation matrix [3, 3], shape [4]."""
    if HAS_TF_TRANSFORMATIONS:
        matrix = np.eye(4)
        matrix[:3, :3] = rotation
        return np.asarray(tf_transformations.quaternion_from_matrix(matrix))
    return _xyzw(quaternions.mat2quat(rotation))


def matrix_from_quaternion(quaternion: np.ndarray) -> np.ndarray:
    """Return the rotation matrix of a unit quaternion, shape [3, 3]."""
    if HAS_TF_TRANSFORMATIONS:
        return np.asarray(tf_transformations.quaternion_matrix(quaternion))[:3, :3]
    x, y, z, w = quaternion
    return quaternions.quat2mat((w, x, y, z))


def _xyzw(wxyz: np.ndarray) -> np.ndarray:
    """Return a quaternion w, x, y, z as x, y, z, w."""
    return wxyz[_VECTOR_FIRST]
