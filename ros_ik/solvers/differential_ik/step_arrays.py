# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays of a control step: those of all robots, and scratch memory of the robots of one graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.batch_layout import batch_zeros
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.limits import AccelerationLimit
from ros_ik.solvers.differential_ik.quadratic_program.barrier_rows import step_barriers_struct
from ros_ik.solvers.differential_ik.quadratic_program.dual_fallback import list_of_failed
from ros_ik.solvers.differential_ik.quadratic_program.dual_fallback import make_dual_program
from ros_ik.solvers.differential_ik.quadratic_program.elimination_order import step_elimination
from ros_ik.solvers.differential_ik.quadratic_program.lead import gains_with_lead
from ros_ik.solvers.differential_ik.quadratic_program.lead import make_step_lead
from ros_ik.solvers.differential_ik.quadratic_program.program import every_variable
from ros_ik.solvers.differential_ik.quadratic_program.program import make_program_beside
from ros_ik.solvers.differential_ik.quadratic_program.program import make_step_program
from ros_ik.solvers.differential_ik.quadratic_program.stop_rows import make_step_stop
from ros_ik.solvers.differential_ik.settings import DifferentialIKSettings
from ros_ik.solvers.differential_ik.step_parts import StepParts
from ros_ik.solvers.differential_ik.tasks.curvature import make_state_before
from ros_ik.solvers.differential_ik.tasks.priorities import make_level_rows


class StepArrays:
    """Arrays of the steps of all robots.

    Attributes:
        delta_q: Step of all degrees of freedom, [n, joint_dof_count].
        x: Step of the variables of the group, [n, n_variables].
        status: :class:`SolveStatus` codes, [n].
        rounds: Rounds of the active-set method, [n]; -1 if the dual method was used.
        regularization: Weight of |dq|^2, [1].
        active_bound: Active bound of each variable, -1, 0 or 1, [n, n_variables].
        binding: 1 for active rows, [n, n_rows].
        acceleration_limit: Acceleration limit, which knows the last step; None if there is none.
        lead: Time by which the barriers act ahead [s].
        level_feedforward: True if later levels allow for the motion that earlier ones impose.
        curvature_feedforward: True if tasks allow for the curvature of their motion.
        strict_priorities: True if active constraints make no compromise between levels.
        stops: True if there are rows at the end of the stop, too: the robot leaves violations at
            a bounded speed, and there is an acceleration limit.
        near: 1 for robots near the margin of a barrier, [n]; [0] without ``stops``.
        recovering: 1 while a robot leaves a violation, -1 while it evades an obstacle, going to 0
            afterwards, of that shape.
        n_rows: Number of rows of the barriers.
        barrier_start: First row of each barrier, and their number, [barriers + 1].
        barriers: Parameters of the barriers, a struct of :func:`step_barriers_struct`.
        order: Order of elimination of every variable.
        moving_variable: Variable of each degree of freedom that the group moves.
        moving_factor: Its displacement per displacement of the variable.
    """

    @shares_launch_lock
    def __init__(self, parts: StepParts, rules: DifferentialIKSettings) -> None:
        """Allocate the arrays for tasks, limits and barriers.

        Raises:
            ArgumentError: A lead of barriers without an acceleration limit.
        """
        state, barriers = parts.state, parts.barriers
        n, dofs, variables = state.n_robots, state.model.joint_dof_count, state.group.n_variables
        device = state.device
        self.acceleration_limit = next(
            (limit for limit in parts.limits if isinstance(limit, AccelerationLimit)), None
        )
        self.lead = rules.barrier_lead if barriers else 0.0
        if self.lead > 0.0 and self.acceleration_limit is None:
            raise ArgumentError(
                'barrier_lead needs an AccelerationLimit among the limits, which has the last step'
            )
        by_level = parts.rows is not None and parts.rows.levels is not None
        self.strict_priorities = rules.strict_priorities
        self.level_feedforward = rules.level_feedforward and by_level
        self.curvature_feedforward = rules.curvature_feedforward and by_level
        for name in ('level_feedforward', 'curvature_feedforward'):
            if getattr(self, name) and self.acceleration_limit is None:
                raise ArgumentError(
                    f'{name} needs an AccelerationLimit among the limits, which has the last step'
                )
        recovers = any(np.isfinite(barrier.recovery_speed) for barrier in barriers)
        # The state at the end of the stop has separate arrays.
        recovers = recovers and all(barrier.splits for barrier in barriers)
        self.stops = recovers and self.acceleration_limit is not None
        stops = n if self.stops else 0
        self.near = HostBuffer((stops,), wp.int32, device)
        self.recovering = HostBuffer((stops,), wp.float64, device)
        counts = [barrier.step_row_count for barrier in barriers]
        self.n_rows = sum(counts) * (2 if self.stops else 1)
        self.barrier_start = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
        order = step_elimination(state, parts.fused.variables, parts.rows is not None)
        self.order = every_variable(order, variables)
        self.delta_q = HostBuffer((n, dofs), wp.float64, device)
        self.x = HostBuffer((n, variables), wp.float64, device)
        self.status = HostBuffer((n,), wp.int32, device)
        self.rounds = HostBuffer((n,), wp.int32, device)
        self.active_bound = batch_zeros((n, variables), wp.int32, device)
        self.binding = batch_zeros((n, self.n_rows), wp.int32, device)
        self.regularization = HostBuffer((1,), wp.float64, device)
        moving = state.moving_dof.numpy()
        self.moving_variable = wp.array(
            state.group.dof_variable[moving], dtype=wp.int32, device=device
        )
        self.moving_factor = wp.array(
            state.group.dof_scale[moving], dtype=wp.float64, device=device
        )
        self.barriers = step_barriers_struct()()
        self.barriers.start = wp.array(self.barrier_start, dtype=wp.int32, device=device)
        for name, values in (
            ('gain', gains_with_lead(barriers, self.lead)),
            ('margin', [barrier.margin for barrier in barriers]),
            ('displacement_weight', [barrier.safe_displacement_gain for barrier in barriers]),
            ('recovery', [barrier.recovery_speed for barrier in barriers]),
            ('evasion', [barrier.evasion.speed for barrier in barriers]),
            ('shallow', [barrier.evasion.depth for barrier in barriers]),
        ):
            setattr(self.barriers, name, wp.array(values, dtype=wp.float64, device=device))


class ScratchArrays:
    """Scratch memory that the parts of a graph use one after the other."""

    @shares_launch_lock
    def __init__(self, n: int, parts: StepParts, arrays: StepArrays) -> None:
        """Allocate the memory of ``n`` robots."""
        state, rows = parts.state, parts.rows
        device, variables = state.device, state.group.n_variables
        n_rows, model = arrays.n_rows, state.model
        whole = n == state.n_robots

        def zeros(*shape: int, dtype: Any = wp.float64) -> wp.array:
            return batch_zeros((n, *shape), dtype, device)

        dofs, bodies = model.joint_dof_count, model.body_count
        self.body_q = state.body_q if whole else zeros(bodies, dtype=wp.transformd)
        self.joint_S_s = state.joint_S_s if whole else zeros(dofs, dtype=wp.spatial_vectord)
        self.block = zeros(parts.fused.longest, dtype=wp.spatial_vectord)
        self.values = zeros(n_rows)
        stops = n if arrays.stops else 0
        self.stop = make_step_stop(stops, variables, dofs, model.joint_coord_count, device)
        leads = n if arrays.acceleration_limit is not None else 0
        self.lead = make_step_lead(leads, variables, arrays.lead, state.dt, device)
        self.rest_body_q = batch_zeros((stops, bodies), wp.transformd, device)
        self.rest_joint_S_s = batch_zeros((stops, dofs), wp.spatial_vectord, device)
        self.program = make_step_program(n, variables, n_rows, arrays.order, device)
        self.open = wp.clone(self.program.empty)
        self.dual = make_dual_program(n, variables, n_rows, device)
        self.failed = list_of_failed(n, device)
        unlisted = wp.empty(0, dtype=wp.int32, device=device)
        self.marked = unlisted if self.failed is None else self.failed.marked
        # Rows of the levels, the state before the last step, and the program of one level after
        # the other.
        self.levels: Any = None
        self.before: Any = None
        self.turn: Any = None
        self.turn_status = unlisted
        if rows is not None and rows.levels is not None:
            order, start = rows.levels.order.array, rows.levels.start.array
            self.levels = make_level_rows(n, order, start, variables, device)
            if arrays.curvature_feedforward:
                self.before = make_state_before(n, order.size, state)
            if arrays.strict_priorities:
                self.turn = make_program_beside(self.program)
                self.turn_status = wp.zeros(n, dtype=wp.int32, device=device)
