# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions that verify configurations: errors of the tool.

The verification uses the joints of the model itself, in float64, and not the reduced chain of the
search, so that an error in either of them is detected.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.forward import joint_transform_function
from ros_ik.kinematics.spatial import arctangent
from ros_ik.kinematics.spatial import sincos_function
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import tree_struct
from ros_ik.model.conventions.joint_type import JointType
from ros_ik.solvers.pose_ik.kernels.axis_errors import axis_bound_functions
from ros_ik.solvers.pose_ik.kernels.placement import placement_struct


@no_type_check
@functools.cache
def tool_error_functions(lanes: int = 1) -> SimpleNamespace:
    """Build the functions, which are the same for all robots.

    Args:
        lanes: Number of configurations that are verified together.

    Returns:
        The functions

        - ``tool_errors(tree, placement, first, joint_q, target) -> distances, angles, insides``
          for the rows from ``first``;
        - ``tool_error(tree, placement, row, joint_q, target) -> distance, angle, inside``, without
          free axes, and True if the tolerances hold;
        - ``turned_pose(position, quat, before, half) -> position, quat``, ``z_axis(quat) ->
          axis``;
        - ``whole_error(position, quat, target) -> distance, angle``.
    """
    Placement = placement_struct()
    Tree = tree_struct(wp.float64)
    LaneNumbers = wp.types.vector(lanes, wp.float64)
    LanePoses = wp.types.matrix((7, lanes), wp.float64)
    joint_transform = joint_transform_function(wp.float64)
    sincos = sincos_function(wp.float64)
    rotation_difference = spatial_functions(wp.float64).rotation_difference
    bound = axis_bound_functions(wp.float64)
    is_inside, counted = bound.is_inside, bound.counted

    @wp.func
    def turned_pose(position: wp.vec3d, q: wp.quatd, before: wp.transformd, half: wp.vec2d):
        """Return the pose behind a joint that turns about z, from sine and cosine of half a turn.

        The product with a rotation about z has half of the terms of a general one.
        """
        step = wp.quat_rotate(q, wp.transform_get_translation(before))
        r = q * wp.transform_get_rotation(before)
        s, c = half[0], half[1]
        turned = wp.quatd(
            r[0] * c + r[1] * s, r[1] * c - r[0] * s, r[2] * c + r[3] * s, r[3] * c - r[2] * s
        )
        return position + step, turned

    @wp.func
    def z_axis(q: wp.quatd) -> wp.vec3d:
        """Return the z axis of a frame of this rotation."""
        x, y = q[0] + q[0], q[1] + q[1]
        return wp.vec3d(
            x * q[2] + y * q[3], y * q[2] - x * q[3], wp.float64(1.0) - (x * q[0] + y * q[1])
        )

    @wp.func
    def whole_error(position: wp.vec3d, q: wp.quatd, target: wp.transformd):
        """Return distance and angle to a pose."""
        turn = wp.transform_get_rotation(target) * wp.quat_inverse(q)
        sine = wp.length(wp.vec3d(turn[0], turn[1], turn[2]))
        distance = wp.length(wp.transform_get_translation(target) - position)
        return distance, wp.float64(2.0) * arctangent(sine, wp.abs(turn[3]))

    @wp.func
    def tool_poses(
        tree: Tree, placement: Placement, first: int, joint_q: wp.array2d(dtype=wp.float64)
    ) -> LanePoses:
        """Return the poses of the tool for some rows; those past the end repeat the last row."""
        poses = LanePoses()
        last = joint_q.shape[0] - 1
        lane = int(0)
        while lane < wp.static(lanes):
            poses[6, lane] = wp.float64(1.0)
            lane += 1
        for k in range(placement.path.shape[0]):
            joint = placement.path[k]
            before = placement.before[k]
            if tree.joint_type[joint] == wp.static(int(JointType.REVOLUTE)):
                # Revolute joints are common; this avoids calls of ``joint_transform``.
                start = tree.joint_q_start[joint]
                angles = LaneNumbers()
                lane = int(0)
                while lane < wp.static(lanes):
                    angles[lane] = joint_q[wp.min(first + lane, last), start]
                    lane += 1
                lane = int(0)
                while lane < wp.static(lanes):
                    half = sincos(wp.float64(0.5) * angles[lane])
                    q = wp.quatd(poses[3, lane], poses[4, lane], poses[5, lane], poses[6, lane])
                    position = wp.vec3d(poses[0, lane], poses[1, lane], poses[2, lane])
                    position, q = turned_pose(position, q, before, half)
                    for i in range(3):
                        poses[i, lane] = position[i]
                    for i in range(4):
                        poses[3 + i, lane] = q[i]
                    lane += 1
            else:
                lane = int(0)
                while lane < wp.static(lanes):
                    row = wp.min(first + lane, last)
                    q = wp.quatd(poses[3, lane], poses[4, lane], poses[5, lane], poses[6, lane])
                    position = wp.vec3d(poses[0, lane], poses[1, lane], poses[2, lane])
                    pose = wp.transformd(position, q)
                    pose = pose * before * joint_transform(tree, joint, row, joint_q)
                    for i in range(7):
                        poses[i, lane] = pose[i]
                    lane += 1
        offset = wp.transform_get_translation(placement.tool)
        tilt = wp.transform_get_rotation(placement.tool)
        lane = int(0)
        while lane < wp.static(lanes):
            q = wp.quatd(poses[3, lane], poses[4, lane], poses[5, lane], poses[6, lane])
            step = wp.quat_rotate(q, offset)
            q = q * tilt
            for i in range(3):
                poses[i, lane] += step[i]
            for i in range(4):
                poses[3 + i, lane] = q[i]
            lane += 1
        return poses

    @wp.func
    def angle_between(placement: Placement, pose: wp.transformd, target: wp.transformd):
        """Return the angle between the directions of the free axis in two poses."""
        is_at = wp.quat_rotate(wp.transform_get_rotation(pose), placement.free_axis)
        goal = wp.quat_rotate(wp.transform_get_rotation(target), placement.free_axis)
        return wp.atan2(wp.length(wp.cross(is_at, goal)), wp.dot(is_at, goal))

    @wp.func
    def error_by_axis(placement: Placement, pose: wp.transformd, target: wp.transformd):
        """Return distance, angle and validity, for bounds by axis or a free axis of rotation."""
        moved = wp.transform_get_translation(target) - wp.transform_get_translation(pose)
        is_at, goal = wp.transform_get_rotation(pose), wp.transform_get_rotation(target)
        inside = bool(True)
        angle = wp.float64(0.0)
        if placement.free_turns == 0:
            turned = rotation_difference(goal, is_at)
            bounds = placement.bounds
            frame = goal
            if bounds.in_tool == 1:
                frame = is_at
            moved = wp.quat_rotate_inv(frame, moved)
            turned = wp.quat_rotate_inv(frame, turned)
            inside = is_inside(moved, bounds.position) and is_inside(turned, bounds.rotation)
            moved = counted(moved, bounds.position_zone)
            turned = counted(turned, bounds.rotation_zone)
            angle = wp.length(turned)
        elif placement.free_turns == 1:
            angle = angle_between(placement, pose, target)
        return wp.length(moved), angle, inside

    @wp.func
    def tool_errors(
        tree: Tree,
        placement: Placement,
        first: int,
        joint_q: wp.array2d(dtype=wp.float64),
        target: wp.transformd,
    ):
        poses = tool_poses(tree, placement, first, joint_q)
        distances = LaneNumbers()
        angles = LaneNumbers()
        insides = LaneNumbers()
        whole = placement.by_axis == 0 and placement.free_turns == 0
        if whole:
            lane = int(0)
            while lane < wp.static(lanes):
                q = wp.quatd(poses[3, lane], poses[4, lane], poses[5, lane], poses[6, lane])
                position = wp.vec3d(poses[0, lane], poses[1, lane], poses[2, lane])
                distance, angle = whole_error(position, q, target)
                distances[lane] = distance
                angles[lane] = angle
                insides[lane] = wp.float64(1.0)
                lane += 1
        else:
            for other in range(wp.static(lanes)):
                q = wp.quatd(poses[3, other], poses[4, other], poses[5, other], poses[6, other])
                position = wp.vec3d(poses[0, other], poses[1, other], poses[2, other])
                pose = wp.transformd(position, q)
                distance, angle, inside = error_by_axis(placement, pose, target)
                distances[other] = distance
                angles[other] = angle
                insides[other] = wp.where(inside, wp.float64(1.0), wp.float64(0.0))
        lane = int(0)
        while lane < wp.static(lanes):
            near = distances[lane] <= placement.position_tolerance
            near = near and angles[lane] <= placement.rotation_tolerance
            insides[lane] = wp.where(near, insides[lane], wp.float64(0.0))
            lane += 1
        return distances, angles, insides

    @wp.func
    def tool_error(
        tree: Tree,
        placement: Placement,
        row: int,
        joint_q: wp.array2d(dtype=wp.float64),
        target: wp.transformd,
    ):
        distances, angles, insides = tool_errors(tree, placement, row, joint_q, target)
        return distances[0], angles[0], insides[0] > wp.float64(0.0)

    return SimpleNamespace(
        tool_errors=tool_errors, tool_error=tool_error, turned_pose=turned_pose, z_axis=z_axis,
        whole_error=whole_error,
    )  # fmt: skip
