# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Selection of few points whose hull approximates that of all, with an error bound."""

from __future__ import annotations

import numpy as np

from ros_ik.model.hulls.bounding_volumes import uniform_directions
from ros_ik.model.hulls.incremental_hull import IncrementalHull

# Number of directions whose extreme vertices are kept, 0.4 rad apart.
_DIRECTIONS = 64
# Number of rounds, number of outside vertices added per round, and their minimum distance relative
# to the size of the mesh.
_ROUNDS, _PER_ROUND, _SPACING = 8, 16, 0.05
# Accuracy of the distance of a vertex from a hull, relative to the size of the mesh, and maximum
# number of steps (up to 12 were observed).
_TOLERANCE, _MAX_STEPS = 1e-6, 40
# Number of consecutive steps without progress that end the search, and minimum progress relative
# to that accuracy.
_MAX_STALLS, _MIN_PROGRESS = 6, 1e-3
# Allowance for rounding errors, relative to the size.
_ROUNDING = 1e-12
# Number of vertices per block, which bounds the memory for a large mesh.
_BLOCK = 8192
# Number of vertices whose distances are computed together, the farthest first, and among which
# the farthest outside are chosen.
_BATCH, _CANDIDATES = 64, 512


def reduced_points(points: np.ndarray) -> tuple[np.ndarray, float]:
    """Return few of many points, and the excess of the hull of all over theirs.

    It keeps the extreme points in evenly spread directions, then some of the farthest outside.

    Args:
        points: Points [m], [n, 3].

    Returns:
        The kept points, and an upper bound on the distance [m] of all others from their hull.
    """
    if len(points) <= _DIRECTIONS + _ROUNDS * _PER_ROUND:
        return points, 0.0
    size = float(np.ptp(points, axis=0).max())
    # Turned about x by half a turn: any directions would do, these keep the hulls that users know.
    directions = uniform_directions(_DIRECTIONS) * (1.0, -1.0, -1.0)
    kept = points[np.unique(np.argmax(points @ directions.T, axis=0))]
    hull = IncrementalHull.around(kept)
    if hull is None:
        return _reduced_coplanar_points(points, kept, size)
    outside, known = points, _TOLERANCE * size
    for _ in range(_ROUNDS):
        outside, height, _ = _points_outside(hull, outside, known)
        if not len(outside):
            return kept, known
        found = _farthest(outside, height, _SPACING * size)
        kept = np.concatenate([kept, found])
        hull.add(found)
    outside, height, bound = _points_outside(hull, outside, known)
    # If the foot of the perpendicular is on the triangle, no point of the hull is nearer.
    is_exact = bound - height <= known
    largest = float(bound[is_exact].max(initial=known))
    largest = _largest_distance(outside[~is_exact], bound[~is_exact], kept, largest)
    return kept, largest + _ROUNDING * size


def _points_outside(
    hull: IncrementalHull, points: np.ndarray, known: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the points that may be farther outside than known, and their bounds."""
    height, bound = hull.locate(points)
    far = bound > known  # the hull only grows, so points inside stay inside
    return points[far], height[far], bound[far]


def _largest_distance(
    points: np.ndarray, bound: np.ndarray, kept: np.ndarray, largest: float
) -> float:
    """Return an upper bound on the distances of points from the hull of others.

    Args:
        points: Points [m], [n, 3].
        bound: Upper bound on each distance [m], [n].
        kept: The points that span the hull [m], [k, 3].
        largest: Lower bound on the result [m].
    """
    order = np.argsort(-bound)
    for first in range(0, len(order), _BATCH):
        some = order[first : first + _BATCH]
        if bound[some[0]] <= largest:
            break
        largest = largest_outside_distance(points[some], kept, largest)
    return largest


def _reduced_coplanar_points(
    points: np.ndarray, kept: np.ndarray, size: float
) -> tuple[np.ndarray, float]:
    """Reduce almost coplanar points, as :func:`reduced_points` does."""
    outside, distance = points, outside_distances(points, kept)
    for _ in range(_ROUNDS):
        far = distance > _TOLERANCE * size
        outside, distance = outside[far], distance[far]
        if not len(outside):
            return kept, _TOLERANCE * size
        kept = np.concatenate([kept, _farthest(outside, distance, _SPACING * size)])
        distance = outside_distances(outside, kept)
    return kept, max(float(distance.max()), _TOLERANCE * size)


def unique_rows(points: np.ndarray) -> np.ndarray:
    """Return points [n, 3] sorted by x, y, z, without repetition."""
    points = points[np.lexsort(points.T[::-1])]
    is_new = np.ones(len(points), dtype=bool)
    is_new[1:] = np.any(points[1:] != points[:-1], axis=1)
    return points[is_new]


def _farthest(points: np.ndarray, distance: np.ndarray, spacing: float) -> np.ndarray:
    """Return some of the farthest points that are not close to each other, [k, 3]."""
    order = np.argsort(-distance)
    chosen: list[np.ndarray] = []
    for first in range(0, len(order), _CANDIDATES):
        some = points[order[first : first + _CANDIDATES]]
        for one in chosen:
            some = some[np.linalg.norm(some - one, axis=1) > spacing]
        while len(some) and len(chosen) < _PER_ROUND:
            chosen.append(some[0])
            some = some[np.linalg.norm(some - some[0], axis=1) > spacing]
        if len(chosen) == _PER_ROUND:
            break
    return np.array(chosen)


def outside_distances(points: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Return upper bounds on the distances of points from the hull of others.

    The algorithm of Gilbert, Johnson and Keerthi (1988) for all points at once. Every iterate is
    in the hull, so rounding errors or too few steps can only make a bound too large.

    Args:
        points: Points [m], [n, 3].
        kept: The points that span the hull [m], [k, 3].
    """
    blocks = [points[k : k + _BLOCK] for k in range(0, len(points), _BLOCK)]
    return np.concatenate([np.zeros(0), *(_outside_distances(block, kept) for block in blocks)])


def largest_outside_distance(points: np.ndarray, kept: np.ndarray, least: float = 0.0) -> float:
    """Return the largest of :func:`outside_distances`, or ``least`` if that is larger.

    A point that is certainly nearer to the hull than another one is not followed to the end.

    Args:
        points: Points [m], [n, 3].
        kept: The points that span the hull [m], [k, 3].
        least: Distance [m] below which the result does not matter.
    """
    for first in range(0, len(points), _BLOCK):
        found = _outside_distances(points[first : first + _BLOCK], kept, least)
        least = max(least, float(found.max()))
    return least


def _outside_distances(
    points: np.ndarray, kept: np.ndarray, least: float = -np.inf
) -> np.ndarray:
    """Return upper bounds on the distances of a block of points from the hull of others.

    Args:
        points: Points [m], [n, 3].
        kept: The points that span the hull [m], [k, 3].
        least: A lower bound on the largest distance, to give up on points that are nearer; their
            bounds stay rough. -inf for the distances of all.
    """
    tolerance = _TOLERANCE * float(np.ptp(kept, axis=0).max())
    # |p - k|^2 without |p|^2, which does not affect the choice of a corner.
    start = kept[np.argmin(np.sum(kept * kept, axis=1) - 2.0 * (points @ kept.T), axis=1)]
    distance = np.linalg.norm(start - points, axis=1)
    active, stalled = np.arange(len(points)), np.zeros(len(points), dtype=int)
    corners = np.repeat((start - points)[:, None], 4, axis=1)  # of the simplex, from the point
    nearest = start - points
    for _ in range(_MAX_STEPS):
        if not len(active):
            break
        score = nearest @ kept.T
        found = kept[np.argmin(score, axis=1)] - points[active]
        reach, squared = np.sum(nearest * found, axis=1), np.sum(nearest * nearest, axis=1)
        more = squared - reach > tolerance * distance[active]
        if least >= 0.0:
            # The hull is beyond the plane across the nearest point so far, at this distance.
            sure = reach / np.sqrt(np.maximum(squared, 1e-300))
            least = max(least, float(sure.max()))
            more &= distance[active] > least
        active, corners, found = active[more], corners[more], found[more]
        # Replace the corner with zero weight, or a copy; the simplex keeps its nearest point.
        corners = np.concatenate([corners[:, 1:], found[:, None]], axis=1)
        corners, nearest = _nearest_of_simplex(corners)
        now = np.linalg.norm(nearest, axis=1)
        # Rounding errors may keep the bounds from converging.
        is_nearer = now < distance[active] - _MIN_PROGRESS * tolerance
        stalled[active] = np.where(is_nearer, 0, stalled[active] + 1)
        distance[active] = np.minimum(distance[active], now)
        goes_on = stalled[active] < _MAX_STALLS
        active, corners, nearest = active[goes_on], corners[goes_on], nearest[goes_on]
    return distance


# Subsets of the first three corners of a simplex, to combine with the last one.
_FACES = np.array([[k & 1, k >> 1 & 1, k >> 2 & 1] for k in range(8)], dtype=np.float64)


def _nearest_of_simplex(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners nearest to the origin, and the nearest point of their hull.

    Args:
        corners: Corners; the last one is part of the result, [n, 4, 3].

    Returns:
        The corners, with unused ones replaced by copies of the last one at the front, and the
        nearest points [n, 3].
    """
    last = corners[:, 3]
    edges = corners[:, :3] - last[:, None]
    gram, right = edges @ edges.transpose(0, 2, 1), -np.einsum('nki,ni->nk', edges, last)
    ridge = 1e-14 * np.trace(gram, axis1=1, axis2=2) + 1e-300
    mask = _FACES[None]
    systems = gram[:, None] * mask[..., None] * mask[..., None, :]
    systems += (1.0 - mask + ridge[:, None, None])[..., None] * np.eye(3)
    weights = np.linalg.solve(systems, (right[:, None] * mask)[..., None])[..., 0]  # [n, 8, 3]
    feasible = np.all(weights >= 0.0, axis=2) & (weights.sum(axis=2) <= 1.0)
    found = last[:, None] + weights @ edges
    squared = np.where(feasible, np.sum(found * found, axis=2), np.inf)
    rows, best = np.arange(len(corners)), np.argmin(squared, axis=1)
    used = weights[rows, best] > 0.0
    kept = np.where(used[..., None], corners[:, :3], last[:, None])
    order = np.argsort(used, axis=1, kind='stable')
    kept = np.take_along_axis(kept, order[..., None], axis=1)
    return np.concatenate([kept, last[:, None]], axis=1), found[rows, best]
