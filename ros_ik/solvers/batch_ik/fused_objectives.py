# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The built-in objectives as Warp functions over their records, for one kernel that solves.

``add_objective`` adds one objective to the normal equations of a row,

    cost += r^T r,   g += J^T r,   H += J^T J,

column by column: only degrees of freedom that an objective depends on cost time. The formulas are
those of the objectives, whose functions are used; everything is float64.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.dynamics.center_of_mass import center_of_mass_functions
from ros_ik.objectives.base.functions import objective_functions
from ros_ik.objectives.base.record import record_struct
from ros_ik.objectives.base.record import RecordKind
from ros_ik.objectives.jacobian.gram import gram_functions
from ros_ik.objectives.look_at import look_functions
from ros_ik.objectives.manipulability import column_functions
from ros_ik.objectives.rotation import error_functions

# Rows of the largest objective that is evaluated as one block.
BLOCK_ROWS = 6


@no_type_check
@functools.cache
def _record_functions() -> SimpleNamespace:
    """Build what the kinds share: reading a record, weights, targets."""
    Record = record_struct()
    types = objective_functions(wp.float64)
    vec3, quat = types.vec3, types.quat

    @wp.func
    def target_value(
        records: wp.array(dtype=Record), which: int, problem: int, k: int
    ) -> wp.float64:
        if records[which].target64.shape[0] > 0:
            return records[which].target64[problem, k]
        return wp.float64(records[which].target32[problem, k])

    @wp.func
    def problem_of(records: wp.array(dtype=Record), which: int, problem: int) -> int:
        """Row of the targets; one row serves every problem."""
        if wp.max(records[which].target64.shape[0], records[which].target32.shape[0]) <= 1:
            return 0
        return problem

    @wp.func
    def target_vec3(records: wp.array(dtype=Record), which: int, problem: int) -> vec3:
        return vec3(
            target_value(records, which, problem, 0),
            target_value(records, which, problem, 1),
            target_value(records, which, problem, 2),
        )

    @wp.func
    def target_quat(records: wp.array(dtype=Record), which: int, problem: int, start: int) -> quat:
        return quat(
            target_value(records, which, problem, start),
            target_value(records, which, problem, start + 1),
            target_value(records, which, problem, start + 2),
            target_value(records, which, problem, start + 3),
        )

    @wp.func
    def weighted(
        records: wp.array(dtype=Record), which: int, first: vec3, second: vec3
    ) -> wp.spatial_vectord:
        """Return up to six rows times their weights."""
        rows = wp.spatial_vectord(first[0], first[1], first[2], second[0], second[1], second[2])
        for k in range(6):
            if k < records[which].rows:
                rows[k] = rows[k] * records[which].weight[0, k]
            else:
                rows[k] = wp.float64(0.0)
        return rows

    return SimpleNamespace(
        Record=Record,
        target_value=target_value,
        problem_of=problem_of,
        target_vec3=target_vec3,
        target_quat=target_quat,
        weighted=weighted,
    )


@no_type_check
@functools.cache
def frame_functions() -> SimpleNamespace:
    """Build ``frame_residual`` and ``frame_columns`` of the objectives of at most six rows.

    ``frame_residual(records, which, row, problem, body_q) -> spatial_vectord`` and
    ``frame_columns(records, which, row, problem, body_q, joint_S_s, block)``, which writes a
    column for each degree of freedom of the chain, ``block[row, k]``.
    """
    types, shared = objective_functions(wp.float64), _record_functions()
    vec3, transform, twist = types.vec3, types.transform, types.twist
    read_vec3, read_quat, read_transform = types.read_vec3, types.read_quat, types.read_transform
    link_pose, rotation_log = types.link_pose, types.rotation_log
    log_velocity, point_velocity = types.log_velocity, types.point_velocity
    errors, look = error_functions(wp.float64), look_functions(wp.float64)
    rotation_error, rotation_vector = errors.rotation_error, errors.rotation_vector
    turn_to, turn_velocity = look.turn_to, look.turn_velocity
    masses = center_of_mass_functions(wp.float64)
    center_of_mass, center_velocity = masses.center_of_mass, masses.center_of_mass_velocity
    Record, weighted = shared.Record, shared.weighted
    target_vec3, target_quat = shared.target_vec3, shared.target_quat
    position, rotation = (
        wp.constant(int(RecordKind.POSITION)),
        wp.constant(int(RecordKind.ROTATION)),
    )
    pose_kind, look_at = wp.constant(int(RecordKind.POSE)), wp.constant(int(RecordKind.LOOK_AT))
    com = wp.constant(int(RecordKind.CENTER_OF_MASS))

    @wp.func
    def turned_from(
        records: wp.array(dtype=Record),
        which: int,
        row: int,
        problem: int,
        body_q: wp.array2d(dtype=transform),
    ) -> vec3:
        """Rotation vector of a rotation objective."""
        return rotation_vector(
            rotation_error(
                body_q[row, records[which].link],
                read_quat(records[which].offset, 0, 0),
                target_quat(records, which, problem, 0),
                records[which].flag,
            )
        )

    @wp.func
    def turn_left(
        records: wp.array(dtype=Record), which: int, problem: int, pose: transform
    ) -> vec3:
        """Rotation vector from the frame of a pose objective to its target."""
        return rotation_log(
            target_quat(records, which, problem, 3)
            * wp.quat_inverse(wp.transform_get_rotation(pose))
        )

    @wp.func
    def frame_residual(
        records: wp.array(dtype=Record),
        which: int,
        row: int,
        problem: int,
        body_q: wp.array2d(dtype=transform),
    ) -> wp.spatial_vectord:
        first = vec3()
        second = vec3()
        if records[which].kind == position:
            point = wp.transform_point(
                body_q[row, records[which].link], read_vec3(records[which].offset, 0)
            )
            first = target_vec3(records, which, problem) - point
        elif records[which].kind == rotation:
            first = turned_from(records, which, row, problem, body_q)
        elif records[which].kind == com:
            to_reference = wp.transform_inverse(link_pose(row, records[which].reference, body_q))
            first = target_vec3(records, which, problem) - wp.transform_point(
                to_reference, center_of_mass(records[which].masses, row, body_q)
            )
        else:
            to_reference = wp.transform_inverse(link_pose(row, records[which].reference, body_q))
            pose = to_reference * body_q[row, records[which].link]
            if records[which].kind == pose_kind:
                pose = pose * read_transform(records[which].offset, 0)
                first = target_vec3(records, which, problem) - wp.transform_get_translation(pose)
                second = turn_left(records, which, problem, pose)
            else:
                a = wp.transform_vector(pose, read_vec3(records[which].axis, 0))
                point = wp.transform_point(pose, read_vec3(records[which].offset, 0))
                first = turn_to(a, wp.normalize(target_vec3(records, which, problem) - point))
        return weighted(records, which, first, second)

    @wp.func
    def frame_columns(
        records: wp.array(dtype=Record),
        which: int,
        row: int,
        problem: int,
        body_q: wp.array2d(dtype=transform),
        joint_S_s: wp.array2d(dtype=twist),
        block: wp.array2d(dtype=wp.spatial_vectord),
    ):
        frame = link_pose(row, records[which].reference, body_q)
        to_reference = wp.transform_inverse(frame)
        point = vec3()
        theta = vec3()
        a = vec3()
        d = vec3()
        away = wp.float64(0.0)
        if records[which].kind == position:
            point = wp.transform_point(
                body_q[row, records[which].link], read_vec3(records[which].offset, 0)
            )
        elif records[which].kind == rotation:
            theta = turned_from(records, which, row, problem, body_q)
        elif records[which].kind == pose_kind:
            pose = body_q[row, records[which].link] * read_transform(records[which].offset, 0)
            point = wp.transform_get_translation(pose)
            if records[which].flag != 0:
                theta = -turn_left(records, which, problem, to_reference * pose)
        elif records[which].kind == look_at:
            point = wp.transform_point(
                body_q[row, records[which].link], read_vec3(records[which].offset, 0)
            )
            pose = to_reference * body_q[row, records[which].link]
            a = wp.transform_vector(pose, read_vec3(records[which].axis, 0))
            sight = target_vec3(records, which, problem) - wp.transform_point(to_reference, point)
            away = wp.length(sight)
            d = wp.normalize(sight)
        elif records[which].kind == com:
            point = center_of_mass(records[which].masses, row, body_q)
        for k in range(records[which].chain_dof.shape[0]):
            dof = records[which].chain_dof[k]
            S = joint_S_s[row, dof]
            first = vec3()
            second = vec3()
            if records[which].kind == position:
                first = -point_velocity(S, point)
            elif records[which].kind == rotation:
                first = log_velocity(theta, vec3(S[3], S[4], S[5]))
            elif records[which].kind == com:
                velocity = center_velocity(records[which].masses, row, dof, body_q, joint_S_s)
                # What moves the reference too: the velocity of its point at the centre of mass.
                sign = wp.float64(records[which].chain_sign[k])
                velocity -= sign * point_velocity(S, point)
                first = -wp.transform_vector(to_reference, velocity)
            else:
                sign = wp.float64(records[which].chain_sign[k])
                velocity = sign * wp.transform_vector(to_reference, point_velocity(S, point))
                omega = sign * wp.transform_vector(to_reference, vec3(S[3], S[4], S[5]))
                if records[which].kind == pose_kind:
                    first = -velocity
                    second = -log_velocity(theta, omega)
                else:
                    dd = vec3()
                    if away > wp.float64(0.0):
                        dd = (d * wp.dot(d, velocity) - velocity) / away
                    first = turn_velocity(a, d, wp.cross(omega, a), dd)
            block[row, k] = weighted(records, which, first, second)

    return SimpleNamespace(frame_residual=frame_residual, frame_columns=frame_columns)


@no_type_check
@functools.cache
def joint_functions() -> SimpleNamespace:
    """Build ``joint_term(records, which, row, problem, dof, joint_q) -> (residual, slope)``.

    Of the objectives that have one residual per degree of freedom.
    """
    shared = _record_functions()
    Record, target_value = shared.Record, shared.target_value
    joint_position = wp.constant(int(RecordKind.JOINT_POSITION))

    @wp.func
    def upper_limit(records: wp.array(dtype=Record), which: int, dof: int) -> wp.float64:
        if records[which].upper64.shape[0] > 0:
            return records[which].upper64[dof, 0]
        return wp.float64(records[which].upper32[dof, 0])

    @wp.func
    def lower_limit(records: wp.array(dtype=Record), which: int, dof: int) -> wp.float64:
        if records[which].target64.shape[0] > 0:
            return records[which].target64[dof, 0]
        return wp.float64(records[which].target32[dof, 0])

    @wp.func
    def joint_term(
        records: wp.array(dtype=Record),
        which: int,
        row: int,
        problem: int,
        dof: int,
        joint_q: wp.array2d(dtype=wp.float64),
    ) -> wp.vec2d:
        coord = records[which].dof_coord[dof]
        weight = records[which].weight[0, dof]
        residual = wp.float64(0.0)
        slope = wp.float64(0.0)
        if coord >= 0:
            q = joint_q[row, coord]
            if records[which].kind == joint_position:
                residual = target_value(records, which, problem, coord) - q
                slope = wp.float64(-1.0)
            elif q > upper_limit(records, which, dof):
                residual = q - upper_limit(records, which, dof)
                slope = wp.float64(1.0)
            elif q < lower_limit(records, which, dof):
                residual = lower_limit(records, which, dof) - q
                slope = wp.float64(-1.0)
        return wp.vec2d(weight * residual, weight * slope)

    return SimpleNamespace(joint_term=joint_term)


@no_type_check
@functools.cache
def pair_functions() -> SimpleNamespace:
    """Build ``pair_residual`` and ``pair_columns`` of one pair of a self-distance objective."""
    types, shared = objective_functions(wp.float64), _record_functions()
    vec3, transform, twist = types.vec3, types.transform, types.twist
    read_vec3, link_pose, point_velocity = types.read_vec3, types.link_pose, types.point_velocity
    Record = shared.Record

    @wp.func
    def center_of(
        records: wp.array(dtype=Record),
        which: int,
        row: int,
        sphere: int,
        body_q: wp.array2d(dtype=transform),
    ) -> vec3:
        pose = link_pose(row, records[which].sphere_link[sphere], body_q)
        return wp.transform_point(pose, read_vec3(records[which].offset, sphere))

    @wp.func
    def pair_residual(
        records: wp.array(dtype=Record),
        which: int,
        row: int,
        pair: int,
        body_q: wp.array2d(dtype=transform),
    ) -> wp.float64:
        i = records[which].pairs[pair, 0]
        j = records[which].pairs[pair, 1]
        apart = center_of(records, which, row, i, body_q) - center_of(
            records, which, row, j, body_q
        )
        reach = (
            records[which].axis[0, pair]
            + records[which].offset[i, 3]
            + records[which].offset[j, 3]
        )
        return records[which].weight[0, pair] * wp.max(wp.float64(0.0), reach - wp.length(apart))

    @wp.func
    def pair_columns(
        records: wp.array(dtype=Record),
        which: int,
        row: int,
        pair: int,
        body_q: wp.array2d(dtype=transform),
        joint_S_s: wp.array2d(dtype=twist),
        block: wp.array2d(dtype=wp.spatial_vectord),
    ):
        """Write the derivatives of a pair that is too close."""
        i = records[which].pairs[pair, 0]
        j = records[which].pairs[pair, 1]
        center_i = center_of(records, which, row, i, body_q)
        center_j = center_of(records, which, row, j, body_q)
        normal = wp.normalize(center_i - center_j) * records[which].weight[0, pair]
        for k in range(records[which].chain_dof.shape[0]):
            dof = records[which].chain_dof[k]
            value = wp.float64(0.0)
            if records[which].moves[i, dof] > records[which].moves[j, dof]:
                value = -wp.dot(normal, point_velocity(joint_S_s[row, dof], center_i))
            elif records[which].moves[i, dof] < records[which].moves[j, dof]:
                value = wp.dot(normal, point_velocity(joint_S_s[row, dof], center_j))
            column = wp.spatial_vectord()
            column[0] = value
            block[row, k] = column

    return SimpleNamespace(pair_residual=pair_residual, pair_columns=pair_columns)


@no_type_check
@functools.cache
def manipulability_functions() -> SimpleNamespace:
    """Build ``measure_residual`` and ``measure_columns`` of a manipulability objective.

    Rows of the Jacobian that do not count are padded with the identity in J J^T, which leaves its
    determinant as it is.
    """
    types, shared = objective_functions(wp.float64), _record_functions()
    transform, twist = types.transform, types.twist
    read_vec3, link_pose = types.read_vec3, types.link_pose
    gram, columns = gram_functions(6), column_functions(wp.float64)
    matrix, root_determinant, inverse = gram.matrix, gram.root_determinant, gram.inverse
    local_column, column_derivative = columns.local_column, columns.column_derivative
    Record = shared.Record

    @wp.func
    def counted(records: wp.array(dtype=Record), which: int, column: twist) -> twist:
        """Return the column with zeros in rows that do not count."""
        kept = twist()
        for a in range(records[which].axes.shape[0]):
            kept[records[which].axes[a]] = column[records[which].axes[a]]
        return kept

    @wp.func
    def gram_matrix(
        records: wp.array(dtype=Record),
        which: int,
        row: int,
        body_q: wp.array2d(dtype=transform),
        joint_S_s: wp.array2d(dtype=twist),
    ) -> matrix:
        to_reference = wp.transform_inverse(link_pose(row, records[which].reference, body_q))
        point = wp.transform_point(
            body_q[row, records[which].link], read_vec3(records[which].offset, 0)
        )
        A = wp.identity(n=6, dtype=wp.float64)
        for a in range(records[which].axes.shape[0]):
            A[records[which].axes[a], records[which].axes[a]] = wp.float64(0.0)
        for k in range(records[which].chain_dof.shape[0]):
            S = joint_S_s[row, records[which].chain_dof[k]]
            column = counted(records, which, local_column(S, point, to_reference))
            A += wp.outer(column, column)
        return A

    @wp.func
    def measure_residual(
        records: wp.array(dtype=Record),
        which: int,
        row: int,
        body_q: wp.array2d(dtype=transform),
        joint_S_s: wp.array2d(dtype=twist),
    ) -> wp.float64:
        measure = root_determinant(gram_matrix(records, which, row, body_q, joint_S_s))
        lack = wp.float64(1.0) - measure / records[which].axis[0, 0]
        return records[which].weight[0, 0] * wp.max(wp.float64(0.0), lack)

    @wp.func
    def measure_columns(
        records: wp.array(dtype=Record),
        which: int,
        row: int,
        body_q: wp.array2d(dtype=transform),
        joint_S_s: wp.array2d(dtype=twist),
        block: wp.array2d(dtype=wp.spatial_vectord),
    ):
        A = gram_matrix(records, which, row, body_q, joint_S_s)
        measure = root_determinant(A)
        B = matrix()
        if measure > wp.float64(0.0) and measure < records[which].axis[0, 0]:
            B = inverse(A) * (-records[which].weight[0, 0] * measure / records[which].axis[0, 0])
        to_reference = wp.transform_inverse(link_pose(row, records[which].reference, body_q))
        point = wp.transform_point(
            body_q[row, records[which].link], read_vec3(records[which].offset, 0)
        )
        for i in range(records[which].chain_dof.shape[0]):
            slope = wp.float64(0.0)
            by = local_column(joint_S_s[row, records[which].chain_dof[i]], point, to_reference)
            for j in range(records[which].chain_dof.shape[0]):
                full = local_column(
                    joint_S_s[row, records[which].chain_dof[j]], point, to_reference
                )
                derivative = counted(records, which, column_derivative(full, by, int(i < j)))
                slope += wp.dot(B * counted(records, which, full), derivative)
            column = wp.spatial_vectord()
            column[0] = slope
            block[row, i] = column

    return SimpleNamespace(measure_residual=measure_residual, measure_columns=measure_columns)


@no_type_check
@functools.cache
def normal_functions() -> SimpleNamespace:
    """Build ``objective_cost`` and ``add_objective``; see the module."""
    types, shared = objective_functions(wp.float64), _record_functions()
    transform, twist = types.transform, types.twist
    Record, problem_of = shared.Record, shared.problem_of
    frame, joint, pair_of = frame_functions(), joint_functions(), pair_functions()
    frame_residual, frame_columns = frame.frame_residual, frame.frame_columns
    joint_term = joint.joint_term
    pair_residual, pair_columns = pair_of.pair_residual, pair_of.pair_columns
    measure = manipulability_functions()
    measure_residual, measure_columns = measure.measure_residual, measure.measure_columns
    joint_position = wp.constant(int(RecordKind.JOINT_POSITION))
    joint_limit = wp.constant(int(RecordKind.JOINT_LIMIT))
    self_distance = wp.constant(int(RecordKind.SELF_DISTANCE))
    manipulability = wp.constant(int(RecordKind.MANIPULABILITY))
    zero = wp.constant(wp.float64(0.0))

    @wp.func
    def objective_cost(
        records: wp.array(dtype=Record),
        which: int,
        row: int,
        problem: int,
        joint_q: wp.array2d(dtype=wp.float64),
        body_q: wp.array2d(dtype=transform),
        joint_S_s: wp.array2d(dtype=twist),
    ) -> wp.float64:
        """r^T r; the motion subspaces are needed by manipulability only."""
        cost = wp.float64(0.0)
        own = problem_of(records, which, problem)
        if records[which].kind == joint_position or records[which].kind == joint_limit:
            for k in range(records[which].chain_dof.shape[0]):
                term = joint_term(records, which, row, own, records[which].chain_dof[k], joint_q)
                cost += term[0] * term[0]
        elif records[which].kind == self_distance:
            for pair in range(records[which].rows):
                residual = pair_residual(records, which, row, pair, body_q)
                cost += residual * residual
        elif records[which].kind == manipulability:
            residual = measure_residual(records, which, row, body_q, joint_S_s)
            cost = residual * residual
        else:
            r = frame_residual(records, which, row, own, body_q)
            cost = wp.dot(r, r)
        return cost

    @wp.func
    def add_block(
        row: int,
        count: int,
        chain_dof: wp.array(dtype=wp.int32),
        r: wp.spatial_vectord,
        dof_unknown: wp.array(dtype=wp.int32),
        dof_scale: wp.array(dtype=wp.float64),
        block: wp.array2d(dtype=wp.spatial_vectord),
        hessian: wp.array3d(dtype=wp.float64),
        gradient: wp.array2d(dtype=wp.float64),
    ):
        """Add the columns of a block to the unknowns that drive their degrees of freedom."""
        for k in range(count):
            i = dof_unknown[chain_dof[k]]
            if i >= 0:
                column = block[row, k] * dof_scale[chain_dof[k]]
                gradient[row, i] = gradient[row, i] + wp.dot(column, r)
                for m in range(k + 1):
                    j = dof_unknown[chain_dof[m]]
                    if j >= 0:
                        product = wp.dot(column, block[row, m]) * dof_scale[chain_dof[m]]
                        if i == j and m < k:
                            product = product * wp.float64(2.0)
                        high = wp.max(i, j)
                        low = wp.min(i, j)
                        hessian[row, high, low] = hessian[row, high, low] + product

    @wp.func
    def add_objective(
        records: wp.array(dtype=Record),
        which: int,
        row: int,
        problem: int,
        joint_q: wp.array2d(dtype=wp.float64),
        body_q: wp.array2d(dtype=transform),
        joint_S_s: wp.array2d(dtype=twist),
        dof_unknown: wp.array(dtype=wp.int32),
        dof_scale: wp.array(dtype=wp.float64),
        block: wp.array2d(dtype=wp.spatial_vectord),
        hessian: wp.array3d(dtype=wp.float64),
        gradient: wp.array2d(dtype=wp.float64),
    ):
        own = problem_of(records, which, problem)
        count = records[which].chain_dof.shape[0]
        r = wp.spatial_vectord()
        if records[which].kind == joint_position or records[which].kind == joint_limit:
            for k in range(count):
                dof = records[which].chain_dof[k]
                i = dof_unknown[dof]
                if i >= 0:
                    term = joint_term(records, which, row, own, dof, joint_q)
                    slope = term[1] * dof_scale[dof]
                    gradient[row, i] = gradient[row, i] + slope * term[0]
                    hessian[row, i, i] = hessian[row, i, i] + slope * slope
        elif records[which].kind == self_distance:
            for pair in range(records[which].rows):
                r[0] = pair_residual(records, which, row, pair, body_q)
                if r[0] > zero:
                    pair_columns(records, which, row, pair, body_q, joint_S_s, block)
                    add_block(
                        row, count, records[which].chain_dof, r, dof_unknown, dof_scale, block,
                        hessian, gradient,
                    )  # fmt: skip
        else:
            if records[which].kind == manipulability:
                r[0] = measure_residual(records, which, row, body_q, joint_S_s)
                measure_columns(records, which, row, body_q, joint_S_s, block)
            else:
                r = frame_residual(records, which, row, own, body_q)
                frame_columns(records, which, row, own, body_q, joint_S_s, block)
            add_block(
                row,
                count,
                records[which].chain_dof,
                r,
                dof_unknown,
                dof_scale,
                block,
                hessian,
                gradient,
            )

    return SimpleNamespace(objective_cost=objective_cost, add_objective=add_objective)
