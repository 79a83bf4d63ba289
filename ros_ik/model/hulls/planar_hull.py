# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Convex hulls of points in a plane (Andrew's chain, after a filter by Akl and Toussaint)."""

from __future__ import annotations

import numpy as np

# Number of directions whose farthest points form the polygon of the filter.
_DIRECTIONS = 32
# Distance outside that polygon up to which a point counts as inside, relative to the size. Fits
# allow for more than that.
_ROUNDING = 1e-12
# Number of points per block, so that a table stays in the cache and one thread computes its
# products.
_BLOCK = 2048


def planar_hull(flat: np.ndarray) -> np.ndarray:
    """Return the indices of points [n, 2] that span their hull, in ascending order."""
    left = _hull_candidates(flat)
    order = left[np.lexsort((flat[left, 1], flat[left, 0]))]
    if len(order) < 3:
        return np.sort(order)
    corners = order.tolist()
    rows = flat[order].tolist()
    lower = _chain(rows)
    upper = _chain(rows[::-1])
    last = len(rows) - 1
    return np.unique([corners[k] for k in (*lower, *(last - k for k in upper))])


def _chain(rows: list[list[float]]) -> list[int]:
    """Return the indices of the lower hull of points in their order along x."""
    kept: list[int] = []
    for k, (x, y) in enumerate(rows):
        while len(kept) > 1:
            (ax, ay), (bx, by) = rows[kept[-2]], rows[kept[-1]]
            if (bx - ax) * (y - by) - (by - ay) * (x - bx) > 0.0:
                break
            kept.pop()
        kept.append(k)
    return kept


def _hull_candidates(flat: np.ndarray) -> np.ndarray:
    """Return the indices of the farthest points, and of all outside their polygon."""
    angle = 2.0 * np.pi * np.arange(_DIRECTIONS) / _DIRECTIONS
    directions = np.stack([np.cos(angle), np.sin(angle)])
    blocks = [slice(first, first + _BLOCK) for first in range(0, len(flat), _BLOCK)]
    found = np.array([np.argmax(flat[rows] @ directions, axis=0) for rows in blocks])
    found += _BLOCK * np.arange(len(blocks))[:, None]
    best = np.argmax(np.sum(flat[found] * directions.T, axis=2), axis=0)
    farthest = found[best, np.arange(_DIRECTIONS)]
    # Counterclockwise; corners that repeat have no edge.
    corners = flat[farthest]
    edges = np.roll(corners, -1, axis=0) - corners
    is_edge = np.any(edges != 0.0, axis=1)
    corners, edges = corners[is_edge], edges[is_edge]
    if len(corners) < 3:
        return np.arange(len(flat))
    inward = np.stack([-edges[:, 1], edges[:, 0]]) / np.linalg.norm(edges, axis=1)
    least = np.sum(corners.T * inward, axis=0) - _ROUNDING * float(np.abs(flat).max())
    outside = [np.any(flat[rows] @ inward < least, axis=1) for rows in blocks]
    return np.union1d(farthest, np.flatnonzero(np.concatenate(outside)))
