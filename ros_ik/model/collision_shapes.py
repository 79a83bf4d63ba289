# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The shapes of a model as convex cores that are inflated by a radius.

A sphere is a point and a capsule a segment with a radius. A mesh is the convex hull of a few of
its vertices, inflated by what the hull of all of them sticks out: never smaller than the mesh,
which need not be convex. A plane is a half-space, also where the model gives it an end.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import Any
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.model import poses
from ros_ik.model.checks import checked_index
from ros_ik.model.joint_type import GeoType

if TYPE_CHECKING:
    from ros_ik.model.model import Model

# Directions in which vertices of a mesh are kept: 0.4 rad apart.
_DIRECTIONS = 64
# Then, so many times, so many vertices that lie outside the hull of the kept ones, with this
# fraction of the size of the mesh between them.
_ROUNDS, _PER_ROUND, _SPACING = 4, 8, 0.1
# The distance of a vertex from a hull is known when its bounds differ by this fraction of the
# size of the mesh. Steps seen: up to 12.
_TOLERANCE, _MOST_STEPS = 1e-6, 40
_MESHES = (GeoType.MESH, GeoType.CONVEX_MESH)


@dataclasses.dataclass(frozen=True)
class ConvexShapes:
    """Convex shapes of a model; float64, on the host, m of them.

    Each is {x + r u: x in the core, |u| <= 1}. The core lies about the origin of its pose: a
    point, a segment along z, a box, an ellipsoid, a cylinder, a cone with its tip at +z, the hull
    of points, or the half-space z <= 0.

    Attributes:
        shapes: Index of each in the model, ascending, [m].
        kind: GeoType of each, MESH for all hulls of points, [m].
        body: Link that carries it, -1 for the world, [m].
        pose: Pose of the core in the link, x y z qx qy qz qw, [m, 7].
        size: Half extents of the core along its axes [m], [m, 3].
        radius: Radius r [m]: that of spheres and capsules, the margin of the shape and the hull
            error, [m].
        bound: Radius of a sphere about the origin of the pose that holds core and radius [m],
            infinite for half-spaces, [m].
        first: Where its points start in ``points``, [m].
        count: How many points it has, 0 for other kinds, [m].
        points: Points of all hulls in their poses [m], [n, 3].
        hull_error: How far the hull of a whole mesh reaches outside its points at most [m], [m].
        ignored: Indices of the asked shapes that are missing here: meshes without vertices in
            memory, height fields and kinds that have no size.
    """

    shapes: np.ndarray
    kind: np.ndarray
    body: np.ndarray
    pose: np.ndarray
    size: np.ndarray
    radius: np.ndarray
    bound: np.ndarray
    first: np.ndarray
    count: np.ndarray
    points: np.ndarray
    hull_error: np.ndarray
    ignored: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class _Core:
    """Core of one shape; the names are those of ConvexShapes."""

    kind: GeoType
    size: np.ndarray
    radius: float
    reach: float
    center: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(3))
    points: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((0, 3)))
    hull_error: float = 0.0


def convex_shapes(model: Model, shapes: Sequence[int] | np.ndarray | None = None) -> ConvexShapes:
    """Gather shapes of a model.

    Args:
        model: The model.
        shapes: Indices of the shapes; None for all of them, drawn ones as well.

    Raises:
        ArgumentError: An unknown shape, or a mesh whose vertices are not finite numbers [n, 3].
    """
    asked = range(model.shape_count) if shapes is None else shapes
    indices = sorted({checked_index('shapes', k, model.shape_count) for k in asked})
    kinds, scales = model.shape_type.numpy(), model.shape_scale.numpy().astype(np.float64)
    # Shapes that share a mesh share its reduction, which is what takes time.
    known: dict[tuple, _Core | None] = {}
    cores: dict[int, _Core] = {}
    for k in indices:
        source = model.shape_source[k]
        key = (int(kinds[k]), tuple(scales[k]), id(source))
        if key not in known:
            where = f'shape {model.shape_label[k]!r}'
            known[key] = _core(where, GeoType(int(kinds[k])), scales[k], source)
        core = known[key]
        if core is not None:
            cores[k] = core
    ignored = tuple(k for k in indices if k not in cores)
    return _gathered(model, np.array(list(cores), dtype=int), list(cores.values()), ignored)


def _gathered(
    model: Model, shapes: np.ndarray, cores: list[_Core], ignored: tuple[int, ...]
) -> ConvexShapes:
    """Put the cores of shapes side by side."""
    pose = model.shape_transform.numpy().reshape(-1, 7)[shapes].astype(np.float64)
    pose[:, 3:] /= np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)
    centers = np.array([core.center for core in cores]).reshape(-1, 3)
    pose[:, :3] += poses.rotate(pose[:, 3:], centers)
    margin = model.shape_margin.numpy()[shapes].astype(np.float64)
    radius = margin + np.array([core.radius + core.hull_error for core in cores])
    count = np.array([len(core.points) for core in cores], dtype=int)
    return ConvexShapes(
        shapes=shapes,
        kind=np.array([core.kind for core in cores], dtype=int),
        body=model.shape_body.numpy()[shapes],
        pose=pose,
        size=np.array([core.size for core in cores]).reshape(-1, 3),
        radius=radius,
        bound=radius + np.array([core.reach for core in cores]),
        first=np.cumsum(count) - count,
        count=count,
        points=np.concatenate([np.zeros((0, 3)), *(core.points for core in cores)]),
        hull_error=np.array([core.hull_error for core in cores], dtype=float),
        ignored=ignored,
    )


def _core(where: str, kind: GeoType, scale: np.ndarray, source: Any) -> _Core | None:
    """Return the core of a shape, None for one that has no size in memory."""
    a, b, _ = scale
    if kind == GeoType.PLANE:
        return _Core(kind, np.zeros(3), 0.0, np.inf)
    if kind == GeoType.SPHERE:
        return _Core(kind, np.zeros(3), a, 0.0)
    if kind == GeoType.CAPSULE:
        return _Core(kind, np.array([0.0, 0.0, b]), a, b)
    if kind in (GeoType.CYLINDER, GeoType.CONE):
        return _Core(kind, np.array([a, a, b]), 0.0, float(np.hypot(a, b)))
    if kind == GeoType.BOX:
        return _Core(kind, scale, 0.0, float(np.linalg.norm(scale)))
    if kind == GeoType.ELLIPSOID:
        return _Core(kind, scale, 0.0, float(scale.max()))
    vertices = getattr(source, 'vertices', None)
    if kind in _MESHES and vertices is not None:
        return _hull(where, np.asarray(vertices, dtype=np.float64), scale)
    return None


def _hull(where: str, vertices: np.ndarray, scale: np.ndarray) -> _Core:
    """Return the core of a mesh, about the middle of its bounding box."""
    if vertices.ndim != 2 or vertices.shape[1] != 3 or not len(vertices):
        raise ArgumentError(
            f'{where}: vertices must have shape [n, 3], got {list(vertices.shape)}'
        )
    if not np.all(np.isfinite(vertices)):
        raise ArgumentError(f'{where}: vertices must be finite')
    vertices = np.unique(vertices * scale, axis=0)
    center = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    points, error = reduced_points(vertices - center)
    reach = float(np.linalg.norm(points, axis=1).max())
    half = 0.5 * np.ptp(vertices, axis=0)
    return _Core(GeoType.MESH, half, 0.0, reach, center, points, error)


def reduced_points(points: np.ndarray) -> tuple[np.ndarray, float]:
    """Return few of many points, and how far the hull of all reaches outside theirs.

    Kept are the extreme points in evenly spread directions, then some of the farthest outside.

    Args:
        points: Points [m], [n, 3].

    Returns:
        The kept points, and an upper bound on the distance [m] of all others from their hull.
    """
    if len(points) <= _DIRECTIONS + _ROUNDS * _PER_ROUND:
        return points, 0.0
    size = float(np.ptp(points, axis=0).max())
    kept = points[np.unique(np.argmax(points @ _directions(_DIRECTIONS).T, axis=0))]
    outside, distance = points, outside_distances(points, kept)
    for _ in range(_ROUNDS):
        # The hull only grows: what is inside stays inside.
        far = distance > _TOLERANCE * size
        outside, distance = outside[far], distance[far]
        if not len(outside):
            return kept, _TOLERANCE * size
        kept = np.concatenate([kept, _farthest(outside, distance, _SPACING * size)])
        distance = outside_distances(outside, kept)
    return kept, max(float(distance.max()), _TOLERANCE * size)


def _farthest(points: np.ndarray, distance: np.ndarray, spacing: float) -> np.ndarray:
    """Return some points of the largest distances that are not close to each other, [k, 3]."""
    chosen: list[np.ndarray] = []
    for point in points[np.argsort(-distance)]:
        if all(np.linalg.norm(point - other) > spacing for other in chosen):
            chosen.append(point)
        if len(chosen) == _PER_ROUND:
            break
    return np.array(chosen)


def _directions(n: int) -> np.ndarray:
    """Return unit vectors evenly spread over the sphere (a Fibonacci lattice), [n, 3]."""
    k = np.arange(n)
    z = 1.0 - (2.0 * k + 1.0) / n
    angle = np.pi * (3.0 - np.sqrt(5.0)) * k
    across = np.sqrt(1.0 - z * z)
    return np.column_stack([across * np.cos(angle), across * np.sin(angle), z])


def outside_distances(points: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Return upper bounds on the distances of points from the hull of others.

    The algorithm of Gilbert, Johnson and Keerthi (1988) for all points at once: every iterate is
    in the hull, so that rounding or too few steps make a bound too large, never too small.

    Args:
        points: Points [m], [n, 3].
        kept: The points that span the hull [m], [k, 3].
    """
    tolerance = _TOLERANCE * float(np.ptp(kept, axis=0).max())
    start = kept[np.argmin(((points[:, None] - kept[None]) ** 2).sum(axis=2), axis=1)]
    distance = np.linalg.norm(start - points, axis=1)
    active = np.arange(len(points))
    corners = np.repeat((start - points)[:, None], 4, axis=1)  # of the simplex, from the point
    nearest = start - points
    for _ in range(_MOST_STEPS):
        score = nearest @ kept.T
        found = kept[np.argmin(score, axis=1)] - points[active]
        gap = np.sum(nearest * (nearest - found), axis=1)
        more = gap > tolerance * distance[active]
        active, corners, found = active[more], corners[more], found[more]
        if not len(active):
            break
        # The slot that weighs nothing, or a copy, gives way: the simplex keeps its nearest point.
        corners = np.concatenate([corners[:, 1:], found[:, None]], axis=1)
        corners, nearest = _nearest_of_simplex(corners)
        distance[active] = np.minimum(distance[active], np.linalg.norm(nearest, axis=1))
    return distance


# Which of the first three corners of a simplex go with the last one.
_FACES = np.array([[k & 1, k >> 1 & 1, k >> 2 & 1] for k in range(8)], dtype=np.float64)


def _nearest_of_simplex(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners whose hull holds the point nearest to the origin, and that point.

    Args:
        corners: Corners, the last one taking part in the answer, [n, 4, 3].

    Returns:
        The corners with a copy of the last one, first, where one does not take part, and the
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
