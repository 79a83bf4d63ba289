# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions that polish a configuration, and that measure how close to singular it is.

Candidates are solutions for idealised axes. They are polished on the actual chain by the
Levenberg-Marquardt steps of :mod:`ros_ik.solvers.pose_ik.kernels.functions`, which converge
quadratically.
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check
import zlib

import warp as wp

from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.solvers.pose_ik.interface.result import ChainIKSettings
from ros_ik.solvers.pose_ik.kernels.functions import direct_chain_functions
from ros_ik.solvers.pose_ik.kernels.functions import rotation_error_function
from ros_ik.solvers.qp.small_system import small_system_functions

# Part of the tolerances within which a candidate needs no polishing.
_FINE = 0.1
# Bound of the least singular value above which a candidate is regular, over the value below which
# it is singular: what moves it by less than a limit of its own cannot make it so.
_MARGIN = 10.0
# Longest step of a joint in one iteration [rad].
_LONGEST_STEP = 0.5
# Growth in a step of inverse iteration below which the least singular value is above 0.003, even
# if the start has a component of only 1e-3 in its direction.
_REGULAR = 1e2
# Damping of the direction in which a singular configuration can move, over the trace of J^T J.
_RIDGE = 1e-15
# Damping over the cost, as in the search: no step is refused, and convergence stays quadratic.
_DAMPING = ChainIKSettings.damping
# The same where only steps towards a pose out of reach are accepted: its least value, and the
# factors after a step that is accepted or refused. The rules of gain ratios need the decrease that
# the model predicts, which no other part of the kernel does.
_MIN_CAUTION, _BOLDER, _MORE_CAUTIOUS = 0.01, 0.5, 4.0


@no_type_check
@functools.cache
def refinement_struct() -> Any:
    """Return the struct of the requirements on solutions."""

    @wp.struct
    class Refinement:
        position_tolerance: wp.float64  # [m], of a solution
        rotation_tolerance: wp.float64  # [rad]
        length: wp.float64  # [m], weight of a radian
        reach: wp.float64  # [m], motion of a prismatic joint that is equivalent to a radian
        free_turns: int  # number of free rotations of the tool, 0, 1 (about free_axis) or 3
        free_axis: wp.vec3d  # in the tool, of the free rotation
        slack: wp.float64  # largest residual of a candidate that is polished
        margin: wp.float64  # [rad, reaches], least distance outside the limits to skip a candidate
        beside: wp.float64  # [rad, reaches], solutions just outside the limits are kept separately
        separation: wp.float64  # [rad, reaches], least distance of distinct solutions
        singular_value: wp.float64  # below it a configuration is singular
        fold_value: wp.float64  # below it a solution may have an undetected twin; 0 for exact axes
        at_limit: wp.float64  # [rad, m], solutions up to this far outside a limit are moved to it
        steps: int  # of polishing
        least_error: int  # 1: without a solution, look for a configuration of least error
        sparse: int  # 1: flags and directions of solutions only are written

    return Refinement


@no_type_check
@functools.cache
def polish_functions(n: int, has_slides: bool, has_free_turns: bool) -> SimpleNamespace:
    """Build the functions for a configuration.

    Joints are measured in radians and in units of the arm's reach. Functions for revolute joints
    and whole poses are the fastest; the others suit any types of joints, or any number of free
    rotations, so that few kernels are compiled.

    Args:
        n: Number of joints.
        has_slides: True for chains with prismatic joints, which ``Chain.slides`` tells; False for
            revolute joints.
        has_free_turns: True for poses of ``Refinement.free_turns`` free rotations, False for none.
    """
    structure = zlib.crc32(repr((n, has_slides, has_free_turns)).encode()) & 0x7FFFFFFF
    functions = direct_chain_functions(n, has_slides)
    forward, normal_equations = functions.forward, functions.normal_equations
    is_slide = functions.is_slide
    box_step, vecm = functions.box_step, functions.vecm
    Chain, vec3, mat33 = functions.Chain, wp.vec3d, wp.mat33d
    matmm, matn3 = wp.types.matrix((n, n), wp.float64), wp.types.matrix((n, 3), wp.float64)
    rotation_error = rotation_error_function(wp.float64)
    turn_between = spatial_functions(wp.float64).turn_between
    system = small_system_functions(wp.float64, n)
    solve_all, determinant = system.solve_all, system.determinant
    iteration_start = system.iteration_start
    Refinement = refinement_struct()
    one, zero = wp.float64(1.0), wp.float64(0.0)

    @wp.func
    def turn_left(refinement: Refinement, R: mat33, R_t: mat33) -> vec3:
        """Return the rotation vector from R to R_t without free rotations, in world axes."""
        _structure = wp.static(structure)
        if wp.static(has_free_turns):
            if refinement.free_turns == 3:
                return vec3()
            if refinement.free_turns == 1:
                return turn_between(R * refinement.free_axis, R_t * refinement.free_axis)
        return rotation_error(R, R_t)

    @wp.func
    def units(chain: Chain, refinement: Refinement) -> vecm:
        """Return the motion of each joint that is equivalent to a radian."""
        unit = vecm()
        for j in range(n):
            unit[j] = one
            if is_slide(chain, j):
                unit[j] = refinement.reach
        return unit

    @wp.func
    def equations(
        chain: Chain, refinement: Refinement, axes: matn3, pivots: matn3, R: mat33, p: vec3,
        e_p: vec3, e_r: vec3,
    ):  # fmt: skip
        """Return the normal equations (lower triangle) of the errors without free rotations."""
        L = refinement.length
        if wp.static(has_free_turns):
            if refinement.free_turns == 3:
                L = zero
        H, g = normal_equations(chain, axes, pivots, p, e_p, e_r, one, L)
        if wp.static(has_free_turns):
            if refinement.free_turns == 1:
                a = R * refinement.free_axis
                along = vecm()
                for i in range(n):
                    if not is_slide(chain, i):
                        along[i] = L * wp.dot(vec3(axes[i, 0], axes[i, 1], axes[i, 2]), a)
                for i in range(n):
                    for j in range(i, -1, -1):
                        H[i, j] -= along[i] * along[j]
        if wp.static(has_slides):
            unit = units(chain, refinement)
            for i in range(n):
                g[i] *= unit[i]
                for j in range(i, -1, -1):
                    H[i, j] *= unit[i] * unit[j]
        return H, g

    @wp.func
    def polish(
        chain: Chain, refinement: Refinement, start: vecm, R_t: mat33, p_t: vec3, steps: int,
        bounded: bool,
    ):  # fmt: skip
        """Return the best configuration of some iterations, its cost, and whether it is a
        solution.

        Iterations end at a thousandth of the tolerances, near rounding. ``bounded`` keeps the
        joints within their limits; the start must be within them.
        """
        unit = units(chain, refinement)
        q = start
        best = start
        best_cost = wp.float64(wp.inf)
        H = matmm()
        g = vecm()
        solves = bool(False)
        stalled = int(0)
        # For a reachable pose, every step is accepted, even one that increases the error. For the
        # nearest configuration to an unreachable pose, only steps that reduce it are accepted.
        progress = wp.where(bounded, wp.float64(0.999999), wp.float64(0.25))
        caution = wp.float64(wp.static(_DAMPING))
        step = int(0)
        while step <= steps:
            axes, pivots, R, p = forward(chain, q)
            e_p = p_t - p
            e_r = turn_left(refinement, R, R_t)
            off = wp.length(e_p)
            turn = wp.length(e_r)
            L = refinement.length
            cost = wp.float64(0.5) * (off * off + L * L * turn * turn)
            stalled += 1
            nearer = cost < best_cost
            if nearer:
                if cost < progress * best_cost:
                    stalled = 0
                caution = wp.max(
                    wp.float64(wp.static(_BOLDER)) * caution,
                    wp.float64(wp.static(_MIN_CAUTION)),
                )
                best = q
                best_cost = cost
                solves = off <= refinement.position_tolerance
                solves = solves and turn <= refinement.rotation_tolerance
            else:
                caution *= wp.float64(wp.static(_MORE_CAUTIOUS))
            fine = off <= wp.float64(0.001) * refinement.position_tolerance
            fine = fine and turn <= wp.float64(0.001) * refinement.rotation_tolerance
            # End when rounding stops the progress of a solution; others may progress slowly.
            if fine or step == steps or (solves and stalled > 1) or stalled > 8:
                step = steps
            else:
                if nearer or not bounded:
                    H, g = equations(chain, refinement, axes, pivots, R, p, e_p, e_r)
                damping = wp.float64(wp.static(_DAMPING)) * cost
                if bounded:
                    damping = caution * best_cost
                damping += wp.float64(wp.static(_RIDGE)) * wp.trace(H)
                d = vecm()
                if bounded:
                    q = best
                    low = vecm()
                    high = vecm()
                    for j in range(n):
                        low[j] = (chain.lower[j] - best[j]) / unit[j]
                        high[j] = (chain.upper[j] - best[j]) / unit[j]
                    d = box_step(H, g, damping, low, high)
                else:
                    d = solve_all(H, g, damping)
                longest = wp.max(wp.max(d), -wp.min(d))
                if longest > wp.float64(wp.static(_LONGEST_STEP)):
                    d *= wp.float64(wp.static(_LONGEST_STEP)) / longest
                q += wp.cw_mul(d, unit)
                if bounded:
                    for j in range(n):
                        q[j] = wp.clamp(q[j], chain.lower[j], chain.upper[j])
            step += 1
        return best, best_cost, solves

    @wp.func
    def chord(refinement: Refinement, R: mat33, R_t: mat33) -> wp.float64:
        """Return the squared chord from R to R_t without free rotations, (2 sin(angle / 2))^2."""
        if wp.static(has_free_turns):
            if refinement.free_turns == 3:
                return zero
            if refinement.free_turns == 1:
                return wp.length_sq(R_t * refinement.free_axis - R * refinement.free_axis)
        square = zero
        for i in range(3):
            for j in range(3):
                change = R_t[i, j] - R[i, j]
                square += wp.float64(0.5) * change * change
        return square

    @wp.func
    def is_far(refinement: Refinement, product: wp.float64, total: wp.float64) -> bool:
        """Return True for a configuration far from singular.

        ``product`` and ``total`` are those of the squared singular values of its Jacobian.
        """
        # Lower bound on the least of several numbers with known sum and product.
        least = product
        for i in range(n):
            if i > 0:
                least *= wp.float64(wp.static(n - 1.0)) / total
        margin = wp.float64(wp.static(_MARGIN)) * refinement.singular_value * refinement.length
        return least > margin * margin

    @wp.func
    def is_regular(
        chain: Chain, refinement: Refinement, axes: matn3, pivots: matn3, R: mat33, p: vec3
    ) -> bool:  # fmt: skip
        """Return True if a configuration is far from singular."""
        H, g = equations(chain, refinement, axes, pivots, R, p, vec3(), vec3())
        return is_far(refinement, determinant(H), wp.trace(H))

    @wp.func
    def fine_errors(refinement: Refinement):
        """Return the largest distance and angle with which a candidate needs no polishing."""
        near = wp.float64(wp.static(_FINE)) * refinement.position_tolerance
        close = wp.float64(wp.static(_FINE)) * refinement.rotation_tolerance
        return near, close

    @wp.func
    def examine(chain: Chain, refinement: Refinement, q: vecm, R_t: mat33, p_t: vec3):
        """Return two flags: q needs no polishing, and it is far from singular."""
        axes, pivots, R, p = forward(chain, q)
        regular = is_regular(chain, refinement, axes, pivots, R, p)
        near, close = fine_errors(refinement)
        fine = wp.length_sq(p_t - p) <= near * near and chord(refinement, R, R_t) <= close * close
        return fine, regular

    @wp.func
    def weakest_direction(chain: Chain, refinement: Refinement, q: vecm):
        """Return the unit motion that moves the tool least, and its singular value over L.

        The motion is measured in ``units``. Far from singular configurations, both are results of
        a single step of inverse iteration.
        """
        axes, pivots, R, p = forward(chain, q)
        H, g = equations(chain, refinement, axes, pivots, R, p, vec3(), vec3())
        length = refinement.length
        damping = wp.float64(wp.static(_RIDGE)) * wp.trace(H)
        x = iteration_start()
        before = wp.length(x)
        x = solve_all(H, x, damping)
        grown = wp.length(x)
        x /= grown
        if grown > wp.float64(wp.static(_REGULAR)) * before / (length * length):
            for _ in range(2):
                x = wp.normalize(solve_all(H, x, damping))
        # solve_all reads only the lower triangle of H.
        energy = zero
        for i in range(n):
            energy += H[i, i] * x[i] * x[i]
            for j in range(i):
                energy += wp.float64(2.0) * H[i, j] * x[i] * x[j]
        return x, wp.sqrt(wp.max(energy, zero)) / length

    return SimpleNamespace(
        polish=polish, examine=examine, fine_errors=fine_errors, is_regular=is_regular,
        is_far=is_far, velocities=functions.velocities,
        weakest_direction=weakest_direction, nearest_turns=functions.nearest_turns,
        is_slide=is_slide, units=units, vecm=vecm, matn3=matn3, Chain=Chain,
        Refinement=Refinement,
    )  # fmt: skip
