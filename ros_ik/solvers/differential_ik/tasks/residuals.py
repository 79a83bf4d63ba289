# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Residuals of tasks at a configuration, without a step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.forward import launch_forward_kinematics
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.stepping.step_state import StepState
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.objectives.recording.snapshot import Snapshots
from ros_ik.solvers.differential_ik.tasks.task import Task
from ros_ik.solvers.differential_ik.tasks.tasks import every_objective
from ros_ik.solvers.differential_ik.tasks.tasks import set_up_objectives
from ros_ik.solvers.graph import Graph


class StepResiduals:
    """Captured evaluation of the residuals of some tasks."""

    def __init__(
        self,
        state: StepState,
        tree: KinematicTree,
        joint_q: HostBuffer,
        tasks: Sequence[Task],
    ) -> None:
        """Allocate and capture.

        Args:
            state: Arrays of the step.
            tree: Kinematic tree of the model in the type of ``state``.
            joint_q: Buffer of ``state.joint_q``, filled by the caller before each evaluation.
            tasks: The tasks; at least one.

        Raises:
            ArgumentError: No task, or an objective that does not match the model.
        """
        if not tasks:
            raise ArgumentError('tasks must hold at least one task')
        self._state, self._tree, self._joint_q, self._tasks = state, tree, joint_q, tasks
        set_up_objectives(tasks, state)
        sizes = [task.objective.residual_dim() for task in tasks]
        self._start = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        shape = (state.n_robots, int(self._start[-1]))
        self._residuals = HostBuffer(shape, wp.float64, state.device)
        self._graph = Graph(self._record, state.device, every_objective(tasks))
        self._snapshots = Snapshots(every_objective(tasks))

    @property
    def is_current(self) -> bool:
        """True if the host data of the objectives are unchanged since recording."""
        return self._snapshots.are_current

    def evaluate(self) -> list[np.ndarray]:
        """Return the residuals of each task at the coordinates in the buffer, [n, dim]."""
        self._graph.launch()
        if not self._graph.is_replayed:
            self._snapshots.leave_out_own_changes()
        ends = zip(self._start[:-1], self._start[1:], strict=True)
        return [self._residuals.host[:, first:last].copy() for first, last in ends]

    def _record(self) -> None:
        state = self._state
        self._joint_q.upload()
        launch_forward_kinematics(self._tree, state.joint_q, state.body_q)
        for task, start in zip(self._tasks, self._start, strict=False):
            task.objective.compute_residuals(
                state.body_q, state.joint_q, state.model, self._residuals.array, int(start)
            )
        self._residuals.download()
