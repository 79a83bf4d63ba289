# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Smallest sphere around points, from at most four of them.

The farthest point outside the sphere joins the points that it passes through, and the smallest
sphere around these is found by trying all subsets, until no point is outside (Gaertner, "Fast and
robust smallest enclosing balls", ESA 1999).
"""

from __future__ import annotations

import numpy as np

# Largest number of points added (up to 20 were observed), and accuracy of the squared radius at
# which the search ends.
_MAX_STEPS, _TOLERANCE = 100, 1e-12
# Subsets of four points, to combine with the last one: up to three of them.
_SUBSETS = np.array([row for row in np.ndindex(2, 2, 2, 2) if sum(row) <= 3], dtype=np.float64)


def smallest_sphere_center(points: np.ndarray) -> np.ndarray:
    """Return the centre of the smallest sphere around points [m], [n, 3]."""
    center, squared = points.mean(axis=0), -1.0
    support = points[:0]
    for _ in range(_MAX_STEPS):
        away = points - center
        distance = np.einsum('nk,nk->n', away, away)
        far = int(np.argmax(distance))
        if distance[far] <= squared * (1.0 + _TOLERANCE):
            break
        there, support, larger = _through(support, points[far])
        # Rounding errors may keep the radius from growing.
        if larger <= squared:
            break
        center, squared = there, larger
    return center


def _through(others: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Find the smallest sphere around up to four points and another one, on its surface.

    Args:
        others: Points [m], [k, 3].
        last: The other point [m], [3].

    Returns:
        The centre, the points on the surface, the last one included, and the squared radius.
    """
    count = len(others)
    masks = _SUBSETS[: 2**count if count < 4 else len(_SUBSETS), 4 - count :]
    edges = others - last
    gram = edges @ edges.T
    right = 0.5 * np.diag(gram)
    systems = gram * masks[:, :, None] * masks[:, None, :]
    ridge = 1e-14 * np.trace(gram) + 1e-300
    systems += (1.0 - masks + ridge)[:, :, None] * np.eye(count)
    weights = np.linalg.solve(systems, (right * masks)[..., None])[..., 0]
    centers = weights @ edges  # from the last point
    away = np.concatenate([edges, np.zeros((1, 3))])[None] - centers[:, None]
    squared = np.max(np.sum(away * away, axis=2), axis=1)
    best = int(np.argmin(squared))
    kept = np.concatenate([others[masks[best] > 0.0], last[None]])
    return last + centers[best], kept, float(squared[best])
