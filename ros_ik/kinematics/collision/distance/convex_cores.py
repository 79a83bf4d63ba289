# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Convex shapes on a device, and their support function for GJK.

Shapes are those of :class:`ros_ik.model.shapes.collision_shapes.ConvexShapes`.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.model.conventions.joint_type import GeoType

_SEGMENT, _BOX, _CYLINDER = int(GeoType.CAPSULE), int(GeoType.BOX), int(GeoType.CYLINDER)
_CONE, _ELLIPSOID, _POINTS = int(GeoType.CONE), int(GeoType.ELLIPSOID), int(GeoType.MESH)


@no_type_check
@functools.cache
def collision_structs(scalar: type) -> SimpleNamespace:
    """Build the structs ``Shapes``, arrays of shapes, and ``Proximity``, the distance of two.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    types = spatial_functions(scalar)
    vec3, transform = types.vec3, types.transform

    @wp.struct
    class Shapes:
        kind: wp.array(dtype=wp.int32)  # [n_shapes], GeoType
        body: wp.array(dtype=wp.int32)  # [n_shapes], -1 = world
        pose: wp.array(dtype=transform)  # [n_shapes], in the link
        size: wp.array(dtype=vec3)  # [n_shapes], half extents of the core
        radius: wp.array(dtype=scalar)  # [n_shapes]
        bound: wp.array(dtype=scalar)  # [n_shapes], of the sphere that holds core and radius
        first: wp.array(dtype=wp.int32)  # [n_shapes]
        count: wp.array(dtype=wp.int32)  # [n_shapes]
        points: wp.array(dtype=vec3)  # [n_points]

    @wp.struct
    class Proximity:
        distance: scalar  # between the surfaces
        lower: scalar  # lower bound; equal up to rounding, unless the search ended early
        point_a: vec3  # nearest point of the first shape's surface
        point_b: vec3  # nearest point of the second shape's surface

    return SimpleNamespace(Shapes=Shapes, Proximity=Proximity)


@no_type_check
@functools.cache
def support_function(scalar: type) -> wp.Function:
    """Build ``support(shapes, shape, d)``, which returns a point of a core farthest along d.

    Direction and point are in the frame of the shape. For a core without points it is the origin.
    """
    vec3 = spatial_functions(scalar).vec3
    Shapes = collision_structs(scalar).Shapes

    @wp.func
    def with_sign(size: scalar, direction: scalar) -> scalar:
        if direction < scalar(0.0):
            return -size
        return size

    @wp.func
    def support_disc(size: vec3, d: vec3, height: scalar) -> vec3:
        across = wp.sqrt(d[0] * d[0] + d[1] * d[1])
        if across > scalar(0.0):
            return vec3(size[0] * (d[0] / across), size[1] * (d[1] / across), height)
        return vec3(scalar(0.0), scalar(0.0), height)

    @wp.func
    def support(shapes: Shapes, shape: int, d: vec3) -> vec3:
        kind = shapes.kind[shape]
        size = shapes.size[shape]
        if kind == wp.static(_POINTS):
            first = shapes.first[shape]
            best = first
            most = wp.dot(shapes.points[first], d)
            for k in range(first + 1, first + shapes.count[shape]):
                along = wp.dot(shapes.points[k], d)
                if along > most:
                    most = along
                    best = k
            return shapes.points[best]
        if kind == wp.static(_CYLINDER):
            return support_disc(size, d, with_sign(size[2], d[2]))
        if kind == wp.static(_BOX) or kind == wp.static(_SEGMENT):
            return vec3(
                with_sign(size[0], d[0]), with_sign(size[1], d[1]), with_sign(size[2], d[2])
            )
        if kind == wp.static(_CONE):
            rim = support_disc(size, d, -size[2])
            tip = vec3(scalar(0.0), scalar(0.0), size[2])
            if wp.dot(tip, d) > wp.dot(rim, d):
                return tip
            return rim
        if kind == wp.static(_ELLIPSOID):
            stretched = wp.cw_mul(size, d)
            length = wp.length(stretched)
            if length > scalar(0.0):
                return wp.cw_mul(size, stretched / length)
        return vec3()

    return support
