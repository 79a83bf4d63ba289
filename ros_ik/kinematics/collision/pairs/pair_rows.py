# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that selects the pairs of primitives which get a row in the quadratic program of a step.

In the box l <= x <= u of a step, the least value of the left side of a row J x >= d is

    least = sum_k min(J_k l_k, J_k u_k)

If least >= d, no step in the box violates the row, so it can be left out without any effect. This
includes pairs that the step cannot move, J = 0. The other pairs are ranked by urgency, h / -least,
the time until they could touch. Violated pairs have separate rows, so that they never displace
others. They keep their rows until they are no longer violated, which makes steps smoother. They
are ranked by how deep the step could push them.

For each shape s, drift_s is the displacement of its centre in the step to the middle of the box.
The displacement of any of its points in any step of the box differs from drift_s by at most
extra_s. So the distance of shapes a and b falls by at most

    w = |drift_a - drift_b| + extra_a + extra_b

Displacements are to first order, as in J x; links that the same variables move share the sums for
them. Pairs with d(h) <= -w are not measured, nor are pairs that are less urgent than those that
already have all rows.
"""

from typing import no_type_check

import warp as wp

from ros_ik.kinematics.collision.pairs.pair_functions import distance_functions
from ros_ik.kinematics.collision.pairs.pair_functions import pair_structs
from ros_ik.kinematics.collision.pairs.pair_slopes import write_slopes_function
from ros_ik.kinematics.row_bound import row_bound_function
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.spatial import spatial_functions

# Replacement for an infinite bound on a variable [rad or m].
_ANYWHERE = 1e6
# Slope |J| [m/rad] below which the motion of a pair is only rounding.
_STILL = 1e-9
# Penetration [m] up to which a pair is touching and not yet violated, to allow for rounding.
_TOUCHING = 1e-6


@no_type_check
def pair_rows_kernel(scalar: type, convex: bool, module: wp.Module) -> wp.Kernel:
    """Build the kernel of one floating-point type; see :func:`pair_kernels`.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
        convex: True if there are shapes other than spheres, capsules and half-spaces.
        module: Module in which it is compiled.
    """
    types = spatial_functions(scalar)
    vec3, transform, twist = types.vec3, types.transform, types.twist
    point_velocity = types.point_velocity
    structs = pair_structs(scalar)
    Pairs, PairWork = structs.Pairs, structs.PairWork
    pair_distance = distance_functions(scalar, convex).pair_distance
    write_slopes = write_slopes_function(scalar, convex)
    row_bound = row_bound_function(scalar)

    @wp.func
    def motion_of_link(
        robot: int,
        body: int,
        origin: vec3,
        joint_S_s: wp.array2d(dtype=twist),
        dofs: wp.array(dtype=wp.int32),
        variable: wp.array(dtype=wp.int32),
        scale: wp.array(dtype=scalar),
        moves: wp.array2d(dtype=wp.int32),
        lower: wp.array2d(dtype=scalar),
        upper: wp.array2d(dtype=scalar),
    ):
        """Return motion and rotation of a link at the middle of the box, and their deviations."""
        drift = vec3()
        turn = vec3()
        slip = scalar(0.0)
        twisted = scalar(0.0)
        for j in range(dofs.shape[0]):
            if moves[body + 1, j] != 0:
                low = wp.max(lower[robot, variable[j]], -scalar(wp.static(_ANYWHERE)))
                high = wp.min(upper[robot, variable[j]], scalar(wp.static(_ANYWHERE)))
                S = joint_S_s[robot, dofs[j]]
                middle = scale[j] * scalar(0.5) * (low + high)
                half = wp.abs(scale[j]) * scalar(0.5) * (high - low)
                velocity = point_velocity(S, origin)
                axis = vec3(S[3], S[4], S[5])
                drift += middle * velocity
                turn += middle * axis
                slip += half * wp.length(velocity)
                twisted += half * wp.length(axis)
        return drift, turn, slip, twisted

    @wp.func
    def farthest(fall: scalar, gain: scalar, dt: scalar) -> scalar:
        """Return the value of h - margin above which a row allows h to fall by this amount."""
        part = fall / (gain * dt)
        if part < scalar(1.0):
            return part / (scalar(1.0) - part)
        return scalar(wp.inf)

    @wp.func
    def slot_of(
        robot: int,
        first: int,
        last: int,
        key: scalar,
        h: scalar,
        start_idx: int,
        work: PairWork,
        keys: wp.array2d(dtype=scalar),
        values: wp.array2d(dtype=scalar),
    ) -> int:
        """Return a free row, else that of the least urgent pair if this one is more urgent.

        -1 stands for no row.
        """
        slot = int(-1)
        for row in range(first, last):
            if work.pair[robot, row] < 0:
                return row
            other = keys[robot, row]
            if other > key or (other == key and values[robot, start_idx + row] > h):
                key = other
                h = values[robot, start_idx + row]
                slot = row
        return slot

    @compiled_kernel(module=module)
    def choose_pairs(
        body_q: wp.array2d(dtype=transform),  # [n, body_count]
        joint_S_s: wp.array2d(dtype=twist),  # [n, joint_dof_count]
        dofs: wp.array(dtype=wp.int32),  # [n_active], driven by a variable
        variable: wp.array(dtype=wp.int32),  # [n_active]
        scale: wp.array(dtype=scalar),  # [n_active]
        moves: wp.array2d(dtype=wp.int32),  # [body_count + 1, n_active], row 0 is the world
        leader: wp.array(dtype=wp.int32),  # [body_count], first link with the same motion
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
        links: wp.array3d(dtype=vec3),  # [n, body_count, 3]
        drifts: wp.array2d(dtype=vec3),  # [n, n_shapes]
        extras: wp.array2d(dtype=scalar),  # [n, n_shapes]
        keys: wp.array2d(dtype=scalar),  # [n, n_rows]
        slopes: wp.array3d(dtype=scalar),  # [n, 1, n_variables]
        values: wp.array2d(dtype=scalar),  # [n, total_rows]
        jacobian: wp.array3d(dtype=scalar),  # [n, total_rows, n_variables]
    ):
        robot = wp.tid()
        n_rows = work.pair.shape[1]
        for row in range(n_rows):
            work.pair[robot, row] = -1
        widest = scalar(0.0)
        for body in range(body_q.shape[1]):
            if data.counts[3] > 0 and leader[body] == body:
                drift, turn, slip, twisted = motion_of_link(
                    robot, body, wp.transform_get_translation(body_q[robot, body]), joint_S_s,
                    dofs, variable, scale, moves, lower, upper,
                )  # fmt: skip
                links[robot, body, 0] = drift
                links[robot, body, 1] = turn
                links[robot, body, 2] = vec3(slip, twisted, wp.length(turn))
        for k in range(data.counts[0]):
            shape = data.used[k]
            body = data.shapes.body[shape]
            drift = vec3()
            extra = scalar(0.0)
            if body >= 0:
                body = leader[body]
                arm = work.center[robot, shape] - wp.transform_get_translation(body_q[robot, body])
                reach = wp.max(data.shapes.bound[shape] - data.shapes.radius[shape], scalar(0.0))
                spread = links[robot, body, 2]
                drift = links[robot, body, 0] + wp.cross(links[robot, body, 1], arm)
                extra = spread[0] + spread[1] * (wp.length(arm) + reach) + spread[2] * reach
            drifts[robot, shape] = drift
            extras[robot, shape] = extra
            widest = wp.max(widest, wp.length(drift) + extra)
        # Pairs farther apart than this are irrelevant.
        outermost = data.d_min + margin + farthest(scalar(2.0) * widest, gain[barrier], dt)
        outermost = wp.min(outermost, data.d_max)
        latest = scalar(wp.inf)  # key of the least urgent row, once all are in use
        for k in range(data.counts[3]):
            a = data.pairs[k][0]
            b = data.pairs[k][1]
            apart = wp.length_sq(work.center[robot, a] - work.center[robot, b])
            reach = outermost + data.shapes.bound[a] + data.shapes.bound[b]
            if reach <= scalar(0.0) or apart >= reach * reach:
                continue
            fall = wp.length(drifts[robot, a] - drifts[robot, b])
            fall += extras[robot, a] + extras[robot, b]
            limit = data.d_min + margin + farthest(fall, gain[barrier], dt)
            limit = wp.min(limit, data.d_max)
            if wp.isfinite(latest):
                limit = wp.min(limit, data.d_min + latest * fall)
            distance = pair_distance(data, work, robot, k, body_q, limit)
            if distance < limit:
                write_slopes(
                    robot, k, joint_S_s, dofs, variable, scale, moves, data, work, slopes, 0
                )
                least = scalar(0.0)
                square = scalar(0.0)
                for j in range(slopes.shape[2]):
                    slope = slopes[robot, 0, j]
                    if slope != scalar(0.0):
                        square += slope * slope
                        least += wp.min(slope * lower[robot, j], slope * upper[robot, j])
                h = distance - data.d_min
                length = wp.sqrt(square)
                bound = row_bound(h - margin, length, gain[barrier], recovery, dt)
                violated = h < -scalar(wp.static(_TOUCHING))
                if length > scalar(wp.static(_STILL)) and (violated or least < bound):
                    first = int(0)
                    last = n_free
                    key = wp.max(h, scalar(0.0)) / wp.max(-least, scalar(wp.static(_STILL)))
                    if violated:
                        first = n_free
                        last = n_rows
                        key = least
                    row = slot_of(robot, first, last, key, h, start_idx, work, keys, values)
                    if row >= 0:
                        work.pair[robot, row] = k
                        work.distance[robot, row] = distance
                        keys[robot, row] = key
                        values[robot, start_idx + row] = h
                        for j in range(slopes.shape[2]):
                            jacobian[robot, start_idx + row, j] = slopes[robot, 0, j]
                        if work.pair[robot, n_free - 1] >= 0:
                            latest = keys[robot, 0]
                            for other in range(1, n_free):
                                latest = wp.max(latest, keys[robot, other])
        for row in range(n_rows):
            if work.pair[robot, row] < 0:
                values[robot, start_idx + row] = scalar(wp.inf)
                for j in range(slopes.shape[2]):
                    jacobian[robot, start_idx + row, j] = scalar(0.0)

    return choose_pairs
