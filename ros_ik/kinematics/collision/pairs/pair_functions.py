# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Distances and directions of pairs of primitives, as Warp functions.

Pairs are grouped by method: first spheres, then other round shapes and half-spaces, which have
closed forms, then pairs that need GJK.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.collision.distance.convex_cores import collision_structs
from ros_ik.kinematics.collision.distance.convex_cores import core_function
from ros_ik.kinematics.collision.distance.penetration import penetration_functions
from ros_ik.kinematics.collision.distance.proximity import convex_functions
from ros_ik.kinematics.collision.distance.proximity import round_functions
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.model.conventions.joint_type import GeoType

_PLANE, _SPHERE = int(GeoType.PLANE), int(GeoType.SPHERE)
# Distance [m] in rows without a pair, if there is no d_max.
FAR = 1e3


@no_type_check
@functools.cache
def pair_structs(scalar: type) -> SimpleNamespace:
    """Build the structs of pairs.

    - ``Pairs``: primitives and pairs to measure.
    - ``PairWork``: results.
    - ``PairMotion``: the degrees of freedom of a step and the links that they move.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    types = spatial_functions(scalar)
    vec3, twist = types.vec3, types.twist
    Shapes = collision_structs(scalar).Shapes

    @wp.struct
    class Pairs:
        shapes: Shapes  # primitives, [n_shapes]
        cores: Shapes  # the same without radii
        center: wp.array(dtype=vec3)  # [n_shapes], in the link
        axis: wp.array(dtype=vec3)  # [n_shapes], half of a segment, the normal of a plane
        used: wp.array(dtype=wp.int32)  # [n_shapes], the primitives of the pairs come first
        pairs: wp.array(dtype=wp.vec2i)  # [n_pairs]; spheres, then other round ones, then others
        counts: wp.array(dtype=wp.int32)  # [4]: used, sphere pairs, round pairs, all pairs
        d_min: scalar  # h = d - d_min
        d_max: scalar  # farther pairs are inactive

    @wp.struct
    class PairWork:
        center: wp.array2d(dtype=vec3)  # [n, n_shapes], in the world
        axis: wp.array2d(dtype=vec3)  # [n, n_shapes]
        normal: wp.array2d(dtype=vec3)  # [n, most convex pairs]
        point: wp.array2d(dtype=vec3)  # [n, most convex pairs]
        hint: wp.array2d(dtype=vec3)  # [n, most convex pairs], last normals, at any poses
        pair: wp.array2d(dtype=wp.int32)  # [n, n_rows], -1 = none
        distance: wp.array2d(dtype=scalar)  # [n, n_rows]

    @wp.struct
    class PairMotion:
        joint_S_s: wp.array2d(dtype=twist)  # [n, joint_dof_count], at the poses of the pairs
        dofs: wp.array(dtype=wp.int32)  # [n_active], driven by a variable
        variable: wp.array(dtype=wp.int32)  # [n_active]
        scale: wp.array(dtype=scalar)  # [n_active]
        moves: wp.array2d(dtype=wp.int32)  # [body_count + 1, n_active], row 0 is the world
        leader: wp.array(dtype=wp.int32)  # [body_count], first link with the same motion

    return SimpleNamespace(Pairs=Pairs, PairWork=PairWork, PairMotion=PairMotion)


@no_type_check
@functools.cache
def place_shape_function(scalar: type) -> wp.Function:
    """Build ``place_shape(data, work, robot, shape, body_q)``, the pose of a primitive.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    transform = spatial_functions(scalar).transform
    structs = pair_structs(scalar)
    Pairs, PairWork = structs.Pairs, structs.PairWork

    @wp.func
    def place_shape(
        data: Pairs, work: PairWork, robot: int, shape: int, body_q: wp.array2d(dtype=transform)
    ):
        body = data.shapes.body[shape]
        center = data.center[shape]
        axis = data.axis[shape]
        if body >= 0:
            pose = body_q[robot, body]
            center = wp.transform_point(pose, center)
            if data.shapes.kind[shape] != wp.static(_SPHERE):
                axis = wp.quat_rotate(wp.transform_get_rotation(pose), axis)
        work.center[robot, shape] = center
        work.axis[robot, shape] = axis

    return place_shape


@no_type_check
@functools.cache
def distance_functions(scalar: type, convex: bool) -> SimpleNamespace:
    """Build the functions of one floating-point type.

    - ``pair_distance(data, work, robot, k, body_q, limit) -> distance``: distance of pair k, exact
      up to the limit; a larger distance is only known to exceed it.
    - ``pair_direction(data, work, robot, k) -> (normal, point)``: unit normal from the second
      primitive to the first, and a point of the first core. The normal is zero if points or
      parallel segments touch.
    - ``pair_gap(data, work, robot, k, body_q, n)``: distance along a unit direction from the
      second primitive to the first, a lower bound of the distance. For a half-space the direction
      is its own normal.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
        convex: True if there are pairs that need GJK.
    """
    types = spatial_functions(scalar)
    vec3, transform = types.vec3, types.transform
    structs = pair_structs(scalar)
    Pairs, PairWork = structs.Pairs, structs.PairWork
    functions = round_functions(scalar)
    nearest, separation = functions.nearest, functions.separation
    above_plane = functions.above_plane

    @wp.func
    def round_distance(data: Pairs, work: PairWork, robot: int, a: int, b: int) -> scalar:
        center_a = work.center[robot, a]
        center_b = work.center[robot, b]
        axis_a = work.axis[robot, a]
        axis_b = work.axis[robot, b]
        if data.shapes.kind[b] == wp.static(_PLANE):
            height, _point = above_plane(center_a, axis_a, center_b, axis_b)
            return height
        v, _point = nearest(center_a, axis_a, center_b, axis_b)
        return wp.length(v)

    @wp.func
    def round_gap(data: Pairs, work: PairWork, robot: int, a: int, b: int, n: vec3) -> scalar:
        direction = n
        across = scalar(0.0)
        if data.shapes.kind[b] == wp.static(_PLANE):
            direction = work.axis[robot, b]
        else:
            across = wp.abs(wp.dot(direction, work.axis[robot, b]))
        apart = wp.dot(direction, work.center[robot, a] - work.center[robot, b])
        return apart - wp.abs(wp.dot(direction, work.axis[robot, a])) - across

    if convex:
        core_of = core_function(scalar)
        convex_separation = convex_functions(scalar).convex_separation
        depths = penetration_functions(scalar)
        gap_along, extreme = depths.gap_along, depths.extreme
        penetration = depths.penetration

        @wp.func
        def placed(
            data: Pairs, robot: int, shape: int, body_q: wp.array2d(dtype=transform)
        ) -> transform:
            body = data.shapes.body[shape]
            if body < 0:
                return data.shapes.pose[shape]
            return body_q[robot, body] * data.shapes.pose[shape]

        @wp.func
        def convex_distance(
            data: Pairs,
            work: PairWork,
            robot: int,
            a: int,
            b: int,
            slot: int,
            body_q: wp.array2d(dtype=transform),
            limit: scalar,
        ) -> scalar:
            distance, normal, point = convex_separation(
                data.cores,
                a,
                b,
                placed(data, robot, a, body_q),
                placed(data, robot, b, body_q),
                work.hint[robot, slot],
                limit,
            )
            if wp.length_sq(normal) == scalar(0.0):
                depth, normal, point = penetration(
                    data.cores.points,
                    core_of(data.cores, a),
                    core_of(data.cores, b),
                    placed(data, robot, a, body_q),
                    placed(data, robot, b, body_q),
                    work.hint[robot, slot],
                )
                distance = wp.min(depth, distance)
            work.hint[robot, slot] = normal
            work.normal[robot, slot] = normal
            work.point[robot, slot] = point
            return distance

        @wp.func
        def convex_gap(
            data: Pairs,
            work: PairWork,
            robot: int,
            a: int,
            b: int,
            body_q: wp.array2d(dtype=transform),
            n: vec3,
        ) -> scalar:
            pose_a = placed(data, robot, a, body_q)
            pose_b = placed(data, robot, b, body_q)
            if data.shapes.kind[b] == wp.static(_PLANE):
                core = core_of(data.cores, a)
                lowest = extreme(data.cores.points, core, pose_a, -work.axis[robot, b])
                return wp.dot(work.axis[robot, b], lowest - work.center[robot, b])
            core_a = core_of(data.cores, a)
            core_b = core_of(data.cores, b)
            gap, _point, _x = gap_along(data.cores.points, core_a, core_b, pose_a, pose_b, n)
            return gap
    else:

        @wp.func
        def convex_distance(
            data: Pairs,
            work: PairWork,
            robot: int,
            a: int,
            b: int,
            slot: int,
            body_q: wp.array2d(dtype=transform),
            limit: scalar,
        ) -> scalar:
            return scalar(wp.static(FAR))

        @wp.func
        def convex_gap(
            data: Pairs,
            work: PairWork,
            robot: int,
            a: int,
            b: int,
            body_q: wp.array2d(dtype=transform),
            n: vec3,
        ) -> scalar:
            return scalar(wp.static(-FAR))

    # A call would copy the structs, which takes longer than the distance of two spheres.
    @wp.func(inline=True)
    def pair_distance(
        data: Pairs,
        work: PairWork,
        robot: int,
        k: int,
        body_q: wp.array2d(dtype=transform),
        limit: scalar,
    ) -> scalar:
        """Return the distance of a pair, exact up to the limit, else some value above it."""
        a = data.pairs[k][0]
        b = data.pairs[k][1]
        apart = wp.length_sq(work.center[robot, a] - work.center[robot, b])
        reach = limit + data.shapes.bound[a] + data.shapes.bound[b]
        if reach <= scalar(0.0) or apart >= reach * reach:
            return scalar(wp.static(FAR))
        radii = data.shapes.radius[a] + data.shapes.radius[b]
        if k < data.counts[1]:
            return wp.sqrt(apart) - radii
        if k < data.counts[2]:
            return round_distance(data, work, robot, a, b) - radii
        slot = k - data.counts[2]
        return convex_distance(data, work, robot, a, b, slot, body_q, limit + radii) - radii

    @wp.func
    def pair_direction(data: Pairs, work: PairWork, robot: int, k: int):
        """Return the normal of a pair, zero if points touch, and a point of its first core."""
        a = data.pairs[k][0]
        b = data.pairs[k][1]
        axis_a = work.axis[robot, a]
        axis_b = work.axis[robot, b]
        if k >= data.counts[2]:
            slot = k - data.counts[2]
            return work.normal[robot, slot], work.point[robot, slot]
        if data.shapes.kind[b] == wp.static(_PLANE):
            _height, lowest = above_plane(
                work.center[robot, a], axis_a, work.center[robot, b], axis_b
            )
            return axis_b, lowest
        v, point = nearest(work.center[robot, a], axis_a, work.center[robot, b], axis_b)
        _distance, normal = separation(v, axis_a, axis_b)
        return normal, point

    @wp.func
    def pair_gap(
        data: Pairs,
        work: PairWork,
        robot: int,
        k: int,
        body_q: wp.array2d(dtype=transform),
        n: vec3,
    ) -> scalar:
        """Return the distance of a pair along a direction."""
        a = data.pairs[k][0]
        b = data.pairs[k][1]
        radii = data.shapes.radius[a] + data.shapes.radius[b]
        if k < data.counts[2]:
            return round_gap(data, work, robot, a, b, n) - radii
        return convex_gap(data, work, robot, a, b, body_q, n) - radii

    return SimpleNamespace(
        pair_distance=pair_distance, pair_direction=pair_direction, pair_gap=pair_gap
    )
