# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Convex shapes given at run time: obstacles and carried objects."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.model.conventions.checks import as_number
from ros_ik.model.conventions.checks import checked_array
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.hulls.hull_reduction import reduced_points
from ros_ik.numbers import real_array

# Maximum number of points of a reduced hull; see hull_reduction.
MAX_POINTS = 256


@dataclasses.dataclass(frozen=True, eq=False)
class CollisionShape:
    """A convex core inflated by a radius; create one with the class methods.

    Attributes:
        kind: SPHERE, CAPSULE, BOX, CYLINDER, PLANE or MESH (hull of points).
        size: Half extents of the core [m], [3].
        radius: Radius about the core [m].
        bound: Radius of an enclosing sphere about ``center`` [m], inf for a half-space.
        center: Origin of the core in the frame of the shape [m], [3].
        points: Points of a hull about ``center`` [m], [n, 3].
    """

    kind: GeoType
    size: np.ndarray
    radius: float
    bound: float
    center: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(3))
    points: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((0, 3)))

    @property
    def scale(self) -> np.ndarray:
        """Sizes as :meth:`ModelBuilder.add_shape` takes them [m], [3].

        Raises:
            ArgumentError: A hull of points.
        """
        if self.kind == GeoType.MESH:
            raise ArgumentError('a hull of points has no sizes')
        if self.kind == GeoType.BOX:
            return self.size
        return np.array([self.radius + self.size[0], self.size[2], 0.0])

    @classmethod
    def sphere(cls, radius: float) -> CollisionShape:
        """Return a sphere about the origin, ``radius`` in m.

        Raises:
            ArgumentError: A radius that is not positive. The same holds for sizes of other shapes.
        """
        r = _positive('radius', radius)
        return cls(GeoType.SPHERE, np.zeros(3), r, r)

    @classmethod
    def capsule(cls, radius: float, half_length: float) -> CollisionShape:
        """Return a capsule along z whose axis is 2 ``half_length`` long [m]."""
        r, half = _positive('radius', radius), _positive('half_length', half_length)
        return cls(GeoType.CAPSULE, np.array([0.0, 0.0, half]), r, r + half)

    @classmethod
    def box(cls, half_extents: Sequence[float] | np.ndarray) -> CollisionShape:
        """Return a box about the origin, half extents along its axes [m], [3]."""
        size = np.array(checked_array('half_extents', half_extents, (3,)))
        for value in size:
            _positive('half_extents', value)
        return cls(GeoType.BOX, size, 0.0, float(np.linalg.norm(size)))

    @classmethod
    def cylinder(cls, radius: float, half_length: float) -> CollisionShape:
        """Return a cylinder along z, 2 ``half_length`` high [m]."""
        r, half = _positive('radius', radius), _positive('half_length', half_length)
        return cls(GeoType.CYLINDER, np.array([r, r, half]), 0.0, float(np.hypot(r, half)))

    @classmethod
    def half_space(cls) -> CollisionShape:
        """Return a half-space, solid below z = 0."""
        return cls(GeoType.PLANE, np.zeros(3), 0.0, np.inf)

    @classmethod
    def convex(cls, vertices: np.ndarray | Sequence) -> CollisionShape:
        """Return the convex hull of points, or slightly more.

        Many points are reduced to few, whose hull is inflated to contain all points.

        Args:
            vertices: Points [m], [n, 3].

        Raises:
            ArgumentError: Not finite numbers of shape [n, 3].
        """
        given = real_array('vertices', vertices)
        if given.ndim != 2 or given.shape[1] != 3 or not len(given):
            raise ArgumentError(f'vertices must have shape [n, 3], got {list(given.shape)}')
        if not np.all(np.isfinite(given)):
            raise ArgumentError('vertices must be finite')
        given = np.unique(given, axis=0)
        low, high = given.min(axis=0), given.max(axis=0)
        center = 0.5 * (low + high)
        points, error = reduced_points(given - center)
        if len(points) > MAX_POINTS:
            raise ArgumentError(
                f'vertices span {len(points)} points of a hull, more than {MAX_POINTS}'
            )
        bound = float(np.linalg.norm(points, axis=1).max()) + error
        return cls(GeoType.MESH, 0.5 * (high - low), error, bound, center, points)


def checked_shape(name: str, shape: CollisionShape) -> None:
    """Raise ArgumentError, which names the argument, unless it is a shape."""
    if not isinstance(shape, CollisionShape):
        raise ArgumentError(
            f'{name} must be a CollisionShape, such as CollisionShape.sphere(0.1), got {shape!r}'
        )


def _positive(name: str, value: float) -> float:
    """Return a finite number above zero, or raise ArgumentError."""
    number = as_number(name, value)
    if not (np.isfinite(number) and number > 0.0):
        raise ArgumentError(f'{name} must be positive, got {value}')
    return number
