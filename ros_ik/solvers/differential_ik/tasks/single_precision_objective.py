# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Wrapper of float32 objectives, of Newton or of a user, for steps in float64."""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.objectives.base.builtin import BuiltinObjective
from ros_ik.objectives.interface.jacobian_type import IKJacobianType
from ros_ik.objectives.interface.objective import IKObjective
from ros_ik.solvers.least_squares.evaluation import Evaluation


@no_type_check
@functools.cache
def _conversion_kernels(scalar: type) -> SimpleNamespace:
    @compiled_kernel()
    def round_coordinates(
        joint_q: wp.array2d(dtype=scalar),  # [n, joint_coord_count]
        rounded: wp.array2d(dtype=wp.float32),  # [n, joint_coord_count]
    ):
        row, coord = wp.tid()
        rounded[row, coord] = wp.float32(joint_q[row, coord])

    @compiled_kernel()
    def widen_residuals(
        given: wp.array2d(dtype=wp.float32),  # [n, residual_dim]
        start_idx: int,
        residuals: wp.array2d(dtype=scalar),  # [n, total_residuals]
    ):
        row, k = wp.tid()
        residuals[row, start_idx + k] = scalar(given[row, k])

    @compiled_kernel()
    def widen_jacobian(
        given: wp.array3d(dtype=wp.float32),  # [n, residual_dim, joint_dof_count]
        start_idx: int,
        jacobian: wp.array3d(dtype=scalar),  # [n, total_residuals, joint_dof_count]
    ):
        row, k, dof = wp.tid()
        jacobian[row, start_idx + k, dof] = scalar(given[row, k, dof])

    return SimpleNamespace(
        coordinates=round_coordinates, residuals=widen_residuals, jacobian=widen_jacobian
    )


def in_step_precision(objective: Any) -> Any:
    """Return an objective itself if it has float64 kernels, and otherwise a wrapper.

    Args:
        objective: A built-in objective, a user's, or one of Newton's.

    Raises:
        ArgumentError: Anything else, or an objective without any Jacobian.
    """
    if isinstance(objective, BuiltinObjective | SinglePrecisionObjective):
        return objective
    if not hasattr(objective, 'compute_residuals'):
        raise ArgumentError(f'objective must be an IKObjective, got {objective!r}')
    return SinglePrecisionObjective(objective)


class SinglePrecisionObjective(IKObjective):
    """Wrapper that evaluates an objective in float32 and converts the results to float64.

    The objective gets separate link poses and motion subspaces, in float32. If it has no analytic
    Jacobian, it is differentiated by a tape. Residuals are accurate to about 1e-6 m.

    Attributes:
        objective: The objective.
    """

    def __init__(self, objective: Any) -> None:
        """Wrap an objective.

        Args:
            objective: Any object with the interface of :class:`IKObjective` or of
                ``newton.ik.IKObjective``.

        Raises:
            ArgumentError: It has no analytic Jacobian and cannot be differentiated.
        """
        super().__init__()
        self.objective = objective
        self._analytic = bool(objective.supports_analytic())
        if not self._analytic and not hasattr(objective, 'compute_jacobian_autodiff'):
            raise ArgumentError(
                f'{type(objective).__name__} has no analytic Jacobian and cannot be differentiated'
            )

    def residual_dim(self) -> int:
        """Return the number of residuals per problem."""
        return int(self.objective.residual_dim())

    def supports_analytic(self) -> bool:
        """Return True, because this class handles the tape, if there is one."""
        return True

    def init_buffers(self, model: Any, jacobian_mode: object = IKJacobianType.ANALYTIC) -> None:
        """Store the model; :meth:`set_batch_layout` allocates the buffers."""
        self._model = model

    def set_batch_layout(self, total_residuals: int, residual_offset: int, n_batch: int) -> None:
        """Set the objective up for batches of this size, after :meth:`init_buffers`."""
        super().set_batch_layout(total_residuals, residual_offset, n_batch)
        mode = IKJacobianType.ANALYTIC if self._analytic else IKJacobianType.AUTODIFF
        tree = kinematic_tree(self._model, wp.float32)
        rows = np.arange(n_batch)
        self._evaluation = Evaluation(self._model, tree, None, [self.objective], mode, rows)
        self._cost = wp.zeros(n_batch, dtype=wp.float32, device=self.device)

    def compute_residuals(
        self,
        body_q: wp.array,
        joint_q: wp.array,
        model: Any,
        residuals: wp.array,
        start_idx: int,
        problem_idx: wp.array | None = None,
    ) -> None:
        """Write the residuals; see :meth:`IKObjective.compute_residuals`."""
        at, kernels = self._evaluation, _conversion_kernels(residuals.dtype)
        launch(
            kernels.coordinates,
            dim=joint_q.shape,
            inputs=[joint_q],
            outputs=[at.joint_q],
            device=self.device,
        )
        at.launch_residuals(at.joint_q, at.body_q, at.residuals, self._cost)
        launch(
            kernels.residuals,
            dim=at.residuals.shape,
            inputs=[at.residuals, start_idx],
            outputs=[residuals],
            device=self.device,
        )

    def compute_jacobian_analytic(
        self,
        body_q: wp.array,
        joint_q: wp.array,
        model: Any,
        jacobian: wp.array,
        joint_S_s: wp.array,
        start_idx: int,
    ) -> None:
        """Write the Jacobian at the configuration of the last computed residuals."""
        at = self._evaluation
        at.launch_jacobian()
        launch(
            _conversion_kernels(jacobian.dtype).jacobian,
            dim=at.jacobian.shape,
            inputs=[at.jacobian, start_idx],
            outputs=[jacobian],
            device=self.device,
        )
