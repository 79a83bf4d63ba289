# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Primitives of a scene on a device, allocated once; their rows change while the solver runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from ros_ik.kinematics.collision.distance.convex_cores import collision_structs
from ros_ik.kinematics.collision.distance.gjk import shape_arrays
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.model.conventions import poses
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.shapes.collision_geometry import CollisionGeometry
from ros_ik.model.shapes.collision_primitive import CollisionShape
from ros_ik.model.shapes.collision_primitive import MAX_POINTS

_COLUMNS = ('kind', 'body', 'pose', 'size', 'radius', 'bound', 'first', 'count')


class CollisionRows:
    """Primitives on the host: those of a geometry, then spare rows.

    The columns have the names of CollisionGeometry; all are float64 or int.
    """

    @shares_launch_lock
    def __init__(self, geometry: CollisionGeometry, spare: int) -> None:
        """Copy a geometry and add spare rows.

        Args:
            geometry: The fixed primitives.
            spare: Number of spare rows, each with room for a hull.
        """
        self.kind, self.body = _padded(geometry.kind, spare), _padded(geometry.body, spare, -1)
        self.pose = _padded(geometry.pose, spare)
        self.pose[len(geometry) :, 6] = 1.0
        self.size = _padded(geometry.size, spare)
        self.radius, self.bound = _padded(geometry.radius, spare), _padded(geometry.bound, spare)
        self.count, self.first = _padded(geometry.count, spare), _padded(geometry.first, spare)
        self.first[len(geometry) :] = len(geometry.points) + MAX_POINTS * np.arange(spare)
        self.points = _padded(geometry.points, MAX_POINTS * spare)

    def fill(self, row: int, body: int, shape: CollisionShape) -> None:
        """Write a shape into a row, at the identity; :meth:`place` moves it."""
        self.kind[row], self.body[row] = int(shape.kind), body
        self.size[row], self.radius[row], self.bound[row] = shape.size, shape.radius, shape.bound
        self.count[row] = len(shape.points)
        first = self.first[row]
        self.points[first : first + len(shape.points)] = shape.points

    def place(self, row: int, shape: CollisionShape, pose: np.ndarray) -> None:
        """Move the shape of a row to a pose in its link."""
        self.pose[row, :3] = pose[:3] + poses.rotate(pose[3:], shape.center)
        self.pose[row, 3:] = pose[3:] / np.linalg.norm(pose[3:])

    def clear(self, row: int) -> None:
        """Empty a row."""
        self.kind[row], self.body[row], self.count[row] = int(GeoType.NONE), -1, 0

    def axis(self) -> np.ndarray:
        """Return the half segments of capsules and the normals of half-spaces, [m, 3]."""
        along = np.where(self.kind == int(GeoType.CAPSULE), self.size[:, 2], 0.0)
        along[self.kind == int(GeoType.PLANE)] = 1.0
        return poses.rotate(self.pose[:, 3:], along[:, None] * np.array([0.0, 0.0, 1.0]))


class CollisionTable:
    """The rows on one device, in one floating-point type.

    Attributes:
        shapes: Struct of the shapes, that of
            :func:`ros_ik.kinematics.collision.distance.gjk.collision_structs`.
        cores: The same arrays with radii of zero.
        center: Centres in the links, vec3 [m].
        axis: Half axes and normals in the links, vec3 [m].
    """

    @shares_launch_lock
    def __init__(self, rows: CollisionRows, scalar: type, device: wp.DeviceLike) -> None:
        """Allocate and copy every row."""
        self._rows = rows
        vec3 = spatial_functions(scalar).vec3
        self.shapes = shape_arrays(rows, scalar, device)
        self.cores = collision_structs(scalar).Shapes()
        for name in (*_COLUMNS, 'points'):
            setattr(self.cores, name, getattr(self.shapes, name))
        self.cores.radius = wp.zeros_like(self.shapes.radius)
        self.center = wp.array(rows.pose[:, :3], dtype=vec3, device=device)
        self.axis = wp.array(rows.axis(), dtype=vec3, device=device)

    @shares_launch_lock
    def write_pose(self, row: int) -> None:
        """Copy the pose of one row."""
        _write(self.shapes.pose, self._rows.pose, row)
        _write(self.center, self._rows.pose[:, :3], row)
        _write(self.axis, self._rows.axis(), row)

    @shares_launch_lock
    def write(self, row: int) -> None:
        """Copy one row."""
        for name in _COLUMNS:
            _write(getattr(self.shapes, name), getattr(self._rows, name), row)
        first = int(self._rows.first[row])
        _write(self.shapes.points, self._rows.points, slice(first, first + MAX_POINTS))
        self.write_pose(row)


def _write(array: wp.array, host: np.ndarray, rows: Any) -> None:
    """Copy rows of a host array; on a GPU the whole array is copied."""
    if wp.get_device(array.device).is_cpu:
        array.numpy()[rows] = host[rows]
    else:
        array.assign(host)


def _padded(values: np.ndarray, spare: int, fill: float = 0) -> np.ndarray:
    """Return a copy with rows added at the end."""
    kind = np.float64 if np.issubdtype(values.dtype, np.floating) else np.int64
    tail = np.full((spare, *values.shape[1:]), fill, dtype=kind)
    return np.concatenate([values.astype(kind), tail])
