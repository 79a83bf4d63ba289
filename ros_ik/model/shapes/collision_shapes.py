# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Shapes of a model as convex cores that are inflated by a radius.

A sphere is a point with a radius, a capsule a segment with a radius. A mesh is the convex hull of
a few of its vertices, inflated to contain the hull of all of them. A plane is a half-space, even
if the model bounds it.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import Any
from typing import TYPE_CHECKING
from typing import TypeAlias
import weakref

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.model.conventions import poses
from ros_ik.model.conventions.checks import checked_index
from ros_ik.model.conventions.checks import checked_items
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.hulls.hull_reduction import reduced_points
from ros_ik.model.hulls.hull_reduction import unique_rows
from ros_ik.model.readers.mesh_files import MeshFile

if TYPE_CHECKING:
    from ros_ik.model.model import Model

_MESHES = (GeoType.MESH, GeoType.CONVEX_MESH)
# Cache of hulls by file and scale, because they take long; each with the hash of the content that
# it was made from, because files may change between models.
_Hulls: TypeAlias = 'dict[tuple, tuple[str, _ConvexCore]]'
_HULLS: weakref.WeakKeyDictionary[MeshFile, _Hulls] = weakref.WeakKeyDictionary()


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
        bound: Radius of a sphere about the origin of the pose that contains core and radius [m],
            infinite for half-spaces, [m].
        first: Index of its first point in ``points``, [m].
        count: Number of its points, 0 for other kinds, [m].
        points: Points of all hulls in their poses [m], [n, 3].
        hull_error: Upper bound on the excess of the whole mesh's hull over its points [m], [m].
        ignored: Indices of requested shapes that are missing: meshes without a file, height fields
            and shapes without a size.
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
class _ConvexCore:
    """Core of one shape; the names are those of ConvexShapes."""

    kind: GeoType
    size: np.ndarray
    radius: float
    reach: float
    center: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(3))
    points: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((0, 3)))
    hull_error: float = 0.0


def convex_shapes(model: Model, shapes: Sequence[int] | np.ndarray | None = None) -> ConvexShapes:
    """Collect shapes of a model.

    Args:
        model: The model.
        shapes: Indices of the shapes; None for all of them, including visual ones.

    Raises:
        ArgumentError: An unknown shape, or a mesh whose vertices are not finite numbers [n, 3].
        ModelError: A file of a mesh that cannot be read.
    """
    asked: Sequence[int] = range(model.shape_count)
    if shapes is not None:
        asked = checked_items('shapes', shapes, 'indices of shapes')
    indices = sorted({checked_index('shapes', k, model.shape_count) for k in asked})
    kinds, scales = model.shape_type.numpy(), model.shape_scale.numpy().astype(np.float64)
    # Shapes that share a mesh share its reduction, which takes long.
    known: dict[tuple, _ConvexCore | None] = {}
    cores: dict[int, _ConvexCore] = {}
    for k in indices:
        source = model.shape_source[k]
        of_source = source if isinstance(source, MeshFile) else id(source)
        key = (int(kinds[k]), tuple(scales[k]), of_source)
        if key not in known:
            where = f'shape {model.shape_label[k]!r}'
            known[key] = _core(where, GeoType(int(kinds[k])), scales[k], source)
        core = known[key]
        if core is not None:
            cores[k] = core
    ignored = tuple(k for k in indices if k not in cores)
    return _concatenate(model, np.array(list(cores), dtype=int), list(cores.values()), ignored)


def _concatenate(
    model: Model, shapes: np.ndarray, cores: list[_ConvexCore], ignored: tuple[int, ...]
) -> ConvexShapes:
    """Concatenate the cores of shapes."""
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


def _core(where: str, kind: GeoType, scale: np.ndarray, source: Any) -> _ConvexCore | None:
    """Return the core of a shape, or None without a size in memory."""
    a, b, _ = scale
    if kind == GeoType.PLANE:
        return _ConvexCore(kind, np.zeros(3), 0.0, np.inf)
    if kind == GeoType.SPHERE:
        return _ConvexCore(kind, np.zeros(3), a, 0.0)
    if kind == GeoType.CAPSULE:
        return _ConvexCore(kind, np.array([0.0, 0.0, b]), a, b)
    if kind in (GeoType.CYLINDER, GeoType.CONE):
        return _ConvexCore(kind, np.array([a, a, b]), 0.0, float(np.hypot(a, b)))
    if kind == GeoType.BOX:
        return _ConvexCore(kind, scale, 0.0, float(np.linalg.norm(scale)))
    if kind == GeoType.ELLIPSOID:
        return _ConvexCore(kind, scale, 0.0, float(scale.max()))
    if kind not in _MESHES:
        return None
    if isinstance(source, MeshFile):
        return _file_hull(where, source, scale)
    vertices = getattr(source, 'vertices', None)
    if vertices is not None:
        return _hull(where, np.asarray(vertices, dtype=np.float64), scale)
    return None


def _file_hull(where: str, source: MeshFile, scale: np.ndarray) -> _ConvexCore | None:
    """Return the core of a mesh file, or None without a file.

    The file is parsed once as long as its content stays the same.
    """
    content = source.read()
    if content is None:
        return None
    hulls, key, digest = _HULLS.setdefault(source, {}), tuple(scale.tolist()), content.digest()
    known = hulls.get(key)
    if known is None or known[0] != digest:
        known = hulls[key] = digest, _hull(where, content.vertices(), scale)
    return known[1]


def _hull(where: str, vertices: np.ndarray, scale: np.ndarray) -> _ConvexCore:
    """Return the core of a mesh, about the middle of its bounding box."""
    if vertices.ndim != 2 or vertices.shape[1] != 3 or not len(vertices):
        raise ArgumentError(
            f'{where}: vertices must have shape [n, 3], got {list(vertices.shape)}'
        )
    if not np.all(np.isfinite(vertices)):
        raise ArgumentError(f'{where}: vertices must be finite')
    vertices = unique_rows(vertices * scale)
    center = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    points, error = reduced_points(vertices - center)
    reach = float(np.linalg.norm(points, axis=1).max())
    half = 0.5 * np.ptp(vertices, axis=0)
    return _ConvexCore(GeoType.MESH, half, 0.0, reach, center, points, error)
