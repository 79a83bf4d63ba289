# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Cost of the built-in objectives of a control step, straight over the variables of the group.

    H = sum_k (W_k J_k)' W_k J_k + (lambda + sum_k mu_k) I
    c = sum_k (W_k J_k)' W_k gain_k sat(r_k),      mu_k = damping_k |W_k gain_k sat(r_k)|^2

The Jacobian of an objective is written for the degrees of freedom that the group moves alone, as
columns of six rows, and never as a matrix. sat shortens the residuals of each block to
e_max tanh(|r| / e_max).
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
from ros_ik.objectives.base.functions import objective_functions
from ros_ik.objectives.base.record import record_struct
from ros_ik.objectives.base.record import RecordKind
from ros_ik.solvers.batch_ik.fused_objectives import frame_functions
from ros_ik.solvers.batch_ik.fused_objectives import joint_functions

# Objectives whose records this file knows; the others are evaluated by kernels of their own.
STEP_KINDS = (
    RecordKind.POSITION, RecordKind.ROTATION, RecordKind.POSE, RecordKind.LOOK_AT,
    RecordKind.CENTER_OF_MASS, RecordKind.JOINT_POSITION, RecordKind.JOINT_LIMIT,
)  # fmt: skip


@no_type_check
@functools.cache
def task_joint_struct() -> Any:
    """Return the Warp struct of a degree of freedom of a task that the group moves."""

    @wp.struct
    class TaskJoint:
        slot: wp.int32  # place in the chain of the record
        dof: wp.int32
        variable: wp.int32
        factor: wp.float64  # from the variable to the degree of freedom

    return TaskJoint


@no_type_check
@functools.cache
def step_tasks_struct() -> Any:
    """Return the Warp struct of what tasks add to the records of their objectives."""
    TaskJoint = task_joint_struct()

    @wp.struct
    class StepTasks:
        is_on: wp.array(dtype=wp.int32)  # [tasks], 0 where every weight is zero
        gain: wp.array(dtype=wp.float64)  # [tasks]
        damping: wp.array(dtype=wp.float64)  # [tasks]
        max_error: wp.array2d(dtype=wp.float64)  # [tasks, 2], inf for no saturation
        weight_start: wp.array(dtype=wp.int32)  # [tasks]
        weight: wp.array(dtype=wp.float64)  # [total residuals]
        chain_start: wp.array(dtype=wp.int32)  # [tasks + 1]
        chain: wp.array(dtype=TaskJoint)  # of one task after the other

    return StepTasks


@no_type_check
@functools.cache
def _task_functions() -> SimpleNamespace:
    """Build ``add_frame_task`` and ``add_joint_task``, which return the damping mu of the task."""
    Record, Tasks = record_struct(), step_tasks_struct()
    types = objective_functions(wp.float64)
    vec3, transform, twist = types.vec3, types.transform, types.twist
    point_velocity, read_transform = types.point_velocity, types.read_transform
    link_pose = types.link_pose
    frame = frame_functions()
    frame_residual, frame_columns = frame.frame_residual, frame.frame_columns
    joint_term = joint_functions().joint_term
    saturation = saturation_function(wp.float64)
    pose_kind = wp.constant(int(RecordKind.POSE))
    zero = wp.constant(wp.float64(0.0))

    @wp.func
    def row_weights(records: wp.array(dtype=Record), tasks: Tasks, task: int) -> twist:
        """Weights of the task on up to six rows."""
        weights = twist()
        start = tasks.weight_start[task]
        for k in range(6):
            if k < records[task].rows:
                weights[k] = tasks.weight[start + k]
        return weights

    @wp.func
    def pose_columns(
        records: wp.array(dtype=Record),
        tasks: Tasks,
        task: int,
        row: int,
        weights: twist,
        body_q: wp.array2d(dtype=transform),
        joint_S_s: wp.array2d(dtype=twist),
        block: wp.array2d(dtype=twist),
    ):
        """Columns of a pose objective with the geometric Jacobian."""
        point = wp.transform_get_translation(
            body_q[row, records[task].link] * read_transform(records[task].offset, 0)
        )
        reference = records[task].reference
        to_reference = wp.quat_inverse(
            wp.transform_get_rotation(link_pose(row, reference, body_q))
        )
        of_record = records[task].weight
        linear_weight = wp.cw_mul(
            vec3(weights[0], weights[1], weights[2]),
            vec3(of_record[0, 0], of_record[0, 1], of_record[0, 2]),
        )
        angular_weight = wp.cw_mul(
            vec3(weights[3], weights[4], weights[5]),
            vec3(of_record[0, 3], of_record[0, 4], of_record[0, 5]),
        )
        first = tasks.chain_start[task]
        for k in range(first, tasks.chain_start[task + 1]):
            S = joint_S_s[row, tasks.chain[k].dof]
            linear = point_velocity(S, point)
            angular = vec3(S[3], S[4], S[5])
            factor = -tasks.chain[k].factor
            if reference >= 0:
                factor *= wp.float64(records[task].chain_sign[tasks.chain[k].slot])
                linear = wp.quat_rotate(to_reference, linear)
                angular = wp.quat_rotate(to_reference, angular)
            linear = factor * wp.cw_mul(linear_weight, linear)
            angular = factor * wp.cw_mul(angular_weight, angular)
            block[row, k - first] = twist(
                linear[0], linear[1], linear[2], angular[0], angular[1], angular[2]
            )

    @wp.func
    def general_columns(
        records: wp.array(dtype=Record),
        tasks: Tasks,
        task: int,
        row: int,
        problem: int,
        weights: twist,
        body_q: wp.array2d(dtype=transform),
        joint_S_s: wp.array2d(dtype=twist),
        block: wp.array2d(dtype=twist),
    ):
        """Columns of the other objectives; those of locked joints are left out."""
        frame_columns(records, task, row, problem, body_q, joint_S_s, block)
        first = tasks.chain_start[task]
        for k in range(first, tasks.chain_start[task + 1]):
            column = wp.cw_mul(weights, block[row, tasks.chain[k].slot])
            block[row, k - first] = column * tasks.chain[k].factor

    @wp.func
    def add_columns(
        tasks: Tasks,
        task: int,
        row: int,
        error: twist,
        block: wp.array2d(dtype=twist),
        H: wp.array2d(dtype=wp.float64),
        c: wp.array(dtype=wp.float64),
    ):
        first = tasks.chain_start[task]
        for k in range(first, tasks.chain_start[task + 1]):
            i = tasks.chain[k].variable
            column = block[row, k - first]
            c[i] = c[i] + wp.dot(column, error)
            for m in range(first, k):
                j = tasks.chain[m].variable
                product = wp.dot(column, block[row, m - first])
                if i == j:
                    product += product
                high = wp.max(i, j)
                low = wp.min(i, j)
                H[high, low] = H[high, low] + product
            H[i, i] = H[i, i] + wp.dot(column, column)

    @wp.func
    def add_frame_task(
        records: wp.array(dtype=Record),
        tasks: Tasks,
        task: int,
        row: int,
        problem: int,
        body_q: wp.array2d(dtype=transform),
        joint_S_s: wp.array2d(dtype=twist),
        block: wp.array2d(dtype=twist),
        H: wp.array2d(dtype=wp.float64),
        c: wp.array(dtype=wp.float64),
    ) -> wp.float64:
        weights = row_weights(records, tasks, task)
        r = frame_residual(records, task, row, problem, body_q)
        head = vec3(r[0], r[1], r[2])
        tail = vec3(r[3], r[4], r[5])
        gain = tasks.gain[task]
        head = head * (gain * saturation(wp.length(head), tasks.max_error[task, 0]))
        tail = tail * (gain * saturation(wp.length(tail), tasks.max_error[task, 1]))
        error = wp.cw_mul(weights, twist(head[0], head[1], head[2], tail[0], tail[1], tail[2]))
        if records[task].kind == pose_kind and records[task].flag == 0:
            pose_columns(records, tasks, task, row, weights, body_q, joint_S_s, block)
        else:
            general_columns(records, tasks, task, row, problem, weights, body_q, joint_S_s, block)
        add_columns(tasks, task, row, error, block, H, c)
        return tasks.damping[task] * wp.dot(error, error)

    @wp.func
    def add_joint_task(
        records: wp.array(dtype=Record),
        tasks: Tasks,
        task: int,
        row: int,
        problem: int,
        joint_q: wp.array2d(dtype=wp.float64),
        H: wp.array2d(dtype=wp.float64),
        c: wp.array(dtype=wp.float64),
    ) -> wp.float64:
        first = tasks.chain_start[task]
        last = tasks.chain_start[task + 1]
        gain = tasks.gain[task]
        if wp.isfinite(tasks.max_error[task, 0]):
            square = wp.float64(0.0)
            for k in range(first, last):
                term = joint_term(records, task, row, problem, tasks.chain[k].dof, joint_q)
                square += term[0] * term[0]
            gain *= saturation(wp.sqrt(square), tasks.max_error[task, 0])
        cost = wp.float64(0.0)
        for k in range(first, last):
            i = tasks.chain[k].variable
            dof = tasks.chain[k].dof
            term = joint_term(records, task, row, problem, dof, joint_q)
            weight = tasks.weight[tasks.weight_start[task] + dof]
            error = weight * gain * term[0]
            slope = weight * term[1] * tasks.chain[k].factor
            c[i] = c[i] + slope * error
            H[i, i] = H[i, i] + slope * slope
            cost += error * error
        if tasks.damping[task] > zero:
            return tasks.damping[task] * cost
        return zero

    return SimpleNamespace(add_frame_task=add_frame_task, add_joint_task=add_joint_task)


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
def evaluate_step_kernel() -> wp.Kernel:
    """Build the kernel that places the links and adds the cost to a program of zeros, float64."""
    Record, Tasks, Node = record_struct(), step_tasks_struct(), step_node_struct(wp.float64)
    types = spatial_functions(wp.float64)
    transform, twist = types.transform, types.twist
    place_nodes = place_nodes_function(wp.float64)
    add = _task_functions()
    add_frame_task, add_joint_task = add.add_frame_task, add.add_joint_task
    joint_position = wp.constant(int(RecordKind.JOINT_POSITION))
    joint_limit = wp.constant(int(RecordKind.JOINT_LIMIT))

    @compiled_kernel()
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
                problem = first_robot + row
                if wp.max(records[task].target64.shape[0], records[task].target32.shape[0]) <= 1:
                    problem = 0
                kind = records[task].kind
                if kind == joint_position or kind == joint_limit:
                    diagonal += add_joint_task(
                        records, tasks, task, row, problem, joint_q, hessian, gradient
                    )
                else:
                    diagonal += add_frame_task(
                        records, tasks, task, row, problem, body_q, joint_S_s, block,
                        hessian, gradient,
                    )  # fmt: skip
        for i in range(gradient.shape[0]):
            hessian[i, i] = hessian[i, i] + diagonal

    return evaluate_step
