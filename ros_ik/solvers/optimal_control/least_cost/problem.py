# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Iteration of the search as captured graphs, for commands of one structure.

Commands with the same links and kinds of costs share a problem. Their targets and weights are
written into its arrays, without new allocations or captures.
"""

from __future__ import annotations

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.solvers.graph import Graph
from ros_ik.solvers.optimal_control.commands.targets import OptimalControlCommand
from ros_ik.solvers.optimal_control.least_cost.arrays import SearchArrays
from ros_ik.solvers.optimal_control.least_cost.costs import CommandCosts
from ros_ik.solvers.optimal_control.least_cost.costs import Costs
from ros_ik.solvers.optimal_control.least_cost.kernels import COST
from ros_ik.solvers.optimal_control.least_cost.kernels import PARAMETER_COUNT
from ros_ik.solvers.optimal_control.least_cost.kernels import REPORT_SIZE
from ros_ik.solvers.optimal_control.least_cost.kernels import search_kernels
from ros_ik.solvers.optimal_control.least_cost.kernels import TRIAL_COST
from ros_ik.solvers.qp.dense_qp import DenseQP
from ros_ik.solvers.status import SolveStatus

_SCALAR = wp.float64


class OptimalControlProblem:
    """Costs of one structure, and arrays and graphs of an iteration.

    Attributes:
        u: Displacement of the variables, set by the caller, [n_variables].
        parameters: Damping and radius of the next iteration, [PARAMETER_COUNT].
        low: Least displacements, [n_variables].
        high: Largest displacements, [n_variables].
        floor: Lower bounds on h after the step, [total_rows].
        residuals: Residuals at ``u``, [total_residuals].
        J: Their Jacobian, [total_residuals, n_variables].
        curvature: Part S of the Hessian beyond J'J, symmetric, [n_variables, n_variables].
        report: Report of the iteration; see
            :mod:`~ros_ik.solvers.optimal_control.least_cost.kernels`.
        trial: Displacement after the step, [n_variables].
        values: h at u, at the middle and at the end of the step, [3, total_rows].
    """

    def __init__(self, arrays: SearchArrays, command: OptimalControlCommand) -> None:
        """Create the objectives of the command's structure and capture the graph.

        Raises:
            ArgumentError: An unknown link or joint, or a robot without mass.
        """
        self._arrays, self._kernels = arrays, search_kernels(_SCALAR)
        state = arrays.state
        self._costs = CommandCosts(state.model, command)
        self._objectives, self._start = self._costs.objectives, self._costs.start
        total, n, rows = int(self._start[-1]), state.group.n_variables, arrays.n_rows
        for objective, start in zip(self._objectives, self._start, strict=False):
            objective.bind_device(state.device)
            objective.init_buffers(state.model)
            objective.set_batch_layout(total, int(start), 1)
        self._allocate(total, n, rows)
        self._costs.load(command)
        self._linearisation = Graph(self._record_linearisation, state.device, arrays.barriers)
        self._stepping = Graph(self._record_step, state.device, arrays.barriers)
        self._evaluation = Graph(self._record_evaluation, state.device, arrays.barriers)
        self._version = arrays.version

    @property
    def is_current(self) -> bool:
        """True if the barriers are unchanged since the graphs were recorded."""
        return self._version == self._arrays.version

    def load(self, command: OptimalControlCommand) -> None:
        """Write the targets and weights of a command of this structure."""
        self._costs.load(command)

    def linearise(self) -> None:
        """Compute cost, residuals, their Jacobian and the barriers at ``u``."""
        self._linearisation.launch()

    def step(self) -> SolveStatus:
        """Compute the step of the linearised problem and its outcome; return the status."""
        self._stepping.launch()
        return SolveStatus(self._status.host[0])

    def cost(self) -> float:
        """Return the cost at ``u`` of the last linearisation."""
        return float(self.report[COST]) + self._costs.constant

    def trial_cost(self) -> float:
        """Return the cost after the last step."""
        return float(self.report[TRIAL_COST]) + self._costs.constant

    def costs(self, command: OptimalControlCommand, u: np.ndarray) -> Costs:
        """Return the parts of the cost at a displacement [n_variables]."""
        residuals = self.residuals_at(u)
        return self._costs.parts(command, residuals, self._joint_q.host[0])

    def residuals_at(self, u: np.ndarray) -> np.ndarray:
        """Return a copy of the residuals at a displacement [n_variables], [total_residuals]."""
        self.u[:] = u
        self._evaluation.launch()
        return self._residuals.host[0].copy()

    @shares_launch_lock
    def _allocate(self, total: int, n: int, rows: int) -> None:
        """Allocate the arrays of the graphs."""
        arrays, device = self._arrays, self._arrays.state.device

        def buffer(*shape: int) -> HostBuffer:
            return HostBuffer(shape, _SCALAR, device)

        def zeros(*shape: int) -> wp.array:
            return wp.zeros(shape, dtype=_SCALAR, device=device)

        self._inputs = [buffer(PARAMETER_COUNT), buffer(n), buffer(n), buffer(rows)]
        self.parameters, self.low, self.high, self.floor = (b.host for b in self._inputs)
        self.u = arrays.u.host[0]
        self._report, self._trial, self._values = (
            buffer(REPORT_SIZE),
            buffer(1, n),
            buffer(3, rows),
        )
        self.report, self.trial, self.values = (
            self._report.host, self._trial.host[0], self._values.host
        )  # fmt: skip
        self._status = HostBuffer((1,), wp.int32, device)
        self._residuals = buffer(1, total)
        self._J, self._curvature = buffer(total, n), buffer(n, n)
        self.residuals, self.J = self._residuals.host[0], self._J.host
        self.curvature = self._curvature.host
        self._joint_q = buffer(1, arrays.state.model.joint_coord_count)
        self._trial_residuals = zeros(1, total)
        self._jacobian = zeros(1, total, arrays.state.model.joint_dof_count)
        self._added, self._diagonal, self._middle = zeros(1), zeros(n), zeros(1, n)
        self._slopes = zeros(1, rows, n)
        self._moved_q = wp.zeros_like(arrays.state.joint_q)
        self._moved_body_q = arrays.body_poses(arrays.state.model)
        self._qp = DenseQP(1, n, rows, scalar=_SCALAR, device=device)

    def _launch(self, name: str, inputs: list, outputs: list, dim: int = 1) -> None:
        launch(
            getattr(self._kernels, name),
            dim=dim,
            inputs=inputs,
            outputs=outputs,
            device=self._arrays.state.device,
        )

    def _record_residuals(self, joint_q: wp.array, body_q: wp.array, residuals: wp.array) -> None:
        model = self._arrays.state.model
        for objective, start in zip(self._objectives, self._start, strict=False):
            objective.compute_residuals(body_q, joint_q, model, residuals, int(start))

    def _record_evaluation(self) -> None:
        arrays, state = self._arrays, self._arrays.state
        arrays.start_q.upload()
        arrays.u.upload()
        arrays.launch_place(arrays.u.array, state.joint_q, state.body_q)
        self._record_residuals(state.joint_q, state.body_q, self._residuals.array)
        wp.copy(self._joint_q.array, state.joint_q)
        self._residuals.download()
        self._joint_q.download()

    def _record_linearisation(self) -> None:
        """Record residuals, Jacobian, and barriers with their slopes."""
        arrays, state = self._arrays, self._arrays.state
        self._record_evaluation()
        arrays.launch_motion_subspace()
        for objective, start in zip(self._objectives, self._start, strict=False):
            objective.compute_jacobian_analytic(
                state.body_q, state.joint_q, state.model, self._jacobian, state.joint_S_s,
                int(start),
            )  # fmt: skip
        self._launch(
            'fold_jacobian',
            [self._jacobian, state.dof_variable, state.dof_scale],
            [self._J.array],
            dim=self._jacobian.shape[1],
        )
        self._launch('sum_squares', [self._residuals.array, COST], [self._report.array])
        if arrays.n_rows:
            arrays.launch_values(state.body_q, self._values.array[0:1])
            arrays.launch_slopes(self._slopes)
        for buffer in (self._J, self._report, self._values):
            buffer.download()

    def _record_step(self) -> None:
        """Record a step: the quadratic program of a damping, its solution and its costs."""
        arrays, qp = self._arrays, self._qp
        for buffer in (*self._inputs, self._curvature):
            buffer.upload()
        parameters, low, high, floor = (buffer.array for buffer in self._inputs)
        n, box = self.u.size, [qp.lower, qp.upper]
        self._launch(
            'assemble_model',
            [self._residuals.array, self._J.array],
            [qp.H, qp.c, self._diagonal],
            dim=n,
        )
        self._launch(
            'add_damping',
            [self._diagonal, self._curvature.array, parameters],
            [qp.H, self._added],
            dim=n,
        )
        self._launch('assemble_box', [arrays.u.array, low, high, parameters], box, dim=n)
        if arrays.n_rows:
            values = self._values.array[0:1]
            self._launch(
                'assemble_rows', [values, self._slopes, floor], [qp.A, qp.b], dim=arrays.n_rows
            )
        qp.launch()
        self._launch(
            'take_step',
            [arrays.u.array, qp.x, qp.bound_multiplier, qp.row_multiplier, qp.H, qp.c, self._added,
             parameters],
            [self._trial.array, self._middle, self._report.array],
        )  # fmt: skip
        self._record_trial()
        wp.copy(self._status.array, qp.status)
        for buffer in (self._status, self._report, self._trial, self._values):
            buffer.download()

    def _record_trial(self) -> None:
        """Launch the evaluation of barriers at middle and end of the step, and of its cost."""
        arrays, moved = self._arrays, (self._moved_q, self._moved_body_q)
        if arrays.n_rows:
            arrays.launch_place(self._middle, *moved)
            arrays.launch_values(self._moved_body_q, self._values.array[1:2])
        arrays.launch_place(self._trial.array, *moved)
        self._record_residuals(*moved, self._trial_residuals)
        self._launch('sum_squares', [self._trial_residuals, TRIAL_COST], [self._report.array])
        if arrays.n_rows:
            arrays.launch_values(self._moved_body_q, self._values.array[2:3])
