# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that checks whether a link's origin stays inside a box along a step and its stop.

    h = +- (p_a - bound)   for each face, p in the axes of the reference link

Every face is checked separately, at each sample of the path and, by the bounds of
:mod:`ros_ik.kinematics.stepping.stop_path`, between them.
"""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.collision.pairs.pair_sweep import arc_function
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.stepping.stop_functions import judge_function
from ros_ik.kinematics.stepping.stop_functions import MAX_HALVINGS
from ros_ik.kinematics.stepping.stop_functions import MAX_SAMPLES
from ros_ik.kinematics.stepping.stop_functions import SAFE
from ros_ik.kinematics.stepping.stop_functions import sampling_functions
from ros_ik.kinematics.stepping.stop_functions import SHRINKS
from ros_ik.kinematics.stepping.stop_functions import stop_path_struct
from ros_ik.kinematics.stepping.stop_functions import UNPROVEN
from ros_ik.kinematics.stepping.stop_functions import WORSE


@no_type_check
@functools.cache
def point_in_function(scalar: type) -> wp.Function:
    """Build ``point_in(row, link, reference, body_q)``, a link's origin in another link's frame.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    types = spatial_functions(scalar)
    vec3, transform = types.vec3, types.transform

    @wp.func
    def point_in(row: int, link: int, reference: int, body_q: wp.array2d(dtype=transform)) -> vec3:
        world = wp.transform_get_translation(body_q[row, link])
        if reference >= 0:
            return wp.transform_point(wp.transform_inverse(body_q[row, reference]), world)
        return world

    return point_in


@no_type_check
@functools.cache
def follow_point_kernel(scalar: type) -> wp.Kernel:
    """Build the kernel of one floating-point type; one thread is one robot.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    Path = stop_path_struct(scalar)
    arc, point_in = arc_function(scalar), point_in_function(scalar)
    sampling = sampling_functions(scalar)
    joint_motion, chord_error = sampling.joint_motion, sampling.chord_error
    next_sample, sample_before = sampling.next_sample, sampling.sample_before
    may_halve = sampling.may_halve
    judge = judge_function(scalar)
    zero, one = wp.constant(scalar(0.0)), wp.constant(scalar(1.0))

    @wp.func
    def bounds(
        path: Path,
        robot: int,
        row: int,
        low: scalar,
        high: scalar,
        link: int,
        chain_dof: wp.array(dtype=wp.int32),
    ):
        """Bound the motion of the point between two times, and its deviation from the chord."""
        point = wp.transform_get_translation(path.body_q[row, link])
        travel = scalar(0.0)
        turned = scalar(0.0)
        uneven_travel = scalar(0.0)
        uneven_turn = scalar(0.0)
        for j in range(chain_dof.shape[0]):
            theta, turn, off = joint_motion(path, robot, row, chain_dof[j], low, high)
            part = arc(path.joint_S_s[row, chain_dof[j]], one, point, zero)
            travel += theta * part
            turned += theta * turn
            uneven_travel += off * part
            uneven_turn += off * turn
        return travel, chord_error(travel, turned, uneven_travel, uneven_turn)

    @wp.func
    def follow_face(
        path: Path,
        robot: int,
        chain_dof: wp.array(dtype=wp.int32),
        link: int,
        reference: int,
        axis: int,
        sign: scalar,
        bound: scalar,
        floor: scalar,
        between: bool,
    ) -> int:
        last = path.times.shape[1] - 1
        end = path.times[robot, last]
        sample = int(-1)  # last of the given samples that was passed; low may be beyond it
        low = scalar(0.0)
        h = scalar(0.0)  # at low
        span = scalar(0.0)  # 0 = to the next sample
        halvings = int(0)
        code = int(wp.static(UNPROVEN))
        for _ in range(wp.static(MAX_SAMPLES)):
            high, row = next_sample(path, robot, sample, low, span)
            position = point_in(row, link, reference, path.body_q)
            h_next = sign * (position[axis] - bound)
            rest, _bend = bounds(path, robot, row, high, end, link, chain_dof)
            code = wp.static(SAFE)
            if sample >= 0:
                fall, bend = bounds(path, robot, row, low, high, link, chain_dof)
                code = judge(h, h_next, h_next, fall, bend, floor, between)
            elif not wp.isfinite(h_next):
                code = wp.static(WORSE)
            if code == wp.static(WORSE) or code == wp.static(SHRINKS):
                break
            if code == wp.static(UNPROVEN):
                halvings += 1
                if may_halve(h, floor, halvings):
                    if halvings > wp.static(MAX_HALVINGS):
                        break
                    span = scalar(0.5) * (high - low)
                    continue
                code = wp.static(SAFE)
            if h_next - rest >= floor or rest == zero:
                break  # it cannot reach the face any more
            h = h_next
            low = high
            span = scalar(2.0) * span
            sample = sample_before(path, robot, sample, high)
            if sample >= last:
                break
            code = wp.static(UNPROVEN)
        return code

    @compiled_kernel(registers=255)
    def follow_point(
        path: Path,
        chain_dof: wp.array(dtype=wp.int32),  # [n_chain]
        dof_variable: wp.array(dtype=wp.int32),  # [joint_dof_count]
        link: int,
        reference: int,
        row_axis: wp.array(dtype=wp.int32),  # [row_count]
        row_sign: wp.array(dtype=scalar),  # [row_count]
        row_bound: wp.array(dtype=scalar),  # [row_count]
        tolerance: wp.array(dtype=scalar),  # [1]
        between: bool,
        column: int,
        unsafe: wp.array2d(dtype=wp.int32),  # [n, barriers]
        cut: wp.array2d(dtype=wp.int32),  # [n, joint_dof_count or 0]
    ):
        robot = wp.tid()
        for row in range(row_axis.shape[0]):
            code = follow_face(
                path,
                robot,
                chain_dof,
                link,
                reference,
                row_axis[row],
                row_sign[row],
                row_bound[row],
                -tolerance[0],
                between,
            )
            if code != wp.static(SAFE):
                unsafe[robot, column] = 1
            if code == wp.static(SHRINKS) or (code != wp.static(SAFE) and not between):
                for j in range(chain_dof.shape[0]):
                    dof = chain_dof[j]
                    if dof_variable[dof] >= 0 and dof < cut.shape[1]:
                        cut[robot, dof] = 1

    return follow_point
