# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Map from a chain's variables to its model, and Warp functions that write configurations."""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.solvers.pose_ik.kernels.axis_errors import axis_bounds_struct


@no_type_check
@functools.cache
def placement_struct() -> Any:
    """Return the struct that maps the variables of a chain to the model."""
    AxisBounds = axis_bounds_struct(wp.float64)

    @wp.struct
    class Placement:
        path: wp.array(dtype=wp.int32)  # [k], joints from the world to the link, not fixed ones
        # Of each joint in the one before or the world, [k]. Revolute joints turn about z.
        before: wp.array(dtype=wp.transformd)
        tool: wp.transformd  # of the tool in the last joint or the world
        coordinate: wp.array(dtype=wp.int32)  # [m], of each variable
        follower: wp.array(dtype=wp.int32)  # [mimics], coordinate that follows
        driver: wp.array(dtype=wp.int32)  # [mimics], coordinate it follows
        coef0: wp.array(dtype=wp.float64)  # [mimics]
        coef1: wp.array(dtype=wp.float64)  # [mimics]
        locked: wp.array(dtype=wp.int32)  # [h], coordinates that do not move
        base: wp.array(dtype=wp.float64)  # [joint_coord_count], with their values
        lower: wp.array(dtype=wp.float64)  # [m]
        upper: wp.array(dtype=wp.float64)  # [m]
        separation: wp.float64  # [rad or m], least distance of distinct solutions
        position_tolerance: wp.float64
        rotation_tolerance: wp.float64
        bounds: AxisBounds
        by_axis: int  # 1 if bounds are given by axis
        position_weight: wp.float64  # of the position in the cost of the search
        length: wp.float64  # [m], of a radian in it
        free_turns: int  # of the tool that do not matter: 0, 1 (about free_axis) or 3
        free_axis: wp.vec3d  # in the tool

    return Placement


@no_type_check
@functools.cache
def configuration_functions(lanes: int = 1) -> SimpleNamespace:
    """Build the functions, which are the same for all robots.

    Args:
        lanes: Number of configurations that are written together.

    Returns:
        The functions

        - ``write_followers(placement, out, joint_q)``, the coordinates that follow others;
        - ``write_others(placement, out, joint_q)``, these and those that do not move;
        - ``write_configurations(placement, out, row, first, count, room, solutions, joint_q)
          -> insides``.
    """
    Placement = placement_struct()
    LaneNumbers = wp.types.vector(lanes, wp.float64)

    @wp.func
    def write_followers(placement: Placement, out: int, joint_q: wp.array2d(dtype=wp.float64)):
        for k in range(placement.follower.shape[0]):
            joint_q[out, placement.follower[k]] = (
                placement.coef0[k] + placement.coef1[k] * joint_q[out, placement.driver[k]]
            )

    @wp.func
    def write_others(placement: Placement, out: int, joint_q: wp.array2d(dtype=wp.float64)):
        """Write the coordinates of a row that are no variables of the chain."""
        written = joint_q[out]
        k = int(0)
        while k < placement.locked.shape[0]:
            coordinate = placement.locked[k]
            written[coordinate] = placement.base[coordinate]
            k += 1
        write_followers(placement, out, joint_q)

    @wp.func
    def write_configurations(
        placement: Placement,
        out: int,
        row: int,
        first: int,
        count: int,
        room: int,
        solutions: wp.array3d(dtype=wp.float64),
        joint_q: wp.array2d(dtype=wp.float64),
    ) -> LaneNumbers:
        """Write configurations to rows from ``out`` on; return 1 for those within the limits.

        They are the entries from ``first`` to ``room`` of a row of solutions. Those from ``count``
        on repeat the first entry.
        """
        insides = LaneNumbers()
        m = placement.coordinate.shape[0]
        # Threads with lanes write the first row, too, and copy it.
        computed = wp.where(wp.static(lanes > 1), wp.min(count, room), room)
        lane = int(0)
        while lane < wp.static(lanes) and first + lane < computed:
            given = solutions[row, wp.where(first + lane < count, first + lane, 0)]
            # The address of a row is computed once.
            written = joint_q[out + lane]
            off = wp.float64(0.0)
            j = int(0)
            while j < m:
                value = given[j]
                written[placement.coordinate[j]] = value
                off = wp.max(off, wp.max(placement.lower[j] - value, value - placement.upper[j]))
                j += 1
            insides[lane] = wp.where(off <= wp.float64(0.0), wp.float64(1.0), wp.float64(0.0))
            write_others(placement, out + lane, joint_q)
            lane += 1
        while lane < wp.static(lanes) and first + lane < room:
            first_written = joint_q[out - first]
            written = joint_q[out + lane]
            k = int(0)
            while k < joint_q.shape[1]:
                written[k] = first_written[k]
                k += 1
            lane += 1
        return insides

    return SimpleNamespace(
        write_followers=write_followers, write_others=write_others,
        write_configurations=write_configurations,
    )  # fmt: skip
