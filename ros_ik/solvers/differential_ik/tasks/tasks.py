# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Tasks of a step on the device, for the fused kernel or given as rows.

The kernel of ``cost`` evaluates objectives that have a formula from their records. Objectives
without a formula, and all tasks of a problem with several priorities, write residuals and
Jacobians by separate kernels. ``rows`` then adds them to the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.batch_layout import batch_zeros
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.stepping.step_state import StepState
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.objectives import IKObjective
from ros_ik.objectives import IKObjectiveJointLimit
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives.base.formula import formulas_of
from ros_ik.objectives.base.formula import JointFormula
from ros_ik.objectives.base.record import is_recorded
from ros_ik.objectives.base.record import Record
from ros_ik.objectives.base.record import record_struct
from ros_ik.objectives.base.record import record_structs
from ros_ik.objectives.formulas import STEP_FORMULAS
from ros_ik.objectives.interface.ownership import Layout
from ros_ik.objectives.interface.ownership import ownership_of
from ros_ik.objectives.recording.snapshot import note_written
from ros_ik.objectives.recording.snapshot import Snapshot
from ros_ik.solvers.differential_ik.tasks.arguments import checked_parts
from ros_ik.solvers.differential_ik.tasks.cost import step_tasks_struct
from ros_ik.solvers.differential_ik.tasks.cost import task_joint_struct
from ros_ik.solvers.differential_ik.tasks.rows import step_rows_struct
from ros_ik.solvers.differential_ik.tasks.task import Task


def has_levels(tasks: Sequence[Task]) -> bool:
    """Return True if tasks have different priorities."""
    return len({task.priority for task in tasks}) > 1


def set_up_objectives(tasks: Sequence[Task], state: StepState) -> None:
    """Set up objectives, except those that an earlier problem of the solver has set up.

    Raises:
        ArgumentError: Something other than a task; an objective without an analytic Jacobian, of
            another solver, for another model, or with a wrong number of targets. It names the
            task.
    """
    checked_parts(tasks, (), ())
    total = sum(task.objective.residual_dim() for task in tasks)
    start = 0
    for k, task in enumerate(tasks):
        try:
            _set_up_objective(task.objective, state, total, start)
        except ArgumentError as error:
            name = type(_unwrapped(task.objective)).__name__
            raise ArgumentError(f'tasks[{k}] ({name}): {error}') from error
        start += task.objective.residual_dim()


def is_fusible(task: Task) -> bool:
    """Return True if the kernel of ``cost`` can evaluate the objective."""
    return isinstance(task.objective, IKObjective) and is_recorded(task.objective)


@shares_launch_lock
def _set_up_objective(objective: IKObjective, state: StepState, total: int, start: int) -> None:
    """Set up an objective if necessary, or raise ArgumentError."""
    if not objective.supports_analytic():
        raise ArgumentError('it has no analytic Jacobian')
    targets = getattr(objective, 'n_problems', 1)
    if 1 < targets < state.n_robots:
        raise ArgumentError(f'it has {targets} targets for {state.n_robots} robots')
    _check_links(_unwrapped(objective), state.model.body_count)
    layout = Layout(state.model, state.device)
    owners = ownership_of(objective)
    must_set_up = objective.claim(state, layout)
    snapshots = [owners.snapshot, ownership_of(_unwrapped(objective)).snapshot]
    if not must_set_up and all(known is not None and known.is_current for known in snapshots):
        return
    before = dict(vars(objective))
    try:
        objective.bind_device(state.device)
        objective.init_buffers(state.model)
        objective.set_batch_layout(total, start, state.n_robots)
    except Exception:
        layout.is_current = False  # incomplete set-up, to be repeated by the next solve
        raise
    note_written(objective, before)
    owners.snapshot = Snapshot(objective)


def every_objective(tasks: Sequence[Task]) -> list[Any]:
    """Return the objectives of tasks, and those inside wrappers."""
    objectives = [task.objective for task in tasks]
    wrapped = [_unwrapped(objective) for objective in objectives]
    inner = [one for one, given in zip(wrapped, objectives, strict=True) if one is not given]
    return [*objectives, *inner]


def _unwrapped(objective: Any) -> Any:
    """Return the objective inside a :class:`SinglePrecisionObjective`, or the objective itself."""
    return getattr(objective, 'objective', objective)


def _check_links(objective: Any, body_count: int) -> None:
    """Raise ArgumentError for a link outside the model, because some kernels do not check."""
    for name in ('link_index', 'reference_link_index'):
        link = getattr(objective, name, -1)
        if isinstance(link, int | np.integer) and not -1 <= link < body_count:
            raise ArgumentError(
                f'{name} {link} is outside the model, whose {body_count} links are numbered from 0'
            )


class FusedTasks:
    """Tasks whose objectives the fused kernel evaluates.

    Attributes:
        tasks: The tasks, in the order of the records.
        formulas: Formulas of the kernel.
        records: Records on the device.
        arrays: Instance of ``step_tasks_struct``.
        links: Links whose poses are read; None for all.
        variables: Variables that each task couples, a list of arrays.
        longest: Largest number of columns of a block.
    """

    @shares_launch_lock
    def __init__(self, tasks: Sequence[Task], state: StepState) -> None:
        """Collect the records of tasks that are set up."""
        self.tasks = tuple(tasks)
        # Keeps alive the arrays that the device reads.
        self._sources: list[Record] = [task.objective.record() for task in tasks]
        found = (record.formula for record in self._sources)
        self.formulas = formulas_of(found, STEP_FORMULAS)
        structs = record_structs(self._sources, self.formulas, state.device)
        self.records = wp.array(structs, dtype=record_struct(), device=state.device)
        self.longest = max([1, *(record.chain_dof.shape[0] for record in self._sources)])
        self.links = _links(self._sources)
        self._set_chains(state)
        self._set_parameters(state)

    def load(self) -> None:
        """Copy gains, weights and other parameters of the tasks to the device."""
        self._weight.wait_for_uploads()
        for k, task in enumerate(self.tasks):
            self._is_on.host[k] = bool(np.any(task.weight > 0.0))
            self._gain.host[k], self._damping.host[k] = task.gain, task.damping
            self._max_error.host[k, : len(task.max_error)] = task.max_error
            start = self._weight_start[k]
            self._weight.host[start : start + len(task.weight)] = task.weight
        for buffer in (self._is_on, self._gain, self._damping, self._max_error, self._weight):
            buffer.upload()

    @shares_launch_lock
    def _set_chains(self, state: StepState) -> None:
        """List the degrees of freedom of each task that the group moves."""
        variable, scale = state.group.dof_variable, state.group.dof_scale
        slots: list[np.ndarray] = []
        dofs: list[np.ndarray] = []
        self.variables: list[np.ndarray] = []
        for record in self._sources:
            chain = record.chain_dof.numpy()
            moved = np.flatnonzero(variable[chain] >= 0)
            slots.append(moved)
            dofs.append(chain[moved])
            if not isinstance(record.formula, JointFormula):
                self.variables.append(variable[chain[moved]])
        self.arrays = step_tasks_struct()()
        start = np.concatenate([[0], np.cumsum([len(chain) for chain in dofs])]).astype(np.int32)
        chain = np.zeros(start[-1], dtype=task_joint_struct().numpy_dtype())
        chain['dof'] = every = np.concatenate([np.zeros(0, dtype=int), *dofs])
        chain['variable'] = variable[every]
        indices = np.concatenate([np.zeros(0), *slots])
        self.arrays.factor = wp.array(scale[every], dtype=wp.float64, device=state.device)
        self.arrays.slots = wp.array(indices, dtype=wp.int32, device=state.device)
        self.arrays.chain = wp.array(chain, dtype=task_joint_struct(), device=state.device)
        self.arrays.chain_start = wp.array(start, dtype=wp.int32, device=state.device)

    @shares_launch_lock
    def _set_parameters(self, state: StepState) -> None:
        count, device = len(self.tasks), state.device
        sizes = [task.objective.residual_dim() for task in self.tasks]
        self._weight_start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        self._is_on = HostBuffer((count,), wp.int32, device)
        self._gain = HostBuffer((count,), wp.float64, device)
        self._damping = HostBuffer((count,), wp.float64, device)
        self._max_error = HostBuffer((count, 2), wp.float64, device)
        self._max_error.host[:] = np.inf
        self._weight = HostBuffer((int(self._weight_start[-1]),), wp.float64, device)
        arrays = self.arrays
        arrays.weight_start = wp.array(self._weight_start[:-1], dtype=wp.int32, device=device)
        arrays.is_on, arrays.gain = self._is_on.array, self._gain.array
        arrays.damping, arrays.max_error = self._damping.array, self._max_error.array
        arrays.weight = self._weight.array


class RowLevels:
    """Rows of tasks by priority.

    Attributes:
        order: Rows sorted by priority, int32 [rows].
        start: First place in that order of each level and the end, int32 [tasks + 1]. Levels
            without rows come last.
    """

    @shares_launch_lock
    def __init__(self, task_start: np.ndarray, device: wp.DeviceLike) -> None:
        """Allocate the arrays.

        Args:
            task_start: First row of each task and the end [tasks + 1].
            device: Device of the arrays.
        """
        self._lengths = np.diff(task_start)
        self.order = HostBuffer((int(task_start[-1]),), wp.int32, device)
        self.start = HostBuffer((len(task_start),), wp.int32, device)

    def load(self, priorities: Sequence[int]) -> None:
        """Copy the order by the priorities of the tasks to the device."""
        of_row = np.repeat(priorities, self._lengths)
        self.order.write(np.argsort(of_row, kind='stable'))
        levels, counts = np.unique(of_row, return_counts=True)
        start = np.full(len(self.start.host), len(of_row))
        start[: len(levels)] = np.cumsum(counts) - counts
        self.start.write(start)


class RowTasks:
    """Tasks that are given as residuals and Jacobians.

    Attributes:
        tasks: The tasks.
        arrays: Instance of ``step_rows_struct``.
        n_rows: Number of residuals.
        levels: Rows by priority, None for tasks of one priority.
    """

    @shares_launch_lock
    def __init__(self, tasks: Sequence[Task], state: StepState, *, by_level: bool) -> None:
        """Assign rows to the tasks, which must be set up.

        Args:
            tasks: The tasks.
            state: State of the robots.
            by_level: True for tasks whose priorities differ.
        """
        self.tasks = tuple(tasks)
        self._state = state
        dims = [task.objective.residual_dim() for task in self.tasks]
        self._start = np.concatenate([[0], np.cumsum(dims)]).astype(int)
        self.n_rows = int(self._start[-1])
        self.levels = RowLevels(self._start, state.device) if by_level else None
        self._allocate()

    def load(self) -> None:
        """Copy gains, weights and other parameters of the tasks to the device."""
        self._weight.write(np.concatenate([task.weight for task in self.tasks]))
        self._max_error.write(np.concatenate([task.max_error for task in self.tasks]))
        self._gain.write([task.gain for task in self.tasks])
        self._damping.write([task.damping for task in self.tasks])
        if self.levels is not None:
            self.levels.load([task.priority for task in self.tasks])

    def launch_objectives(self) -> None:
        """Launch residuals and Jacobians of the objectives."""
        state, arrays = self._state, self.arrays
        for task, start in zip(self.tasks, self._start, strict=False):
            objective = task.objective
            objective.compute_residuals(
                state.body_q, state.joint_q, state.model, arrays.residual, int(start)
            )
            objective.compute_jacobian_analytic(
                state.body_q, state.joint_q, state.model, arrays.jacobian, state.joint_S_s,
                int(start),
            )  # fmt: skip

    def launch_residuals(self, joint_q: wp.array, body_q: wp.array, residual: wp.array) -> None:
        """Launch the residuals at other configurations.

        Args:
            joint_q: Joint coordinates, shape [n, joint_coord_count].
            body_q: Link poses, shape [n, body_count].
            residual: Output, shape [n, rows].
        """
        model = self._state.model
        for task, start in zip(self.tasks, self._start, strict=False):
            task.objective.compute_residuals(body_q, joint_q, model, residual, int(start))

    @shares_launch_lock
    def _allocate(self) -> None:
        state, rows = self._state, self.n_rows
        n, device, group = state.n_robots, state.device, state.group
        arrays = self.arrays = step_rows_struct()()

        def zeros(*shape: int) -> wp.array:
            return wp.zeros(shape, dtype=wp.float64, device=device)

        def indices(values: Any) -> wp.array:
            return wp.array(np.asarray(values, dtype=np.int32), dtype=wp.int32, device=device)

        blocks = [task.objective.residual_blocks() for task in self.tasks]
        sizes = [size for of_task in blocks for size in of_task]
        arrays.residual = zeros(n, rows)
        arrays.jacobian = zeros(n, rows, state.model.joint_dof_count)
        arrays.error = batch_zeros((n, rows), wp.float64, device)
        arrays.J = batch_zeros((n, rows, group.n_variables), wp.float64, device)
        arrays.counts = indices(np.concatenate([_counts(task, state) for task in self.tasks]))
        arrays.block_start = indices(np.concatenate([[0], np.cumsum(sizes)]))
        arrays.block_task = indices([k for k, of_task in enumerate(blocks) for _ in of_task])
        moving = state.moving_dof.numpy()
        arrays.dof, arrays.variable = state.moving_dof, indices(group.dof_variable[moving])
        arrays.factor = wp.array(group.dof_scale[moving], dtype=wp.float64, device=device)
        self._weight = HostBuffer((rows,), wp.float64, device)
        self._max_error = HostBuffer((len(sizes),), wp.float64, device)
        self._gain = HostBuffer((len(self.tasks),), wp.float64, device)
        self._damping = HostBuffer((len(self.tasks),), wp.float64, device)
        arrays.weight, arrays.max_error = self._weight.array, self._max_error.array
        arrays.gain, arrays.damping = self._gain.array, self._damping.array


def _counts(task: Task, state: StepState) -> np.ndarray:
    """Return flags of the residuals to include; those of locked joints are excluded."""
    if isinstance(task.objective, IKObjectiveJointPosition | IKObjectiveJointLimit):
        return state.group.dof_variable >= 0
    return np.ones(task.objective.residual_dim(), dtype=bool)


def _links(records: Sequence[Record]) -> set[int] | None:
    """Return the links whose poses records read, None for all."""
    found: set[int] = set()
    for record in records:
        if record.links is None:
            return None
        found |= record.links
    return found
