# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motion of a joint and its columns of the motion subspace, as Warp functions by joint type.

The pose of a joint's child is the joint's ``frame`` on the parent times the motion of the joint.
The columns are the twists of the child at the origin of the coordinate system in which ``frame``
is given, in its axes. A free joint has a position and a quaternion, a ball joint only a
quaternion; both rotate about the origin of ``frame``. A D6 joint is a product of single-axis
joints.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.spatial import spatial_functions


@no_type_check
@functools.cache
def joint_functions(scalar: type) -> SimpleNamespace:
    """Build the functions of one floating-point type.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.

    Returns:
        For a single-axis joint, ``axis_motion(slides, axis, value) -> transform`` and
        ``axis_column(slides, frame, axis) -> twist``. For a ball joint, or with ``moves`` for a
        free joint, ``floating_motion(row, coord, moves, joint_q) -> transform`` and
        ``write_floating(row, dof, moves, frame, joint_S_s)``.
    """
    types = spatial_functions(scalar)
    vec3, transform, twist = types.vec3, types.transform, types.twist
    axis_twist, slide_twist, read_quat = types.axis_twist, types.slide_twist, types.read_quat

    @wp.func
    def axis_motion(slides: bool, axis: vec3, value: scalar) -> transform:
        if slides:
            return transform(axis * value, wp.quat_identity(dtype=scalar))
        return transform(vec3(), wp.quat_from_axis_angle(axis, value))

    @wp.func
    def axis_column(slides: bool, frame: transform, axis: vec3) -> twist:
        turned = wp.quat_rotate(wp.transform_get_rotation(frame), axis)
        if slides:
            return slide_twist(turned)
        return axis_twist(turned, wp.transform_get_translation(frame))

    @wp.func
    def floating_motion(
        row: int, coord: int, moves: bool, joint_q: wp.array2d(dtype=scalar)
    ) -> transform:
        if moves:
            position = vec3(joint_q[row, coord], joint_q[row, coord + 1], joint_q[row, coord + 2])
            return transform(position, read_quat(joint_q, row, coord + 3))
        return transform(vec3(), read_quat(joint_q, row, coord))

    @wp.func
    def write_floating(
        row: int, dof: int, moves: bool, frame: transform, joint_S_s: wp.array2d(dtype=twist)
    ):
        turns = dof
        if moves:
            turns = dof + 3
        for k in range(3):
            unit = vec3()
            unit[k] = scalar(1.0)
            joint_S_s[row, turns + k] = axis_column(False, frame, unit)
            if moves:
                joint_S_s[row, dof + k] = axis_column(True, frame, unit)

    return SimpleNamespace(
        axis_motion=axis_motion, axis_column=axis_column, floating_motion=floating_motion,
        write_floating=write_floating,
    )  # fmt: skip
