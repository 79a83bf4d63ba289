# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Radius, mass, centre of mass and inertia of shapes with uniform density.

Sizes are those of ``shape_scale``: radius of a sphere; half extents of a box; radius and half
height of capsule, cylinder and cone, along z; half axes of an ellipsoid; factors of a mesh. The
centre of a cone is half way up, its tip at +half height.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.model.conventions.joint_type import GeoType

# Enclosing radius [m] of infinite planes, as in Newton, and of unread meshes.
UNBOUNDED_RADIUS = 1e6
MassProperties = tuple[float, np.ndarray, np.ndarray]


def shape_radius(geo_type: GeoType, scale: tuple[float, float, float], source: Any) -> float:
    """Return the radius [m] of a sphere that contains the shape.

    It is centred at the shape's origin, or for a mesh at the middle of its bounding box.

    Args:
        geo_type: Kind of shape.
        scale: Its size.
        source: Mesh with ``vertices`` [n, 3]; without them the radius is 1e6.
    """
    size = np.abs(scale)
    if geo_type == GeoType.SPHERE:
        return float(size[0])
    if geo_type == GeoType.BOX:
        return float(np.linalg.norm(size))
    if geo_type in (GeoType.CAPSULE, GeoType.CYLINDER, GeoType.CONE):
        return float(size[0] + size[1])
    if geo_type == GeoType.ELLIPSOID:
        return float(size.max())
    if geo_type == GeoType.PLANE and size[0] > 0.0 and size[1] > 0.0:
        return float(0.5 * np.linalg.norm(size))
    vertices = getattr(source, 'vertices', None)
    if geo_type in (GeoType.MESH, GeoType.CONVEX_MESH) and vertices is not None:
        extent = np.ptp(np.asarray(vertices, dtype=np.float64) * scale, axis=0)
        return float(0.5 * np.linalg.norm(extent))
    return UNBOUNDED_RADIUS


def mass_properties(
    where: str,
    geo_type: GeoType,
    scale: tuple[float, float, float],
    source: Any,
    density: float,
    wall: float | None = None,
) -> MassProperties:
    """Return mass [kg], centre of mass [m] and inertia about it [kg m^2], in the shape's axes.

    Args:
        where: Name of the shape in an error.
        geo_type: Kind of shape; planes have no mass.
        scale: Its size.
        source: Closed mesh with ``vertices`` [n, 3] and ``indices`` [3 m], outward facing.
        density: Density [kg/m^3].
        wall: Thickness of the wall of a hollow shape [m], None for a solid one.

    Raises:
        ArgumentError: A mesh that is hollow or has no vertices, or a wall thicker than the shape.
    """
    if geo_type == GeoType.PLANE or density == 0.0 or wall == 0.0:
        return _massless()
    if geo_type in (GeoType.MESH, GeoType.CONVEX_MESH):
        if wall is not None or getattr(source, 'vertices', None) is None:
            raise ArgumentError(
                f'{where}: only a solid mesh with vertices has a mass; give a density of 0'
            )
        return _mesh(np.asarray(source.vertices), np.asarray(source.indices), scale, density)
    if geo_type not in _SOLIDS:
        return _massless()
    solid = _SOLIDS[geo_type](*scale)
    if wall is not None:
        # The half height of a capsule is that of its cylindrical part, which a wall does not
        # change.
        kept = 1 if geo_type == GeoType.CAPSULE else -1
        inner = [s - wall if s > 0.0 and k != kept else s for k, s in enumerate(scale)]
        if any(left <= 0.0 < s for left, s in zip(inner, scale, strict=True)):
            raise ArgumentError(f'{where}: a wall of {wall} m is thicker than the shape {scale}')
        solid = combine(solid, _negative(_SOLIDS[geo_type](*inner)))
    mass, com, inertia = solid
    return density * mass, com, density * inertia


def combine(first: MassProperties, second: MassProperties) -> MassProperties:
    """Return the properties of two bodies combined, in the same axes."""
    mass = first[0] + second[0]
    if mass == 0.0:  # some descriptions have a link with inertia but without mass
        return mass, first[1], first[2] + second[2]
    com = (first[0] * first[1] + second[0] * second[1]) / mass
    return mass, com, sum(_about(com, *body) for body in (first, second))  # type: ignore


def _about(point: np.ndarray, mass: float, com: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Return an inertia about another point (parallel axis theorem)."""
    d = point - com
    return inertia + mass * (d @ d * np.eye(3) - np.outer(d, d))


def _massless() -> MassProperties:
    """Return the properties of a massless shape."""
    return 0.0, np.zeros(3), np.zeros((3, 3))


def _negative(properties: MassProperties) -> MassProperties:
    """Return the negated properties, to subtract a body."""
    mass, com, inertia = properties
    return -mass, com, -inertia


def _ellipsoid(a: float, b: float, c: float) -> MassProperties:
    """Return the properties for density 1."""
    mass = 4.0 / 3.0 * np.pi * a * b * c
    return mass, np.zeros(3), mass / 5.0 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])


def _box(a: float, b: float, c: float) -> MassProperties:
    """Return the properties for density 1."""
    mass = 8.0 * a * b * c
    return mass, np.zeros(3), mass / 3.0 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])


def _cylinder(radius: float, half_height: float, _: float) -> MassProperties:
    """Return the properties for density 1."""
    mass = 2.0 * np.pi * radius**2 * half_height
    across = mass * (radius**2 / 4.0 + half_height**2 / 3.0)
    return mass, np.zeros(3), np.diag([across, across, mass * radius**2 / 2.0])


def _capsule(radius: float, half_height: float, _: float) -> MassProperties:
    """Return the properties for density 1: a cylinder and two half spheres.

    The half spheres' centres of mass lie 3/8 of the radius outside the ends of the cylinder.
    """
    cylinder, _com, inertia = _cylinder(radius, half_height, 0.0)
    ball = 4.0 / 3.0 * np.pi * radius**3
    about_end = 0.4 * ball * radius**2
    across = about_end + ball * (half_height**2 + 0.75 * half_height * radius)
    return cylinder + ball, np.zeros(3), inertia + np.diag([across, across, about_end])


def _cone(radius: float, half_height: float, _: float) -> MassProperties:
    """Return the properties for density 1; the centre of mass lies a quarter up from the base."""
    height = 2.0 * half_height
    mass = np.pi * radius**2 * height / 3.0
    across = mass * (3.0 / 20.0 * radius**2 + 3.0 / 80.0 * height**2)
    inertia = np.diag([across, across, 0.3 * mass * radius**2])
    return mass, np.array([0.0, 0.0, -height / 4.0]), inertia


def _mesh(
    vertices: np.ndarray, indices: np.ndarray, scale: tuple[float, float, float], density: float
) -> MassProperties:
    """Return the properties of a closed mesh: the sum over tetrahedra from the origin.

    With V = det(a, b, c) / 6 for a triangle a, b, c: the mass is the sum of V, the first moment
    that of V (a + b + c) / 4, the second that of V / 20 (aa + bb + cc + ss), s = a + b + c.
    """
    corners = (vertices.astype(np.float64) * scale)[indices.reshape(-1, 3)]
    volumes = np.linalg.det(corners) / 6.0
    total = volumes.sum()
    if abs(total) < 1e-18:
        return _massless()
    sums = corners.sum(axis=1)
    first = (volumes[:, None] * sums).sum(axis=0) / 4.0
    second = np.einsum('t,tki,tkj->ij', volumes, corners, corners)
    second = (second + np.einsum('t,ti,tj->ij', volumes, sums, sums)) / 20.0
    com = first / total
    second -= total * np.outer(com, com)
    # A mesh that faces inward, or is mirrored by its factors, has negative volumes.
    sign = np.sign(total) * density
    return float(sign * total), com, sign * (np.trace(second) * np.eye(3) - second)


_SOLIDS: dict[GeoType, Callable[..., MassProperties]] = {
    GeoType.SPHERE: lambda radius, *_: _ellipsoid(radius, radius, radius),
    GeoType.ELLIPSOID: _ellipsoid,
    GeoType.BOX: _box,
    GeoType.CYLINDER: _cylinder,
    GeoType.CAPSULE: _capsule,
    GeoType.CONE: _cone,
}
