# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Poses x y z qx qy qz qw on the host, float64, over any leading dimensions."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

from ros_ik.numbers import is_bounded
from ros_ik.numbers import MAX_MAGNITUDE
from ros_ik.numbers import shown

IDENTITY_POSE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
_NAMES = (
    'position.x', 'position.y', 'position.z',
    'orientation.x', 'orientation.y', 'orientation.z', 'orientation.w',
)  # fmt: skip
# Cyclic permutations of the axes, for cross products.
_NEXT, _AFTER_NEXT = np.array([1, 2, 0]), np.array([2, 0, 1])
# Accepted norms of quaternions, for all inputs. Rounding to two digits changes a norm by 0.005. A
# half-filled quaternion, such as x = 1 with the default w = 1, differs by 0.4 and would be a wrong
# rotation after normalisation.
MIN_NORM, MAX_NORM = 0.99, 1.01


def unit_pose(values: Sequence[float] | np.ndarray) -> np.ndarray | None:
    """Return a pose [7] with a normalised quaternion.

    Returns:
        The pose, or None if it is invalid; :func:`pose_fault` gives the reason.
    """
    if not is_bounded(values):
        return None
    x, y, z, *quaternion = values
    norm = math.hypot(*quaternion)
    if not MIN_NORM <= norm <= MAX_NORM:
        return None
    qx, qy, qz, qw = quaternion
    return np.array((x, y, z, qx / norm, qy / norm, qz / norm, qw / norm), dtype=np.float64)


def pose_fault(values: Sequence[float] | np.ndarray) -> str:
    """Return why seven numbers are not a valid pose, or ''."""
    for name, value in zip(_NAMES, values, strict=True):
        if not is_bounded((value,)):
            return (
                f'{name} must be a real number that is finite and at most {MAX_MAGNITUDE:g} in '
                f'size, got {shown(value)}'
            )
    return norm_fault(math.hypot(*values[3:]))


def norm_fault(norm: float) -> str:
    """Return why a quaternion of this norm is not a rotation, or ''."""
    if MIN_NORM <= norm <= MAX_NORM:
        return ''
    return f'the norm of the quaternion must be in [{MIN_NORM}, {MAX_NORM}], got {norm:.6g}'


def are_unit(norms: np.ndarray) -> np.ndarray:
    """Return which norms of quaternions are accepted."""
    return (norms >= MIN_NORM) & (norms <= MAX_NORM)


def pose_rows(values: np.ndarray) -> np.ndarray:
    """Return poses [n, 7] with unit quaternions; NaN in each invalid row."""
    rows = values.copy()
    quaternions = rows[:, 3:]
    norms = np.sqrt(np.einsum('ij,ij->i', quaternions, quaternions))
    # Usually every row is valid. An invalid row, with NaN too, fails these comparisons. For one
    # row, argmin and argmax take a fifth of the time of min and max.
    sizes = np.abs(rows)
    if len(rows) and sizes.item(sizes.argmax()) <= MAX_MAGNITUDE:
        if norms[norms.argmin()] >= MIN_NORM and norms[norms.argmax()] <= MAX_NORM:
            quaternions /= norms[:, None]
            return rows
    good = (sizes <= MAX_MAGNITUDE).all(axis=1)
    good &= are_unit(norms)
    rows[~good] = np.nan
    quaternions /= np.where(good, norms, 1.0)[:, None]
    return rows


def cross(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the cross products, shape [.., 3]; leading dimensions broadcast."""
    # np.cross takes three times as long for few vectors.
    product: np.ndarray = first.take(_NEXT, -1) * second.take(_AFTER_NEXT, -1)
    product -= first.take(_AFTER_NEXT, -1) * second.take(_NEXT, -1)
    return product


def rotate(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return v + 2 u x (u x v + w v) for unit quaternions (u, w), shape [.., 3]."""
    u, w = quaternion[..., :3], quaternion[..., 3:]
    return vector + 2.0 * cross(u, cross(u, vector) + w * vector)


def multiply(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the poses first * second, shape [.., 7]; leading dimensions broadcast."""
    p = first[..., :3] + rotate(first[..., 3:], second[..., :3])
    u, w = first[..., 3:6], first[..., 6:]
    v, s = second[..., 3:6], second[..., 6:]
    vector = w * v + s * u + cross(u, v)
    scalar = w * s - np.sum(u * v, axis=-1, keepdims=True)
    return np.concatenate([p, vector, scalar], axis=-1)


def inverse(pose: np.ndarray) -> np.ndarray:
    """Return the inverse poses, shape [.., 7]."""
    conjugate = pose[..., 3:] * np.array([-1.0, -1.0, -1.0, 1.0])
    return np.concatenate([-rotate(conjugate, pose[..., :3]), conjugate], axis=-1)


def perpendicular(vector: np.ndarray) -> np.ndarray:
    """Return the product of a vector [3] and the coordinate axis farthest from it."""
    return cross(vector, np.eye(3)[int(np.argmin(np.abs(vector)))])


def quaternion_between(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the shortest rotation from one unit vector [3] to another, shape [4].

    Between opposite vectors it rotates by pi about a perpendicular axis.
    """
    w = 1.0 + float(first @ second)
    vector = np.cross(first, second)
    if w < 1e-9:
        vector, w = perpendicular(first), 0.0
    quaternion = np.array([*vector, w])
    return quaternion / np.linalg.norm(quaternion)
