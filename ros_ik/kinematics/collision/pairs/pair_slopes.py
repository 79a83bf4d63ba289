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
    """Build ``write_slopes(robot, k, motion, data, work, slopes, row)``.

    The function writes dd/dx of the measured pair k into ``slopes[robot, row]``.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
        convex: True if there are pairs that need GJK.
    """
    types = spatial_functions(scalar)
    vec3, twist = types.vec3, types.twist
    structs = pair_structs(scalar)
    Pairs, PairWork, PairMotion = structs.Pairs, structs.PairWork, structs.PairMotion
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
        motion: PairMotion,
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
                for j in range(motion.dofs.shape[0]):
                    sign = motion.moves[body_a + 1, j] - motion.moves[body_b + 1, j]
                    slope = row_slope(motion.joint_S_s[robot, motion.dofs[j]], axis, moment)
                    slope = scalar(sign) * motion.scale[j] * slope
                    total += slope * slope
                if total > most:
                    most = total
                    best = axis
        return best

    @wp.func
    def write_slopes(
        robot: int,
        k: int,
        motion: PairMotion,
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
            normal = freest_axis(robot, point, wp.normalize(along), body_a, body_b, motion)
        moment = wp.cross(point, normal)
        for j in range(motion.dofs.shape[0]):
            sign = motion.moves[body_a + 1, j] - motion.moves[body_b + 1, j]
            if sign != 0:
                slope = row_slope(motion.joint_S_s[robot, motion.dofs[j]], normal, moment)
                change = scalar(sign) * motion.scale[j] * slope
                variable = motion.variable[j]
                slopes[robot, row, variable] = slopes[robot, row, variable] + change

    return write_slopes
