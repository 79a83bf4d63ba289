# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Control step as a quadratic program: tasks -> H, c; limits -> box; barriers -> rows; solve.

The constructor allocates all arrays and captures graphs. A step writes the joint coordinates and
changed parameters, and replays the graphs. On a CPU, a large batch is recorded in parts, which
several threads process.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
import contextlib
import dataclasses
import functools
from typing import Any

import numpy as np
import warp as wp

from ros_ik.barriers import Barrier
from ros_ik.barriers.barrier import StepBox
from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.batch_layout import batch_zeros
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.host_buffer import wait_for
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.stepping.step_state import StepState
from ros_ik.kinematics.stepping.step_tree import launch_place_nodes
from ros_ik.kinematics.stepping.step_tree import make_step_tree
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.limits import AccelerationLimit
from ros_ik.limits import Limit
from ros_ik.objectives.recording.snapshot import Snapshots
from ros_ik.solvers.differential_ik.checks.barrier_evaluation import links_of
from ros_ik.solvers.differential_ik.quadratic_program.dual_fallback import dual_step_kernel
from ros_ik.solvers.differential_ik.quadratic_program.dual_fallback import list_of_failed
from ros_ik.solvers.differential_ik.quadratic_program.dual_fallback import make_dual_program
from ros_ik.solvers.differential_ik.quadratic_program.elimination_order import step_elimination
from ros_ik.solvers.differential_ik.quadratic_program.program import begin_of_box
from ros_ik.solvers.differential_ik.quadratic_program.program import every_variable
from ros_ik.solvers.differential_ik.quadratic_program.program import make_step_program
from ros_ik.solvers.differential_ik.quadratic_program.small_active_set import MAX_VARIABLES
from ros_ik.solvers.differential_ik.quadratic_program.small_active_set import (
    solve_small_step_kernel,
)
from ros_ik.solvers.differential_ik.quadratic_program.solve import solve_step_kernel
from ros_ik.solvers.differential_ik.quadratic_program.solve import step_barriers_struct
from ros_ik.solvers.differential_ik.quadratic_program.stop_rows import make_step_stop
from ros_ik.solvers.differential_ik.quadratic_program.stop_rows import place_rest_kernel
from ros_ik.solvers.differential_ik.settings import DifferentialIKSettings
from ros_ik.solvers.differential_ik.shared_graphs import MAX_PARALLEL_BATCH
from ros_ik.solvers.differential_ik.shared_graphs import shared_parts
from ros_ik.solvers.differential_ik.shared_graphs import SharedGraphs
from ros_ik.solvers.differential_ik.tasks.cost import evaluate_step_kernel
from ros_ik.solvers.differential_ik.tasks.priorities import add_levels_kernel
from ros_ik.solvers.differential_ik.tasks.rows import step_rows_kernels
from ros_ik.solvers.differential_ik.tasks.task import Task
from ros_ik.solvers.differential_ik.tasks.tasks import every_objective
from ros_ik.solvers.differential_ik.tasks.tasks import FusedTasks
from ros_ik.solvers.differential_ik.tasks.tasks import is_fusible
from ros_ik.solvers.differential_ik.tasks.tasks import RowTasks
from ros_ik.solvers.differential_ik.tasks.tasks import set_up_objectives
from ros_ik.solvers.graph import Graph


class StepProblem:
    """Captured quadratic program of one combination of tasks, limits and barriers.

    Attributes:
        delta_q: Step of all degrees of freedom, shape [n, joint_dof_count].
        first_step: Row 0 of ``delta_q``.
        x: Step of the variables of the group, shape [n, n_variables].
        status: :class:`SolveStatus` codes, shape [n].
        rounds: Rounds of the active-set method, shape [n]; -1 if the dual method was used.
        regularization: Present weight of |dq|^2.
        kept: Snapshots of objectives, limits and barriers at recording.
    """

    def __init__(
        self,
        state: StepState,
        tree: KinematicTree,
        joint_q: HostBuffer,
        max_iterations: wp.array,
        tasks: Sequence[Task],
        limits: Sequence[Limit],
        barriers: Sequence[Barrier],
        *,
        rules: DifferentialIKSettings,
        pool: ThreadPoolExecutor | None = None,
        n_threads: int = 1,
    ) -> None:
        """Allocate every array and capture the graphs.

        Args:
            state: Arrays that limits and barriers read.
            tree: Kinematic tree of the model.
            joint_q: Buffer of ``state.joint_q``, filled by the caller before each solve.
            max_iterations: Bound of the dual method, int32 [1], read at each solve.
            tasks: The tasks, at least one.
            limits: Hard limits.
            barriers: Barriers.
            rules: Tolerances and other settings of the solution.
            pool: Threads that share a large batch.
            n_threads: Number of these threads.

        Raises:
            ArgumentError: No task, an objective without an analytic Jacobian, or a task, limit or
                barrier that does not fit the model.
        """
        if not tasks:
            raise ArgumentError('tasks must hold at least one task')
        self._state, self._joint_q, self._rules = state, joint_q, rules
        self._max_iterations = max_iterations
        self._tasks, self._barriers = tuple(tasks), tuple(barriers)
        self._limits = tuple(sorted(limits, key=lambda limit: limit.precedence))
        self._revision, self._versions = -1, [-1] * len(tasks)
        self._gains_revision = -1
        set_up_objectives(tasks, state)
        for limit in self._limits:
            limit.bind(state)
        for barrier in self._barriers:
            barrier.bind(state)
        self._sort_tasks()
        order = tree.arrays.joint_order.numpy()
        self._kinematics = tree
        self._tree = make_step_tree(state.model, order, self._links(), state.scalar)
        self._allocate()
        self.load_regularization(1e-12)
        whole = [[(0, state.n_robots)]]
        parts = shared_parts(state.n_robots, n_threads) if self._splits() else whole
        self._scratch = [_Scratch(self, max(size for _, size in part)) for part in parts]
        self._box_revision = Limit.changes
        self._box_graph = Graph(self._record_constant_box, state.device, self._limits)
        self.load_parameters()
        own = [*every_objective(tasks), *self._limits, *self._barriers]
        graphs = {
            is_near: [
                Graph(functools.partial(self._record, scratch, part, is_near), state.device, own)
                for scratch, part in zip(self._scratch, parts, strict=True)
            ]
            for is_near in ((False, True) if self._braking is not None else (False,))
        }
        self._graphs = {
            is_near: SharedGraphs(some, pool, n_threads) for is_near, some in graphs.items()
        }
        self._runs_host_code = not all(graph.is_replayed for graph in graphs[False])
        self.kept = Snapshots(every_objective(tasks), (*self._limits, *self._barriers))

    @property
    def is_current(self) -> bool:
        """True if objectives, limits and barriers are unchanged since recording."""
        return self.kept.are_current

    def load_regularization(self, regularization: float) -> None:
        """Copy a new weight of |dq|^2 to the device."""
        self.regularization = regularization
        self._regularization.host[0] = regularization
        self._regularization.upload()

    def load_parameters(self) -> None:
        """Copy changed parameters of tasks, limits and barriers to the device."""
        if self._box_revision != Limit.changes:
            self._box_revision = Limit.changes
            self._box_graph.launch()
        if self._gains_revision != Barrier.changes and self._barriers:
            self._barrier_arrays.gain.assign([barrier.gain for barrier in self._barriers])
        self._gains_revision = Barrier.changes
        if self._revision == Task.changes:
            return
        self._revision = Task.changes
        versions = [task.version for task in self._tasks]
        if versions != self._versions:
            self._versions = versions
            self._fused.load()
            if self._rows is not None:
                self._rows.load()

    @property
    def is_near(self) -> bool:
        """True if a barrier was near its margin in the last solve."""
        return self._braking is not None and bool(np.count_nonzero(self._near.host))

    @property
    def recovers(self) -> bool:
        """True if the robot left a violation in the last solve, or shortly before it."""
        return self._braking is not None and bool(np.count_nonzero(self._recovering.host))

    def solve(self, *, is_near: bool = False, on_device: bool = False) -> None:
        """Solve at the coordinates in the buffer; fills ``x``, ``delta_q`` and ``status``.

        Args:
            is_near: True to include rows at the end of the stop after the last step.
            on_device: True if coordinates and steps stay on the device, in the arrays of
                :meth:`on_device`, without copies to the host.
        """
        copies = self._delta_q.needs_copies
        if copies and not on_device:
            self._joint_q.upload()
        self._graphs[is_near and self._braking is not None].launch()
        if copies:
            outputs = () if on_device else (self._delta_q, self._x, self._status, self._rounds)
            needed = () if self._braking is None else (self._near, self._recovering)
            for buffer in (*outputs, *needed):
                buffer.download()
            if outputs or needed:
                wait_for(wp.get_device(self._state.device))
        if self._runs_host_code:
            self.kept.leave_out_own_changes()

    def on_device(self) -> tuple[wp.array, wp.array, wp.array]:
        """Return the arrays ``delta_q``, ``x`` and ``status`` on the device."""
        return self._delta_q.array, self._x.array, self._status.array

    def _record_constant_box(self) -> None:
        """Apply constant limits to the initial box of each step."""
        for scratch in self._scratch:
            wp.copy(scratch.program.empty, scratch.open)
            box = begin_of_box(scratch.program)
            state = self._state.part(0, scratch.body_q, scratch.joint_S_s)
            for limit in self._limits:
                if limit.is_constant:
                    with _stepping(limit, state):
                        limit.launch(*box)

    def _sort_tasks(self) -> None:
        """Sort tasks into those for the fused kernel and those that are given as rows."""
        by_rows = len({task.priority for task in self._tasks}) > 1
        fusible = [] if by_rows else [task for task in self._tasks if is_fusible(task)]
        self._fused = FusedTasks(fusible, self._state)
        rest = [task for task in self._tasks if task not in self._fused.tasks]
        self._rows = RowTasks(rest, self._state) if rest else None

    def _links(self) -> set[int] | None:
        """Return the links whose poses are read, None for all."""
        of_barriers = links_of(self._barriers)
        if self._rows is not None or self._fused.links is None or of_barriers is None:
            return None
        return self._fused.links | of_barriers

    def _splits(self) -> bool:
        """Return True if the batch may be recorded in parts."""
        return (
            not wp.get_device(self._state.device).is_cuda
            and self._state.n_robots > MAX_PARALLEL_BATCH
            and self._rows is None
            and all(limit.splits for limit in self._limits)
            and all(barrier.splits for barrier in self._barriers)
        )

    def _allocate(self) -> None:
        state = self._state
        n, dofs, variables = state.n_robots, state.model.joint_dof_count, state.group.n_variables
        device = state.device
        # Acceleration limit, if the robot leaves violations at a bounded speed.
        recovers = any(np.isfinite(barrier.recovery_speed) for barrier in self._barriers)
        # The state at the end of the stop has separate arrays.
        recovers = recovers and all(barrier.splits for barrier in self._barriers)
        self._braking = next(
            (limit for limit in self._limits if isinstance(limit, AccelerationLimit) and recovers),
            None,
        )
        stops = 0 if self._braking is None else n
        self._near = HostBuffer((stops,), wp.int32, device)
        self._recovering = HostBuffer((stops,), wp.float64, device)
        counts = [barrier.step_row_count for barrier in self._barriers]
        self._n_rows = sum(counts) * (1 if self._braking is None else 2)
        self._barrier_start = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
        order = step_elimination(state, self._fused.variables, self._rows is not None)
        self._order = every_variable(order, variables)
        self._delta_q = HostBuffer((n, dofs), wp.float64, device)
        self._x = HostBuffer((n, variables), wp.float64, device)
        self._status = HostBuffer((n,), wp.int32, device)
        self._rounds = HostBuffer((n,), wp.int32, device)
        self._active_bound = batch_zeros((n, variables), wp.int32, device)
        self._binding = batch_zeros((n, self._n_rows), wp.int32, device)
        self.delta_q, self.x = self._delta_q.host, self._x.host
        self.first_step = self.delta_q[0]
        self.status, self.rounds = self._status.host, self._rounds.host
        self._regularization = HostBuffer((1,), wp.float64, device)
        moving = state.moving_dof.numpy()
        self._moving_variable = wp.array(
            state.group.dof_variable[moving], dtype=wp.int32, device=device
        )
        self._moving_factor = wp.array(
            state.group.dof_scale[moving], dtype=wp.float64, device=device
        )
        self._barrier_arrays = step_barriers_struct()()
        self._barrier_arrays.start = wp.array(self._barrier_start, dtype=wp.int32, device=device)
        for name, values in (
            ('gain', [barrier.gain for barrier in self._barriers]),
            ('margin', [barrier.margin for barrier in self._barriers]),
            (
                'displacement_weight',
                [barrier.safe_displacement_gain for barrier in self._barriers],
            ),
            ('recovery', [barrier.recovery_speed for barrier in self._barriers]),
        ):
            setattr(self._barrier_arrays, name, wp.array(values, dtype=wp.float64, device=device))

    def _record(
        self, scratch: _Scratch, part: Sequence[tuple[int, int]], is_near: bool
    ) -> None:
        """Launch the steps of the robots of one graph, which share scratch memory."""
        for first, size in part:
            self._record_robots(scratch, first, size, is_near)

    def _record_robots(self, scratch: _Scratch, first: int, size: int, is_near: bool) -> None:
        """Launch the step of some robots."""
        state = self._state.part(first, scratch.body_q[:size], scratch.joint_S_s[:size])
        if size == self._state.n_robots:
            state = self._state
        program = scratch.program
        if program.copied_x.size:
            program.copied_x = state.rows(self._x.array)
        else:
            program.x = state.rows(self._x.array)
        program.active_bound = state.rows(self._active_bound)
        program.binding = state.rows(self._binding)
        wp.copy(program.memory, program.empty)
        launch(
            evaluate_step_kernel(self._fused.formulas),
            dim=size,
            inputs=[
                self._tree, self._fused.records, self._fused.arrays, state.joint_q,
                self._regularization.array, first, scratch.block,
            ],
            outputs=[state.body_q, state.joint_S_s, program.H, program.c],
            device=state.device,
        )  # fmt: skip
        if self._rows is not None:
            self._record_rows(scratch)
        box = program.lower[:size], program.upper[:size]
        for limit in self._limits:
            if not limit.is_constant:
                with _stepping(limit, state):
                    limit.launch(*box)
        self._record_barriers(scratch, state, box, 0)
        if is_near:
            self._record_rest(scratch, state, box)
        self._record_solve(scratch, state, is_near)

    def _record_barriers(
        self, scratch: _Scratch, state: StepState, box: tuple[wp.array, wp.array], first_row: int
    ) -> None:
        """Launch the rows of the barriers at a state."""
        gains, size = self._barrier_arrays.gain, state.n_robots
        for index, barrier in enumerate(self._barriers):
            with _stepping(barrier, state):
                barrier.launch_rows(
                    StepBox(*box, gains, index),
                    scratch.values[:size],
                    scratch.program.J[:size],
                    first_row + int(self._barrier_start[index]),
                )

    def _record_rest(
        self, scratch: _Scratch, state: StepState, box: tuple[wp.array, wp.array]
    ) -> None:
        """Launch the rows of the barriers at the end of the stop after the last step."""
        size, stop, braking = state.n_robots, scratch.stop, self._braking
        assert braking is not None
        with _stepping(braking, state):
            motion = braking.last_motion()
        launch(
            place_rest_kernel(),
            dim=size,
            inputs=[
                self._kinematics.arrays, state.joint_q, *motion, state.moving_dof,
                self._moving_variable, self._moving_factor, *box, state.dt, stop,
            ],
            device=state.device,
        )  # fmt: skip
        rest = dataclasses.replace(
            state,
            joint_q=stop.joint_q[:size],
            body_q=scratch.rest_body_q[:size],
            joint_S_s=scratch.rest_joint_S_s[:size],
        )
        launch_place_nodes(self._tree, rest.joint_q, rest.body_q, rest.joint_S_s)
        box = stop.lower[:size], stop.upper[:size]
        self._record_barriers(scratch, rest, box, int(self._barrier_start[-1]))

    def _record_rows(self, scratch: _Scratch) -> None:
        """Launch the tasks that are given as rows, and add them to the program."""
        rows, program, n = self._rows, scratch.program, self._state.n_robots
        assert rows is not None
        rows.launch_objectives()
        kernels = step_rows_kernels()
        device = self._state.device
        launch(
            kernels.fold_rows, dim=n, inputs=[rows.arrays], outputs=[program.H], device=device
        )
        if rows.n_levels == 1:
            launch(
                kernels.add_rows,
                dim=n,
                inputs=[rows.arrays],
                outputs=[program.H, program.c],
                device=device,
            )
            return
        launch(
            add_levels_kernel(),
            dim=n,
            inputs=[
                rows.arrays, rows.level_start, self._regularization.array, *scratch.projection,
            ],
            outputs=[program.H, program.c],
            device=device,
        )  # fmt: skip

    def _record_solve(self, scratch: _Scratch, state: StepState, is_near: bool) -> None:
        """Launch the solution of the programs, with a launch of its own for listed failures."""
        rules, variables, failed = self._rules, self._state.group.n_variables, scratch.failed
        kernel = solve_step_kernel(failed is not None)
        of_rows, of_stop = [self._barrier_arrays, scratch.values], [int(is_near), scratch.stop]
        scratch.stop.near = state.rows(self._near.array)
        scratch.stop.recovering = state.rows(self._recovering.array)
        if self._binding.shape[1] == 0 and variables <= MAX_VARIABLES:
            kernel = solve_small_step_kernel(variables, failed is not None)
            of_rows, of_stop = [], []
        limits = [state.dt, self._max_iterations, rules.feasibility_tolerance]
        moving = [state.moving_dof, self._moving_variable, self._moving_factor]
        programs = [scratch.program, scratch.dual, state.relaxed]
        delta_q, status = state.rows(self._delta_q.array), state.rows(self._status.array)
        launch(
            kernel,
            dim=state.n_robots,
            inputs=[*of_rows, *limits, int(rules.warm_start), *moving, *of_stop, *programs],
            outputs=[scratch.marked, delta_q, status, state.rows(self._rounds.array)],
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


class _Scratch:
    """Scratch memory that the parts of a graph use one after the other."""

    def __init__(self, problem: StepProblem, n: int) -> None:
        state = problem._state
        device, variables = state.device, state.group.n_variables
        rows, model = problem._n_rows, state.model
        whole = n == state.n_robots

        def zeros(*shape: int, dtype: Any = wp.float64) -> wp.array:
            return batch_zeros((n, *shape), dtype, device)

        dofs, bodies = model.joint_dof_count, model.body_count
        self.body_q = state.body_q if whole else zeros(bodies, dtype=wp.transformd)
        self.joint_S_s = state.joint_S_s if whole else zeros(dofs, dtype=wp.spatial_vectord)
        self.block = zeros(problem._fused.longest, dtype=wp.spatial_vectord)
        self.values = zeros(rows)
        stops = n if problem._braking is not None else 0
        self.stop = make_step_stop(stops, variables, dofs, model.joint_coord_count, device)
        self.rest_body_q = batch_zeros((stops, bodies), wp.transformd, device)
        self.rest_joint_S_s = batch_zeros((stops, dofs), wp.spatial_vectord, device)
        self.program = make_step_program(n, variables, rows, problem._order, device)
        self.open = wp.clone(self.program.empty)
        self.dual = make_dual_program(n, variables, rows, device)
        self.failed = list_of_failed(n, device)
        unlisted = wp.empty(0, dtype=wp.int32, device=device)
        self.marked = unlisted if self.failed is None else self.failed.marked
        self.projection: list[wp.array] = []
        if problem._rows is not None and problem._rows.n_levels > 1:
            total = problem._rows.n_rows
            self.projection = [
                zeros(total, variables),
                zeros(total, variables), zeros(total, total), zeros(variables, variables),
                zeros(variables),
            ]  # fmt: skip


@contextlib.contextmanager
def _stepping(part: Limit | Barrier, state: StepState) -> Iterator[None]:
    """Set the state of a limit or barrier to that of a part of the robots during a launch."""
    whole, part._state = part._state, state
    try:
        yield
    finally:
        part._state = whole
