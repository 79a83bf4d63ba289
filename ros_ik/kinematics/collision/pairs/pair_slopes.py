# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of the distances of pairs of primitives, as a Warp function.

A degree of freedom that moves both links of a pair does not change their distance. Any other, with
the motion subspace (v, omega) in world axes at the world origin, changes it by

    dd/dq_k = +- n . (v + omega x p) = +- (v, omega) . (n, p x n)

with + if it moves the first link. p may be either of the nearest points, because their difference
is parallel to n.
"""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.collision.pairs.pair_functions import distance_functions
from ros_ik.kinematics.collision.pairs.pair_functions import pair_structs
from ros_ik.kinematics.spatial import spatial_functions


@no_type_check
@functools.cache
def write_slopes_function(scalar: type, convex: bool) -> wp.Function:
    """Build ``write_slopes(robot, k, <motion>, data, work, slopes, row)``.

    The function writes dd/dx of the measured pair k into ``slopes[robot, row]``. <motion> stands
    for joint_S_s, dofs, variable, scale and moves.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
        convex: True if there are pairs that need GJK.
    """
    types = spatial_functions(scalar)
    vec3, twist = types.vec3, types.twist
    structs = pair_structs(scalar)
    Pairs, PairWork = structs.Pairs, structs.PairWork
    pair_direction = distance_functions(scalar, convex).pair_direction

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
        """Return the direction normal to ``along`` in which touching cores separate easiest."""
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

    @wp.func
    def write_slopes(
        robot: int,
        k: int,
        joint_S_s: wp.array2d(dtype=twist),  # [n, joint_dof_count]
        dofs: wp.array(dtype=wp.int32),  # [n_active], driven by a variable
        variable: wp.array(dtype=wp.int32),  # [n_active]
        scale: wp.array(dtype=scalar),  # [n_active]
        moves: wp.array2d(dtype=wp.int32),  # [body_count + 1, n_active], row 0 is the world
        data: Pairs,
        work: PairWork,
        slopes: wp.array3d(dtype=scalar),  # [n, rows, n_variables]
        row: int,
    ):
        for j in range(slopes.shape[2]):
            slopes[robot, row, j] = scalar(0.0)
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
                robot, point, wp.normalize(along), body_a, body_b, joint_S_s, dofs, moves, scale
            )
        moment = wp.cross(point, normal)
        for j in range(dofs.shape[0]):
            sign = moves[body_a + 1, j] - moves[body_b + 1, j]
            if sign != 0:
                slope = row_slope(joint_S_s[robot, dofs[j]], normal, moment)
                change = scalar(sign) * scale[j] * slope
                slopes[robot, row, variable[j]] = slopes[robot, row, variable[j]] + change

    return write_slopes
