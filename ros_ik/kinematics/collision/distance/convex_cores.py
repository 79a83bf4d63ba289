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
    """Build the structs ``Shapes``, ``Core`` of a shape, and ``Proximity``, the distance of two.

    Functions that compilers do not inline have parameters of type ``Core``, because all arrays of
    ``Shapes`` would be copied at each call.

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
    class Core:
        kind: int  # GeoType
        size: vec3  # half extents
        first: int  # index of its first point
        count: int  # of its points

    @wp.struct
    class Proximity:
        distance: scalar  # between the surfaces
        lower: scalar  # lower bound; equal up to rounding, unless the search ended early
        point_a: vec3  # nearest point of the first shape's surface
        point_b: vec3  # nearest point of the second shape's surface

    return SimpleNamespace(Shapes=Shapes, Core=Core, Proximity=Proximity)


@no_type_check
@functools.cache
def core_function(scalar: type) -> wp.Function:
    """Build ``core_of(shapes, shape)``, which returns the core of a shape."""
    structs = collision_structs(scalar)
    Shapes, Core = structs.Shapes, structs.Core

    @wp.func
    def core_of(shapes: Shapes, shape: int) -> Core:
        core = Core()
        core.kind = shapes.kind[shape]
        core.size = shapes.size[shape]
        core.first = shapes.first[shape]
        core.count = shapes.count[shape]
        return core

    return core_of


@no_type_check
@functools.cache
def support_function(scalar: type) -> wp.Function:
    """Build ``support(points, core, d)``, which returns a point of a core farthest along d.

    Direction and point are in the frame of the shape. For a core without points it is the origin.
    """
    vec3 = spatial_functions(scalar).vec3
    Core = collision_structs(scalar).Core

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
    def support(points: wp.array(dtype=vec3), core: Core, d: vec3) -> vec3:
        kind = core.kind
        size = core.size
        if kind == wp.static(_POINTS):
            best = core.first
            most = wp.dot(points[best], d)
            for k in range(core.first + 1, core.first + core.count):
                along = wp.dot(points[k], d)
                if along > most:
                    most = along
                    best = k
            return points[best]
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
