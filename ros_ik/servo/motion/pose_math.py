# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Poses as 7 numbers x y z qx qy qz qw on the host; float64, unit quaternions.

Functions named float_* use plain floats, which are several times faster than arrays for the few
vectors of a tick.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
import math

import numpy as np

IDENTITY = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])

Vector = tuple[float, float, float]
Pose = tuple[float, float, float, float, float, float, float]
ZERO: Vector = (0.0, 0.0, 0.0)


def quat_multiply(a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the product a b of two quaternions x y z w: rotation b first, then a."""
    return np.array(_product(a, b))


def quat_conjugate(q: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the inverse of a unit quaternion."""
    x, y, z, w = q
    return np.array([-x, -y, -z, w])


def quat_rotate(q: Sequence[float] | np.ndarray, v: Sequence[float] | np.ndarray) -> np.ndarray:
    """Rotate a vector by a unit quaternion: v + 2 w (u x v) + 2 u x (u x v)."""
    return np.array(_turned(q, v))


def pose_multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Transform the pose b from frame a into the frame in which a is given."""
    return np.array(_chained(a.tolist(), b.tolist()))


def pose_inverse(a: np.ndarray) -> np.ndarray:
    """Return the inverse of a pose."""
    return np.array(_inverted(a.tolist()))


def pose_between(reference: np.ndarray, link: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """Return the pose of a frame at ``offset`` in a link, relative to another link."""
    return np.array(float_between(reference.tolist(), link.tolist(), offset.tolist()))


def rotation_log(q: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the rotation vector [rad] of a unit quaternion, with norm at most pi."""
    return np.array(_log(q))


def rotation_exp(v: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the unit quaternion of a rotation vector [rad]."""
    return np.array(_exp(v))


def pose_difference(target: np.ndarray, pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the translation [m] and rotation vector [rad] from ``pose`` to ``target``.

    Both are along the axes in which the poses are given.
    """
    linear, angular = float_difference(target.tolist(), pose.tolist())
    return np.array(linear), np.array(angular)


def move_pose(pose: np.ndarray, shift: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Return ``pose`` translated [m] and rotated [rad]: the inverse of :func:`pose_difference`."""
    return np.array(float_moved(pose.tolist(), shift.tolist(), turn.tolist()))


def float_between(
    reference: Sequence[float], link: Sequence[float], offset: Sequence[float]
) -> Pose:
    """Return :func:`pose_between` of three poses of seven numbers."""
    return _chained(_inverted(reference), _chained(link, offset))


def float_difference(target: Sequence[float], pose: Sequence[float]) -> tuple[Vector, Vector]:
    """Return :func:`pose_difference` of two poses of seven numbers."""
    x, y, z, ax, ay, az, aw = target
    px, py, pz, qx, qy, qz, qw = pose
    linear = x - px, y - py, z - pz
    # The logarithm of a q^-1, expanded.
    x = ax * qw - aw * qx - ay * qz + az * qy
    y = ay * qw - aw * qy + ax * qz - az * qx
    z = az * qw - aw * qz - ax * qy + ay * qx
    w = aw * qw + ax * qx + ay * qy + az * qz
    return linear, _log((x, y, z, w))


def float_moved(pose: Sequence[float], shift: Sequence[float], turn: Sequence[float]) -> Pose:
    """Return :func:`move_pose` of seven, three and three numbers."""
    x, y, z, *rotation = pose
    dx, dy, dz = shift
    return (x + dx, y + dy, z + dz, *_product(_exp(turn), rotation))


def float_unit(pose: Sequence[float]) -> Sequence[float]:
    """Return a pose of seven numbers with a normalised quaternion."""
    norm = math.hypot(*pose[3:])
    return (*pose[:3], *(number / norm for number in pose[3:]))


def float_sum(a: Vector, b: Vector) -> Vector:
    """Return the sum of two vectors of three numbers."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def float_less(a: Vector, b: Vector) -> Vector:
    """Return the difference of two vectors of three numbers."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def float_scaled(vector: Vector, factor: float) -> Vector:
    """Return a vector of three numbers times a factor."""
    return vector[0] * factor, vector[1] * factor, vector[2] * factor


def float_length(vector: Sequence[float]) -> float:
    """Return the norm of a vector of three numbers."""
    x, y, z = vector
    return math.sqrt(x * x + y * y + z * z)


def _product(a: Iterable[float], b: Iterable[float]) -> tuple[float, float, float, float]:
    """Return the product of two quaternions."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def _turned(q: Iterable[float], v: Iterable[float]) -> Vector:
    """Return a vector rotated by a quaternion."""
    x, y, z, w = q
    a, b, c = v
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return (
        a + w * tx + y * tz - z * ty,
        b + w * ty + z * tx - x * tz,
        c + w * tz + x * ty - y * tx,
    )


def _chained(a: Sequence[float], b: Sequence[float]) -> Pose:
    """Return the product of two poses."""
    px, py, pz, ax, ay, az, aw = a
    x, y, z, bx, by, bz, bw = b
    tx, ty, tz = 2.0 * (ay * z - az * y), 2.0 * (az * x - ax * z), 2.0 * (ax * y - ay * x)
    return (
        px + (x + aw * tx + ay * tz - az * ty),
        py + (y + aw * ty + az * tx - ax * tz),
        pz + (z + aw * tz + ax * ty - ay * tx),
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def _inverted(a: Sequence[float]) -> Pose:
    """Return the inverse of a pose."""
    x, y, z, qx, qy, qz, qw = a
    x, y, z = _turned((-qx, -qy, -qz, qw), (x, y, z))
    return -x, -y, -z, -qx, -qy, -qz, qw


def _log(q: Iterable[float]) -> Vector:
    """Return the rotation vector of a quaternion."""
    x, y, z, w = q
    sine = math.sqrt(x * x + y * y + z * z)
    if w < 0.0:
        x, y, z, w = -x, -y, -z, -w
    factor = 2.0 * math.atan2(sine, w) / sine if sine > 1e-12 else 2.0
    return factor * x, factor * y, factor * z


def _exp(v: Iterable[float]) -> tuple[float, float, float, float]:
    """Return the quaternion of a rotation vector."""
    x, y, z = v
    angle = math.sqrt(x * x + y * y + z * z)
    factor = math.sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
    return factor * x, factor * y, factor * z, math.cos(0.5 * angle)


def rotation_change(before: Vector, after: Vector) -> Vector:
    """Return the rotation vector from one near orientation to another.

    It is log(exp(after) exp(-before)) = d + b m x d + c m x (m x d), up to the third order of d. d
    is the difference and m the mean of both, b = (1 - cos |m|) / |m|^2, and
    c = (1 - sin |m| / |m|) / |m|^2.

    Args:
        before: Rotation vector of the first orientation [rad].
        after: Rotation vector of the second [rad].
    """
    x, y, z = float_less(after, before)
    u, v, w = float_scaled(float_sum(before, after), 0.5)
    square = u * u + v * v + w * w
    if square < 1e-4:
        b, c = 0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0
    else:
        angle = math.sqrt(square)
        b, c = (1.0 - math.cos(angle)) / square, (1.0 - math.sin(angle) / angle) / square
    d, e, f = v * z - w * y, w * x - u * z, u * y - v * x
    p, q, r = v * f - w * e, w * d - u * f, u * e - v * d
    return x + b * d + c * p, y + b * e + c * q, z + b * f + c * r


def length(vector: np.ndarray) -> float:
    """Return the norm of a vector; ``dot`` is the fastest way for a few numbers."""
    return math.sqrt(vector.dot(vector))


def rotation_matrix(q: Sequence[float]) -> np.ndarray:
    """Return the rotation matrix of a unit quaternion, in a third of the usual time.

    :func:`~ros_ik.model.conventions.rotations.matrix_from_quaternion` normalises quaternions, too.
    """
    return np.array([_turned(q, axis) for axis in np.eye(3).tolist()]).T
