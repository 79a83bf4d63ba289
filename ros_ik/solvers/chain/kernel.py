# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that solves an inverse kinematics problem of a chain, with a thread per problem.

Each iteration solves the box-constrained program of :mod:`ros_ik.solvers.chain.functions` exactly
by an active-set method: a joint that rests at a limit and is pushed outward is frozen and the
others do its part. With adaptive damping, the smooth rule of
:mod:`ros_ik.solvers.least_squares.damping`, a step counts only if it lowers the error; a step that
does not raises the damping. With fixed damping every step is accepted, and the best configuration
is returned; if the steps stop making progress, the search continues from that configuration with
adaptive damping and whole steps. The second derivative of the position is added if it would have
predicted the last step better and the program stays convex, as in
:mod:`ros_ik.solvers.optimal_control.least_cost.search`, because Gauss-Newton alone is slow with a
long error.
"""

import functools
import math
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import tree_struct
from ros_ik.solvers.chain.functions import BOUND_TOLERANCE
from ros_ik.solvers.chain.functions import chain_evaluation
from ros_ik.solvers.chain.functions import chain_structs
from ros_ik.solvers.chain.functions import step_functions
from ros_ik.solvers.least_squares.damping import damping_functions
from ros_ik.solvers.least_squares.damping import GROWTH
from ros_ik.solvers.limit_status import limit_functions
from ros_ik.solvers.qp.active_set import active_set_functions
from ros_ik.solvers.qp.active_set import NOT_CONVEX
from ros_ik.solvers.status import SolveStatus

# Relative decrease of |e|^2 / 2 below which a configuration is stationary up to rounding.
_MIN_DECREASE = 1e-14

# Relative slope that would decrease it by as much; smaller ones at a limit are rounding.
_ROUNDING = math.sqrt(_MIN_DECREASE)

# Largest relative gradient of a stationary configuration at the iteration limit, as
# ``gradient_tolerance`` of IKSolver.
_STATIONARY = 3e-3

# Number of steps with fixed damping within which the error must fall to this fraction.
_PATIENCE, _PROGRESS = 10, 0.9

# Bounds of the damping, against underflow and slow recovery.
_DAMPING_RANGE = (1e-12, 1e12)


@no_type_check
@functools.cache
def chain_kernel(scalar: type) -> wp.Kernel:
    """Build the kernel of one floating-point type."""
    transform = spatial_functions(scalar).transform
    structs, evaluation = chain_structs(scalar), chain_evaluation(scalar)
    step = step_functions(scalar)
    Chain, Iterates, Tree = structs.Chain, structs.Iterates, tree_struct(scalar)
    base_pose, is_usable = evaluation.base_pose, evaluation.is_usable
    evaluate = evaluation.evaluate
    Program, assemble, move = step.Program, step.assemble, step.move
    predicted_decrease, predicted_bend = step.predicted_decrease, step.predicted_bend
    solve_program, limits = active_set_functions(scalar).solve, limit_functions(scalar)
    damp_smoothly = damping_functions(scalar).damp_smoothly
    least_damping, most_damping = (wp.constant(scalar(end)) for end in _DAMPING_RANGE)
    slope_bound, judge, unsolved_status = limits.slope_bound, limits.judge, limits.unsolved_status

    @wp.func
    def start(i: int, chain: Chain, joint_q: wp.array2d(dtype=scalar), at: Iterates):
        """Copy the seed, clamped to the limits, to the first slot; NaN becomes 0."""
        for j in range(at.q.shape[1]):
            value = joint_q[i, chain.coordinates[j]]
            if not wp.isfinite(value):
                value = scalar(0.0)
            at.q[2 * i, j] = wp.clamp(value, chain.lower[j], chain.upper[j])

    @wp.func
    def unsolved(i: int, slot: int, chain: Chain, at: Iterates, no_descent: bool) -> int:
        """Return the status of a configuration; ``no_descent`` if no step lowers the error."""
        square = scalar(0.0)
        for row in range(6):
            square += at.error[slot, row] * at.error[slot, row]
        longest = scalar(0.0)
        for j in range(at.q.shape[1]):
            length = scalar(0.0)
            for row in range(6):
                length += at.jacobian[slot, row, j] * at.jacobian[slot, row, j]
            longest = wp.max(longest, length)
        tolerance = wp.where(
            no_descent, scalar(wp.static(_ROUNDING)), scalar(wp.static(_STATIONARY))
        )
        is_stationary = bool(True)
        is_pressed = bool(False)
        for j in range(at.q.shape[1]):
            slope = scalar(0.0)  # of |e|^2 / 2
            own = scalar(0.0)
            for row in range(6):
                slope -= at.jacobian[slot, row, j] * at.error[slot, row]
                own += at.jacobian[slot, row, j] * at.jacobian[slot, row, j]
            bound = slope_bound(tolerance, own, longest, square)
            q = at.q[slot, j]
            is_stationary, is_pressed = judge(
                slope, bound, q - chain.lower[j], chain.upper[j] - q, scalar(0.0), is_stationary,
                is_pressed,
            )  # fmt: skip
        return unsolved_status(no_descent or is_stationary, is_pressed)

    @compiled_kernel(registers=255)
    def solve_chain(
        tree: Tree,
        chain: Chain,
        # problems
        joint_q: wp.array2d(dtype=scalar),  # [n, joint_coord_count]
        target_pose: wp.array(dtype=transform),  # [n]
        # settings
        max_iterations: int,
        step_size: scalar,
        tolerance: scalar,
        first_damping: scalar,
        is_adaptive: bool,
        # scratch
        at: Iterates,
        program: Program,
        lower: wp.array2d(dtype=scalar),  # [n, m]
        upper: wp.array2d(dtype=scalar),  # [n, m]
        A: wp.array3d(dtype=scalar),  # [n, 0, m]
        x: wp.array2d(dtype=scalar),  # [n, m]
        # out
        rows: wp.array2d(dtype=scalar),  # [n, 2 + m]: iterations, residual, positions
        status: wp.array(dtype=wp.int32),  # [n]
    ):
        i = wp.tid()
        m = at.q.shape[1]
        target = target_pose[i]
        start(i, chain, joint_q, at)
        for j in range(m):
            rows[i, 2 + j] = at.q[2 * i, j]
        rows[i, 0] = scalar(0.0)
        rows[i, 1] = scalar(wp.inf)
        status[i] = wp.static(int(SolveStatus.NON_FINITE_INPUT))
        if not is_usable(i, joint_q, target):
            return
        base = base_pose(tree, chain, i, joint_q)
        here = 2 * i
        residual = evaluate(tree, chain, base, target, here, at)
        best = residual
        damping = first_damping
        growth = scalar(wp.static(GROWTH))
        part = step_size
        must_descend = bool(is_adaptive)
        iterations = int(0)
        bend = scalar(0.0)  # 1 if the curvature of the position is used
        mark = best  # error at the last progress
        waited = int(0)  # iterations since then
        code = int(wp.static(int(SolveStatus.ITERATION_LIMIT)))
        while best > tolerance and iterations < max_iterations:
            if not must_descend:
                bend = scalar(0.0)
            assemble(i, here, chain, at, damping, part, bend, program, lower, upper)
            outcome, _, _ = solve_program(
                i, program, lower, upper, A, x, 10 * m, scalar(wp.static(BOUND_TOLERANCE))
            )
            if outcome == wp.static(NOT_CONVEX) and bend != scalar(0.0):
                bend = scalar(0.0)
                assemble(i, here, chain, at, damping, part, bend, program, lower, upper)
                solve_program(
                    i, program, lower, upper, A, x, 10 * m, scalar(wp.static(BOUND_TOLERANCE))
                )
            straight = predicted_decrease(i, here, at, x)
            less = predicted_bend(i, here, at, x)
            expected = straight - bend * less
            half_square = scalar(0.5) * residual * residual
            if not (expected > scalar(wp.static(_MIN_DECREASE)) * half_square):
                if must_descend or residual <= best:
                    code = unsolved(i, here, chain, at, True)
                    break
                waited = wp.static(_PATIENCE)  # worse than an earlier configuration
            if waited >= wp.static(_PATIENCE) and not must_descend:
                # Continue from the best configuration with decreasing errors.
                for j in range(m):
                    at.q[here, j] = rows[i, 2 + j]
                residual = evaluate(tree, chain, base, target, here, at)
                must_descend = bool(True)
                part = scalar(1.0)
                continue
            iterations += 1
            there = 4 * i + 1 - here
            move(i, here, there, chain, at, part, x)
            reached = evaluate(tree, chain, base, target, there, at)
            accepted = bool(True)
            if must_descend:
                gain = half_square - scalar(0.5) * reached * reached
                ratio = gain / expected
                bend = wp.where(
                    wp.abs(straight - less - gain) < wp.abs(straight - gain),
                    scalar(1.0),
                    scalar(0.0),
                )
                accepted = ratio > scalar(0.0)
                damping, growth = damp_smoothly(damping, growth, ratio, accepted)
                damping = wp.clamp(damping, least_damping, most_damping)
            if accepted:
                here = there
                residual = reached
            waited += 1
            if reached < scalar(wp.static(_PROGRESS)) * mark:
                mark = reached
                waited = 0
            if reached < best:
                best = reached
                for j in range(m):
                    rows[i, 2 + j] = at.q[there, j]
        if best > tolerance and code == wp.static(int(SolveStatus.ITERATION_LIMIT)):
            for j in range(m):
                at.q[here, j] = rows[i, 2 + j]
            evaluate(tree, chain, base, target, here, at)
            code = unsolved(i, here, chain, at, False)
        if best <= tolerance:
            code = int(wp.static(int(SolveStatus.CONVERGED)))
        rows[i, 0] = scalar(iterations)
        rows[i, 1] = best
        status[i] = code

    return solve_chain
