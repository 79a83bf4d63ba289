# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that computes the joint accelerations needed for an acceleration of one task.

Tasks are frame tasks and the centre of mass, relative to their reference links. For an
acceleration x of one task, with those of the other active tasks unchanged, the joints need

    S^2 (W J)^T (W J S^2 J^T W + e)^-1 W x

J stacks the Jacobians of all active tasks over the controlled joints. W are their weights,
relative to the largest of each task. S are the acceleration limits of the joints, relative to the
largest of those that move any task, so that joints with higher limits do more of the work. The
damping e bounds the result near a singularity.
"""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.dynamics.center_of_mass import center_of_mass_functions
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.spatial import spatial_functions

# Square of the damping, e [(m/rad)^2].
_DAMPING_SQUARE = 2.5e-3


@no_type_check
@functools.cache
def demand_kernel() -> wp.Kernel:
    """Build the kernel, float64."""
    types, masses_of = spatial_functions(wp.float64), center_of_mass_functions(wp.float64)
    vec3, transform, vector = types.vec3, types.transform, types.twist
    axis_twist, slide_twist = types.axis_twist, types.slide_twist
    point_velocity = types.point_velocity
    MassArrays, center_of_mass = masses_of.MassArrays, masses_of.center_of_mass
    moved_mass_velocity = masses_of.moved_mass_velocity
    damping_square = wp.constant(_DAMPING_SQUARE)
    zero, least = wp.constant(wp.float64(0.0)), wp.constant(1e-300)

    @compiled_kernel(registers=128)
    def joint_demand(
        counts: wp.array(dtype=wp.int32),  # [tasks], frames of tasks and the centre of mass
        weight: wp.array2d(dtype=wp.float64),  # [n_tasks, 6]
        column: wp.array(dtype=vector),  # [chains], weighted motion of a frame with a joint
        # Joints that move each task: first those of frames, in the order of the columns, then
        # those of the centre of mass.
        chain_start: wp.array(dtype=wp.int32),  # [tasks + 1]
        variable: wp.array(dtype=wp.int32),  # [chains]
        factor: wp.array(dtype=wp.float64),  # [chains], of the joint to the variable
        # Motion of the centre of mass, whose joints are those of the last chain.
        masses: MassArrays,
        body_q: wp.array2d(dtype=transform),  # [1, body_count]
        base: int,
        dof: wp.array(dtype=wp.int32),  # [chain]
        child: wp.array(dtype=wp.int32),  # [chain]
        axis: wp.array(dtype=vec3),  # [chain], in the child
        point: wp.array(dtype=vec3),  # [chain], on the axis, in the child
        slides: wp.array(dtype=wp.int32),  # [chain]
        moves_base: wp.array(dtype=wp.int32),  # [chain]
        acceleration: wp.array(dtype=wp.float64),  # [variables], limits
        # scratch
        row_of: wp.array(dtype=wp.int32),  # [rows], rows that count, 6 task + axis
        J: wp.array2d(dtype=wp.float64),  # [rows, variables], W J S
        L: wp.array2d(dtype=wp.float64),  # [rows, rows]
        x: wp.array(dtype=wp.float64),  # [rows]
        # out
        demand: wp.array2d(dtype=vector),  # [tasks, variables], of its limit, per acceleration
        most: wp.array2d(dtype=wp.float64),  # [tasks, 2], longest linear and angular part
    ):
        variables = acceleration.shape[0]
        tasks = counts.shape[0]
        # Positive, also if no joint may accelerate.
        largest = wp.float64(least)
        for task in range(tasks):
            if counts[task] != 0:
                for k in range(chain_start[task], chain_start[task + 1]):
                    largest = wp.max(largest, acceleration[variable[k]])
        rows = int(0)
        for task in range(tasks):
            first = rows
            for a in range(6):
                is_row = counts[task]
                if task == tasks - 1:
                    if a >= 3:
                        is_row = 0
                elif weight[task, a] == zero:
                    is_row = 0
                if is_row != 0:
                    row_of[rows] = 6 * task + a
                    for j in range(variables):
                        J[rows, j] = zero
                    rows += 1
            for j in range(variables):
                demand[task, j] = vector()
            most[task, 0] = zero
            most[task, 1] = zero
            if first < rows and task < tasks - 1:
                for k in range(chain_start[task], chain_start[task + 1]):
                    j = variable[k]
                    scale = factor[k] * acceleration[j] / largest
                    for row in range(first, rows):
                        part = column[k][row_of[row] - 6 * task]
                        J[row, j] = J[row, j] + scale * part
            elif first < rows:
                center = center_of_mass(masses, 0, body_q)
                back = wp.quat_inverse(wp.transform_get_rotation(body_q[0, base]))
                for k in range(dof.shape[0]):
                    pose = body_q[0, child[k]]
                    turned = wp.transform_vector(pose, axis[k])
                    S = slide_twist(turned)
                    if slides[k] == 0:
                        S = axis_twist(turned, wp.transform_point(pose, point[k]))
                    velocity = moved_mass_velocity(masses, 0, dof[k], body_q, S)
                    if moves_base[k] != 0:
                        velocity -= point_velocity(S, center)
                    j = variable[chain_start[task] + k]
                    scale = factor[chain_start[task] + k] * acceleration[j] / largest
                    velocity = scale * wp.quat_rotate(back, velocity)
                    for a in range(3):
                        J[first + a, j] = J[first + a, j] + velocity[a]

        for row in range(rows):
            for other in range(row + 1):
                value = wp.float64(0.0)
                for j in range(variables):
                    value += J[row, j] * J[other, j]
                if row == other:
                    value += wp.float64(damping_square)
                for a in range(other):
                    value -= L[row, a] * L[other, a]
                if row == other:
                    L[row, row] = wp.sqrt(value)
                else:
                    L[row, other] = value / L[other, other]
        for j in range(variables):
            if acceleration[j] > zero:
                for row in range(rows):
                    value = J[row, j]
                    for a in range(row):
                        value -= L[row, a] * x[a]
                    x[row] = value / L[row, row]
                for up in range(rows):
                    row = rows - 1 - up
                    value = x[row]
                    for a in range(row + 1, rows):
                        value -= L[a, row] * x[a]
                    x[row] = value / L[row, row]
                row = int(0)
                for task in range(tasks):
                    needed = vector()
                    while row < rows and row_of[row] < 6 * task + 6:
                        a = row_of[row] - 6 * task
                        needed[a] = x[row] / largest
                        if task < tasks - 1:
                            needed[a] *= weight[task, a]
                        row += 1
                    demand[task, j] = needed
                    linear = wp.length(vec3(needed[0], needed[1], needed[2]))
                    angular = wp.length(vec3(needed[3], needed[4], needed[5]))
                    most[task, 0] = wp.max(most[task, 0], linear)
                    most[task, 1] = wp.max(most[task, 1], angular)

    return joint_demand
