# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel for the nearest surface points of the closest pairs of primitives."""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.collision.pairs.pair_functions import distance_functions
from ros_ik.kinematics.collision.pairs.pair_functions import pair_structs
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.spatial import spatial_functions


@no_type_check
@functools.cache
def pair_points_kernel(scalar: type) -> wp.Kernel:
    """Build the kernel of one floating-point type, for the last measured pairs.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    vec3, structs = spatial_functions(scalar).vec3, pair_structs(scalar)
    Pairs, PairWork = structs.Pairs, structs.PairWork
    pair_direction = distance_functions(scalar, False).pair_direction

    @compiled_kernel()
    def pair_points(
        data: Pairs,
        work: PairWork,
        points: wp.array3d(dtype=vec3),  # [n, n_rows, 2], in the world
    ):
        robot, row = wp.tid()
        k = work.pair[robot, row]
        if k >= 0:
            normal, core = pair_direction(data, work, robot, k)
            first = core - data.shapes.radius[data.pairs[k][0]] * normal
            points[robot, row, 0] = first
            points[robot, row, 1] = first - work.distance[robot, row] * normal

    return pair_points
