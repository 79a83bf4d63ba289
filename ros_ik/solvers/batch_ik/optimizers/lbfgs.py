# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Limited-memory BFGS for a batch, within joint limits.

Each iteration evaluates all step lengths of a row together, and takes the one of least cost among
those with sufficient decrease. If there is none, the row tries shorter steps in the next
iteration. The initial inverse Hessian is the inverse diagonal of J^T J, scaled by the newest pair.
Without this scale, the first step of steepest descent is several times too long for some robots,
and too short for others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.integrate import launch_integrate
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_model
from ros_ik.kinematics.runtime.arguments import checked_number
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.launch_lock import LAUNCH_LOCK
from ros_ik.model.conventions.checks import checked_items
from ros_ik.objectives.base.arguments import checked_objectives
from ros_ik.objectives.interface.jacobian_type import IKJacobianType
from ros_ik.solvers.batch_ik.base.arguments import check_batch
from ros_ik.solvers.batch_ik.base.seed_kernels import seed_kernels
from ros_ik.solvers.batch_ik.optimizers.lbfgs_kernels import direction_kernel
from ros_ik.solvers.batch_ik.optimizers.lbfgs_kernels import gradient_kernel
from ros_ik.solvers.batch_ik.optimizers.lbfgs_line_search import line_search_kernels
from ros_ik.solvers.batch_ik.optimizers.optimizer import BatchOptimizer

_LINE_SEARCH_ALPHAS = (0.1, 0.2, 0.5, 0.8, 1.0, 1.5, 2.0, 3.0)


class IKOptimizerLBFGS(BatchOptimizer):
    """L-BFGS optimizer, with the interface of ``newton.ik.IKOptimizerLBFGS``."""

    def __init__(
        self,
        model: Any,
        n_batch: int,
        objectives: Sequence[Any],
        jacobian_mode: IKJacobianType | str = IKJacobianType.AUTODIFF,
        history_len: int = 10,
        h0_scale: float = 1.0,
        line_search_alphas: Sequence[float] | None = None,
        wolfe_c1: float = 1e-4,
        wolfe_c2: float = 0.9,
        *,
        problem_idx: wp.array | np.ndarray | None = None,
        joint_dof_mask: wp.array | np.ndarray | None = None,
        respect_limits: bool = True,
        cost_tolerance: float = 1e-6,
        gradient_tolerance: float = 3e-3,
        use_graph: bool = True,
    ) -> None:
        """Create the optimizer and record its launches.

        Args:
            model: See :class:`IKOptimizerLM`, also for other arguments of the same name.
            n_batch: Number of rows solved together, at least 1.
            objectives: Objectives, ours or Newton's.
            jacobian_mode: 'autodiff', 'analytic' or 'mixed'.
            history_len: Number of stored pairs (s, y), at least 1.
            h0_scale: Factor on the initial inverse Hessian.
            line_search_alphas: Step lengths tried together; None for 0.1 to 3.
            wolfe_c1: Constant c1 of sufficient decrease.
            wolfe_c2: Constant c2 of the curvature condition, which a stored pair must satisfy.
            problem_idx: Problem of each row, int32 [n_batch].
            joint_dof_mask: Degrees of freedom that may move, bool [joint_dof_count].
            respect_limits: True to keep coordinates within their limits.
            cost_tolerance: Squared residual up to which a row has converged.
            gradient_tolerance: Relative gradient up to which a row is stationary.
            use_graph: True to replay the launches as a graph.

        Raises:
            ArgumentError: An invalid argument; the error names it.
        """
        alphas = _LINE_SEARCH_ALPHAS
        if line_search_alphas is not None:
            alphas = checked_items('line_search_alphas', line_search_alphas, 'step lengths')
        history_len = checked_count('history_len', history_len, 1)
        n_batch = checked_count('n_batch', n_batch, 1)
        _check(h0_scale, alphas, wolfe_c1, wolfe_c2)
        check_batch(
            'n_batch', n_batch, checked_model(model),
            checked_objectives(objectives), candidates=len(alphas), history_len=history_len,
        )  # fmt: skip
        with LAUNCH_LOCK.alone():
            super().__init__(
                model,
                n_batch,
                objectives,
                jacobian_mode,
                problem_idx=problem_idx,
                joint_dof_mask=joint_dof_mask,
                respect_limits=respect_limits,
                cost_tolerance=cost_tolerance,
                gradient_tolerance=gradient_tolerance,
                use_graph=use_graph,
            )
            self._h0_scale, self._wolfe = float(h0_scale), (float(wolfe_c1), float(wolfe_c2))
            self._allocate(history_len, alphas)
            self._record()

    def step(
        self,
        joint_q_in: wp.array | np.ndarray,
        joint_q_out: wp.array | np.ndarray,
        iterations: int = 50,
        step_size: float = 1.0,
    ) -> None:
        """Minimise from each row; see :meth:`IKOptimizerLM.step`, with a default of 50."""
        super().step(joint_q_in, joint_q_out, iterations, step_size)

    def _clear(self) -> None:
        self._pairs.zero_()
        self._reach.fill_(1.0)

    def _allocate(self, history_len: int, alphas: tuple[float, ...]) -> None:
        evaluation, device = self._evaluation, self._device
        rows, dofs = self.n_batch, self._tree.joint_dof_count
        candidates = rows * len(alphas)
        self._alphas = wp.array(alphas, dtype=wp.float32, device=device)
        self._reach = wp.ones(rows, dtype=wp.float32, device=device)
        self._pairs, self._chosen = (
            wp.zeros(rows, dtype=wp.int32, device=device) for _ in range(2)
        )
        self._s, self._y = (
            wp.zeros((rows, history_len, dofs), dtype=wp.float64, device=device) for _ in range(2)
        )
        self._weight = wp.zeros((rows, history_len), dtype=wp.float64, device=device)
        self._gradient, self._gradient_next, self._curvature, self._direction = (
            wp.zeros((rows, dofs), dtype=wp.float64, device=device) for _ in range(4)
        )
        coords = self._tree.joint_coord_count
        self._seed_q, self._candidate_q = (
            wp.zeros((candidates, coords), dtype=wp.float32, device=device) for _ in range(2)
        )
        self._candidate_step = wp.zeros((candidates, dofs), dtype=wp.float32, device=device)
        self._candidate_body_q = evaluation.initial_poses(candidates)
        self._candidate_residuals = wp.zeros(
            (candidates, evaluation.total_residuals), dtype=wp.float32, device=device
        )
        self._candidate_costs = wp.zeros(candidates, dtype=wp.float32, device=device)
        self._candidate_maps = evaluation.candidate_maps(len(alphas))

    def _set_step_size(self, step_size: float) -> None:
        """Do nothing, because the line search determines the step length, as in Newton."""

    def _launch_start(self) -> None:
        self._clear()
        self._launch_gradient(self._gradient)

    def _launch_gradient(self, gradient: wp.array) -> None:
        evaluation = self._evaluation
        evaluation.launch_jacobian()
        launch(
            gradient_kernel(),
            dim=gradient.shape,
            inputs=[evaluation.jacobian, evaluation.residuals],
            outputs=[gradient, self._curvature],
            device=self._device,
        )

    def _launch_iteration(self) -> None:
        evaluation, space = self._evaluation, self._space.arrays
        self._rows(
            direction_kernel(),
            [
                space, evaluation.joint_q, self._gradient, self._curvature, self._s, self._y,
                self._pairs, self._h0_scale,
            ],
            [self._weight, self._direction],
        )  # fmt: skip
        self._launch_candidates()
        self._rows(
            line_search_kernels().choose,
            [
                self._candidate_q, self._candidate_step, self._candidate_costs, self._gradient,
                self.costs, self._refused, len(self._alphas), self._wolfe[0],
            ],
            [evaluation.joint_q, self._reach, self._pairs, self._chosen],
        )  # fmt: skip
        self._launch_evaluation()
        self._launch_gradient(self._gradient_next)
        self._rows(
            line_search_kernels().remember,
            [
                self._candidate_step, self._chosen, self._gradient, self._gradient_next,
                self._wolfe[1],
            ],
            [self._s, self._y, self._pairs],
        )  # fmt: skip
        wp.copy(self._gradient, self._gradient_next)

    def _launch_candidates(self) -> None:
        evaluation, space = self._evaluation, self._space.arrays
        launch(
            line_search_kernels().spread,
            dim=(self.n_batch, len(self._alphas)),
            inputs=[
                space, evaluation.joint_q, self._direction, self._alphas, self._reach,
                self._refused,
            ],
            outputs=[self._seed_q, self._candidate_step],
            device=self._device,
        )  # fmt: skip
        launch_integrate(self._tree, self._seed_q, self._candidate_step, self._candidate_q)
        launch(
            seed_kernels().confine_rows,
            dim=self._candidate_q.shape[0],
            inputs=[space, self._seed_q],
            outputs=[self._candidate_q],
            device=self._device,
        )
        evaluation.launch_residuals(
            self._candidate_q,
            self._candidate_body_q,
            self._candidate_residuals,
            self._candidate_costs,
            self._candidate_maps,
        )


def _check(h0_scale: float, alphas: tuple[float, ...], c1: float, c2: float) -> None:
    checked_number('h0_scale', h0_scale, positive=True)
    if not alphas:
        raise ArgumentError('line_search_alphas must hold at least one step length, got none')
    for alpha in alphas:
        checked_number('line_search_alphas', alpha, positive=True)
    if not 0.0 < checked_number('wolfe_c1', c1) < checked_number('wolfe_c2', c2) < 1.0:
        raise ArgumentError(f'wolfe_c1 must be between 0 and wolfe_c2 < 1, got {c1} and {c2}')
