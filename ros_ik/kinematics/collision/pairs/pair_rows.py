# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that selects the pairs of primitives which get a row in the quadratic program of a step.

In the box l <= x <= u of a step, the least value of the left side of a row J x >= d is

    least = sum_k min(J_k l_k, J_k u_k)

If least >= d, no step in the box violates the row, so it can be left out without any effect. This
includes pairs that the step cannot move, whose J is zero or rounding. The other pairs are ranked
by urgency, h / -least, the time until they could touch. Violated pairs have separate rows, so that
they never displace others. They keep their rows until they are no longer violated, which makes
steps smoother. They are ranked by how deep the step could push them. Those that it cannot move
come last: their rows only make the step RELAXED.

For each shape s, drift_s is the displacement of its centre in the step to the middle of the box.
The displacement of any of its points in any step of the box differs from drift_s by at most
extra_s. So the distance of shapes a and b falls by at most

    w = |drift_a - drift_b| + extra_a + extra_b

Displacements are to first order, as in J x; links that the same variables move share the sums for
them. Pairs with d(h) <= -w are not measured, nor are pairs that are less urgent than those that
already have all rows.
"""

import functools
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.collision.pairs.pair_functions import distance_functions
from ros_ik.kinematics.collision.pairs.pair_functions import pair_structs
from ros_ik.kinematics.collision.pairs.pair_slopes import write_slopes_function
from ros_ik.kinematics.row_bound import row_bound_functions
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.spatial import spatial_functions

# Replacement for an infinite bound on a variable [rad or m].
_ANYWHERE = 1e6
# Least fall of a distance in a step that counts in the ranking [m].
_LEAST_FALL = 1e-9
# Penetration [m] up to which a pair is touching and not yet violated, to allow for rounding.
_TOUCHING = 1e-6


@no_type_check
@functools.cache
def rank_work_struct(scalar: type) -> Any:
    """Build the struct ``RankWork``, work space of the kernel.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    vec3 = spatial_functions(scalar).vec3

    @wp.struct
    class RankWork:
        link: wp.array3d(dtype=vec3)  # [n, body_count, 3], displacement, rotation, deviations
        drift: wp.array2d(dtype=vec3)  # [n, n_shapes]
        extra: wp.array2d(dtype=scalar)  # [n, n_shapes]
        key: wp.array2d(dtype=scalar)  # [n, n_rows], smallest for the most urgent pair
        slopes: wp.array3d(dtype=scalar)  # [n, 1, n_variables], of one pair

    return RankWork


@no_type_check
def pair_rows_kernel(scalar: type, convex: bool, module: wp.Module) -> wp.Kernel:
    """Build the kernel of one floating-point type; see :func:`pair_kernels`.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
        convex: True if there are shapes other than spheres, capsules and half-spaces.
        module: Module in which it is compiled.
    """
    types = spatial_functions(scalar)
    vec3, transform, point_velocity = types.vec3, types.transform, types.point_velocity
    structs = pair_structs(scalar)
    Pairs, PairWork, PairMotion = structs.Pairs, structs.PairWork, structs.PairMotion
    RankWork = rank_work_struct(scalar)
    pair_distance = distance_functions(scalar, convex).pair_distance
    write_slopes = write_slopes_function(scalar, convex)
    bounds = row_bound_functions(scalar)
    row_bound, inside_of_fall = bounds.row_bound, bounds.inside_of_fall
    is_still = bounds.is_still

    @wp.func
    def motion_of_link(
        robot: int,
        body: int,
        origin: vec3,
        motion: PairMotion,
        lower: wp.array2d(dtype=scalar),
        upper: wp.array2d(dtype=scalar),
    ):
        """Return motion and rotation of a link at the middle of the box, and their deviations."""
        drift = vec3()
        turn = vec3()
        slip = scalar(0.0)
        twisted = scalar(0.0)
        for j in range(motion.dofs.shape[0]):
            if motion.moves[body + 1, j] != 0:
                variable = motion.variable[j]
                low = wp.max(lower[robot, variable], -scalar(wp.static(_ANYWHERE)))
                high = wp.min(upper[robot, variable], scalar(wp.static(_ANYWHERE)))
                S = motion.joint_S_s[robot, motion.dofs[j]]
                middle = motion.scale[j] * scalar(0.5) * (low + high)
                half = wp.abs(motion.scale[j]) * scalar(0.5) * (high - low)
                velocity = point_velocity(S, origin)
                axis = vec3(S[3], S[4], S[5])
                drift += middle * velocity
                turn += middle * axis
                slip += half * wp.length(velocity)
                twisted += half * wp.length(axis)
        return drift, turn, slip, twisted

    @wp.func
    def set_drifts(
        robot: int,
        body_q: wp.array2d(dtype=transform),
        motion: PairMotion,
        lower: wp.array2d(dtype=scalar),
        upper: wp.array2d(dtype=scalar),
        data: Pairs,
        work: PairWork,
        ranks: RankWork,
    ) -> scalar:
        """Bound the displacements of all shapes; return the largest bound."""
        widest = scalar(0.0)
        for body in range(body_q.shape[1]):
            if data.counts[3] > 0 and motion.leader[body] == body:
                drift, turn, slip, twisted = motion_of_link(
                    robot, body, wp.transform_get_translation(body_q[robot, body]), motion, lower,
                    upper,
                )  # fmt: skip
                ranks.link[robot, body, 0] = drift
                ranks.link[robot, body, 1] = turn
                ranks.link[robot, body, 2] = vec3(slip, twisted, wp.length(turn))
        for k in range(data.counts[0]):
            shape = data.used[k]
            body = data.shapes.body[shape]
            drift = vec3()
            extra = scalar(0.0)
            if body >= 0:
                body = motion.leader[body]
                arm = work.center[robot, shape] - wp.transform_get_translation(body_q[robot, body])
                reach = wp.max(data.shapes.bound[shape] - data.shapes.radius[shape], scalar(0.0))
                spread = ranks.link[robot, body, 2]
                drift = ranks.link[robot, body, 0] + wp.cross(ranks.link[robot, body, 1], arm)
                extra = spread[0] + spread[1] * (wp.length(arm) + reach) + spread[2] * reach
            ranks.drift[robot, shape] = drift
            ranks.extra[robot, shape] = extra
            widest = wp.max(widest, wp.length(drift) + extra)
        return widest

    @wp.func
    def least_change(
        robot: int,
        lower: wp.array2d(dtype=scalar),
        upper: wp.array2d(dtype=scalar),
        ranks: RankWork,
    ):
        """Return the least J x in the box, for the slopes J of a pair, and the length of J."""
        square = scalar(0.0)
        least = scalar(0.0)
        for j in range(ranks.slopes.shape[2]):
            slope = ranks.slopes[robot, 0, j]
            if slope != scalar(0.0):
                square += slope * slope
                least += wp.min(slope * lower[robot, j], slope * upper[robot, j])
        return least, wp.sqrt(square)

    @wp.func
    def slot_of(
        robot: int,
        first: int,
        last: int,
        key: scalar,
        h: scalar,
        start_idx: int,
        work: PairWork,
        ranks: RankWork,
        values: wp.array2d(dtype=scalar),
    ) -> int:
        """Return a free row, else that of the least urgent pair if this one is more urgent.

        -1 stands for no row.
        """
        slot = int(-1)
        for row in range(first, last):
            if work.pair[robot, row] < 0:
                return row
            other = ranks.key[robot, row]
            if other > key or (other == key and values[robot, start_idx + row] > h):
                key = other
                h = values[robot, start_idx + row]
                slot = row
        return slot

    @wp.func
    def latest_key(robot: int, n_free: int, work: PairWork, ranks: RankWork) -> scalar:
        """Return the key of the least urgent pair that is not violated; inf if a row is free."""
        if work.pair[robot, n_free - 1] < 0:
            return scalar(wp.inf)
        latest = ranks.key[robot, 0]
        for row in range(1, n_free):
            latest = wp.max(latest, ranks.key[robot, row])
        return latest

    @compiled_kernel(module=module)
    def choose_pairs(
        body_q: wp.array2d(dtype=transform),  # [n, body_count]
        motion: PairMotion,
        lower: wp.array2d(dtype=scalar),  # [n, n_variables], the box of the step
        upper: wp.array2d(dtype=scalar),  # [n, n_variables]
        gain: wp.array(dtype=scalar),  # [barriers]
        barrier: int,
        margin: scalar,
        recovery: scalar,
        dt: scalar,
        data: Pairs,
        n_free: int,  # rows for pairs that are not violated
        start_idx: int,
        work: PairWork,
        ranks: RankWork,
        values: wp.array2d(dtype=scalar),  # [n, total_rows]
        jacobian: wp.array3d(dtype=scalar),  # [n, total_rows, n_variables]
    ):
        robot = wp.tid()
        n_rows = work.pair.shape[1]
        n_variables = jacobian.shape[2]
        for row in range(n_rows):
            work.pair[robot, row] = -1
        widest = set_drifts(robot, body_q, motion, lower, upper, data, work, ranks)
        # Pairs farther apart than this are irrelevant.
        outermost = data.d_min + margin + inside_of_fall(scalar(2.0) * widest, gain[barrier], dt)
        outermost = wp.min(outermost, data.d_max)
        latest = scalar(wp.inf)
        for k in range(data.counts[3]):
            a = data.pairs[k][0]
            b = data.pairs[k][1]
            apart = wp.length_sq(work.center[robot, a] - work.center[robot, b])
            reach = outermost + data.shapes.bound[a] + data.shapes.bound[b]
            if reach <= scalar(0.0) or apart >= reach * reach:
                continue
            fall = wp.length(ranks.drift[robot, a] - ranks.drift[robot, b])
            fall += ranks.extra[robot, a] + ranks.extra[robot, b]
            limit = data.d_min + margin + inside_of_fall(fall, gain[barrier], dt)
            limit = wp.min(limit, data.d_max)
            if wp.isfinite(latest):
                limit = wp.min(limit, data.d_min + latest * fall)
            distance = pair_distance(data, work, robot, k, body_q, limit)
            if distance < limit:
                write_slopes(robot, k, motion, data, work, ranks.slopes, 0)
                least, length = least_change(robot, lower, upper, ranks)
                h = distance - data.d_min
                bound = row_bound(h - margin, length, gain[barrier], recovery, dt)
                violated = h < -scalar(wp.static(_TOUCHING))
                still = is_still(length * length)
                if violated or (least < bound and not still):
                    first = int(0)
                    last = n_free
                    key = wp.max(h, scalar(0.0)) / wp.max(-least, scalar(wp.static(_LEAST_FALL)))
                    if violated:
                        first = n_free
                        last = n_rows
                        key = least
                        if still:
                            key = scalar(wp.inf)
                    row = slot_of(robot, first, last, key, h, start_idx, work, ranks, values)
                    if row >= 0:
                        work.pair[robot, row] = k
                        work.distance[robot, row] = distance
                        ranks.key[robot, row] = key
                        values[robot, start_idx + row] = h
                        for j in range(n_variables):
                            jacobian[robot, start_idx + row, j] = ranks.slopes[robot, 0, j]
                        latest = latest_key(robot, n_free, work, ranks)
        for row in range(n_rows):
            if work.pair[robot, row] < 0:
                values[robot, start_idx + row] = scalar(wp.inf)
                for j in range(n_variables):
                    jacobian[robot, start_idx + row, j] = scalar(0.0)

    return choose_pairs
