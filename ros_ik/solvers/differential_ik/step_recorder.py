# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Launches of a control step: tasks -> H, c; limits -> box; barriers -> rows; solution."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import dataclasses

import warp as wp

from ros_ik.barriers import Barrier
from ros_ik.barriers.barrier import StepBox
from ros_ik.kinematics.forward import launch_forward_kinematics
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.stepping.step_state import StepState
from ros_ik.kinematics.stepping.step_tree import launch_place_nodes
from ros_ik.kinematics.stepping.step_tree import make_step_tree
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.limits import Limit
from ros_ik.solvers.differential_ik.quadratic_program.dual_fallback import dual_step_kernel
from ros_ik.solvers.differential_ik.quadratic_program.lead import lead_functions
from ros_ik.solvers.differential_ik.quadratic_program.levels_in_turn import solve_levels_kernel
from ros_ik.solvers.differential_ik.quadratic_program.program import begin_of_box
from ros_ik.solvers.differential_ik.quadratic_program.small_active_set import MAX_VARIABLES
from ros_ik.solvers.differential_ik.quadratic_program.small_active_set import (
    solve_small_step_kernel,
)
from ros_ik.solvers.differential_ik.quadratic_program.solve import solve_step_kernel
from ros_ik.solvers.differential_ik.quadratic_program.stop_rows import place_rest_kernel
from ros_ik.solvers.differential_ik.settings import DifferentialIKSettings
from ros_ik.solvers.differential_ik.step_arrays import ScratchArrays
from ros_ik.solvers.differential_ik.step_arrays import StepArrays
from ros_ik.solvers.differential_ik.step_parts import StepParts
from ros_ik.solvers.differential_ik.tasks.cost import evaluate_step_kernel
from ros_ik.solvers.differential_ik.tasks.curvature import curvature_kernels
from ros_ik.solvers.differential_ik.tasks.priorities import add_levels_kernel
from ros_ik.solvers.differential_ik.tasks.rows import step_rows_kernels


class StepRecorder:
    """Recorder of the launches of a step."""

    def __init__(
        self,
        parts: StepParts,
        arrays: StepArrays,
        tree: KinematicTree,
        rules: DifferentialIKSettings,
        max_iterations: wp.array,
    ) -> None:
        """Prepare the tree of the links whose poses are read.

        Args:
            parts: Tasks, limits and barriers.
            arrays: Arrays of the steps.
            tree: Kinematic tree of the model.
            rules: Tolerances and other settings of the solution.
            max_iterations: Bound of the dual method, int32 [1], read at each solve.
        """
        self._state, self._arrays, self._rules = parts.state, arrays, rules
        self._fused, self._rows = parts.fused, parts.rows
        self._limits, self._barriers = parts.limits, parts.barriers
        self._max_iterations, self._kinematics = max_iterations, tree
        order = tree.arrays.joint_order.numpy()
        self._tree = make_step_tree(parts.state.model, order, parts.links, parts.state.scalar)

    def record_constant_box(self, scratches: Sequence[ScratchArrays]) -> None:
        """Launch the constant limits, which tighten the initial box of each step."""
        for scratch in scratches:
            wp.copy(scratch.program.empty, scratch.open)
            box = begin_of_box(scratch.program)
            state = self._state.part(0, scratch.body_q, scratch.joint_S_s, scratch)
            for limit in self._limits:
                if limit.is_constant:
                    with _stepping(limit, state):
                        limit.launch(*box)

    def record(
        self, scratch: ScratchArrays, batches: Sequence[tuple[int, int]], is_near: bool
    ) -> None:
        """Launch the steps of the robots of one graph.

        Args:
            scratch: Memory that the batches use one after the other.
            batches: First robot and number of robots of each.
            is_near: True to include rows at the end of the stop after the last step.
        """
        for first, size in batches:
            self._record_robots(scratch, first, size, is_near)

    def _record_robots(self, scratch: ScratchArrays, first: int, size: int, is_near: bool) -> None:
        """Launch the step of some robots."""
        places = scratch.body_q[:size], scratch.joint_S_s[:size]
        state = self._state.part(first, *places, scratch)
        if size == self._state.n_robots:
            state = self._state
        program, arrays = scratch.program, self._arrays
        if program.copied_x.size:
            program.copied_x = state.rows(arrays.x.array)
        else:
            program.x = state.rows(arrays.x.array)
        program.active_bound = state.rows(arrays.active_bound)
        program.binding = state.rows(arrays.binding)
        wp.copy(program.memory, program.empty)
        launch(
            evaluate_step_kernel(self._fused.formulas),
            dim=size,
            inputs=[
                self._tree, self._fused.records, self._fused.arrays, state.joint_q,
                arrays.regularization.array, first, scratch.block,
            ],
            outputs=[state.body_q, state.joint_S_s, program.H, program.c],
            device=state.device,
        )  # fmt: skip
        if self._rows is not None:
            self._record_rows(scratch, state)
        box = program.lower[:size], program.upper[:size]
        for limit in self._limits:
            if not limit.is_constant:
                with _stepping(limit, state):
                    limit.launch(*box)
        if is_near or scratch.lead.share < 1.0:
            box = self._record_lead(scratch, state, box)
        self._record_barriers(scratch, state, box, 0)
        if is_near:
            self._record_rest(scratch, state, box)
        self._record_solve(scratch, state, is_near)

    def _record_barriers(
        self,
        scratch: ScratchArrays,
        state: StepState,
        box: tuple[wp.array, wp.array],
        first_row: int,
    ) -> None:
        """Launch the rows of the barriers at a state."""
        gains, size = self._arrays.barriers.gain, state.n_robots
        for index, barrier in enumerate(self._barriers):
            with _stepping(barrier, state):
                barrier.launch_rows(
                    StepBox(*box, gains, index),
                    scratch.values[:size],
                    scratch.program.J[:size],
                    first_row + int(self._arrays.barrier_start[index]),
                )

    def _record_lead(
        self, scratch: ScratchArrays, state: StepState, box: tuple[wp.array, wp.array]
    ) -> tuple[wp.array, wp.array]:
        """Launch the previous steps of the variables; return the box to which steps lead."""
        size, lead = state.n_robots, scratch.lead
        last_step, _ = self._last_motion(state)
        launch(
            lead_functions().place_lead,
            dim=size,
            inputs=[
                last_step, state.moving_dof, self._arrays.moving_variable,
                self._arrays.moving_factor, *box,
            ],
            outputs=[lead],
            device=state.device,
        )  # fmt: skip
        return lead.lower[:size], lead.upper[:size]

    def _last_motion(self, state: StepState) -> tuple[wp.array, wp.array]:
        """Return the last steps of the robots of a part, and the accelerations."""
        limit = self._arrays.acceleration_limit
        assert limit is not None
        with _stepping(limit, state):
            return limit.last_motion()

    def _record_rest(
        self, scratch: ScratchArrays, state: StepState, box: tuple[wp.array, wp.array]
    ) -> None:
        """Launch the rows of the barriers at the end of the stop after the last step."""
        size, stop = state.n_robots, scratch.stop
        _, acceleration = self._last_motion(state)
        launch(
            place_rest_kernel(),
            dim=size,
            inputs=[
                self._kinematics.arrays, state.joint_q, scratch.lead.last, acceleration,
                state.moving_dof, self._arrays.moving_variable, self._arrays.moving_factor, *box,
                state.dt, stop,
            ],
            device=state.device,
        )  # fmt: skip
        rest = dataclasses.replace(
            state,
            joint_q=stop.joint_q[:size],
            body_q=scratch.rest_body_q[:size],
            joint_S_s=scratch.rest_joint_S_s[:size],
            scratch=scratch,
        )
        launch_place_nodes(self._tree, rest.joint_q, rest.body_q, rest.joint_S_s)
        box = stop.lower[:size], stop.upper[:size]
        self._record_barriers(scratch, rest, box, int(self._arrays.barrier_start[-1]))

    def _record_rows(self, scratch: ScratchArrays, state: StepState) -> None:
        """Launch the tasks that are given as rows, and add them to the program."""
        rows, program, n = self._rows, scratch.program, self._state.n_robots
        regularization = self._arrays.regularization.array
        assert rows is not None
        rows.launch_objectives()
        kernels = step_rows_kernels()
        device = self._state.device
        launch(
            kernels.fold_rows, dim=n, inputs=[rows.arrays], outputs=[program.H], device=device
        )
        if scratch.levels is None:
            launch(
                kernels.add_rows,
                dim=n,
                inputs=[rows.arrays],
                outputs=[program.H, program.c],
                device=device,
            )
            return
        if self._arrays.curvature_feedforward:
            self._record_curvature(scratch, state)
        last_step = wp.empty((0, 0), dtype=wp.float64, device=device)
        if self._arrays.level_feedforward:
            last_step, _ = self._last_motion(state)
        launch(
            add_levels_kernel(),
            dim=n,
            inputs=[rows.arrays, regularization, last_step, scratch.levels],
            outputs=[program.H, program.c],
            device=device,
        )

    def _record_curvature(self, scratch: ScratchArrays, state: StepState) -> None:
        """Launch the curvature of the rows along the last step, and add it to their errors."""
        rows, before, n = self._rows, scratch.before, state.n_robots
        kernels, tree, device = curvature_kernels(), self._kinematics, state.device
        assert rows is not None
        last_step, _ = self._last_motion(state)
        launch(
            kernels.place_before,
            dim=n,
            inputs=[tree.arrays, state.joint_q, last_step, rows.arrays, before],
            device=device,
        )
        launch_forward_kinematics(tree, before.joint_q, before.body_q)
        rows.launch_residuals(before.joint_q, before.body_q, before.residual)
        launch(kernels.add_curvature, dim=n, inputs=[rows.arrays, before], device=device)

    def _record_solve(self, scratch: ScratchArrays, state: StepState, is_near: bool) -> None:
        """Launch the solution of the programs, with a launch of its own for listed failures."""
        rules, variables, failed = self._rules, self._state.group.n_variables, scratch.failed
        arrays = self._arrays
        kernel = solve_step_kernel(failed is not None)
        of_rows = [arrays.barriers, scratch.values]
        of_stop = [scratch.lead, int(is_near), scratch.stop]
        scratch.stop.near = state.rows(arrays.near.array)
        scratch.stop.recovering = state.rows(arrays.recovering.array)
        if arrays.binding.shape[1] == 0 and variables <= MAX_VARIABLES:
            kernel = solve_small_step_kernel(variables, failed is not None)
            of_rows, of_stop = [], []
        limits = [state.dt, self._max_iterations, rules.feasibility_tolerance]
        moving = [state.moving_dof, arrays.moving_variable, arrays.moving_factor]
        programs = [scratch.program, scratch.dual, state.is_relaxed]
        delta_q, status = state.rows(arrays.delta_q.array), state.rows(arrays.status.array)
        launch(
            kernel,
            dim=state.n_robots,
            inputs=[*of_rows, *limits, int(rules.warm_start), *moving, *of_stop, *programs],
            outputs=[scratch.marked, delta_q, status, state.rows(arrays.rounds.array)],
            device=state.device,
        )
        if failed is not None:
            failed.gather()
            launch(
                dual_step_kernel(),
                dim=state.n_robots,
                inputs=[failed.rows, *limits, *moving, *programs],
                outputs=[delta_q, status],
                device=state.device,
            )
        if scratch.turn is not None:
            launch(
                solve_levels_kernel(),
                dim=state.n_robots,
                inputs=[
                    scratch.levels, *limits, state.rows(arrays.rounds.array), *moving, *programs,
                    scratch.turn, scratch.turn_status,
                ],
                outputs=[delta_q, status],
                device=state.device,
            )  # fmt: skip


@contextlib.contextmanager
def _stepping(part: Limit | Barrier, state: StepState) -> Iterator[None]:
    """Set the state of a limit or barrier to that of a part of the robots during a launch."""
    whole, part._state = part._state, state
    try:
        yield
    finally:
        part._state = whole
