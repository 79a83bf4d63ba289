# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions for a step along the curve of solutions of seven joints.

The solutions of a pose form curves in joint space. Each step d from a point near a curve solves

    J d = e,  w . d = s,  as  (J^T J + w w^T) d = J^T e + s w

with the pose error e, and the tangent w of the previous step. If a joint is at its limit, where
the curve ends, w is the axis of this joint.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check
import zlib

import warp as wp

from ros_ik.solvers.pose_ik.kernels.functions import direct_chain_functions
from ros_ik.solvers.qp.small_system import small_system_functions

# Damping where a curve crosses itself, over the trace of J^T J.
_RIDGE = 1e-15


@no_type_check
@functools.cache
def curve_functions(n: int, has_slides: bool) -> SimpleNamespace:
    """Build the functions for a kind of chain.

    Args:
        n: Number of joints.
        has_slides: True for chains with prismatic joints; see ``polish_functions``.

    Returns:
        The functions

        - ``correction_and_tangent(chain, q, w, R_t, p_t, length) -> d, v, error``;
        - ``outside(q, lower, upper) -> distance``;
        - ``clamped(q, lower, upper) -> q, axis``;
        - ``moved_within(start, v, advance, lower, upper) -> q, w, advance``.
    """
    structure = zlib.crc32(repr((n, has_slides)).encode()) & 0x7FFFFFFF
    functions = direct_chain_functions(n, has_slides)
    forward, normal_equations = functions.forward, functions.normal_equations
    Chain, vec3, vecm = functions.Chain, wp.vec3d, functions.vecm
    solve_all = small_system_functions(wp.float64, n).solve_all
    one, zero = wp.float64(1.0), wp.float64(0.0)

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
        """Return the largest distance of a joint from the range of its limits."""
        farthest = zero
        for j in range(n):
            farthest = wp.max(farthest, wp.max(lower[j] - q[j], q[j] - upper[j]))
        return farthest

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
    def moved_within(start: vecm, v: vecm, advance: wp.float64, lower: vecm, upper: vecm):
        """Move along v within the limits; return the new q, the next w, and the length."""
        q = start
        room = wp.abs(advance)
        blocked = -one
        for j in range(n):
            left = wp.where(advance * v[j] > zero, upper[j] - q[j], q[j] - lower[j])
            left /= wp.max(wp.abs(v[j]), wp.float64(1.0e-300))
            blocked = wp.where(left < room, wp.float64(j), blocked)
            room = wp.min(left, room)
        moved = wp.where(advance < zero, -room, room)
        w = vecm()
        for j in range(n):
            axis = wp.where(blocked == wp.float64(j), one, zero)
            w[j] = wp.where(blocked < zero, v[j], axis)
            q[j] = wp.clamp(q[j] + moved * v[j], lower[j], upper[j])
        return q, w, moved

    return SimpleNamespace(
        correction_and_tangent=correction_and_tangent, outside=outside, clamped=clamped,
        moved_within=moved_within,
    )  # fmt: skip
