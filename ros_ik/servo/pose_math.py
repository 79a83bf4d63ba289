# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Poses as 7 numbers x y z qx qy qz qw on the host; float64, unit quaternions."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

IDENTITY = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


def quat_multiply(a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the product a b: first b, then a, both x y z w."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return np.array([
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ])  # fmt: skip


def quat_conjugate(q: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the inverse of a unit quaternion."""
    x, y, z, w = q
    return np.array([-x, -y, -z, w])


def quat_rotate(q: Sequence[float] | np.ndarray, v: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the vector turned by a unit quaternion, v + 2 w (u x v) + 2 u x (u x v)."""
    x, y, z, w = q
    a, b, c = v
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return np.array([
        a + w * tx + y * tz - z * ty,
        b + w * ty + z * tx - x * tz,
        c + w * tz + x * ty - y * tx,
    ])  # fmt: skip


def pose_multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the pose b, given in the frame a, in the frame in which a is given."""
    result = np.empty(7)
    result[:3] = a[:3] + quat_rotate(a[3:].tolist(), b[:3].tolist())
    result[3:] = quat_multiply(a[3:].tolist(), b[3:].tolist())
    return result


def pose_inverse(a: np.ndarray) -> np.ndarray:
    """Return the pose of the outer frame seen from a."""
    result = np.empty(7)
    result[3:] = quat_conjugate(a[3:].tolist())
    result[:3] = -quat_rotate(result[3:].tolist(), a[:3].tolist())
    return result


def rotation_log(q: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the rotation vector [rad] of a unit quaternion, of length at most pi."""
    x, y, z, w = q
    sine = math.sqrt(x * x + y * y + z * z)
    if w < 0.0:
        x, y, z, w = -x, -y, -z, -w
    factor = 2.0 * math.atan2(sine, w) / sine if sine > 1e-12 else 2.0
    return np.array([factor * x, factor * y, factor * z])


def rotation_exp(v: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the unit quaternion of a rotation vector [rad]."""
    x, y, z = v
    angle = math.sqrt(x * x + y * y + z * z)
    factor = math.sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
    return np.array([factor * x, factor * y, factor * z, math.cos(0.5 * angle)])


def quat_from_rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Return the rotation by roll, pitch, yaw [rad] about fixed x, y, z axes, as in URDF."""
    about_z = rotation_exp((0.0, 0.0, yaw))
    about_y = rotation_exp((0.0, pitch, 0.0))
    return quat_multiply(about_z, quat_multiply(about_y, rotation_exp((roll, 0.0, 0.0))))


def pose_difference(target: np.ndarray, pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what takes ``pose`` to ``target``: a displacement [m] and a rotation vector [rad].

    Both are in the axes in which the poses are given.
    """
    turn = quat_multiply(target[3:].tolist(), quat_conjugate(pose[3:].tolist()))
    return target[:3] - pose[:3], rotation_log(turn.tolist())


def move_pose(pose: np.ndarray, shift: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Return what :func:`pose_difference` takes ``pose`` to: shifted [m], then turned [rad]."""
    moved = np.empty(7)
    moved[:3] = pose[:3] + shift
    moved[3:] = quat_multiply(rotation_exp(turn.tolist()).tolist(), pose[3:].tolist())
    return moved
