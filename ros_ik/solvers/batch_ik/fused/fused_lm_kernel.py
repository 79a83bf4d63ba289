# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Levenberg-Marquardt for objectives with formulas in one kernel, with a thread per row.

The method is that of :mod:`ros_ik.solvers.batch_ik.optimizers.lm`: bounded steps, gain ratio,
damping. However, the kernel runs all iterations of a row, in float64, and ends when no further
improvement is possible.
"""

import functools
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.forward import place_links_function
from ros_ik.kinematics.integrate import integrate_function
from ros_ik.kinematics.motion_subspace import move_links_function
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.tree import tree_struct
from ros_ik.objectives.base.formula import AnyFormula
from ros_ik.objectives.base.record import record_struct
from ros_ik.solvers.batch_ik.base.seed_kernels import confine_function
from ros_ik.solvers.batch_ik.fused.fused_objectives import normal_functions
from ros_ik.solvers.least_squares.bounded_step import bounded_step_functions
from ros_ik.solvers.least_squares.bounded_step import step_workspace_struct
from ros_ik.solvers.least_squares.damping import damping_functions
from ros_ik.solvers.least_squares.search_space import space_struct
from ros_ik.solvers.limit_status import AT_LIMIT
from ros_ik.solvers.limit_status import limit_functions
from ros_ik.solvers.status import SolveStatus

# A predicted reduction below this fraction of the cost is rounding, and so is a cost below the
# second number: float32 coordinates cannot resolve residuals of 1e-8 m.
_NOISE = 1e-12
_NOTHING = 1e-16


@no_type_check
@functools.cache
def fused_rules_struct() -> Any:
    """Return the struct of the settings of a solve."""

    @wp.struct
    class FusedRules:
        iterations: int
        step_size: wp.float64
        damping_initial: wp.float64
        damping_factor: wp.float64
        damping_min: wp.float64
        damping_max: wp.float64
        gain_ratio_min: wp.float64
        cost_tolerance: wp.float64
        gradient_tolerance: wp.float64

    return FusedRules


@no_type_check
@functools.cache
def fused_state_struct() -> Any:
    """Return the struct of the work arrays of the rows, each [n, ..]."""

    @wp.struct
    class FusedState:
        joint_q: wp.array2d(dtype=wp.float64)  # [n, joint_coord_count]
        joint_q_next: wp.array2d(dtype=wp.float64)
        joint_qd_step: wp.array2d(dtype=wp.float64)  # [n, joint_dof_count]
        body_q: wp.array2d(dtype=wp.transformd)  # [n, body_count]
        joint_S_s: wp.array2d(dtype=wp.spatial_vectord)  # [n, joint_dof_count]
        block: wp.array2d(dtype=wp.spatial_vectord)  # [n, longest chain]
        dof_unknown: wp.array(dtype=wp.int32)  # [joint_dof_count], -1 where nothing moves it
        dof_scale: wp.array(dtype=wp.float64)  # [joint_dof_count], of a follower its factor

    return FusedState


@no_type_check
@functools.cache
def fused_lm_kernel(formulas: tuple[AnyFormula, ...]) -> wp.Kernel:
    """Build the kernel of some formulas, for any robot and any list of such objectives."""
    Space, Tree, Record = space_struct(), tree_struct(wp.float64), record_struct()
    Work, Rules, State = step_workspace_struct(), fused_rules_struct(), fused_state_struct()
    place_links, move_links = place_links_function(wp.float64), move_links_function(wp.float64)
    integrate_row = integrate_function(wp.float64)
    normal, step = normal_functions(formulas), bounded_step_functions()
    objective_cost, add_objective = normal.objective_cost, normal.add_objective
    bounded_step, model_gain = step.bounded_step, step.model_gain
    noise, nothing = wp.constant(wp.float64(_NOISE)), wp.constant(wp.float64(_NOTHING))
    damp_in_steps = damping_functions(wp.float64).damp_in_steps
    confine, limits = confine_function(), limit_functions(wp.float64)
    slope_bound, judge, unsolved_status = limits.slope_bound, limits.judge, limits.unsolved_status
    close = wp.constant(wp.float64(AT_LIMIT))
    converged = wp.constant(int(SolveStatus.CONVERGED))
    non_finite = wp.constant(int(SolveStatus.NON_FINITE_INPUT))
    failure = wp.constant(int(SolveStatus.NUMERICAL_FAILURE))

    @wp.func
    def evaluate(
        tree: Tree,
        records: wp.array(dtype=Record),
        row: int,
        problem: int,
        state: State,
    ) -> wp.float64:
        """Compute link poses at ``joint_q_next`` and return the cost."""
        place_links(tree, row, state.joint_q_next, state.body_q)
        cost = wp.float64(0.0)
        for k in range(records.shape[0]):
            cost += objective_cost(
                records[k], row, problem, state.joint_q_next, state.body_q, state.joint_S_s,
                state.block,
            )  # fmt: skip
        return cost

    @wp.func
    def linearize(
        space: Space,
        tree: Tree,
        records: wp.array(dtype=Record),
        row: int,
        problem: int,
        state: State,
        work: Work,
    ):
        """Compute H, g and the box of the step at ``joint_q``, after its evaluation."""
        move_links(tree, row, state.joint_q, state.body_q, state.joint_S_s)
        for p in range(work.order.shape[0]):
            i = work.order[p]
            work.gradient[row, i] = wp.float64(0.0)
            for c in range(work.first[p], p + 1):
                j = work.order[c]
                work.hessian[row, wp.max(i, j), wp.min(i, j)] = wp.float64(0.0)
            c = space.dof_coord[i]
            work.low[row, i] = wp.float64(-wp.inf)
            work.high[row, i] = wp.float64(wp.inf)
            if c >= 0:
                work.low[row, i] = wp.float64(space.coord_lower[c]) - state.joint_q[row, c]
                work.high[row, i] = wp.float64(space.coord_upper[c]) - state.joint_q[row, c]
        for k in range(records.shape[0]):
            add_objective(
                records[k], row, problem, state.joint_q, state.body_q, state.joint_S_s,
                state.dof_unknown, state.dof_scale, state.block, work.hessian, work.gradient,
            )  # fmt: skip

    @wp.func
    def advance(
        space: Space, tree: Tree, row: int, step_size: wp.float64, state: State, work: Work
    ):
        """Compute q_next = q (+) step, within the limits, with mimic joints."""
        for dof in range(state.dof_unknown.shape[0]):
            i = state.dof_unknown[dof]
            move = wp.float64(0.0)
            if i >= 0:
                move = step_size * state.dof_scale[dof] * work.step[row, i]
            state.joint_qd_step[row, dof] = move
        integrate_row(tree, row, state.joint_q, state.joint_qd_step, state.joint_q_next)
        for c in range(state.joint_q.shape[1]):
            if space.coord_frozen[c] == 1:
                state.joint_q_next[row, c] = state.joint_q[row, c]
            else:
                state.joint_q_next[row, c] = wp.clamp(
                    state.joint_q_next[row, c],
                    wp.float64(space.coord_lower[c]),
                    wp.float64(space.coord_upper[c]),
                )

    @wp.func
    def classify(tolerance: wp.float64, row: int, cost: wp.float64, work: Work) -> int:
        """Return the status of a row that has not converged."""
        longest = wp.float64(1e-30)
        for p in range(work.order.shape[0]):
            i = work.order[p]
            if not wp.isfinite(work.hessian[row, i, i]):
                return failure
            longest = wp.max(longest, work.hessian[row, i, i])
        is_stationary = bool(True)
        is_pressed = bool(False)
        for p in range(work.order.shape[0]):
            i = work.order[p]
            bound = slope_bound(tolerance, work.hessian[row, i, i], longest, cost)
            is_stationary, is_pressed = judge(
                work.gradient[row, i], bound, -work.low[row, i], work.high[row, i], close,
                is_stationary, is_pressed,
            )  # fmt: skip
        return unsolved_status(is_stationary, is_pressed)

    @compiled_kernel(registers=255)
    def fused_lm(
        tree: Tree,
        space: Space,
        records: wp.array(dtype=Record),  # [n_objectives]
        rules: wp.array(dtype=Rules),  # [1]
        problem_idx: wp.array(dtype=wp.int32),  # [n]
        state: State,
        work: Work,
        refused: wp.array(dtype=wp.int32),  # [n], in and out
        joint_q: wp.array2d(dtype=wp.float32),  # [n, joint_coord_count], in and out
        costs: wp.array(dtype=wp.float32),  # [n]
        status: wp.array(dtype=wp.int32),  # [n]
    ):
        row = wp.tid()
        problem = problem_idx[row]
        for c in range(joint_q.shape[1]):
            state.joint_q_next[row, c] = wp.float64(joint_q[row, c])
        # The start is evaluated like the result of a step, so that all this is compiled once.
        # Rules are read where they count: held over all iterations they would take registers.
        damping = rules[0].damping_initial
        iteration = int(0)
        cost = wp.float64(wp.inf)
        predicted = wp.float64(0.0)
        running = refused[row] == 0
        while running:
            next_cost = evaluate(tree, records, row, problem, state)
            gain = cost - next_cost
            is_taken = gain >= rules[0].gain_ratio_min * predicted
            if is_taken:
                cost = next_cost
                for c in range(joint_q.shape[1]):
                    state.joint_q[row, c] = state.joint_q_next[row, c]
                linearize(space, tree, records, row, problem, state, work)
            if iteration > 0:
                damping = damp_in_steps(
                    damping, gain, predicted, is_taken, rules[0].damping_factor
                )
                damping = wp.clamp(damping, rules[0].damping_min, rules[0].damping_max)
            running = wp.isfinite(cost) and cost > nothing and iteration < rules[0].iterations
            if running:
                iteration += 1
                bounded_step(work, row, damping)
                predicted = model_gain(work, row, rules[0].step_size)
                # Without a gain the row is at an optimum, to rounding.
                running = wp.isfinite(predicted) and predicted > noise * cost
                if running:
                    advance(space, tree, row, rules[0].step_size, state, work)
        if not wp.isfinite(cost):
            refused[row] = 1
            costs[row] = wp.inf
            status[row] = non_finite
            return
        for c in range(joint_q.shape[1]):
            if space.coord_frozen[c] == 0:
                joint_q[row, c] = wp.float32(state.joint_q[row, c])
        confine(space, row, joint_q)
        costs[row] = wp.float32(cost)
        code = converged
        if cost > rules[0].cost_tolerance:
            code = classify(rules[0].gradient_tolerance, row, cost, work)
        status[row] = code

    return fused_lm
