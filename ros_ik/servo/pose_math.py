# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Poses as 7 numbers x y z qx qy qz qw on the host; float64, unit quaternions.

A tick computes with a few vectors of three or four numbers, for which plain floats are several
times faster than arrays: arrays are taken apart once and made once.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
import math

import numpy as np

IDENTITY = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


def quat_multiply(a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the product a b: first b, then a, both x y z w."""
    return np.array(_product(a, b))


def quat_conjugate(q: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the inverse of a unit quaternion."""
    x, y, z, w = q
    return np.array([-x, -y, -z, w])


def quat_rotate(q: Sequence[float] | np.ndarray, v: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the vector turned by a unit quaternion, v + 2 w (u x v) + 2 u x (u x v)."""
    return np.array(_turned(q, v))


def pose_multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the pose b, given in the frame a, in the frame in which a is given."""
    return np.array(_chained(a.tolist(), b.tolist()))


def pose_inverse(a: np.ndarray) -> np.ndarray:
    """Return the pose of the outer frame seen from a."""
    return np.array(_inverted(a.tolist()))


def pose_between(reference: np.ndarray, link: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """Return the pose of a frame at ``offset`` in a link, seen from another link."""
    frame = _chained(link.tolist(), offset.tolist())
    return np.array(_chained(_inverted(reference.tolist()), frame))


def rotation_log(q: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the rotation vector [rad] of a unit quaternion, of length at most pi."""
    return np.array(_log(q))


def rotation_exp(v: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the unit quaternion of a rotation vector [rad]."""
    return np.array(_exp(v))


def quat_from_rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Return the rotation by roll, pitch, yaw [rad] about fixed x, y, z axes, as in URDF."""
    about_z = rotation_exp((0.0, 0.0, yaw))
    about_y = rotation_exp((0.0, pitch, 0.0))
    return quat_multiply(about_z, quat_multiply(about_y, rotation_exp((roll, 0.0, 0.0))))


def pose_difference(target: np.ndarray, pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what takes ``pose`` to ``target``: a displacement [m] and a rotation vector [rad].

    Both are in the axes in which the poses are given.
    """
    x, y, z, *turned = target.tolist()
    px, py, pz, qx, qy, qz, qw = pose.tolist()
    turn = _product(turned, (-qx, -qy, -qz, qw))
    return np.array((x - px, y - py, z - pz)), np.array(_log(turn))


def move_pose(pose: np.ndarray, shift: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Return what :func:`pose_difference` takes ``pose`` to: shifted [m], then turned [rad]."""
    x, y, z, *rotation = pose.tolist()
    dx, dy, dz = shift.tolist()
    turned = _product(_exp(turn.tolist()), rotation)
    return np.array((x + dx, y + dy, z + dz, *turned))


def _product(a: Iterable[float], b: Iterable[float]) -> tuple[float, ...]:
    """Return the product of two quaternions."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def _turned(q: Iterable[float], v: Iterable[float]) -> tuple[float, ...]:
    """Return a vector turned by a quaternion."""
    x, y, z, w = q
    a, b, c = v
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return (
        a + w * tx + y * tz - z * ty,
        b + w * ty + z * tx - x * tz,
        c + w * tz + x * ty - y * tx,
    )


def _chained(a: Sequence[float], b: Sequence[float]) -> tuple[float, ...]:
    """Return the product of two poses."""
    rotation = a[3:]
    x, y, z = _turned(rotation, b[:3])
    return (a[0] + x, a[1] + y, a[2] + z, *_product(rotation, b[3:]))


def _inverted(a: Sequence[float]) -> tuple[float, ...]:
    """Return the inverse of a pose."""
    back = (-a[3], -a[4], -a[5], a[6])
    x, y, z = _turned(back, a[:3])
    return (-x, -y, -z, *back)


def _log(q: Iterable[float]) -> tuple[float, ...]:
    """Return the rotation vector of a quaternion."""
    x, y, z, w = q
    sine = math.sqrt(x * x + y * y + z * z)
    if w < 0.0:
        x, y, z, w = -x, -y, -z, -w
    factor = 2.0 * math.atan2(sine, w) / sine if sine > 1e-12 else 2.0
    return factor * x, factor * y, factor * z


def _exp(v: Iterable[float]) -> tuple[float, ...]:
    """Return the quaternion of a rotation vector."""
    x, y, z = v
    angle = math.sqrt(x * x + y * y + z * z)
    factor = math.sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
    return factor * x, factor * y, factor * z, math.cos(0.5 * angle)


def length(vector: np.ndarray) -> float:
    """Return the length of a vector; ``dot`` is the quickest for a few numbers."""
    return math.sqrt(vector.dot(vector))
