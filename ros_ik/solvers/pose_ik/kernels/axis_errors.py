# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Errors of a pose by axis, as Warp functions.

With the rotation matrix F of the target or the tool, the errors in its axes are

    e_p = F^T (p_t - p)      e_r = F^T log(R_t R^T)

The rotation R_t R^T from tool to target has the same axis in both frames, so e_r is the same too.
The residual omits errors within a zone without cost, r = e - clamp(e, -zone, zone). A step d
reduces it by J d, with the columns

    F^T (v [+ omega x (p_t - p)])      R_t^T J_r^-1(log(R_t R^T)) omega

for a joint that moves the tool with velocity v, omega. The term in brackets applies to the frame
of the tool. J_r(theta) = J_l(-theta) is the right Jacobian of SO(3), see
:mod:`ros_ik.objectives.base.functions`.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.objectives.base.functions import objective_functions
from ros_ik.solvers.pose_ik.kernels.functions import rotation_error_function


@no_type_check
@functools.cache
def axis_bounds_struct(scalar: type) -> type:
    """Return the struct of tolerances by axis."""
    vec3 = wp.types.vector(3, scalar)

    @wp.struct
    class AxisBounds:
        position: vec3  # [m], largest errors; inf where their length is bounded instead
        rotation: vec3  # [rad]
        position_zone: vec3  # [m], errors that cost nothing; inf for a free axis
        rotation_zone: vec3  # [rad]
        in_tool: int  # 1 for the axes of the tool, 0 for those of the target

    return AxisBounds


@no_type_check
@functools.cache
def axis_bound_functions(scalar: type) -> SimpleNamespace:
    """Build the functions that compare errors with their bounds.

    Returns:
        ``is_inside(error, bound) -> bool`` for all three axes; ``beyond(error, zone) ->
        residual``; ``counted(error, zone) -> error`` without free axes.
    """
    vec3 = wp.types.vector(3, scalar)

    @wp.func
    def is_inside(error: vec3, bound: vec3) -> bool:
        inside = bool(True)
        for k in range(3):
            inside = inside and wp.abs(error[k]) <= bound[k]
        return inside

    @wp.func
    def beyond(error: vec3, zone: vec3) -> vec3:
        residual = vec3()
        for k in range(3):
            residual[k] = error[k] - wp.clamp(error[k], -zone[k], zone[k])
        return residual

    @wp.func
    def counted(error: vec3, zone: vec3) -> vec3:
        left = error
        for k in range(3):
            if wp.isinf(zone[k]):
                left[k] = scalar(0.0)
        return left

    return SimpleNamespace(is_inside=is_inside, beyond=beyond, counted=counted)


@no_type_check
def axis_error_functions(scalar: type, chain: SimpleNamespace) -> SimpleNamespace:
    """Build the functions of one structure of chain.

    Args:
        scalar: Floating-point type.
        chain: The functions of :func:`chain_functions`.

    Returns:
        ``axis_errors(bounds, R, p, R_t, p_t) -> e_p, e_r`` and
        ``axis_columns(chain, bounds, axes, pivots, R, p, R_t, p_t, r_p, r_r) -> linear, angular``,
        [n, 3] each, zero for axes without a residual.
    """
    n, AxisBounds = chain.n_joints, axis_bounds_struct(scalar)
    vec3, matn3, mat33 = chain.vec3, chain.matn3, wp.types.matrix((3, 3), scalar)
    Chain, velocities, is_slide = chain.Chain, chain.velocities, chain.is_slide
    rotation_error = rotation_error_function(scalar)
    log_velocity = objective_functions(scalar).log_velocity

    @wp.func
    def frame_of(bounds: AxisBounds, R: mat33, R_t: mat33) -> mat33:
        frame = R_t
        if bounds.in_tool == 1:
            frame = R
        return wp.transpose(frame)

    @wp.func
    def axis_errors(bounds: AxisBounds, R: mat33, p: vec3, R_t: mat33, p_t: vec3):
        inverse = frame_of(bounds, R, R_t)
        return inverse * (p_t - p), wp.transpose(R_t) * rotation_error(R, R_t)

    @wp.func
    def axis_columns(
        chain: Chain,
        bounds: AxisBounds,
        axes: matn3,
        pivots: matn3,
        R: mat33,
        p: vec3,
        R_t: mat33,
        p_t: vec3,
        r_p: vec3,
        r_r: vec3,
    ):
        inverse = frame_of(bounds, R, R_t)
        log = rotation_error(R, R_t)
        velocity = velocities(chain, axes, pivots, p)
        linear = matn3()
        angular = matn3()
        for i in range(n):
            moved = vec3(velocity[i, 0], velocity[i, 1], velocity[i, 2])
            turned = vec3()
            if not is_slide(chain, i):
                axis = vec3(axes[i, 0], axes[i, 1], axes[i, 2])
                turned = wp.transpose(R_t) * log_velocity(-log, axis)
                if bounds.in_tool == 1:
                    moved += wp.cross(axis, p_t - p)
            moved = inverse * moved
            for k in range(3):
                if r_p[k] != scalar(0.0):
                    linear[i, k] = moved[k]
                if r_r[k] != scalar(0.0):
                    angular[i, k] = turned[k]
        return linear, angular

    return SimpleNamespace(axis_errors=axis_errors, axis_columns=axis_columns)
