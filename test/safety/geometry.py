# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Distances and rotations by formulas independent of the code under test."""

import numpy as np


def rotate(quaternion, vector):
    """Return a vector turned by a quaternion x, y, z, w."""
    axis, w = quaternion[..., :3], quaternion[..., 3:]
    twice = 2.0 * np.cross(axis, vector)
    return vector + w * twice + np.cross(axis, twice)


def rotation_error(target, quaternion):
    """Return the rotation vector from one orientation to another, in world axes [rad]."""
    back = quaternion * [-1.0, -1.0, -1.0, 1.0]
    a, w = target[..., :3], target[..., 3:]
    b, v = back[..., :3], back[..., 3:]
    axis = w * b + v * a + np.cross(a, b)
    real = w * v - (a * b).sum(-1, keepdims=True)
    axis, real = np.where(real < 0.0, -axis, axis), np.abs(real)
    sine = np.linalg.norm(axis, axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, real)
    return axis * np.where(sine > 1e-12, angle / np.maximum(sine, 1e-12), 2.0)


def segment_candidates(p, q, r, s):
    """Return candidates for the nearest points of segments pq and rs: crossing and ends.

    Returns:
        Parts of the way along pq and along rs, [5, ...], and whether the candidate is on both.
    """
    u, v, w = q - p, s - r, r - p
    a, b, c = (u * u).sum(-1), (u * v).sum(-1), (v * v).sum(-1)
    d, e = (u * w).sum(-1), (v * w).sum(-1)
    det = a * c - b * b
    zero, one = np.zeros_like(a), np.ones_like(a)
    with np.errstate(divide='ignore', invalid='ignore'):
        x, y = (c * d - b * e) / det, (b * d - a * e) / det
        along_u = [np.where(a > 0.0, np.clip(part / a, 0.0, 1.0), 0.0) for part in (d, d + b)]
        along_v = [np.where(c > 0.0, np.clip(part / c, 0.0, 1.0), 0.0) for part in (-e, b - e)]
    cross = (det > 1e-12) & (x >= 0.0) & (x <= 1.0) & (y >= 0.0) & (y <= 1.0)
    x, y = np.where(cross, x, 0.0), np.where(cross, y, 0.0)
    first = np.stack([x, zero, one, *along_u])
    second = np.stack([y, *along_v, zero, one])
    valid = np.ones(first.shape, dtype=bool)
    valid[0] = cross
    return first, second, valid


def segment_distance(p, q, r, s):
    """Return the distance of segments pq and rs."""
    first, second, valid = segment_candidates(p, q, r, s)
    gap = (r - p) + second[..., None] * (s - r) - first[..., None] * (q - p)
    return np.where(valid, np.linalg.norm(gap, axis=-1), np.inf).min(axis=0)


def nearest_of_shape(shape, point):
    """Return the nearest point of the core of a shape at the origin; inside, the point itself.

    The distance from the shape is that from its core less its radius.
    """
    size, kind = np.asarray(shape.size), shape.kind.name
    if kind == 'PLANE':
        return point * [1.0, 1.0, 0.0]
    return np.clip(point, -size, size) if kind in ('BOX', 'CAPSULE') else np.zeros_like(point)


def shape_distance(shape, point):
    """Return the distance of points from a shape at the origin, not negative inside."""
    if shape.kind.name == 'PLANE':
        return point[..., 2]
    return np.linalg.norm(point - nearest_of_shape(shape, point), axis=-1) - shape.radius
