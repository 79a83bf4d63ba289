# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that searches the solution of seven joints nearest to a seed.

The solutions of a pose form curves in joint space. Along the unit tangent v of a curve, the
squared distance to the seed c has the derivative 2 (q - c) . v, and a secant method finds its
zeros at minima. The curve is followed in joint space and not by the redundant joint, because that
reverses where two branches of the closed form meet, although the curve is smooth. Each step d
solves

    J d = e,  w . d = s,  as  (J^T J + w w^T) d = J^T e + s w

with the pose error e, and the tangent w of the previous step. If a joint is at its limit, where
the curve ends, w is the axis of this joint.
"""

import functools
from typing import no_type_check
import zlib

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.analytic.redundancy.redundant_kernels import redundancy_struct
from ros_ik.solvers.pose_ik.kernels.functions import chain_struct
from ros_ik.solvers.pose_ik.kernels.functions import direct_chain_functions
from ros_ik.solvers.pose_ik.kernels.kernel import unit_pose_function
from ros_ik.solvers.qp.small_system import small_system_functions

# Number of curves that are followed from their nearest samples, half of them from samples within
# the limits, and least distance of samples of different curves in any joint [rad or m].
CURVES, _APART = 16, 0.4
# Penalty as a squared distance for each radian outside the limits, in the choice of samples.
_OUTSIDE = 20.0
# Longest step [rad or m], and least curvature of the distance for computing a step.
_LONGEST, _FLATTEST = 0.3, 0.1
# Pose error up to which a point is on the curve [lengths, rad]; another Newton step is exact.
_NEAR = 1e-6
# Largest number of steps, and size of the step that ends the search, as the minimum is flat.
_STEPS, _LAST = 100, 1e-6
# Number of steps within which a search must reach its curve.
_LOST = 8
# Largest number of Newton steps at the end of the search.
_FINAL = 5
# Damping where a curve crosses itself, over the trace of J^T J.
_RIDGE = 1e-15


@no_type_check
@functools.cache
def nearest_kernel(n: int, has_slides: bool, lanes: int) -> wp.Kernel:
    """Build the kernel for arms of seven joints.

    The kernel writes the solution nearest to the seed among those reached from the samples.

    Args:
        n: Number of joints.
        has_slides: True for chains with prismatic joints; see ``polish_functions``.
        lanes: Number of curves that are followed together, a divisor of CURVES.
    """
    structure = zlib.crc32(repr((n, has_slides, lanes)).encode()) & 0x7FFFFFFF
    functions = direct_chain_functions(n, has_slides)
    forward, normal_equations = functions.forward, functions.normal_equations
    struct = chain_struct(wp.float64)
    Chain, vec3, vecm = struct.Chain, struct.vec3, functions.vecm
    system = small_system_functions(wp.float64, n)
    solve_all, iteration_start = system.solve_all, system.iteration_start
    unit_pose = unit_pose_function(wp.float64)
    Redundancy = redundancy_struct()
    starts = wp.types.vector(CURVES, wp.float64)
    StartJoints = wp.types.matrix((n, CURVES), wp.float64)
    LaneNumbers = wp.types.vector(lanes, wp.float64)
    LaneJoints = wp.types.matrix((n, lanes), wp.float64)
    one, zero, nowhere = wp.float64(1.0), wp.float64(0.0), wp.float64(wp.inf)

    @wp.func
    def correction_and_tangent(
        chain: Chain, q: vecm, w: vecm, R_t: wp.mat33d, p_t: vec3, length: wp.float64
    ):
        """Return the step to the pose perpendicular to w, the tangent, and the error."""
        _structure = wp.static(structure)
        axes, pivots, R, p = forward(chain, q)
        e_p = p_t - p
        E = R_t * wp.transpose(R)
        e_r = wp.float64(0.5) * vec3(E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1])
        H, g = normal_equations(chain, axes, pivots, p, e_p, e_r, one, length)
        damping = wp.float64(wp.static(_RIDGE)) * wp.trace(H)
        for i in range(n):
            for j in range(i, -1, -1):
                H[i, j] += w[i] * w[j]
        error = wp.length_sq(e_p) + length * length * wp.length_sq(e_r)
        tangent = solve_all(H, w, damping)
        return solve_all(H, g, damping), tangent / wp.length(tangent), error

    @wp.func
    def outside(q: vecm, lower: vecm, upper: vecm) -> wp.float64:
        most = zero
        for j in range(n):
            most = wp.max(most, wp.max(lower[j] - q[j], q[j] - upper[j]))
        return most

    @wp.func
    def clamped(q: vecm, lower: vecm, upper: vecm):
        """Return q clamped to the limits, and the axis of the joint that was farthest outside."""
        inside = vecm()
        furthest = zero
        for j in range(n):
            inside[j] = wp.clamp(q[j], lower[j], upper[j])
            furthest = wp.max(furthest, wp.abs(q[j] - inside[j]))
        beyond = vecm()
        for j in range(n):
            off = wp.abs(q[j] - inside[j])
            beyond[j] = wp.where(off > zero and off == furthest, one, zero)
        return inside, beyond

    @wp.func
    def moved_within(start: vecm, v: vecm, way: wp.float64, lower: vecm, upper: vecm):
        """Move along v within the limits; return the new q, the next w, and the length."""
        q = start
        room = wp.abs(way)
        blocked = -one
        for j in range(n):
            left = wp.where(way * v[j] > zero, upper[j] - q[j], q[j] - lower[j])
            left /= wp.max(wp.abs(v[j]), wp.float64(1.0e-300))
            blocked = wp.where(left < room, wp.float64(j), blocked)
            room = wp.min(left, room)
        moved = wp.where(way < zero, -room, room)
        w = vecm()
        for j in range(n):
            held = wp.where(blocked == wp.float64(j), one, zero)
            w[j] = wp.where(blocked < zero, v[j], held)
            q[j] = wp.clamp(q[j] + moved * v[j], lower[j], upper[j])
        return q, w, moved

    @wp.func
    def followed(
        chain: Chain, q_first: LaneJoints, are_starts: LaneNumbers, center: vecm, lower: vecm,
        upper: vecm, R_t: wp.mat33d, p_t: vec3, length: wp.float64, tolerance: wp.float64,
    ):  # fmt: skip
        """Follow some curves together; return the nearest solution and its squared distance.

        ``are_starts`` is inf for unused lanes.
        """
        q_at = q_first
        reached = are_starts
        start = iteration_start()
        base_of = LaneJoints()
        w_of = LaneJoints()
        tangent_of = LaneJoints()
        square_of = LaneNumbers()
        slope_of = LaneNumbers()
        way_of = LaneNumbers()
        lane = int(0)
        while lane < wp.static(lanes):
            square_of[lane] = nowhere
            for j in range(n):
                w_of[j, lane] = start[j]
            lane += 1
        step = int(0)
        while step < wp.static(_STEPS):
            lane = int(0)
            while lane < wp.static(lanes):
                q = vecm()
                w = vecm()
                v = vecm()
                base = vecm()
                for j in range(n):
                    q[j] = q_at[j, lane]
                    w[j] = w_of[j, lane]
                    v[j] = tangent_of[j, lane]
                    base[j] = base_of[j, lane]
                way = way_of[lane]
                back, tangent, error = correction_and_tangent(chain, q, w, R_t, p_t, length)
                tangent = tangent * wp.where(wp.dot(tangent, v) < zero, -one, one)
                q, beyond = clamped(q + back, lower, upper)
                square = wp.length_sq(q - center)
                slope = wp.dot(q - center, tangent)
                bend = (slope - slope_of[lane]) / wp.where(way == zero, one, way)
                bend = wp.where(way == zero, one, wp.max(bend, wp.float64(wp.static(_FLATTEST))))
                longest = wp.float64(wp.static(_LONGEST))
                is_inside = wp.length_sq(beyond) == zero
                near = wp.float64(wp.static(_NEAR)) * length
                on_curve = is_inside and error <= near * near
                most_back = wp.max(wp.max(back), -wp.min(back))
                # Repeat a step that leads away or off the curve with a quarter of its length.
                again = most_back > wp.float64(0.5) * wp.abs(way) + wp.float64(1.0e-3)
                rounding = wp.float64(1.0e-12) * square
                again = again or (on_curve and square - rounding > square_of[lane])
                again = again and square_of[lane] < nowhere
                arrived = on_curve and not again
                way = wp.where(again, wp.float64(0.25) * way, way)
                way = wp.where(arrived, wp.clamp(-slope / bend, -longest, longest), way)
                for j in range(n):
                    base[j] = wp.where(arrived, q[j], base[j])
                    v[j] = wp.where(arrived, tangent[j], v[j])
                square_of[lane] = wp.where(arrived, square, square_of[lane])
                slope_of[lane] = wp.where(arrived, slope, slope_of[lane])
                ahead, w_ahead, way_ahead = moved_within(base, v, way, lower, upper)
                # A joint that the correction moves beyond its limit stays at the limit.
                w = wp.where(is_inside, w, beyond)
                if again or arrived:
                    q = ahead
                    w = w_ahead
                    way = way_ahead
                way_of[lane] = way
                for j in range(n):
                    base_of[j, lane] = base[j]
                    w_of[j, lane] = w[j]
                    tangent_of[j, lane] = v[j]
                    q_at[j, lane] = q[j]
                lane += 1
            step += 1
            most = zero
            lane = int(0)
            while lane < wp.static(lanes):
                if step == wp.static(_LOST) and square_of[lane] == nowhere:
                    reached[lane] = nowhere
                if reached[lane] < nowhere:
                    most = wp.max(most, wp.abs(way_of[lane]))
                lane += 1
            if most < wp.float64(wp.static(_LAST)):
                step = wp.static(_STEPS)
        # Refine the solutions, and select the nearest.
        step = int(0)
        while step < wp.static(_FINAL):
            lane = int(0)
            while lane < wp.static(lanes):
                q = vecm()
                w = vecm()
                for j in range(n):
                    q[j] = base_of[j, lane]
                    w[j] = w_of[j, lane]
                back, _tangent, error = correction_and_tangent(chain, q, w, R_t, p_t, length)
                is_solved = square_of[lane] < nowhere and reached[lane] < nowhere
                is_solved = is_solved and error <= tolerance * tolerance
                way_of[lane] = wp.where(is_solved, wp.length_sq(q - center), nowhere)
                following, beyond = clamped(q + back, lower, upper)
                w = wp.where(wp.length_sq(beyond) > zero, beyond, w)
                for j in range(n):
                    w_of[j, lane] = w[j]
                    base_of[j, lane] = wp.where(is_solved, q[j], following[j])
                lane += 1
            step += 1
        at = int(0)
        lane = int(1)
        while lane < wp.static(lanes):
            if way_of[lane] < way_of[at]:
                at = lane
            lane += 1
        q = vecm()
        for j in range(n):
            q[j] = base_of[j, at]
        return q, way_of[at]

    @compiled_kernel(max_unroll=16, registers=255)
    def nearest_solution(
        chain: Chain,
        redundancy: Redundancy,
        length: wp.float64,  # [m], weight of a radian
        tolerance: wp.float64,  # [m, length], of the solution
        known: int,  # 1 if there is a nearest one so far
        target: wp.array(dtype=wp.transformd),  # [n], of the tool in the world
        seed: wp.array2d(dtype=wp.float64),  # [n, 7]
        values: wp.array(dtype=wp.float64),  # [rows]
        solutions: wp.array3d(dtype=wp.float64),  # [rows, places, 6]
        distances: wp.array2d(dtype=wp.float64),  # [rows, places], squares
        n_exist: wp.array(dtype=wp.int32),  # [rows]
        n_beside: wp.array(dtype=wp.int32),  # [rows], just outside the limits, after the others
        best: wp.array(dtype=wp.float64),  # [n], values of the nearest solutions
        nearest_solutions: wp.array3d(dtype=wp.float64),  # [n, places, 6], in the first place
        nearest_distances: wp.array2d(dtype=wp.float64),  # [n, places]
        found: wp.array(dtype=wp.int32),  # [n], 1 if there is one
    ):
        _structure = wp.static(structure)
        problem = wp.tid()
        count = seed.shape[0]
        pose, valid = unit_pose(problem, target, seed)
        R_t = wp.quat_to_matrix(wp.transform_get_rotation(pose))
        p_t = wp.transform_get_translation(pose)
        center = vecm()
        lower = vecm()
        upper = vecm()
        for j in range(n):
            center[j] = seed[problem, j]
            lower[j] = chain.lower[j]
            upper[j] = chain.upper[j]
        q_of = StartJoints()
        nearest = starts()
        lane = int(0)
        while lane < wp.static(CURVES):
            nearest[lane] = nowhere
            lane += 1
        # Nearest samples of different curves.
        half = wp.static(CURVES // 2)
        last = wp.vec2i(0, half)
        row = int(problem)
        while valid and row < values.shape[0]:
            change = values[row] - center[redundancy.index]
            k = int(0)
            while k < wp.min(n_exist[row] + n_beside[row], distances.shape[1]):
                side = wp.where(k < n_exist[row], 0, 1)
                distance = distances[row, k] + change * change
                q = vecm()
                if distance < nearest[last[side]]:
                    for j in range(n):
                        if j == redundancy.index:
                            q[j] = values[row]
                        else:
                            other = j - wp.where(j > redundancy.index, 1, 0)
                            q[j] = solutions[row, k, other]
                    # For a curve outside the limits, use the sample where it enters them.
                    if side == 1:
                        distance += wp.float64(wp.static(_OUTSIDE)) * outside(q, lower, upper)
                if distance < nearest[last[side]]:
                    to = int(last[side])
                    lane = int(0)
                    while lane < half:
                        apart = zero
                        for j in range(n):
                            apart = wp.max(apart, wp.abs(q[j] - q_of[j, side * half + lane]))
                        if (
                            apart < wp.float64(wp.static(_APART))
                            and nearest[side * half + lane] < nowhere
                        ):
                            to = side * half + lane
                        lane += 1
                    if distance < nearest[to]:
                        nearest[to] = distance
                        for j in range(n):
                            q_of[j, to] = q[j]
                    worst = int(side * half)
                    lane = int(1)
                    while lane < half:
                        if nearest[side * half + lane] > nearest[worst]:
                            worst = side * half + lane
                        lane += 1
                    last[side] = worst
                k += 1
            row += count
        at_q = vecm()
        at_distance = nowhere
        first = int(0)
        while first < wp.static(CURVES):
            q_first = LaneJoints()
            are_starts = LaneNumbers()
            lane = int(0)
            while lane < wp.static(lanes):
                are_starts[lane] = nearest[first + lane]
                for j in range(n):
                    q_first[j, lane] = q_of[j, first + lane]
                lane += 1
            end_q, end_distance = followed(
                chain, q_first, are_starts, center, lower, upper, R_t, p_t, length, tolerance
            )
            if end_distance < at_distance:
                at_q = end_q
                at_distance = end_distance
            first += wp.static(lanes)
        before = nowhere
        if known != 0 and found[problem] == 1:
            change = best[problem] - center[redundancy.index]
            before = nearest_distances[problem, 0] + change * change
        if at_distance < before:
            value = zero
            for j in range(n):
                if j == redundancy.index:
                    value = at_q[j]
                else:
                    other = j - wp.where(j > redundancy.index, 1, 0)
                    nearest_solutions[problem, 0, other] = at_q[j]
            change = value - center[redundancy.index]
            best[problem] = value
            nearest_distances[problem, 0] = at_distance - change * change
            found[problem] = 1
        elif before == nowhere:
            best[problem] = wp.float64(wp.nan)
            found[problem] = 0

    return nearest_solution
