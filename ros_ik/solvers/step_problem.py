# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""One control step as a quadratic program: tasks -> H, c; limits -> box; barriers -> rows; solve.

Everything is allocated and captured as one graph at construction; a step writes parameters that
changed and the joint coordinates, and replays the graph.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import warp as wp

from ros_ik.barriers import Barrier
from ros_ik.errors import ArgumentError
from ros_ik.kinematics.forward import launch_forward_kinematics
from ros_ik.kinematics.host_buffer import HostBuffer
from ros_ik.kinematics.motion_subspace import launch_motion_subspace
from ros_ik.kinematics.step_state import StepState
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.limits import Limit
from ros_ik.solvers.dense_qp import DenseQP
from ros_ik.solvers.graph import Graph
from ros_ik.solvers.step_kernels import step_kernels
from ros_ik.solvers.task import Task


class StepProblem:
    """The program of one combination of tasks, limits and barriers.

    Attributes:
        qp: The program and its solution.
        delta_q: Solution over all degrees of freedom, shape [n, joint_dof_count].
        status: :class:`SolveStatus` codes, shape [n].
        residuals: Residuals of the tasks in order, shape [n, total_residuals].
        barrier_values: h of the barriers in order, shape [n, total_rows].
    """

    def __init__(
        self,
        state: StepState,
        tree: KinematicTree,
        joint_q: HostBuffer,
        tasks: Sequence[Task],
        limits: Sequence[Limit],
        barriers: Sequence[Barrier],
        *,
        max_iterations: int,
        tolerance: float,
    ) -> None:
        """Allocate every array and capture the graph.

        Args:
            state: Arrays that limits and barriers read.
            tree: Kinematic tree of the model in the type of ``state``.
            joint_q: Buffer of ``state.joint_q``, written by the caller before each solve.
            tasks: What to reach; at least one.
            limits: Hard limits.
            barriers: Barriers.
            max_iterations: Bound on the iterations of the program.
            tolerance: Feasibility tolerance of the program, in rad or m.

        Raises:
            ArgumentError: No task, an objective without an analytic Jacobian, or a task, limit or
                barrier that does not fit the model.
        """
        if not tasks:
            raise ArgumentError('tasks must hold at least one task')
        self._state, self._tree, self._joint_q = state, tree, joint_q
        self._tasks, self._barriers = tuple(tasks), tuple(barriers)
        self._limits = tuple(sorted(limits, key=lambda limit: limit.yields))
        self._kernels = step_kernels(state.scalar)
        self._versions: list[int] = []
        self._allocate_tasks()
        self._allocate_barriers()
        for limit in self._limits:
            limit.bind(state)
        for barrier in self._barriers:
            barrier.bind(state)
        n_rows = int(self.barrier_start[-1])
        self.qp = DenseQP(
            state.n_robots,
            state.group.n_variables,
            n_rows,
            max_iterations=max_iterations,
            tolerance=tolerance,
            scalar=state.scalar,
            device=state.device,
        )
        n, dofs = state.n_robots, state.model.joint_dof_count
        self._delta_q = HostBuffer((n, dofs), state.scalar, state.device)
        self._status = HostBuffer((n,), wp.int32, state.device)
        self._row_jacobian = wp.zeros(
            (n, state.group.n_variables), dtype=state.scalar, device=state.device
        )
        self.delta_q, self.status = self._delta_q.host, self._status.host
        self._regularization = HostBuffer((1,), state.scalar, state.device)
        self.load_parameters(1e-12)
        self._graph = Graph(self._record, state.device)

    def load_parameters(self, regularization: float) -> None:
        """Bring parameters that changed since the last solve to the device.

        Args:
            regularization: Weight of |dq|^2 added to the cost.
        """
        if self._regularization.host[0] != regularization:
            self._regularization.host[0] = regularization
            self._regularization.upload()
        versions = [task.version for task in self._tasks]
        if versions == self._versions:
            return
        self._versions = versions
        self._weight.host[:] = np.concatenate([task.weight for task in self._tasks])
        self._max_error.host[:] = np.concatenate([task.max_error for task in self._tasks])
        self._gain.host[:] = [task.gain for task in self._tasks]
        self._damping.host[:] = [task.damping for task in self._tasks]
        for buffer in (self._weight, self._max_error, self._gain, self._damping):
            buffer.upload()

    def solve(self) -> None:
        """Solve at the coordinates in the buffer; results are in ``delta_q`` and ``status``."""
        self._graph.launch()

    def task_slices(self) -> list[slice]:
        """Return where the residuals of each task lie."""
        return [
            slice(a, b) for a, b in zip(self.task_start[:-1], self.task_start[1:], strict=True)
        ]

    def _allocate_tasks(self) -> None:
        """Lay out the rows of the tasks and set up their objectives."""
        state = self._state
        blocks = [task.objective.residual_blocks() for task in self._tasks]
        dims = [task.objective.residual_dim() for task in self._tasks]
        self.task_start = np.concatenate(([0], np.cumsum(dims))).astype(int)
        total = int(self.task_start[-1])
        for task, start in zip(self._tasks, self.task_start, strict=False):
            objective = task.objective
            if not objective.supports_analytic():
                raise ArgumentError(f'{type(objective).__name__} has no analytic Jacobian')
            # An objective may serve several combinations; the first one has set it up.
            if objective.claim(state):
                objective.bind_device(state.device)
                objective.init_buffers(state.model)
                objective.set_batch_layout(total, int(start), state.n_robots)
        sizes = [size for task_blocks in blocks for size in task_blocks]
        tasks = [k for k, task_blocks in enumerate(blocks) for _ in task_blocks]
        start = np.concatenate(([0], np.cumsum(sizes)))

        def floats(*shape: int) -> HostBuffer:
            return HostBuffer(shape, state.scalar, state.device)

        n, dofs = state.n_robots, state.model.joint_dof_count
        self.residuals = wp.zeros((n, total), dtype=state.scalar, device=state.device)
        self._jacobian = wp.zeros((n, total, dofs), dtype=state.scalar, device=state.device)
        self._block_start = wp.array(start, dtype=wp.int32, device=state.device)
        self._block_task = wp.array(tasks, dtype=wp.int32, device=state.device)
        self._weight, self._max_error = floats(total), floats(len(sizes))
        self._gain, self._damping = floats(len(dims)), floats(len(dims))

    def _allocate_barriers(self) -> None:
        """Lay out the rows of the barriers."""
        state = self._state
        counts = [barrier.row_count for barrier in self._barriers]
        self.barrier_start = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
        total = int(self.barrier_start[-1])

        def parameter(values: list[float]) -> wp.array:
            return wp.array(values, dtype=state.scalar, device=state.device)

        self._barrier_start = wp.array(self.barrier_start, dtype=wp.int32, device=state.device)
        self._barrier_gain = parameter([barrier.gain for barrier in self._barriers])
        self._barrier_margin = parameter([barrier.margin for barrier in self._barriers])
        self._barrier_calm = parameter([b.safe_displacement_gain for b in self._barriers])
        shape = (state.n_robots, total)
        self.barrier_values = wp.zeros(shape, dtype=state.scalar, device=state.device)
        self._barrier_jacobian = wp.zeros(
            (*shape, state.group.n_variables), dtype=state.scalar, device=state.device
        )

    def _record(self) -> None:
        """Launch everything one step needs."""
        state = self._state
        self._joint_q.upload()
        launch_forward_kinematics(self._tree, state.joint_q, state.body_q)
        launch_motion_subspace(self._tree, state.joint_q, state.body_q, state.joint_S_s)
        self._record_cost()
        self._record_box()
        if self._barriers:
            self._record_barriers()
        self.qp.launch()
        wp.launch(
            self._kernels.expand_step,
            dim=state.n_robots,
            inputs=[self.qp.x, state.dof_variable, state.dof_scale],
            outputs=[self._delta_q.array],
            device=state.device,
        )
        wp.copy(self._status.array, self.qp.status)
        self._delta_q.download()
        self._status.download()

    def _record_cost(self) -> None:
        """Launch the objectives and sum their cost."""
        state = self._state
        for task, start in zip(self._tasks, self.task_start, strict=False):
            objective = task.objective
            objective.compute_residuals(
                state.body_q, state.joint_q, state.model, self.residuals, int(start)
            )
            objective.compute_jacobian_analytic(
                state.body_q,
                state.joint_q,
                state.model,
                self._jacobian,
                state.joint_S_s,
                int(start),
            )
        wp.launch(
            self._kernels.assemble_cost,
            dim=state.n_robots,
            inputs=[
                self.residuals, self._jacobian, self._weight.array, self._block_start,
                self._block_task, self._max_error.array, self._gain.array, self._damping.array,
                self._regularization.array, state.dof_variable, state.dof_scale,
            ],
            outputs=[self._row_jacobian, self.qp.H, self.qp.c],
            device=state.device,
        )  # fmt: skip

    def _record_box(self) -> None:
        """Launch the limits."""
        box = [self.qp.lower, self.qp.upper]
        wp.launch(
            self._kernels.reset_box,
            dim=self._state.n_robots,
            inputs=[],
            outputs=box,
            device=self._state.device,
        )
        for limit in self._limits:
            limit.launch(*box)

    def _record_barriers(self) -> None:
        """Launch the barriers and turn them into rows."""
        state = self._state
        for barrier, start in zip(self._barriers, self.barrier_start, strict=False):
            barrier.launch_values(state.body_q, self.barrier_values, int(start))
            barrier.launch_jacobian(self._barrier_jacobian, int(start))
        wp.launch(
            self._kernels.assemble_barriers,
            dim=state.n_robots,
            inputs=[
                self.barrier_values, self._barrier_jacobian, self._barrier_start,
                self._barrier_gain, self._barrier_margin, self._barrier_calm, state.dt,
            ],
            outputs=[self.qp.H, self.qp.A, self.qp.b],
            device=state.device,
        )  # fmt: skip
