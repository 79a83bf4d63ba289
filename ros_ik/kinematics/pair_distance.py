# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels: distances of pairs of primitives, the closest of them, and their Jacobians.

The degrees of freedom that move both links of a pair move it as a whole. Another one with the
motion subspace (v, omega), in world axes at the world origin, moves the distance by

    dd/dq_k = +- n . (v + omega x p) = +- (v, omega) . (n, p x n)

with + for those that move the first link. p may be either of the nearest points: their difference
lies along n.
"""

from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.compiled_kernel import compiled_kernel
from ros_ik.kinematics.pair_functions import distance_functions
from ros_ik.kinematics.pair_functions import pair_structs
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.model.joint_type import GeoType

_SPHERE = int(GeoType.SPHERE)


@no_type_check
def pair_distance_kernels(scalar: type, convex: bool, module: wp.Module) -> SimpleNamespace:
    """Build the kernels of one floating-point type; see :func:`pair_kernels`.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
        convex: Whether there are other shapes than spheres, capsules and half-spaces.
        module: Where they are compiled.
    """
    types = spatial_functions(scalar)
    vec3, transform, twist = types.vec3, types.transform, types.twist
    structs = pair_structs(scalar)
    Pairs, PairWork = structs.Pairs, structs.PairWork
    functions = distance_functions(scalar, convex)
    pair_distance, pair_direction = functions.pair_distance, functions.pair_direction

    @compiled_kernel(module=module)
    def place_primitives(
        body_q: wp.array2d(dtype=transform),  # [n, body_count]
        data: Pairs,
        work: PairWork,
    ):
        robot = wp.tid()
        for k in range(data.counts[0]):
            shape = data.used[k]
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

    # One kernel for both: what measures a pair takes seconds to compile.
    @compiled_kernel(module=module)
    def pair_distances(
        body_q: wp.array2d(dtype=transform),  # [n, body_count]
        data: Pairs,
        each: bool,  # a row per pair and a thread per row; else the closest of all, a thread each
        start_idx: int,
        work: PairWork,
        values: wp.array2d(dtype=scalar),  # [n, total_rows]
    ):
        robot, thread = wp.tid()
        first_row = int(0)
        end_row = work.pair.shape[1]
        first = int(0)
        end = data.counts[3]
        if each:
            first_row = thread
            end_row = thread + 1
            first = thread
            end = wp.min(thread + 1, end)
        for row in range(first_row, end_row):
            work.distance[robot, row] = data.d_max
            work.pair[robot, row] = -1
        limit = data.d_max
        for k in range(first, end):
            distance = pair_distance(data, work, robot, k, body_q, limit)
            if distance < limit:
                row = end_row - 1
                while row > first_row and work.distance[robot, wp.max(row - 1, 0)] > distance:
                    work.distance[robot, row] = work.distance[robot, row - 1]
                    work.pair[robot, row] = work.pair[robot, row - 1]
                    row -= 1
                work.distance[robot, row] = distance
                work.pair[robot, row] = k
                limit = work.distance[robot, end_row - 1]
        for row in range(first_row, end_row):
            values[robot, start_idx + row] = work.distance[robot, row] - data.d_min

    @wp.func
    def row_slope(S: twist, normal: vec3, moment: vec3) -> scalar:
        return wp.dot(vec3(S[0], S[1], S[2]), normal) + wp.dot(vec3(S[3], S[4], S[5]), moment)

    @wp.func
    def freest_axis(
        robot: int,
        point: vec3,
        along: vec3,
        body_a: int,
        body_b: int,
        joint_S_s: wp.array2d(dtype=twist),
        dofs: wp.array(dtype=wp.int32),
        moves: wp.array2d(dtype=wp.int32),
        scale: wp.array(dtype=scalar),
    ) -> vec3:
        """Direction across ``along`` in which two cores that have met part most easily."""
        best = vec3(scalar(0.0), scalar(0.0), scalar(1.0))
        most = scalar(-1.0)
        for k in range(3):
            axis = vec3()
            axis[k] = scalar(1.0)
            axis = axis - wp.dot(axis, along) * along
            if wp.length_sq(axis) > scalar(0.1):
                axis = wp.normalize(axis)
                moment = wp.cross(point, axis)
                total = scalar(0.0)
                for j in range(dofs.shape[0]):
                    factor = scalar(moves[body_a + 1, j] - moves[body_b + 1, j]) * scale[j]
                    slope = factor * row_slope(joint_S_s[robot, dofs[j]], axis, moment)
                    total += slope * slope
                if total > most:
                    most = total
                    best = axis
        return best

    @compiled_kernel(module=module)
    def distance_jacobian(
        joint_S_s: wp.array2d(dtype=twist),  # [n, joint_dof_count]
        dofs: wp.array(dtype=wp.int32),  # [n_active], those that a variable drives
        variable: wp.array(dtype=wp.int32),  # [n_active]
        scale: wp.array(dtype=scalar),  # [n_active]
        moves: wp.array2d(dtype=wp.int32),  # [body_count + 1, n_active], row 0 is the world
        data: Pairs,
        start_idx: int,
        work: PairWork,
        jacobian: wp.array3d(dtype=scalar),  # [n, total_rows, n_variables]
    ):
        robot, row = wp.tid()
        for j in range(jacobian.shape[2]):
            jacobian[robot, start_idx + row, j] = scalar(0.0)
        k = work.pair[robot, row]
        if k >= 0:
            normal, point = pair_direction(data, work, robot, k)
            a = data.pairs[k][0]
            b = data.pairs[k][1]
            body_a = data.shapes.body[a]
            body_b = data.shapes.body[b]
            if wp.length_sq(normal) == scalar(0.0):
                along = work.axis[robot, a]
                if wp.length_sq(along) == scalar(0.0):
                    along = work.axis[robot, b]
                normal = freest_axis(
                    robot,
                    point,
                    wp.normalize(along),
                    body_a,
                    body_b,
                    joint_S_s,
                    dofs,
                    moves,
                    scale,
                )
            moment = wp.cross(point, normal)
            for j in range(dofs.shape[0]):
                sign = moves[body_a + 1, j] - moves[body_b + 1, j]
                if sign != 0:
                    slope = row_slope(joint_S_s[robot, dofs[j]], normal, moment)
                    jacobian[robot, start_idx + row, variable[j]] += (
                        scalar(sign) * scale[j] * slope
                    )

    return SimpleNamespace(
        place=place_primitives,
        distances=pair_distances,
        jacobian=distance_jacobian,
    )
