# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Fits of capsules or spheres around other shapes of a model.

A fit contains the convex hull of its shape. Hulls are split across their longest extent, starting
with the part of largest error, until the number of primitives or the error is reached.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.model.conventions import poses
from ros_ik.model.conventions.checks import checked_amount
from ros_ik.model.conventions.checks import checked_index
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.hulls.bounding_volumes import Capsule
from ros_ik.model.hulls.bounding_volumes import enclosing_capsule
from ros_ik.model.hulls.bounding_volumes import enclosing_sphere
from ros_ik.model.hulls.bounding_volumes import split_hull
from ros_ik.model.hulls.fit_cache import fit_key
from ros_ik.model.hulls.fit_cache import FitCache
from ros_ik.model.hulls.hull_reduction import largest_outside_distance
from ros_ik.model.shapes.collision_geometry import CollisionGeometry

if TYPE_CHECKING:
    from ros_ik.model.model import Model

# Largest permitted number of primitives in place of one shape.
_MAX_PRIMITIVES = 1000
# Number of points on the surface of a primitive at which its error is measured.
_SAMPLES = 100
# Number of sides of the prism about a cylinder or a cone.
_SIDES = 16
_FITTED = (GeoType.BOX, GeoType.CYLINDER, GeoType.CONE, GeoType.MESH)
Enclose = Callable[[np.ndarray], Capsule]


def fit_capsules(
    model: Model,
    links: Sequence[int | str] | None = None,
    *,
    max_capsules: int = 1,
    tolerance: float = 0.0,
    cache_dir: str | Path | None = None,
    allow_missing: bool = False,
) -> CollisionGeometry:
    """Fit capsules around the boxes, cylinders, cones and meshes of links.

    Spheres, capsules, planes and ellipsoids are kept. Meshes are replaced by their convex hulls.

    Args:
        model: The model.
        links: Names or indices of the links, -1 for the world; None for all.
        max_capsules: Maximum number of capsules per shape.
        tolerance: Error [m] at which a shape is not split further.
        cache_dir: Folder for a cache of fits; None disables it.
        allow_missing: As in :meth:`CollisionGeometry.from_model`.

    Returns:
        The primitives; ``error`` is the excess of each over the hull of its shape, measured at
        points of its surface.

    Raises:
        ArgumentError: An unknown link, a mesh that was not found, or a number out of range.
    """
    most = checked_index('max_capsules', max_capsules, _MAX_PRIMITIVES, least=1)
    given = CollisionGeometry.from_model(model, links, allow_missing=allow_missing)
    return _fitted(given, 'capsule', enclosing_capsule, most, tolerance, cache_dir)


def fit_spheres(
    model: Model,
    links: Sequence[int | str] | None = None,
    *,
    max_spheres: int = 8,
    tolerance: float = 0.01,
    cache_dir: str | Path | None = None,
    allow_missing: bool = False,
) -> CollisionGeometry:
    """Fit spheres around the boxes, cylinders, cones and meshes of links.

    Args:
        model: The model.
        links: Names or indices of the links, -1 for the world; None for all.
        max_spheres: Maximum number of spheres per shape.
        tolerance: Error [m] at which a shape is not split further.
        cache_dir: Folder for a cache of fits; None disables it.
        allow_missing: As in :meth:`CollisionGeometry.from_model`.

    Returns:
        As :func:`fit_capsules`.

    Raises:
        ArgumentError: An unknown link, a mesh that was not found, or a number out of range.
    """
    most = checked_index('max_spheres', max_spheres, _MAX_PRIMITIVES, least=1)
    given = CollisionGeometry.from_model(model, links, allow_missing=allow_missing)
    return _fitted(given, 'sphere', enclosing_sphere, most, tolerance, cache_dir)


def _fitted(
    given: CollisionGeometry,
    kind: str,
    enclose: Enclose,
    most: int,
    tolerance: float,
    cache_dir: str | Path | None,
) -> CollisionGeometry:
    """Fit the shapes that need it, and keep the rest."""
    tolerance = checked_amount('tolerance', tolerance)
    if not (cache_dir is None or isinstance(cache_dir, str | os.PathLike)):
        raise ArgumentError(f'cache_dir must be a folder or None, got {cache_dir!r}')
    wanted = np.isin(given.kind, [int(known) for known in _FITTED])
    cache = FitCache(cache_dir)
    known: dict[str, tuple[list[Capsule], np.ndarray]] = {}
    body, ends, radius, error, shape = [], [], [], [], []
    for k in np.flatnonzero(wanted):
        points = corner_points(given, int(k))
        key = fit_key(kind, most, tolerance, points)
        if key not in known:
            found = cache.load(key)
            if found is None:
                found = fit_hull(points, enclose, most, tolerance)
                cache.store(key, *found)
            known[key] = found
        fit, errors = known[key]
        pose = given.pose[k]
        for one, reach in zip(fit, errors, strict=True):
            body.append(given.body[k])
            ends.append(pose[:3] + poses.rotate(pose[3:], one.ends))
            radius.append(one.radius + given.radius[k])
            error.append(reach + given.error[k])
            shape.append(given.shape[k])
    fitted = CollisionGeometry.from_capsules(
        given.model,
        np.array(body, dtype=int),
        np.array(ends).reshape(-1, 2, 3),
        np.array(radius),
        error=np.array(error),
        shape=np.array(shape, dtype=int),
    )
    return given.select(~wanted) + fitted


def fit_hull(
    points: np.ndarray, enclose: Enclose, most: int, tolerance: float
) -> tuple[list[Capsule], np.ndarray]:
    """Fit primitives around the hull of points.

    Args:
        points: Points that span it [m], [n, 3].
        enclose: Function that returns one primitive around points.
        most: Maximum number of primitives.
        tolerance: Error [m] at which the hull is not split further.

    Returns:
        The primitives and the excess of each over the hull [m].
    """
    pieces, fit, axes = [points], [enclose(points)], _frame(points)
    error = [_error(fit[0], points)]
    while len(pieces) < most and max(error) > tolerance:
        worst = int(np.argmax(error))
        halves = _halves(pieces[worst], axes)
        if len(halves) < 2:
            break
        pieces[worst : worst + 1] = halves
        fit[worst : worst + 1] = [enclose(half) for half in halves]
        error[worst : worst + 1] = [_error(one, points) for one in fit[worst : worst + 2]]
    return fit, np.array(error)


def corner_points(geometry: CollisionGeometry, k: int) -> np.ndarray:
    """Return points whose hull contains the core of a box, cylinder, cone or hull, [n, 3]."""
    kind, size = geometry.kind[k], geometry.size[k]
    if kind == GeoType.MESH:
        first = geometry.first[k]
        return geometry.points[first : first + geometry.count[k]]
    if kind == GeoType.BOX:
        signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
        return signs * size
    angle = 2.0 * np.pi * np.arange(_SIDES) / _SIDES
    # The sides of the prism touch the circle.
    rim = size[0] / np.cos(np.pi / _SIDES) * np.column_stack([np.cos(angle), np.sin(angle)])
    bottom = np.column_stack([rim, np.full(_SIDES, -size[2])])
    top = bottom * [1.0, 1.0, -1.0]
    if kind == GeoType.CONE:
        # The pyramid is wider than the base, so with the same tip it contains the cone.
        top = np.array([[0.0, 0.0, size[2]]])
    return np.concatenate([bottom, top])


def _frame(points: np.ndarray) -> np.ndarray:
    """Return the axes for splitting, rows [3, 3]: given or principal, by the smaller box."""
    principal = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2]
    frames = [np.eye(3), principal]
    return min(frames, key=lambda axes: float(np.prod(np.ptp(points @ axes.T, axis=0))))


def _halves(points: np.ndarray, axes: np.ndarray) -> list[np.ndarray]:
    """Split a hull across its longest extent along the axes."""
    height = points @ axes.T
    longest = int(np.argmax(np.ptp(height, axis=0)))
    offset = 0.5 * (height[:, longest].min() + height[:, longest].max())
    return split_hull(points, axes[longest], float(offset))


def _error(one: Capsule, hull: np.ndarray) -> float:
    """Return the excess of the surface of a primitive over a hull."""
    return largest_outside_distance(one.surface(_SAMPLES), hull)
