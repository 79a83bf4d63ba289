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
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.dynamics.center_of_mass import center_of_mass_functions
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.solvers.qp.cholesky import factor_row_function

# Square of the damping, e [(m/rad)^2].
_DAMPING_SQUARE = 2.5e-3


@no_type_check
@functools.cache
def demand_structs() -> SimpleNamespace:
    """Build the structs of the kernel.

    Returns:
        ``TaskChains``, ``CenterChain`` and ``Workspace``.
    """
    vec3 = spatial_functions(wp.float64).vec3

    @wp.struct
    class TaskChains:
        """Joints that move each task: first those of frames, then those of the centre of mass."""

        start: wp.array(dtype=wp.int32)  # [tasks + 1], of the joints of each task
        variable: wp.array(dtype=wp.int32)  # [chains]
        factor: wp.array(dtype=wp.float64)  # [chains], of the joint to the variable

    @wp.struct
    class CenterChain:
        """Motion of the joints that move the centre of mass or the base."""

        base: int
        dof: wp.array(dtype=wp.int32)  # [chain]
        child: wp.array(dtype=wp.int32)  # [chain]
        axis: wp.array(dtype=vec3)  # [chain], in the child
        point: wp.array(dtype=vec3)  # [chain], on the axis, in the child
        slides: wp.array(dtype=wp.int32)  # [chain]
        moves_base: wp.array(dtype=wp.int32)  # [chain]

    @wp.struct
    class Workspace:
        """Rows that count, and the system of equations over them."""

        row_of: wp.array(dtype=wp.int32)  # [rows], 6 task + axis
        J: wp.array2d(dtype=wp.float64)  # [rows, variables], W J S
        L: wp.array2d(dtype=wp.float64)  # [rows, rows]
        x: wp.array(dtype=wp.float64)  # [rows]

    return SimpleNamespace(TaskChains=TaskChains, CenterChain=CenterChain, Workspace=Workspace)


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
    structs = demand_structs()
    TaskChains, CenterChain = structs.TaskChains, structs.CenterChain
    Workspace = structs.Workspace
    factor_row = factor_row_function(wp.float64)
    damping_square = wp.constant(_DAMPING_SQUARE)
    zero, least = wp.constant(wp.float64(0.0)), wp.constant(1e-300)

    @wp.func
    def largest_acceleration(
        active: wp.array(dtype=wp.int32), chains: TaskChains,
        acceleration: wp.array(dtype=wp.float64),
    ) -> wp.float64:  # fmt: skip
        """Return the largest limit of the joints that move any task.

        It is positive, also if no joint may accelerate.
        """
        largest = wp.float64(least)
        for task in range(active.shape[0]):
            if active[task] != 0:
                for k in range(chains.start[task], chains.start[task + 1]):
                    largest = wp.max(largest, acceleration[chains.variable[k]])
        return largest

    @wp.func
    def append_rows(
        task: int, active: wp.array(dtype=wp.int32), weight: wp.array2d(dtype=wp.float64),
        before: int, work: Workspace,
    ) -> int:  # fmt: skip
        """Append the rows of a task that count, all zero; return the number of rows."""
        rows = int(before)
        is_center = task == active.shape[0] - 1
        for a in range(6):
            is_row = active[task] != 0
            if is_center:
                is_row = is_row and a < 3
            elif weight[task, a] == zero:
                is_row = False
            if is_row:
                work.row_of[rows] = 6 * task + a
                for j in range(work.J.shape[1]):
                    work.J[rows, j] = zero
                rows += 1
        return rows

    @wp.func
    def add_frame_columns(
        task: int, first: int, rows: int, column: wp.array(dtype=vector), chains: TaskChains,
        acceleration: wp.array(dtype=wp.float64), largest: wp.float64, work: Workspace,
    ):  # fmt: skip
        """Add the motion of a frame with each of its joints to its rows."""
        for k in range(chains.start[task], chains.start[task + 1]):
            j = chains.variable[k]
            scale = chains.factor[k] * acceleration[j] / largest
            for row in range(first, rows):
                part = column[k][work.row_of[row] - 6 * task]
                work.J[row, j] = work.J[row, j] + scale * part

    @wp.func
    def add_center_columns(
        task: int, first: int, masses: MassArrays, body_q: wp.array2d(dtype=transform),
        chain: CenterChain, chains: TaskChains, acceleration: wp.array(dtype=wp.float64),
        largest: wp.float64, work: Workspace,
    ):  # fmt: skip
        """Add the motion of the centre of mass, in the base, with each of its joints."""
        center = center_of_mass(masses, 0, body_q)
        back = wp.quat_inverse(wp.transform_get_rotation(body_q[0, chain.base]))
        for k in range(chain.dof.shape[0]):
            pose = body_q[0, chain.child[k]]
            turned = wp.transform_vector(pose, chain.axis[k])
            S = slide_twist(turned)
            if chain.slides[k] == 0:
                S = axis_twist(turned, wp.transform_point(pose, chain.point[k]))
            velocity = moved_mass_velocity(masses, 0, chain.dof[k], body_q, S)
            if chain.moves_base[k] != 0:
                velocity -= point_velocity(S, center)
            j = chains.variable[chains.start[task] + k]
            scale = chains.factor[chains.start[task] + k] * acceleration[j] / largest
            velocity = scale * wp.quat_rotate(back, velocity)
            for a in range(3):
                work.J[first + a, j] = work.J[first + a, j] + velocity[a]

    @wp.func
    def factorise(rows: int, work: Workspace):
        """Write the factor L of J J^T + e."""
        for row in range(rows):
            for other in range(row + 1):
                value = wp.float64(0.0)
                for j in range(work.J.shape[1]):
                    value += work.J[row, j] * work.J[other, j]
                work.L[row, other] = value
            work.L[row, row] = work.L[row, row] + wp.float64(damping_square)
            work.L[row, row] = wp.sqrt(factor_row(work.L, row))

    @wp.func
    def solve_column(j: int, rows: int, work: Workspace):
        """Write x = (J J^T + e)^-1 of column j of J."""
        for row in range(rows):
            value = work.J[row, j]
            for a in range(row):
                value -= work.L[row, a] * work.x[a]
            work.x[row] = value / work.L[row, row]
        for up in range(rows):
            row = rows - 1 - up
            value = work.x[row]
            for a in range(row + 1, rows):
                value -= work.L[a, row] * work.x[a]
            work.x[row] = value / work.L[row, row]

    @compiled_kernel(registers=128)
    def joint_demand(
        active: wp.array(dtype=wp.int32),  # [tasks], frames of tasks and the centre of mass
        weight: wp.array2d(dtype=wp.float64),  # [n_tasks, 6]
        column: wp.array(dtype=vector),  # [chains], weighted motion of a frame with a joint
        chains: TaskChains,
        masses: MassArrays,
        chain: CenterChain,  # of the joints of the last task
        body_q: wp.array2d(dtype=transform),  # [1, body_count]
        acceleration: wp.array(dtype=wp.float64),  # [variables], limits
        work: Workspace,
        # out
        demand: wp.array2d(dtype=vector),  # [tasks, variables], of its limit, per acceleration
        most: wp.array2d(dtype=wp.float64),  # [tasks, 2], longest linear and angular part
    ):
        variables = acceleration.shape[0]
        tasks = active.shape[0]
        largest = largest_acceleration(active, chains, acceleration)
        rows = int(0)
        for task in range(tasks):
            for j in range(variables):
                demand[task, j] = vector()
            most[task, 0] = zero
            most[task, 1] = zero
            first = rows
            rows = append_rows(task, active, weight, rows, work)
            if first < rows and task < tasks - 1:
                add_frame_columns(
                    task, first, rows, column, chains, acceleration, largest, work
                )
            elif first < rows:
                add_center_columns(
                    task, first, masses, body_q, chain, chains, acceleration, largest, work
                )
        factorise(rows, work)
        for j in range(variables):
            if acceleration[j] > zero:
                solve_column(j, rows, work)
                row = int(0)
                for task in range(tasks):
                    needed = vector()
                    while row < rows and work.row_of[row] < 6 * task + 6:
                        a = work.row_of[row] - 6 * task
                        needed[a] = work.x[row] / largest
                        if task < tasks - 1:
                            needed[a] *= weight[task, a]
                        row += 1
                    demand[task, j] = needed
                    linear = wp.length(vec3(needed[0], needed[1], needed[2]))
                    angular = wp.length(vec3(needed[3], needed[4], needed[5]))
                    most[task, 0] = wp.max(most[task, 0], linear)
                    most[task, 1] = wp.max(most[task, 1], angular)

    return joint_demand
