# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels for distances of pairs of primitives, the closest pairs, and their Jacobians."""

from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.collision.pairs.pair_functions import distance_functions
from ros_ik.kinematics.collision.pairs.pair_functions import pair_structs
from ros_ik.kinematics.collision.pairs.pair_functions import place_shape_function
from ros_ik.kinematics.collision.pairs.pair_slopes import write_slopes_function
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.spatial import spatial_functions


@no_type_check
def pair_distance_kernels(scalar: type, convex: bool, module: wp.Module) -> SimpleNamespace:
    """Build the kernels of one floating-point type; see :func:`pair_kernels`.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
        convex: True if there are shapes other than spheres, capsules and half-spaces.
        module: Module in which they are compiled.
    """
    transform = spatial_functions(scalar).transform
    structs = pair_structs(scalar)
    Pairs, PairWork, PairMotion = structs.Pairs, structs.PairWork, structs.PairMotion
    place_shape = place_shape_function(scalar)
    pair_distance = distance_functions(scalar, convex).pair_distance
    write_slopes = write_slopes_function(scalar, convex)

    @compiled_kernel(module=module)
    def place_primitives(
        body_q: wp.array2d(dtype=transform),  # [n, body_count]
        data: Pairs,
        work: PairWork,
    ):
        robot = wp.tid()
        for k in range(data.counts[0]):
            place_shape(data, work, robot, data.used[k], body_q)

    # A single kernel for both, because the measurement of a pair takes seconds to compile.
    @compiled_kernel(module=module)
    def pair_distances(
        body_q: wp.array2d(dtype=transform),  # [n, body_count]
        data: Pairs,
        each: bool,  # a row per pair; else the rows of a robot are its closest pairs
        start_idx: int,
        stride: int,  # threads of a robot, 1 for its closest pairs
        work: PairWork,
        values: wp.array2d(dtype=scalar),  # [n, total_rows]
    ):
        robot, thread = wp.tid()
        searches = wp.where(each, work.pair.shape[1], 1)
        for first in range(thread, searches, stride):
            end_row = work.pair.shape[1]
            end = data.counts[3]
            if each:
                end_row = first + 1
                end = wp.min(first + 1, end)
            for row in range(first, end_row):
                work.distance[robot, row] = data.d_max
                work.pair[robot, row] = -1
            limit = data.d_max
            for k in range(first, end):
                distance = pair_distance(data, work, robot, k, body_q, limit)
                if distance < limit:
                    row = end_row - 1
                    while row > first and work.distance[robot, wp.max(row - 1, 0)] > distance:
                        work.distance[robot, row] = work.distance[robot, row - 1]
                        work.pair[robot, row] = work.pair[robot, row - 1]
                        row -= 1
                    work.distance[robot, row] = distance
                    work.pair[robot, row] = k
                    limit = work.distance[robot, end_row - 1]
            for row in range(first, end_row):
                values[robot, start_idx + row] = work.distance[robot, row] - data.d_min

    @compiled_kernel(module=module)
    def distance_jacobian(
        motion: PairMotion,
        data: Pairs,
        start_idx: int,
        stride: int,  # threads of a robot
        work: PairWork,
        jacobian: wp.array3d(dtype=scalar),  # [n, total_rows, n_variables]
    ):
        robot, thread = wp.tid()
        for row in range(thread, work.pair.shape[1], stride):
            k = work.pair[robot, row]
            if k >= 0:
                write_slopes(robot, k, motion, data, work, jacobian, start_idx + row)
            else:
                for j in range(jacobian.shape[2]):
                    jacobian[robot, start_idx + row, j] = scalar(0.0)

    return SimpleNamespace(
        place=place_primitives,
        distances=pair_distances,
        jacobian=distance_jacobian,
    )
