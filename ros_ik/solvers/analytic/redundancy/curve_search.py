# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp function that searches the solution nearest to a seed along curves of solutions.

Along the unit tangent v of a curve, the squared distance to the seed c has the derivative
2 (q - c) . v, and a secant method finds its zeros at minima. The curve is followed in joint space
and not by the redundant joint, because that reverses where two branches of the closed form meet,
although the curve is smooth.
"""

import functools
from typing import no_type_check
import zlib

import warp as wp

from ros_ik.solvers.analytic.redundancy.curve_functions import curve_functions
from ros_ik.solvers.pose_ik.kernels.functions import direct_chain_functions
from ros_ik.solvers.qp.small_system import small_system_functions

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


@no_type_check
@functools.cache
def followed_function(n: int, has_slides: bool, lanes: int) -> wp.Function:
    """Build ``followed``, which follows curves; see :func:`curve_functions`.

    Args:
        n: Number of joints.
        has_slides: True for chains with prismatic joints.
        lanes: Number of curves that are followed together.
    """
    structure = zlib.crc32(repr((n, has_slides, lanes)).encode()) & 0x7FFFFFFF
    functions = curve_functions(n, has_slides)
    correction_and_tangent = functions.correction_and_tangent
    clamped, moved_within = functions.clamped, functions.moved_within
    chain_types = direct_chain_functions(n, has_slides)
    Chain, vec3, vecm = chain_types.Chain, wp.vec3d, chain_types.vecm
    iteration_start = small_system_functions(wp.float64, n).iteration_start
    LaneNumbers = wp.types.vector(lanes, wp.float64)
    LaneJoints = wp.types.matrix((n, lanes), wp.float64)
    one, zero, infinity = wp.float64(1.0), wp.float64(0.0), wp.float64(wp.inf)

    @wp.func
    def nearest_of(
        chain: Chain, base_of: LaneJoints, w_of: LaneJoints, square_of: LaneNumbers,
        reached: LaneNumbers, center: vecm, lower: vecm, upper: vecm, R_t: wp.mat33d, p_t: vec3,
        length: wp.float64, tolerance: wp.float64,
    ):  # fmt: skip
        """Refine the solutions of some curves; return the nearest and its squared distance."""
        _structure = wp.static(structure)
        points = base_of
        directions = w_of
        distance_of = LaneNumbers()
        step = int(0)
        while step < wp.static(_FINAL):
            lane = int(0)
            while lane < wp.static(lanes):
                q = vecm()
                w = vecm()
                for j in range(n):
                    q[j] = points[j, lane]
                    w[j] = directions[j, lane]
                correction, _tangent, error = correction_and_tangent(chain, q, w, R_t, p_t, length)
                is_solved = square_of[lane] < infinity and reached[lane] < infinity
                is_solved = is_solved and error <= tolerance * tolerance
                distance_of[lane] = wp.where(is_solved, wp.length_sq(q - center), infinity)
                following, beyond = clamped(q + correction, lower, upper)
                w = wp.where(wp.length_sq(beyond) > zero, beyond, w)
                for j in range(n):
                    directions[j, lane] = w[j]
                    points[j, lane] = wp.where(is_solved, q[j], following[j])
                lane += 1
            step += 1
        nearest = int(0)
        lane = int(1)
        while lane < wp.static(lanes):
            if distance_of[lane] < distance_of[nearest]:
                nearest = lane
            lane += 1
        q = vecm()
        for j in range(n):
            q[j] = points[j, nearest]
        return q, distance_of[nearest]

    @wp.func
    def followed(
        chain: Chain, q_first: LaneJoints, start_distances: LaneNumbers, center: vecm, lower: vecm,
        upper: vecm, R_t: wp.mat33d, p_t: vec3, length: wp.float64, tolerance: wp.float64,
    ):  # fmt: skip
        """Follow some curves together; return the nearest solution and its squared distance.

        ``start_distances`` are inf for unused lanes.
        """
        _structure = wp.static(structure)
        q_at = q_first
        reached = start_distances
        start = iteration_start()
        base_of = LaneJoints()
        w_of = LaneJoints()
        tangent_of = LaneJoints()
        square_of = LaneNumbers()
        slope_of = LaneNumbers()
        advance_of = LaneNumbers()
        lane = int(0)
        while lane < wp.static(lanes):
            square_of[lane] = infinity
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
                advance = advance_of[lane]
                correction, tangent, error = correction_and_tangent(chain, q, w, R_t, p_t, length)
                tangent = tangent * wp.where(wp.dot(tangent, v) < zero, -one, one)
                q, beyond = clamped(q + correction, lower, upper)
                square = wp.length_sq(q - center)
                slope = wp.dot(q - center, tangent)
                bend = (slope - slope_of[lane]) / wp.where(advance == zero, one, advance)
                flattest = wp.float64(wp.static(_FLATTEST))
                bend = wp.where(advance == zero, one, wp.max(bend, flattest))
                longest = wp.float64(wp.static(_LONGEST))
                is_inside = wp.length_sq(beyond) == zero
                near = wp.float64(wp.static(_NEAR)) * length
                on_curve = is_inside and error <= near * near
                largest_change = wp.max(wp.max(correction), -wp.min(correction))
                # Repeat a step that leads away or off the curve with a quarter of its length.
                again = largest_change > wp.float64(0.5) * wp.abs(advance) + wp.float64(1.0e-3)
                rounding = wp.float64(1.0e-12) * square
                again = again or (on_curve and square - rounding > square_of[lane])
                again = again and square_of[lane] < infinity
                arrived = on_curve and not again
                advance = wp.where(again, wp.float64(0.25) * advance, advance)
                advance = wp.where(arrived, wp.clamp(-slope / bend, -longest, longest), advance)
                for j in range(n):
                    base[j] = wp.where(arrived, q[j], base[j])
                    v[j] = wp.where(arrived, tangent[j], v[j])
                square_of[lane] = wp.where(arrived, square, square_of[lane])
                slope_of[lane] = wp.where(arrived, slope, slope_of[lane])
                next_q, next_w, next_advance = moved_within(base, v, advance, lower, upper)
                # A joint that the correction moves beyond its limit stays at the limit.
                w = wp.where(is_inside, w, beyond)
                if again or arrived:
                    q = next_q
                    w = next_w
                    advance = next_advance
                advance_of[lane] = advance
                for j in range(n):
                    base_of[j, lane] = base[j]
                    w_of[j, lane] = w[j]
                    tangent_of[j, lane] = v[j]
                    q_at[j, lane] = q[j]
                lane += 1
            step += 1
            largest_advance = zero
            lane = int(0)
            while lane < wp.static(lanes):
                if step == wp.static(_LOST) and square_of[lane] == infinity:
                    reached[lane] = infinity
                if reached[lane] < infinity:
                    largest_advance = wp.max(largest_advance, wp.abs(advance_of[lane]))
                lane += 1
            if largest_advance < wp.float64(wp.static(_LAST)):
                step = wp.static(_STEPS)
        return nearest_of(
            chain, base_of, w_of, square_of, reached, center, lower, upper, R_t, p_t, length,
            tolerance,
        )  # fmt: skip

    return followed
