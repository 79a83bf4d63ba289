# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that finds pairs of primitives that may touch while joints move within bounds.

A joint that turns by theta moves a point at the distance rho from its axis along an arc of length
theta rho. It merely rotates the displacement of the point by later joints, so that

    |dp| <= sum_k |theta_k| rho_k

with the distances rho before the motion, and rho = 1 for a prismatic joint. The distance of a pair
falls by no more than the motion of both sides, each by the degrees of freedom that do not move the
other side. (For bounds of this kind see Schwarzer, Saha, Latombe, "Adaptive dynamic collision
checking for single and multiple robots in complex environments", T-RO 21 (2005).)
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.collision.pairs.pair_functions import distance_functions
from ros_ik.kinematics.collision.pairs.pair_functions import pair_structs
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.spatial import spatial_functions

# Allowance for the rounding of bounds and of distances by GJK [m].
ROUNDING = 1e-6


@no_type_check
@functools.cache
def arc_function(scalar: type) -> wp.Function:
    """Build ``arc(S, travel, point, reach)``, a bound on the motion of points within ``reach``.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    types = spatial_functions(scalar)
    vec3, twist, point_velocity = types.vec3, types.twist, types.point_velocity

    @wp.func
    def arc(S: twist, travel: scalar, point: vec3, reach: scalar) -> scalar:
        turned = wp.length(vec3(S[3], S[4], S[5]))
        return wp.abs(travel) * (wp.length(point_velocity(S, point)) + turned * reach)

    return arc


@no_type_check
@functools.cache
def sweep_functions(scalar: type) -> SimpleNamespace:
    """Build functions that bound the approach of pairs for bounded motions of the joints.

    - ``arc``: see :func:`arc_function`.
    - ``set_travels(data, work, robot, motion, travel, travels)``: bound on the
      motion of each shape in the world.
    - ``may_reach(data, work, robot, k, travels)``: true if the bounding spheres of a pair can
      touch.
    - ``pair_fall(data, work, robot, k, motion, travel)``: largest decrease of the
      distance of a pair.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    structs = pair_structs(scalar)
    Pairs, PairWork, PairMotion = structs.Pairs, structs.PairWork, structs.PairMotion
    arc = arc_function(scalar)

    @wp.func
    def shape_travel(
        data: Pairs,
        work: PairWork,
        robot: int,
        shape: int,
        other: int,
        motion: PairMotion,
        travel: wp.array2d(dtype=scalar),
    ) -> scalar:
        """Return the bound on the motion of a shape by joints that do not also move ``other``."""
        total = scalar(0.0)
        body = data.shapes.body[shape]
        if body >= 0:
            reach = wp.max(data.shapes.bound[shape] - data.shapes.radius[shape], scalar(0.0))
            for j in range(motion.dofs.shape[0]):
                if motion.moves[body + 1, j] != 0 and motion.moves[other + 1, j] == 0:
                    dof = motion.dofs[j]
                    S = motion.joint_S_s[robot, dof]
                    total += arc(S, travel[robot, dof], work.center[robot, shape], reach)
        return total

    @wp.func
    def set_travels(
        data: Pairs,
        work: PairWork,
        robot: int,
        motion: PairMotion,
        travel: wp.array2d(dtype=scalar),
        travels: wp.array2d(dtype=scalar),
    ):
        for k in range(data.counts[0]):
            shape = data.used[k]
            travels[robot, shape] = shape_travel(data, work, robot, shape, -1, motion, travel)

    @wp.func
    def may_reach(
        data: Pairs, work: PairWork, robot: int, k: int, travels: wp.array2d(dtype=scalar)
    ) -> bool:
        a = data.pairs[k][0]
        b = data.pairs[k][1]
        limit = data.d_min + scalar(wp.static(ROUNDING)) + travels[robot, a] + travels[robot, b]
        apart = wp.length_sq(work.center[robot, a] - work.center[robot, b])
        reach = limit + data.shapes.bound[a] + data.shapes.bound[b]
        return not (reach <= scalar(0.0) or apart >= reach * reach)

    @wp.func
    def pair_fall(
        data: Pairs,
        work: PairWork,
        robot: int,
        k: int,
        motion: PairMotion,
        travel: wp.array2d(dtype=scalar),
    ) -> scalar:
        a = data.pairs[k][0]
        b = data.pairs[k][1]
        body_a = data.shapes.body[a]
        body_b = data.shapes.body[b]
        fall = shape_travel(data, work, robot, a, body_b, motion, travel)
        fall += shape_travel(data, work, robot, b, body_a, motion, travel)
        return fall

    return SimpleNamespace(
        arc=arc, set_travels=set_travels, may_reach=may_reach, pair_fall=pair_fall
    )


@no_type_check
def pair_sweep_kernel(scalar: type, convex: bool, module: wp.Module) -> wp.Kernel:
    """Build the kernel of one floating-point type; see :func:`pair_kernels`.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
        convex: True if there are shapes other than spheres, capsules and half-spaces.
        module: Module in which it is compiled.
    """
    transform = spatial_functions(scalar).transform
    structs = pair_structs(scalar)
    Pairs, PairWork, PairMotion = structs.Pairs, structs.PairWork, structs.PairMotion
    pair_distance = distance_functions(scalar, convex).pair_distance
    functions = sweep_functions(scalar)
    set_travels, pair_fall = functions.set_travels, functions.pair_fall
    may_reach = functions.may_reach

    @compiled_kernel(module=module)
    def sweep_pairs(
        body_q: wp.array2d(dtype=transform),  # [n, body_count]
        motion: PairMotion,
        travel: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
        data: Pairs,
        work: PairWork,
        travels: wp.array2d(dtype=scalar),  # [n, n_shapes], of shapes in the world
        may_meet: wp.array(dtype=wp.int32),  # [n], set if a pair may fall below d_min
    ):
        robot = wp.tid()
        least = data.d_min + scalar(wp.static(ROUNDING))
        set_travels(data, work, robot, motion, travel, travels)
        for k in range(data.counts[3]):
            if may_reach(data, work, robot, k, travels):
                fall = pair_fall(data, work, robot, k, motion, travel)
                # A pair that does not move cannot get closer.
                if not (fall == scalar(0.0)):
                    limit = least + fall
                    if not (pair_distance(data, work, robot, k, body_q, limit) > limit):
                        may_meet[robot] = 1
                        break

    return sweep_pairs
