# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Cost of the objectives of a control step, in the variables of the group.

    H = sum_k (W_k J_k)' W_k J_k + (lambda + sum_k mu_k) I
    c = sum_k (W_k J_k)' W_k gain_k sat(r_k),      mu_k = damping_k |W_k gain_k sat(r_k)|^2

The kernel is composed of the formulas of the objectives. It computes columns of six rows of the
Jacobian, only for degrees of freedom that the group moves, and never stores the matrix. sat limits
the length of the residuals of each unit to e_max tanh(|r| / e_max). Rows with zero weight are left
out, also of these lengths.
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.stepping.step_tree import place_nodes_function
from ros_ik.kinematics.stepping.step_tree import step_node_struct
from ros_ik.objectives.base.composed import composed_functions
from ros_ik.objectives.base.formula import AnyFormula
from ros_ik.objectives.base.record import record_functions
from ros_ik.objectives.base.record import record_struct
from ros_ik.solvers.least_squares.normal_equations import normal_equations_functions


@no_type_check
@functools.cache
def task_joint_struct() -> Any:
    """Return the Warp struct of a degree of freedom that moves the frame of a task."""

    @wp.struct
    class TaskJoint:
        dof: wp.int32
        variable: wp.int32

    return TaskJoint


@no_type_check
@functools.cache
def step_tasks_struct() -> Any:
    """Return the Warp struct of the parameters that tasks add to records of objectives."""
    TaskJoint = task_joint_struct()

    @wp.struct
    class StepTasks:
        is_on: wp.array(dtype=wp.int32)  # [tasks], 0 if every weight is zero
        gain: wp.array(dtype=wp.float64)  # [tasks]
        damping: wp.array(dtype=wp.float64)  # [tasks]
        max_error: wp.array2d(dtype=wp.float64)  # [tasks, 2], inf for no saturation
        weight_start: wp.array(dtype=wp.int32)  # [tasks]
        weight: wp.array(dtype=wp.float64)  # [total residuals]
        chain_start: wp.array(dtype=wp.int32)  # [tasks + 1]
        chain: wp.array(dtype=TaskJoint)  # of one task after the other
        slots: wp.array(dtype=wp.int32)  # index of each in the chain of the record
        factor: wp.array(dtype=wp.float64)  # from the variable of each to its degree of freedom

    return StepTasks


@no_type_check
@functools.cache
def _task_functions(formulas: tuple[AnyFormula, ...]) -> SimpleNamespace:
    """Build ``add_link_task`` and ``add_joint_task``, which return the damping mu of the task."""
    Record, Tasks = record_struct(), step_tasks_struct()
    shared, composed = record_functions(), composed_functions(formulas)
    problem_of, block_weight = shared.problem_of, shared.block_weight
    block_columns, joint_term = composed.block_columns, composed.joint_term
    saturation = saturation_function(wp.float64)
    add_pair = normal_equations_functions(wp.float64).add_pair
    zero = wp.constant(wp.float64(0.0))

    @wp.func
    def unit_squares(record: Record, r: wp.spatial_vectord) -> wp.vec2d:
        """Return the squared lengths of the rows of the first and of the second unit."""
        squares = wp.vec2d()
        for m in range(6):
            unit = wp.where(m < record.unit_rows, 0, 1)
            squares[unit] = squares[unit] + r[m] * r[m]
        return squares

    @wp.func
    def saturated(tasks: Tasks, task: int, squares: wp.vec2d) -> wp.vec2d:
        """Return gain times saturation of the rows of the two units."""
        first = saturation(wp.sqrt(squares[0]), tasks.max_error[task, 0])
        second = saturation(wp.sqrt(squares[1]), tasks.max_error[task, 1])
        return tasks.gain[task] * wp.vec2d(first, second)

    @wp.func
    def task_weight(
        record: Record, tasks: Tasks, task: int, block: int, own: wp.spatial_vectord
    ) -> wp.spatial_vectord:
        """Return the weights of the task on the rows of a block, times those of its objective."""
        weight = wp.spatial_vectord()
        start = tasks.weight_start[task] + block * record.rows
        for m in range(6):
            if m < record.rows:
                weight[m] = tasks.weight[start + m] * own[m]
        return weight

    @wp.func
    def weighted_rows(
        record: Record, tasks: Tasks, task: int, block: int, values: wp.spatial_vectord
    ) -> wp.spatial_vectord:
        """Return values of the rows of a block, zero where the task has no weight."""
        start = tasks.weight_start[task] + block * record.rows
        for m in range(6):
            if m < record.rows and tasks.weight[start + m] == zero:
                values[m] = zero
        return values

    @wp.func
    def add_columns(
        tasks: Tasks,
        task: int,
        row: int,
        error: wp.spatial_vectord,
        block: wp.array2d(dtype=wp.spatial_vectord),
        H: wp.array2d(dtype=wp.float64),
        c: wp.array(dtype=wp.float64),
    ):
        first = tasks.chain_start[task]
        for k in range(first, tasks.chain_start[task + 1]):
            i = tasks.chain[k].variable
            column = block[row, k - first]
            c[i] = c[i] + wp.dot(column, error)
            for m in range(first, k):
                add_pair(i, tasks.chain[m].variable, wp.dot(column, block[row, m - first]), H)
            H[i, i] = H[i, i] + wp.dot(column, column)

    @wp.func
    def add_link_task(
        record: Record,
        tasks: Tasks,
        task: int,
        row: int,
        robot: int,
        body_q: wp.array2d(dtype=wp.transformd),
        joint_S_s: wp.array2d(dtype=wp.spatial_vectord),
        block: wp.array2d(dtype=wp.spatial_vectord),
        H: wp.array2d(dtype=wp.float64),
        c: wp.array(dtype=wp.float64),
    ) -> wp.float64:
        problem = problem_of(record, robot)
        first = tasks.chain_start[task]
        last = tasks.chain_start[task + 1]
        gains = wp.vec2d(tasks.gain[task], tasks.gain[task])
        saturates = wp.isfinite(tasks.max_error[task, 0]) or wp.isfinite(tasks.max_error[task, 1])
        if saturates and record.blocks > 1:
            squares = wp.vec2d()
            for k in range(record.blocks):
                own = block_weight(record, k)
                values = block_columns(
                    record, row, problem, k, own, tasks.slots, tasks.factor, first, first, body_q,
                    joint_S_s, block,
                )  # fmt: skip
                values = weighted_rows(record, tasks, task, k, values)
                squares += unit_squares(record, wp.cw_mul(own, values))
            gains = saturated(tasks, task, squares)
        cost = wp.float64(0.0)
        for k in range(record.blocks):
            own = block_weight(record, k)
            weight = task_weight(record, tasks, task, k, own)
            values = block_columns(
                record, row, problem, k, weight, tasks.slots, tasks.factor, first, last, body_q,
                joint_S_s, block,
            )  # fmt: skip
            # A row with zero weight has no effect, even if its target is not finite.
            is_finite = wp.isfinite(wp.dot(values, values))
            values = weighted_rows(record, tasks, task, k, values)
            if not is_finite:
                for m in range(last - first):
                    block[row, m] = weighted_rows(record, tasks, task, k, block[row, m])
            if record.is_one_sided == 0 or values[0] != zero:
                if saturates and record.blocks == 1:
                    gains = saturated(tasks, task, unit_squares(record, wp.cw_mul(own, values)))
                error = wp.cw_mul(weight, values)
                for m in range(6):
                    error[m] = error[m] * wp.where(m < record.unit_rows, gains[0], gains[1])
                add_columns(tasks, task, row, error, block, H, c)
                cost += wp.dot(error, error)
        return tasks.damping[task] * cost

    @wp.func
    def add_joint_task(
        record: Record,
        tasks: Tasks,
        task: int,
        row: int,
        robot: int,
        joint_q: wp.array2d(dtype=wp.float64),
        H: wp.array2d(dtype=wp.float64),
        c: wp.array(dtype=wp.float64),
    ) -> wp.float64:
        problem = problem_of(record, robot)
        first = tasks.chain_start[task]
        last = tasks.chain_start[task + 1]
        gain = tasks.gain[task]
        if wp.isfinite(tasks.max_error[task, 0]):
            square = wp.float64(0.0)
            for k in range(first, last):
                dof = tasks.chain[k].dof
                if tasks.weight[tasks.weight_start[task] + dof] != zero:
                    r = record.weight[0, dof] * joint_term(record, row, problem, dof, joint_q)[0]
                    square += r * r
            gain *= saturation(wp.sqrt(square), tasks.max_error[task, 0])
        cost = wp.float64(0.0)
        for k in range(first, last):
            i = tasks.chain[k].variable
            dof = tasks.chain[k].dof
            weight = tasks.weight[tasks.weight_start[task] + dof]
            if weight != zero:
                weight *= record.weight[0, dof]
                term = weight * joint_term(record, row, problem, dof, joint_q)
                error = gain * term[0]
                slope = term[1] * tasks.factor[k]
                c[i] = c[i] + slope * error
                H[i, i] = H[i, i] + slope * slope
                cost += error * error
        if tasks.damping[task] > zero:
            return tasks.damping[task] * cost
        return zero

    return SimpleNamespace(add_link_task=add_link_task, add_joint_task=add_joint_task)


@no_type_check
@functools.cache
def saturation_function(scalar: type) -> wp.Function:
    """Build ``saturation(length, max_error)``, the factor on a residual of this length."""

    @wp.func
    def saturation(length: scalar, max_error: scalar) -> scalar:
        if not wp.isfinite(max_error) or length <= scalar(0.0):
            return scalar(1.0)
        return max_error * wp.tanh(length / max_error) / length

    return saturation


@no_type_check
@functools.cache
def evaluate_step_kernel(task_formulas: tuple[AnyFormula, ...]) -> wp.Kernel:
    """Build the kernel that computes link poses and adds the cost to a zero program, float64.

    Args:
        task_formulas: Formulas of the objectives, in the order of the numbers in their records.
    """
    Record, Tasks, Node = record_struct(), step_tasks_struct(), step_node_struct(wp.float64)
    types = spatial_functions(wp.float64)
    transform, twist = types.transform, types.twist
    place_nodes = place_nodes_function(wp.float64)
    add = _task_functions(task_formulas)
    add_link_task, add_joint_task = add.add_link_task, add.add_joint_task

    @compiled_kernel(registers=238)
    def evaluate_step(
        tree: wp.array(dtype=Node),  # parents before children
        records: wp.array(dtype=Record),  # [tasks]
        tasks: Tasks,
        joint_q: wp.array2d(dtype=wp.float64),  # [n, joint_coord_count]
        regularization: wp.array(dtype=wp.float64),  # [1]
        first_robot: int,  # number of the first of these rows among all robots
        # scratch
        block: wp.array2d(dtype=twist),  # [n, longest chain]
        # out
        body_q: wp.array2d(dtype=transform),  # [n, body_count]
        joint_S_s: wp.array2d(dtype=twist),  # [n, joint_dof_count]
        # in and out
        H: wp.array3d(dtype=wp.float64),  # [n, n_variables, n_variables], lower triangle
        c: wp.array2d(dtype=wp.float64),  # [n, n_variables]
    ):
        row = wp.tid()
        place_nodes(tree, row, joint_q, body_q, joint_S_s)
        hessian = H[row]
        gradient = c[row]
        diagonal = regularization[0]
        for task in range(records.shape[0]):
            if tasks.is_on[task] != 0:
                robot = first_robot + row
                if records[task].is_of_joints == 1:
                    diagonal += add_joint_task(
                        records[task], tasks, task, row, robot, joint_q, hessian, gradient
                    )
                else:
                    diagonal += add_link_task(
                        records[task], tasks, task, row, robot, body_q, joint_S_s, block,
                        hessian, gradient,
                    )  # fmt: skip
        for i in range(gradient.shape[0]):
            hessian[i, i] = hessian[i, i] + diagonal

    return evaluate_step
