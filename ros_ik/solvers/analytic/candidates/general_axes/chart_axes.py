# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Axes of an arm in the order of a chart, as Warp functions.

The elimination can begin at any joint and read the chain in either direction. With
E_1' = M^-1 E_1 M (axis 1 moved by M^-1), E_2 .. E_6 E_1' = M has the same solutions, and so on for
six shifts.
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.solvers.analytic.candidates.general_axes.elimination import frame_of
from ros_ik.solvers.analytic.subproblems.rotations import mat33
from ros_ik.solvers.analytic.subproblems.rotations import mat63
from ros_ik.solvers.analytic.subproblems.rotations import vec3
from ros_ik.solvers.analytic.subproblems.rotations import vec6


@no_type_check
@functools.cache
def general_axes_struct() -> Any:
    """Return the struct of the axes of an arm and its charts."""

    @wp.struct
    class GeneralAxes:
        directions: wp.array(dtype=wp.vec3d)  # [6], by joint
        points: wp.array(dtype=wp.vec3d)  # [6]
        tool: wp.transformd  # inverse of the pose of the tool with every joint at zero
        origin: wp.vec3d  # [m]
        reach: wp.float64  # [m]
        shifts: wp.array(dtype=wp.int32)  # of each chart, joints moved from the front to the end
        backwards: wp.array(dtype=wp.int32)  # 1: the shifted chain is then read from its end
        aside: wp.array(dtype=wp.vec3d)  # rotation of the target [rad]
        newton_steps: int

    return GeneralAxes


@no_type_check
@functools.cache
def chart_axes_functions() -> SimpleNamespace:
    """Build the functions.

    Returns:
        The functions

        - ``axes_motion(general, pose) -> R_0, t_0, beyond``;
        - ``plain_axes(general) -> h, p, order``, in the order of the chain;
        - ``chart_axes(general, chart, R_0, t_0) -> h, p, order, R, t``.
    """
    GeneralAxes = general_axes_struct()
    one, zero = wp.float64(1.0), wp.float64(0.0)

    @wp.func
    def axes_motion(general: GeneralAxes, pose: wp.transformd):
        """Return the motion M = E_1 .. E_6, and 1 for a target out of reach, which is moved."""
        position = (wp.transform_get_translation(pose) - general.origin) / general.reach
        # Points outside a sphere of the reach about a point of axis 1 are unreachable.
        out = position - general.points[0]
        distance = wp.length(out)
        beyond = zero
        if distance > one:
            position = general.points[0] + out / distance
            beyond = one
        motion = wp.transformd(position, wp.normalize(wp.transform_get_rotation(pose)))
        motion = motion * general.tool
        R_0 = wp.quat_to_matrix(wp.transform_get_rotation(motion))
        t_0 = wp.transform_get_translation(motion)
        return R_0, t_0, beyond

    @wp.func
    def plain_axes(general: GeneralAxes):
        """Return the axes in the order of the chain, and this order."""
        h = mat63()
        p = mat63()
        order = vec6()
        for k in range(6):
            h[k] = general.directions[k]
            p[k] = general.points[k]
            order[k] = wp.float64(k)
        return h, p, order

    @wp.func
    def chart_axes(general: GeneralAxes, chart: int, R_0: mat33, t_0: vec3):
        """Return the axes in the order of a chart, this order, and the motion of the target.

        They are in a frame in which axis 2 is the z axis.
        """
        shift = general.shifts[chart]
        backwards = general.backwards[chart] != 0
        order = vec6()
        h = mat63()
        p = mat63()
        for k in range(6):
            from_start = k
            if backwards:
                from_start = 5 - k
            joint = (from_start + shift) % 6
            order[k] = wp.float64(joint)
            axis = general.directions[joint]
            point = general.points[joint]
            if joint < shift:
                axis = wp.transpose(R_0) * axis
                point = wp.transpose(R_0) * (point - t_0)
            if backwards:
                axis = -axis
            h[k] = axis
            p[k] = point
        R = R_0
        t = t_0
        if backwards:
            R = wp.transpose(R_0)
            t = -(R * t_0)
        # The frame of axis 2: its direction is z, and it passes through the origin.
        F = frame_of(h[1])
        corner = p[1]
        t = F * (t + R * corner - corner)
        R = F * R * wp.transpose(F)
        for k in range(6):
            p[k] = F * (p[k] - corner)
            h[k] = F * h[k]
        return h, p, order, R, t

    return SimpleNamespace(axes_motion=axes_motion, plain_axes=plain_axes, chart_axes=chart_axes)
