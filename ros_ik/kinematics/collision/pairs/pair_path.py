# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that checks whether primitives stay apart along the path of a step and its stop.

Every pair is checked separately. From one sample of the path to the next,
its distance must not fall below the floor, or must not shrink if it is below already. The check of
a pair ends when it can no longer reach the floor before the end of the path. Pairs that no
commanded joint moves are skipped. Between two samples

    d >= (d_a + d_b - motion of both) / 2     and
    d >= min(d_a, n . (p_a - p_b)) - bend     along the direction n of d_a, fixed in the second
                                              link, see :mod:`ros_ik.kinematics.stepping.stop_path`

If neither bound is sufficient, samples are added in between.
"""

from typing import no_type_check

import warp as wp

from ros_ik.kinematics.collision.pairs.pair_functions import distance_functions
from ros_ik.kinematics.collision.pairs.pair_functions import pair_structs
from ros_ik.kinematics.collision.pairs.pair_functions import place_shape_function
from ros_ik.kinematics.collision.pairs.pair_sweep import sweep_functions
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
def pair_path_kernel(scalar: type, convex: bool, module: wp.Module) -> wp.Kernel:
    """Build the kernel of one floating-point type; see :func:`pair_kernels`.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
        convex: True if there are shapes other than spheres, capsules and half-spaces.
        module: Module in which it is compiled.
    """
    types = spatial_functions(scalar)
    vec3, quat, transform = types.vec3, types.quat, types.transform
    structs, Path = pair_structs(scalar), stop_path_struct(scalar)
    Pairs, PairWork, PairMotion = structs.Pairs, structs.PairWork, structs.PairMotion
    functions = distance_functions(scalar, convex)
    pair_distance, pair_direction = functions.pair_distance, functions.pair_direction
    pair_gap = functions.pair_gap
    sweeps = sweep_functions(scalar)
    arc, may_reach, pair_fall = sweeps.arc, sweeps.may_reach, sweeps.pair_fall
    set_travels = sweeps.set_travels
    sampling = sampling_functions(scalar)
    joint_motion, chord_error = sampling.joint_motion, sampling.chord_error
    next_sample, sample_before = sampling.next_sample, sampling.sample_before
    may_halve = sampling.may_halve
    place_shape, judge = place_shape_function(scalar), judge_function(scalar)
    zero = wp.constant(scalar(0.0))

    @wp.func
    def load(
        path: Path,
        row: int,
        robot: int,
        shape: int,
        data: Pairs,
        work: PairWork,
        body_q: wp.array2d(dtype=transform),
    ):
        """Compute the pose of a shape at a sample."""
        body = data.shapes.body[shape]
        if body >= 0:
            body_q[robot, body] = path.body_q[row, body]
        place_shape(data, work, robot, shape, body_q)

    @wp.func
    def bounds(
        path: Path,
        robot: int,
        row: int,
        low: scalar,
        high: scalar,
        a: int,
        b: int,
        motion: PairMotion,
        data: Pairs,
        work: PairWork,
    ):
        """Bound the approach of a pair between two times, and the deviation from chords.

        The row holds the poses of one of the times. Points of the first shape are in the frame of
        the second.
        """
        body_a = data.shapes.body[a] + 1
        body_b = data.shapes.body[b] + 1
        reach_a = wp.max(data.shapes.bound[a] - data.shapes.radius[a], zero)
        reach_b = wp.max(data.shapes.bound[b] - data.shapes.radius[b], zero)
        fall = scalar(0.0)
        travel = scalar(0.0)
        turned = scalar(0.0)
        uneven_travel = scalar(0.0)
        uneven_turn = scalar(0.0)
        for j in range(motion.dofs.shape[0]):
            side = motion.moves[body_a, j] - motion.moves[body_b, j]
            if side != 0:
                dof = motion.dofs[j]
                theta, turn, off = joint_motion(path, robot, row, dof, low, high)
                S = path.joint_S_s[row, dof]
                part = arc(S, scalar(1.0), work.center[robot, a], reach_a)
                if side > 0:
                    fall += theta * part
                else:
                    fall += arc(S, theta, work.center[robot, b], reach_b)
                travel += theta * part
                turned += theta * turn
                uneven_travel += off * part
                uneven_turn += off * turn
        return fall, chord_error(travel, turned, uneven_travel, uneven_turn)

    @wp.func
    def turn_of(b: int, robot: int, data: Pairs, body_q: wp.array2d(dtype=transform)) -> quat:
        body = data.shapes.body[b]
        if body >= 0:
            return wp.transform_get_rotation(body_q[robot, body])
        return wp.quat_identity(dtype=scalar)

    @wp.func
    def follow_pair(
        k: int,
        path: Path,
        robot: int,
        motion: PairMotion,
        data: Pairs,
        floor: scalar,
        between: bool,
        work: PairWork,
        body_q: wp.array2d(dtype=transform),
    ) -> int:
        a = data.pairs[k][0]
        b = data.pairs[k][1]
        last = path.times.shape[1] - 1
        end = path.times[robot, last]
        sample = int(-1)  # last of the given samples that was passed; low may be beyond it
        low = scalar(0.0)
        h = scalar(0.0)  # at low
        along = vec3()  # direction of h in the second link
        span = scalar(0.0)  # 0 = to the next sample
        halvings = int(0)
        code = int(wp.static(UNPROVEN))
        for _ in range(wp.static(MAX_SAMPLES)):
            high, row = next_sample(path, robot, sample, low, span)
            load(path, row, robot, a, data, work, body_q)
            load(path, row, robot, b, data, work, body_q)
            # Bounds to the end, and then from the last time. Two calls would be inlined twice, and
            # take 450 bytes of stack on a GPU.
            rest = scalar(0.0)
            fall = scalar(0.0)
            bend = scalar(0.0)
            begin = high
            until = end
            parts = wp.where(sample < 0, 1, 2)
            while parts > 0:
                rest = fall
                fall, bend = bounds(path, robot, row, begin, until, a, b, motion, data, work)
                begin = low
                until = high
                parts -= 1
            if sample < 0:
                rest = fall
            limit = floor + rest
            found = pair_distance(data, work, robot, k, body_q, limit)
            h_next = wp.min(found, limit)
            rotation = turn_of(b, robot, data, body_q)
            # For overlapping bodies the previous direction may be better than the new one.
            gap = scalar(-wp.inf)
            code = wp.static(SAFE)
            if sample >= 0:
                if wp.length_sq(along) > zero:
                    n_before = wp.quat_rotate(rotation, along)
                    gap = pair_gap(data, work, robot, k, body_q, n_before)
                    if gap > found and k >= data.counts[2]:
                        work.hint[robot, k - data.counts[2]] = n_before
                code = judge(h, wp.max(h_next, gap), gap, fall, bend, floor, between)
            elif not (found <= limit or found > limit):
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
            if found > limit:
                break  # it cannot reach the floor any more
            if not (gap > found):
                normal, _point = pair_direction(data, work, robot, k)
                along = wp.quat_rotate_inv(rotation, normal)
            h = wp.max(h_next, gap)
            low = high
            span = scalar(2.0) * span
            sample = sample_before(path, robot, sample, high)
            if sample >= last:
                break
            code = wp.static(UNPROVEN)
        return code

    @compiled_kernel(module=module)
    def follow_pairs(
        path: Path,
        motion: PairMotion,  # at the start of the path
        data: Pairs,
        now: PairWork,  # poses of the primitives at the start of the path
        tolerance: wp.array(dtype=scalar),  # [1]
        between: bool,
        column: int,
        work: PairWork,
        body_q: wp.array2d(dtype=transform),  # [n, body_count], work space
        travels: wp.array2d(dtype=scalar),  # [n, n_shapes], of shapes in the world
        unsafe: wp.array2d(dtype=wp.int32),  # [n, barriers]
        cut: wp.array2d(dtype=wp.int32),  # [n, joint_dof_count or 0]
    ):
        robot = wp.tid()
        floor = data.d_min - tolerance[0]
        set_travels(data, now, robot, motion, path.travel, travels)
        for k in range(data.counts[3]):
            if unsafe[robot, column] != 0 and cut.shape[1] == 0:
                break
            if may_reach(data, now, robot, k, travels):
                fall = pair_fall(data, now, robot, k, motion, path.travel)
                # A pair that does not move cannot get closer.
                if not (fall == zero):
                    code = follow_pair(
                        k, path, robot, motion, data, floor, between, work, body_q
                    )
                    if code != wp.static(SAFE):
                        unsafe[robot, column] = 1
                    if code == wp.static(SHRINKS) or (code != wp.static(SAFE) and not between):
                        body_a = data.shapes.body[data.pairs[k][0]]
                        body_b = data.shapes.body[data.pairs[k][1]]
                        for j in range(motion.dofs.shape[0]):
                            side = motion.moves[body_a + 1, j] - motion.moves[body_b + 1, j]
                            dof = motion.dofs[j]
                            if side != 0 and dof < cut.shape[1]:
                                cut[robot, dof] = 1

    return follow_pairs
