# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that recognises position targets beyond the reach of a chain.

All positions of a point on a link lie in a ball, which is found joint by joint from the link to
the world. A rotation about an axis moves the centre to its foot on the axis and adds its distance
from the axis to the radius; a slide moves it to the middle of the range and adds half of the
range. A target outside the ball leaves a residual of at least w times its distance from the ball,
with the least weight w of the three axes.
"""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.tree import tree_struct
from ros_ik.model.conventions.joint_type import JointType
from ros_ik.objectives.base.number_table import table_functions
from ros_ik.solvers.least_squares.search_space import space_struct
from ros_ik.solvers.status import SolveStatus


@no_type_check
@functools.cache
def reach_kernel() -> wp.Kernel:
    """Build ``mark_beyond_reach``, which replaces ITERATION_LIMIT by UNREACHABLE."""
    Tree, Space, tables = tree_struct(wp.float32), space_struct(), table_functions(wp.float64)
    Table, number, table_vec3 = tables.Table, tables.number, tables.table_vec3
    fixed, ball = wp.constant(int(JointType.FIXED)), wp.constant(int(JointType.BALL))
    revolute = wp.constant(int(JointType.REVOLUTE))
    prismatic = wp.constant(int(JointType.PRISMATIC))
    iteration_limit = wp.constant(int(SolveStatus.ITERATION_LIMIT))
    unreachable = wp.constant(int(SolveStatus.UNREACHABLE))
    # Allowance for rounding in float32, relative to radius and distance.
    rounding = wp.constant(wp.float64(1e-5))

    @wp.func
    def ball_of(tree: Tree, space: Space, link: int, point: wp.vec3) -> wp.vec4:
        center = point
        radius = float(0.0)
        body = int(link)
        for reverse in range(tree.joint_order.shape[0]):
            j = tree.joint_order[tree.joint_order.shape[0] - 1 - reverse]
            if tree.joint_child[j] == body:
                center = wp.transform_point(tree.joint_X_c_inverse[j], center)
                dof = tree.joint_qd_start[j]
                kind = tree.joint_type[j]
                if kind == revolute:
                    axis = wp.normalize(tree.joint_axis[dof])
                    foot = wp.dot(axis, center) * axis
                    radius += wp.length(center - foot)
                    center = foot
                elif kind == prismatic:
                    axis = tree.joint_axis[dof]
                    c = tree.joint_q_start[j]
                    half = 0.5 * (space.coord_upper[c] - space.coord_lower[c])
                    middle = 0.5 * (space.coord_upper[c] + space.coord_lower[c])
                    if space.dof_free[dof] == 0 or not wp.isfinite(half):
                        return wp.vec4(0.0, 0.0, 0.0, wp.inf)
                    radius += half * wp.length(axis)
                    center += middle * axis
                elif kind == ball:
                    radius += wp.length(center)
                    center = wp.vec3(0.0, 0.0, 0.0)
                elif kind != fixed:
                    return wp.vec4(0.0, 0.0, 0.0, wp.inf)
                center = wp.transform_point(tree.joint_X_p[j], center)
                body = tree.joint_parent[j]
        for k in range(tree.still_body.shape[0]):
            if tree.still_body[k] == body:
                center = wp.transform_point(tree.still_pose[k], center)
        return wp.vec4(center[0], center[1], center[2], radius)

    @compiled_kernel()
    def mark_beyond_reach(
        tree: Tree,
        space: Space,
        link: int,
        offset: wp.array2d(dtype=wp.float64),  # [1, 3] or [1, 7]
        target: Table,  # [1 or n_problems, 3 or 7]
        weight: Table,  # [1, 3 or 6]
        cost_tolerance: float,
        status: wp.array(dtype=wp.int32),  # [n_problems]
    ):
        problem = wp.tid()
        if status[problem] != iteration_limit:
            return
        point = wp.vec3(float(offset[0, 0]), float(offset[0, 1]), float(offset[0, 2]))
        found = ball_of(tree, space, link, point)
        radius = wp.float64(found[3])
        if not wp.isfinite(radius):
            return
        row = problem
        if wp.max(target.in32.shape[0], target.in64.shape[0]) == 1:
            row = 0
        at = table_vec3(target, row, 0)
        center = wp.vec3d(wp.float64(found[0]), wp.float64(found[1]), wp.float64(found[2]))
        distance = wp.length(at - center)
        beyond = distance - radius - rounding * (distance + radius + wp.length(center))
        least = wp.min(wp.min(number(weight, 0, 0), number(weight, 0, 1)), number(weight, 0, 2))
        # Not a target that is no number.
        if beyond > wp.float64(0.0) and wp.isfinite(distance):
            if least * least * beyond * beyond > wp.float64(cost_tolerance):
                status[problem] = unreachable

    return mark_beyond_reach
