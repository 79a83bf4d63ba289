# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Levenberg-Marquardt for a batch, within joint limits.

A step minimises |r + J d|^2 + lambda |d|^2 within the limits. One with a gain ratio of at least
``rho_min`` is taken, and lambda changes in steps of ``lambda_factor``, see
:mod:`ros_ik.solvers.least_squares.damping`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.integrate import launch_integrate
from ros_ik.kinematics.runtime.arguments import checked_number
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.launch_lock import LAUNCH_LOCK
from ros_ik.objectives.interface.jacobian_type import IKJacobianType
from ros_ik.solvers.batch_ik.base.seed_kernels import seed_kernels
from ros_ik.solvers.batch_ik.optimizers.lm_kernels import accept_kernel
from ros_ik.solvers.batch_ik.optimizers.lm_kernels import bounded_step_kernel
from ros_ik.solvers.batch_ik.optimizers.lm_kernels import normal_equations_kernel
from ros_ik.solvers.batch_ik.optimizers.optimizer import BatchOptimizer
from ros_ik.solvers.least_squares.bounded_step import make_step_workspace
from ros_ik.solvers.least_squares.envelope import dense_elimination


class IKOptimizerLM(BatchOptimizer):
    """Levenberg-Marquardt optimizer, with the interface of ``newton.ik.IKOptimizerLM``.

    Attributes:
        lambda_values: Damping of each row, float32 [n_batch].
    """

    def __init__(
        self,
        model: Any,
        n_batch: int,
        objectives: Sequence[Any],
        lambda_initial: float = 0.1,
        jacobian_mode: IKJacobianType | str = IKJacobianType.AUTODIFF,
        lambda_factor: float = 2.0,
        lambda_min: float = 1e-5,
        lambda_max: float = 1e10,
        rho_min: float = 1e-3,
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
            model: A :class:`Model`, a finalized ``newton.Model``, or any object with those of its
                arrays that describe joints.
            n_batch: Number of rows solved together, at least 1.
            objectives: Objectives, ours or Newton's, which other solvers may share.
            lambda_initial: Damping at the start of every step.
            jacobian_mode: 'autodiff', 'analytic' or 'mixed' (analytic if available).
            lambda_factor: Factor on the damping, above 1.
            lambda_min: Least damping.
            lambda_max: Largest damping.
            rho_min: Least gain ratio of an accepted step.
            problem_idx: Problem of each row, int32 [n_batch]; None if row i is problem i.
            joint_dof_mask: Degrees of freedom that may move, bool [joint_dof_count]. The
                coordinates of the others do not change. Joints with a quaternion, and mimic pairs,
                are frozen as a whole.
            respect_limits: True to keep coordinates within their limits; seeds outside are
                moved to the nearest limit. False leaves limits to the objectives.
            cost_tolerance: Squared residual up to which a row has converged.
            gradient_tolerance: A row is stationary if |J_i^T r| is at most this fraction of
                |J_i| |r| for each free column of the Jacobian.
            use_graph: True to replay the launches as a graph. False repeats them one by one,
                for objectives whose methods do more than launch kernels.

        Raises:
            ArgumentError: An invalid argument; the error names it.
        """
        check_damping(lambda_initial, lambda_factor, lambda_min, lambda_max, rho_min)
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
            self._lambda_initial = float(np.clip(lambda_initial, lambda_min, lambda_max))
            self._rules = (
                float(rho_min),
                float(lambda_factor),
                float(lambda_min),
                float(lambda_max),
            )
            self._allocate()
            self._record()

    def _clear(self) -> None:
        self.lambda_values.fill_(self._lambda_initial)

    def _allocate(self) -> None:
        evaluation, device = self._evaluation, self._device
        rows, dofs = self.n_batch, self._tree.joint_dof_count
        self.lambda_values = wp.full(
            rows, value=self._lambda_initial, dtype=wp.float32, device=device
        )
        self._step_size = wp.ones(1, dtype=wp.float32, device=device)
        # Arbitrary objectives may couple any two degrees of freedom.
        self._work = make_step_workspace(rows, dofs, dense_elimination(dofs), device)
        self._joint_qd_step = wp.zeros((rows, dofs), dtype=wp.float32, device=device)
        self._joint_q_next = wp.zeros(evaluation.joint_q.shape, dtype=wp.float32, device=device)
        self._body_q_next = evaluation.initial_poses(rows)
        self._residuals_next = wp.zeros(
            evaluation.residuals.shape, dtype=wp.float32, device=device
        )
        self._costs_next, self._predicted = (
            wp.zeros(rows, dtype=wp.float32, device=device) for _ in range(2)
        )

    def _set_step_size(self, step_size: float) -> None:
        self._step_size.fill_(step_size)

    def _launch_start(self) -> None:
        self._clear()

    def _launch_iteration(self) -> None:
        evaluation, space = self._evaluation, self._space.arrays
        evaluation.launch_jacobian()
        launch(
            normal_equations_kernel(),
            dim=self._joint_qd_step.shape,
            inputs=[evaluation.jacobian, evaluation.residuals],
            outputs=[self._work],
            device=self._device,
        )
        self._rows(
            bounded_step_kernel(),
            [
                space, evaluation.joint_q, self.lambda_values, self._refused, self._step_size,
                self._work,
            ],
            [self._joint_qd_step, self._predicted],
        )  # fmt: skip
        launch_integrate(self._tree, evaluation.joint_q, self._joint_qd_step, self._joint_q_next)
        self._rows(seed_kernels().confine_rows, [space, evaluation.joint_q], [self._joint_q_next])
        evaluation.launch_residuals(
            self._joint_q_next, self._body_q_next, self._residuals_next, self._costs_next
        )
        self._rows(
            accept_kernel(),
            [
                self._joint_qd_step,
                self._joint_q_next, self._body_q_next, self._residuals_next, self._costs_next,
                self._predicted, self._refused, *self._rules,
            ],
            [
                evaluation.joint_q, evaluation.body_q, evaluation.residuals, self.costs,
                self.lambda_values,
            ],
        )  # fmt: skip


def check_damping(
    lambda_initial: float,
    lambda_factor: float,
    lambda_min: float,
    lambda_max: float,
    rho_min: float,
) -> None:
    """Raise ArgumentError for invalid damping parameters."""
    checked_number('lambda_initial', lambda_initial)
    checked_number('lambda_min', lambda_min, positive=True)
    if checked_number('lambda_max', lambda_max, positive=True) < lambda_min:
        raise ArgumentError(
            f'lambda_min must not be above lambda_max, got {lambda_min}, {lambda_max}'
        )
    checked_number('rho_min', rho_min)
    if not checked_number('lambda_factor', lambda_factor) > 1.0:
        raise ArgumentError(f'lambda_factor must be above 1, got {lambda_factor}')
