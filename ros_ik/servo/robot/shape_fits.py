# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Capsules that enclose collision shapes: fast to check, and cached for the next start.

Fits are cached by the content of the mesh files, so that a known robot starts without parsing its
meshes. A fit encloses every vertex. A mesh becomes one capsule if that is tight enough; otherwise
its hull is split into parts, within a time limit.
"""

from __future__ import annotations

import hashlib
import time

import numpy as np

from ros_ik.errors import ModelError
from ros_ik.model import Model
from ros_ik.model.conventions import poses
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.hulls.bounding_volumes import Capsule
from ros_ik.model.hulls.bounding_volumes import enclosing_capsule
from ros_ik.model.hulls.bounding_volumes import uniform_directions
from ros_ik.model.hulls.fit_cache import fit_key
from ros_ik.model.hulls.fit_cache import FitCache
from ros_ik.model.hulls.hull_reduction import largest_outside_distance
from ros_ik.model.readers.mesh_files import MeshContent
from ros_ik.model.readers.mesh_files import MeshFile
from ros_ik.model.shapes.collision_geometry import CollisionGeometry
from ros_ik.model.shapes.primitive_fit import corner_points
from ros_ik.model.shapes.primitive_fit import fit_hull

# Largest excess of a capsule over the shape, [m] and as a fraction of its size, and maximum number
# of capsules per mesh. A box or a cylinder with a larger excess is not replaced.
_TOLERANCE, _PART, _MAX_CAPSULES = 0.05, 0.25, 8
# Time limit for splitting meshes [s]. Later meshes have one capsule until the next start.
_CUTTING_TIME = 5.0
# Number of directions whose farthest vertices represent a mesh, in a fit and in its check; number
# of directions per block; number of points at which the error of a fit is measured.
_FEW, _MANY, _DIRECTIONS, _SAMPLES = 250, 2000, 8, 100
# Thickness of a hull [m] above which it gets the vertices of more directions, and their number.
_THICK, _MORE = 0.003, 1000
# Increase when fits change.
_VERSION = 4
_FITTED = (int(GeoType.BOX), int(GeoType.CYLINDER), int(GeoType.CONE))

Fit = tuple[list[Capsule], np.ndarray]


class ShapeFits:
    """Primitives of the collision shapes of one model."""

    def __init__(self, model: Model) -> None:
        """Use the cache beside that of the compiled kernels."""
        self._model = model
        self._cache = FitCache.beside_kernels()
        self._fits: dict[str, Fit] = {}
        self._left = _CUTTING_TIME

    def primitives(self, shape: int) -> CollisionGeometry | None:
        """Return the primitives of a shape; None for a mesh whose file was not found.

        Raises:
            ModelError: A mesh that cannot be read.
            ArgumentError: A mesh whose vertices are not numbers.
        """
        source = self._model.shape_source[shape]
        if isinstance(source, MeshFile):
            return self._mesh(shape, source)
        given = _as_primitive(self._model, shape)
        if given is None or int(given.kind[0]) not in _FITTED:
            return given
        points = corner_points(given, 0)
        key = fit_key('capsule', 1, 0.0, points)
        found = self._known(key)
        if found is None:
            found = fit_hull(points, enclosing_capsule, 1, 0.0)
            self._keep(key, found, on_disk=True)
        rounds, error = found
        if error[0] > _tolerance(points):
            return given
        return self._capsules(shape, rounds, error)

    def hull(self, shape: int) -> CollisionGeometry | None:
        """Return a shape without a fit: a mesh as the convex hull of its farthest vertices.

        The hull is thickened to enclose the other vertices, by 2 mm for most links of the tested
        robots. It fits tighter than capsules, but takes longer to check.

        Returns:
            One primitive; None for a mesh whose file was not found, or a shape without a size.

        Raises:
            ModelError: A mesh that cannot be read.
            ArgumentError: A mesh whose vertices are not numbers.
        """
        source = self._model.shape_source[shape]
        if not isinstance(source, MeshFile):
            return _as_primitive(self._model, shape)
        content = source.read()
        if content is None:
            return None
        scale = self._model.shape_scale.numpy()[shape].astype(np.float64)
        key = _mesh_key(content, scale)
        found = self._cache.load_hull(key)
        if found is None:
            found = _enclosing_hull(content.vertices() * scale)
            self._cache.store_hull(key, *found)
        return hull_primitive(self._model, shape, *found)

    def triangles(self, shape: int) -> np.ndarray | None:
        """Return the triangles of a mesh in its link [m], [n, 3, 3]; None for other shapes.

        Raises:
            ModelError: A mesh that cannot be read.
        """
        model, source = self._model, self._model.shape_source[shape]
        if not isinstance(source, MeshFile) or (found := source.read_triangles()) is None:
            return None
        pose = _shape_pose(model, shape)
        corners = found * model.shape_scale.numpy()[shape].astype(np.float64)
        return pose[:3] + poses.rotate(pose[3:], corners.reshape(-1, 3)).reshape(corners.shape)

    def _mesh(self, shape: int, source: MeshFile) -> CollisionGeometry | None:
        content = source.read()
        if content is None:
            return None
        scale = self._model.shape_scale.numpy()[shape].astype(np.float64)
        key = _mesh_key(content, scale)
        found = self._known(key)
        if found is None:
            found, is_final = self._fit_mesh(content.vertices() * scale)
            self._keep(key, found, on_disk=is_final)
        return self._capsules(shape, *found)

    def _fit_mesh(self, vertices: np.ndarray) -> tuple[Fit, bool]:
        """Return a fit of scaled vertices, and True unless the time limit cut it short."""
        fit = _one_capsule(vertices)
        if fit[1][0] <= _tolerance(vertices):
            return fit, True
        if self._left <= 0.0:
            return fit, False
        start = time.thread_time()
        fit = _several_capsules(vertices)
        self._left -= time.thread_time() - start
        return fit, True

    def _known(self, key: str) -> Fit | None:
        """Return a fit from memory or disk."""
        return self._fits.get(key) or self._cache.load(key)

    def _keep(self, key: str, fit: Fit, *, on_disk: bool) -> None:
        self._fits[key] = fit
        if on_disk:
            self._cache.store(key, *fit)

    def _capsules(self, shape: int, rounds: list[Capsule], error: np.ndarray) -> CollisionGeometry:
        """Return capsules in the frame of a shape as primitives of its link."""
        model, count = self._model, len(rounds)
        pose = _shape_pose(model, shape)
        margin = float(model.shape_margin.numpy()[shape])
        ends = [pose[:3] + poses.rotate(pose[3:], one.ends) for one in rounds]
        return CollisionGeometry.from_capsules(
            model,
            np.full(count, int(model.shape_body.numpy()[shape])),
            np.array(ends).reshape(-1, 2, 3),
            np.array([one.radius + margin for one in rounds]),
            error=error,
            shape=np.full(count, shape),
        )


def _mesh_key(content: MeshContent, scale: np.ndarray) -> str:
    """Return a hash of the content of a mesh file and of its scale."""
    of_inputs = f'{_VERSION} {content.digest()} {scale.tolist()}'
    return hashlib.sha256(of_inputs.encode()).hexdigest()


def scaled_vertices(source: MeshFile, scale: np.ndarray) -> np.ndarray:
    """Return the scaled vertices of a mesh [m], [n, 3], or raise ModelError."""
    read = source.read_vertices()
    if read is None:
        raise ModelError(f'mesh {source.uri[:200]!r}', 'was not found')
    return np.asarray(read * scale)


def _enclosing_hull(vertices: np.ndarray) -> tuple[np.ndarray, float]:
    """Return points of a hull [n, 3], and the thickness with which it encloses all vertices [m].

    The vertices between the extreme ones of many directions count as enclosed with these.
    """
    many = farthest_vertices(vertices, _MANY)
    for directions in (_FEW, _MORE):
        kept = farthest_vertices(vertices, directions)
        radius = largest_outside_distance(many, kept)
        if radius <= _THICK:
            break
    return kept, radius


def _shape_pose(model: Model, shape: int) -> np.ndarray:
    """Return the pose of a shape in its link [7]."""
    pose = model.shape_transform.numpy()[shape].astype(np.float64)
    pose[3:] /= np.linalg.norm(pose[3:])
    return np.asarray(pose)


def hull_primitive(
    model: Model, shape: int, points: np.ndarray, thickness: float
) -> CollisionGeometry:
    """Return a hull as a primitive of the link of a shape.

    Args:
        model: The model.
        shape: The shape.
        points: Points of the hull in the frame of the shape [m], [n, 3].
        thickness: Distance by which the primitive exceeds the hull, beside the shape's margin [m].
    """
    half = 0.5 * np.ptp(points, axis=0)
    center = points.min(axis=0) + half
    pose = _shape_pose(model, shape)
    pose[:3] += poses.rotate(pose[3:], center)
    radius = thickness + float(model.shape_margin.numpy()[shape])
    return CollisionGeometry(
        model=model,
        kind=np.array([int(GeoType.MESH)]),
        body=model.shape_body.numpy()[[shape]],
        pose=pose[None],
        size=half[None],
        radius=np.array([radius]),
        bound=np.array([float(np.linalg.norm(points - center, axis=1).max()) + radius]),
        first=np.zeros(1, dtype=int),
        count=np.array([len(points)]),
        points=points - center,
        error=np.array([radius]),
        shape=np.array([shape]),
    )


def _tolerance(points: np.ndarray) -> float:
    """Return the largest excess of a capsule over points [m]."""
    return min(_TOLERANCE, _PART * float(np.ptp(points, axis=0).max()))


def _one_capsule(vertices: np.ndarray) -> Fit:
    """Return the capsule about the farthest vertices, thickened to enclose all vertices."""
    kept = farthest_vertices(vertices, _FEW)
    one = enclosing_capsule(kept)
    one = Capsule(one.ends, max(one.radius, float(_axis_distance(one, vertices).max())))
    error = largest_outside_distance(one.surface(_SAMPLES), kept)
    return [one], np.array([error])


def _several_capsules(vertices: np.ndarray) -> Fit:
    """Return capsules about the parts of the hull of the farthest vertices.

    They are thickened by the distance of other vertices from that hull, and to enclose every
    remaining vertex.
    """
    kept = farthest_vertices(vertices, _FEW)
    more = largest_outside_distance(farthest_vertices(vertices, _MANY), kept)
    rounds, error = fit_hull(kept, enclosing_capsule, _MAX_CAPSULES, _tolerance(kept))
    outside = np.min([_axis_distance(one, vertices) - one.radius for one in rounds], axis=0)
    more = max(more, float(outside.max()))
    return [Capsule(one.ends, one.radius + more) for one in rounds], error + more


def farthest_vertices(vertices: np.ndarray, directions: int) -> np.ndarray:
    """Return the farthest vertices in evenly spread directions, without repetition."""
    columns = np.ascontiguousarray(vertices.T)
    found = [
        np.argmax(some @ columns, axis=1)
        for some in np.array_split(uniform_directions(directions), -(-directions // _DIRECTIONS))
    ]
    return vertices[np.unique(np.concatenate(found))]


def _axis_distance(one: Capsule, points: np.ndarray) -> np.ndarray:
    """Return the distances of points from the axis of a capsule [m], [n]."""
    along = one.ends[1] - one.ends[0]
    length = float(along @ along)
    part = (points - one.ends[0]) @ along / length if length > 0.0 else np.zeros(len(points))
    nearest = one.ends[0] + np.clip(part, 0.0, 1.0)[:, None] * along
    return np.linalg.norm(points - nearest, axis=1)


def _as_primitive(model: Model, shape: int) -> CollisionGeometry | None:
    """Return a shape other than a mesh as a primitive, or None if it has no size."""
    geometry = CollisionGeometry.from_shapes(model, [shape])
    return geometry if len(geometry) else None
