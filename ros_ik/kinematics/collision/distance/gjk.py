# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Distance of two convex shapes by closed forms or by the Gilbert-Johnson-Keerthi algorithm.

A shape, as in :class:`ros_ik.model.shapes.collision_shapes.ConvexShapes`, is a core inflated by a
radius. With cores A and B,

    d = min |a - b| - r_A - r_B,   a in A, b in B

and for a half-space with normal n through o,  d = min n . (b - o) - r_A - r_B.  If the cores
overlap, the minimum is 0, and d is -(r_A + r_B) instead of the penetration depth.

GJK iterates over points v = a - b of the Minkowski difference towards the origin. Let the support
w be the point of the difference that is farthest along -v. The distance then lies in
[v . w / |v|, |v|], and the iteration ends when both bounds agree (Gilbert, Johnson, Keerthi 1988,
"A fast procedure for computing the distance between complex objects in three-dimensional space").
All computations are in the frame of the first shape, so that float32 errors scale with the size of
the shapes.
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.collision.distance.convex_cores import collision_structs
from ros_ik.kinematics.collision.distance.convex_cores import core_function
from ros_ik.kinematics.collision.distance.convex_cores import support_function
from ros_ik.kinematics.collision.distance.simplex import simplex_function
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.model.conventions.joint_type import GeoType

_POINT, _SEGMENT, _PLANE = int(GeoType.SPHERE), int(GeoType.CAPSULE), int(GeoType.PLANE)
# Polytopes take up to about 12 iterations, two round shapes up to about 30 in float64.
_MAX_STEPS = 40
# Relative difference at which the bounds of the squared distance agree; limited by float32.
_AGREEMENT = {wp.float32: 1e-6, wp.float64: 1e-11}
# Cores overlap if v is shorter than this fraction of the shapes' extent, which is rounding.
_TOUCH = {wp.float32: 1e-6, wp.float64: 1e-13}
# Squared sine of a triangle's corner below which its normal is dominated by rounding.
_THIN = 1e-8


@no_type_check
@functools.cache
def _core_functions(scalar: type) -> SimpleNamespace:
    """Build ``gjk`` and ``segments``, which compute the distance of cores, in the first's frame.

    The second core has rotation R and position p in this frame. Both functions return the
    distance, a lower bound, the nearest point of the first core, and the vector v to it from the
    nearest point of the second.
    """
    vec3 = spatial_functions(scalar).vec3
    mat33 = wp.types.matrix((3, 3), scalar)
    mat43 = wp.types.matrix((4, 3), scalar)
    support = support_function(scalar)
    nearest_of_simplex = simplex_function(scalar)
    Core = collision_structs(scalar).Core
    agreement, touch = _AGREEMENT[scalar], _TOUCH[scalar]

    @wp.func
    def across_simplex(corners: mat43, n: int, v: vec3) -> vec3:
        """Project v onto the normal of a triangle, or perpendicular to a segment.

        A weighted sum of distant corners has rounding errors along the simplex. If the distance is
        small compared with the corners, such an error selects the wrong corner of a large shape.
        """
        edge = corners[1] - corners[0]
        if n == 2:
            return v - (wp.dot(edge, v) / wp.length_sq(edge)) * edge
        if n == 3:
            other = corners[2] - corners[0]
            normal = wp.cross(edge, other)
            squared = wp.length_sq(normal)
            if squared > scalar(wp.static(_THIN)) * wp.length_sq(edge) * wp.length_sq(other):
                return (wp.dot(normal, v) / squared) * normal
        return v

    @wp.func
    def is_corner(corners: mat43, n: int, w: vec3) -> bool:
        """Return True if w is a corner already, so that the iteration has ended.

        A simplex with the same corner twice has zero volume, but with fused multiply-add the
        computed volume is not exactly zero.
        """
        found = bool(False)
        for k in range(3):
            found = found or (k < n and corners[k] == w)
        return found

    @wp.func
    def reduced(corners: mat43, on_a: mat43, n: int):
        """Keep the corners of the nearest point; return it and the point of the first core."""
        weights = nearest_of_simplex(corners, n)
        v = vec3()
        point = vec3()
        kept = int(0)
        for k in range(4):
            if k < n and weights[k] > scalar(0.0):
                v += weights[k] * corners[k]
                point += weights[k] * on_a[k]
                # Rows of constant index, as in with_row, whose copies take 4 to 9 % of a
                # collision check on a CPU.
                for i in range(k):
                    if i == kept:
                        corners[i] = corners[k]
                        on_a[i] = on_a[k]
                kept += 1
        v = across_simplex(corners, kept, v)
        if kept == 4:
            v = vec3()  # inside
        return corners, on_a, kept, v, point

    @wp.func(inline=False)
    def gjk(
        points: wp.array(dtype=vec3),
        a: Core,
        b: Core,
        R: mat33,
        p: vec3,
        stop_below: scalar,
        stop_above: scalar,
    ):
        R_t = wp.transpose(R)
        corners = mat43()  # of the simplex, points of the difference
        on_a = mat43()  # the corresponding points of the first core
        n = int(1)
        d = -p
        if wp.length_sq(d) == scalar(0.0):
            d = vec3(scalar(1.0), scalar(0.0), scalar(0.0))
        point = support(points, a, -d)
        v = point - (p + R @ support(points, b, R_t @ d))
        corners[0] = v
        on_a[0] = point
        squared = wp.length_sq(v)
        lower = scalar(0.0)
        extent = squared
        for _step in range(wp.static(_MAX_STEPS)):
            if squared <= scalar(wp.static(touch * touch)) * extent:
                v = vec3()
                squared = scalar(0.0)
                break
            distance = wp.sqrt(squared)
            if distance <= stop_below:
                break
            new_a = support(points, a, -v)
            w = new_a - (p + R @ support(points, b, R_t @ v))
            along = wp.dot(v, w)
            lower = wp.max(lower, along / distance)
            if lower > stop_above or squared - along <= scalar(wp.static(agreement)) * squared:
                break
            if is_corner(corners, n, w):
                break
            extent = wp.max(extent, wp.length_sq(w))
            for k in range(1, 4):  # constant indices, as above
                if k == n:
                    corners[k] = w
                    on_a[k] = new_a
            n += 1
            new_v = v
            new_point = point
            # A loop, because compilers would inline the function twice.
            tries = int(2)
            while tries > 0:
                corners, on_a, n, new_v, new_point = reduced(corners, on_a, n)
                tries -= 1
                if wp.length_sq(new_v) < squared:
                    tries = 0
                elif tries > 0:
                    # Rounding in a thin simplex: continue with the segment from the point itself,
                    # which is also a point of the difference, to the new corner.
                    corners[0] = v
                    on_a[0] = point
                    corners[1] = w
                    on_a[1] = new_a
                    n = 2
            new_squared = wp.length_sq(new_v)
            if not new_squared < squared:
                break  # no further progress because of rounding
            v = new_v
            point = new_point
            squared = new_squared
        return wp.sqrt(squared), lower, point, v

    @wp.func
    def segments(half_a: scalar, half_b: scalar, R: mat33, p: vec3):
        """Return the distance of the segments s z, |s| <= half_a, and p + t R z, |t| <= half_b."""
        u = vec3(R[0, 2], R[1, 2], R[2, 2])
        # min |s z - p - t u|: s = p_z + t c, t = (s c - p . u) with c = z . u. Without t,
        # s = (p_z - c p . u) / (1 - c c); both differences cancel if u is nearly z, and the sums
        # of their x and y parts do not.
        c = u[2]
        along = wp.dot(p, u)
        sine = u[0] * u[0] + u[1] * u[1]  # squared
        s = scalar(0.0)
        if sine > scalar(0.0):
            s = p[2] - c * (p[0] * u[0] + p[1] * u[1]) / sine
        s = wp.clamp(s, -half_a, half_a)
        t = wp.clamp(s * c - along, -half_b, half_b)
        s = wp.clamp(p[2] + t * c, -half_a, half_a)
        point = vec3(scalar(0.0), scalar(0.0), s)
        v = point - p - t * u
        distance = wp.length(v)
        return distance, distance, point, v

    return SimpleNamespace(gjk=gjk, segments=segments)


@no_type_check
@functools.cache
def shape_distance_function(scalar: type) -> wp.Function:
    """Build the distance of two shapes.

    ``shape_distance(shapes, a, b, pose_a, pose_b, stop_below, stop_above) -> Proximity`` takes
    the indices of the shapes and their poses in the world. The search may end early if the
    distance is proved to be at most ``stop_below``, or more than ``stop_above``; 0 and infinity
    give the exact distance. NaN coordinates give an overlap. Distance and points are finite for
    finite poses.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    types = spatial_functions(scalar)
    vec3, transform = types.vec3, types.transform
    structs = collision_structs(scalar)
    Shapes, Proximity = structs.Shapes, structs.Proximity
    functions = _core_functions(scalar)
    gjk, segments = functions.gjk, functions.segments
    core_of, support = core_function(scalar), support_function(scalar)

    @wp.func
    def is_round(kind: int) -> bool:
        return kind == wp.static(_POINT) or kind == wp.static(_SEGMENT)

    @wp.func
    def above_plane(
        shapes: Shapes, plane: int, other: int, pose_plane: transform, pose_other: transform
    ) -> Proximity:
        """Return the distance between a half-space and another core; negative inside."""
        n = wp.quat_rotate(
            wp.transform_get_rotation(pose_plane), vec3(scalar(0.0), scalar(0.0), scalar(1.0))
        )
        down = wp.quat_rotate_inv(wp.transform_get_rotation(pose_other), -n)
        lowest = wp.transform_point(
            pose_other, support(shapes.points, core_of(shapes, other), down)
        )
        height = wp.dot(n, lowest - wp.transform_get_translation(pose_plane))
        radius_plane = shapes.radius[plane]
        radius_other = shapes.radius[other]
        result = Proximity()
        result.distance = height - radius_plane - radius_other
        if not (wp.isfinite(result.distance)):
            result.distance = -(radius_plane + radius_other)
        result.lower = result.distance
        result.point_a = lowest - (height - radius_plane) * n
        result.point_b = lowest - radius_other * n
        return result

    @wp.func
    def swapped(given: Proximity) -> Proximity:
        result = Proximity()
        result.distance = given.distance
        result.lower = given.lower
        result.point_a = given.point_b
        result.point_b = given.point_a
        return result

    @wp.func
    def shape_distance(
        shapes: Shapes,
        a: int,
        b: int,
        pose_a: transform,
        pose_b: transform,
        stop_below: scalar,
        stop_above: scalar,
    ) -> Proximity:
        if shapes.kind[a] == wp.static(_PLANE):
            return above_plane(shapes, a, b, pose_a, pose_b)
        if shapes.kind[b] == wp.static(_PLANE):
            return swapped(above_plane(shapes, b, a, pose_b, pose_a))
        relative = wp.transform_multiply(wp.transform_inverse(pose_a), pose_b)
        R = wp.quat_to_matrix(wp.transform_get_rotation(relative))
        p = wp.transform_get_translation(relative)
        radius_a = shapes.radius[a]
        radius_b = shapes.radius[b]
        radii = radius_a + radius_b
        if is_round(shapes.kind[a]) and is_round(shapes.kind[b]):
            distance, lower, point, v = segments(shapes.size[a][2], shapes.size[b][2], R, p)
        else:
            distance, lower, point, v = gjk(
                shapes.points,
                core_of(shapes, a),
                core_of(shapes, b),
                R,
                p,
                stop_below + radii,
                stop_above + radii,
            )
        result = Proximity()
        if not (wp.isfinite(distance) and wp.isfinite(lower)):
            distance = scalar(0.0)
            lower = scalar(0.0)
        result.distance = distance - radii
        result.lower = lower - radii
        normal = vec3()
        if distance > scalar(0.0):
            normal = v / distance
        result.point_a = wp.transform_point(pose_a, point - radius_a * normal)
        result.point_b = wp.transform_point(pose_a, point - v + radius_b * normal)
        return result

    return shape_distance


@no_type_check
@shares_launch_lock
def shape_arrays(shapes: Any, scalar: type, device: wp.DeviceLike) -> Any:
    """Return convex shapes as a struct for kernels.

    Args:
        shapes: A :class:`ros_ik.model.shapes.collision_shapes.ConvexShapes`.
        scalar: ``wp.float32`` or ``wp.float64``.
        device: Device of the arrays.
    """
    types = spatial_functions(scalar)
    arrays = collision_structs(scalar).Shapes()
    for name in ('kind', 'body', 'first', 'count'):
        setattr(arrays, name, wp.array(getattr(shapes, name), dtype=wp.int32, device=device))
    for name, dtype in (
        ('pose', types.transform), ('size', types.vec3), ('points', types.vec3),
        ('radius', scalar), ('bound', scalar),
    ):  # fmt: skip
        setattr(arrays, name, wp.array(getattr(shapes, name), dtype=dtype, device=device))
    return arrays
