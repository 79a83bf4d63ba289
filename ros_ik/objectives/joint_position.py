# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objective: joints reach target positions (a posture).

    r_j = w_j (q_t - q)_j   for each degree of freedom with one coordinate, dr_j/dq_j = -w_j

Degrees of freedom of joints with quaternions (ball, free) have no coordinate of their own; their
residual is zero.
"""

from collections.abc import Sequence
import functools
from types import SimpleNamespace
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.kinematics.host_buffer import HostBuffer
from ros_ik.objectives.objective import IKObjective

if TYPE_CHECKING:
    from ros_ik.model import Model


@no_type_check
@functools.cache
def _joint_position_kernels(scalar: type) -> SimpleNamespace:
    """Build the residual and Jacobian kernels of one floating-point type."""

    @wp.kernel(enable_backward=False, module='unique')
    def joint_position_residuals(
        joint_q: wp.array2d(dtype=scalar),  # [n_batch, joint_coord_count]
        target_q: wp.array2d(dtype=scalar),  # [n_problems, joint_coord_count]
        weight: wp.array(dtype=scalar),  # [joint_dof_count]
        dof_coord: wp.array(dtype=wp.int32),  # [joint_dof_count], -1 where there is none
        problem_idx: wp.array(dtype=wp.int32),  # [n_batch]
        start_idx: int,
        residuals: wp.array2d(dtype=scalar),  # [n_batch, total_residuals]
    ):
        row = wp.tid()
        problem = problem_idx[row]
        for dof in range(dof_coord.shape[0]):
            coord = dof_coord[dof]
            value = scalar(0.0)
            if coord >= 0:
                value = weight[dof] * (target_q[problem, coord] - joint_q[row, coord])
            residuals[row, start_idx + dof] = value

    @wp.kernel(enable_backward=False, module='unique')
    def joint_position_jacobian(
        weight: wp.array(dtype=scalar),  # [joint_dof_count]
        dof_coord: wp.array(dtype=wp.int32),  # [joint_dof_count]
        start_idx: int,
        jacobian: wp.array3d(dtype=scalar),  # [n_batch, total_residuals, joint_dof_count]
    ):
        row = wp.tid()
        for dof in range(dof_coord.shape[0]):
            if dof_coord[dof] >= 0:
                jacobian[row, start_idx + dof, dof] = -weight[dof]

    return SimpleNamespace(residuals=joint_position_residuals, jacobian=joint_position_jacobian)


class IKObjectiveJointPosition(IKObjective):
    """Joints reach target positions; one residual per degree of freedom of the model."""

    def __init__(
        self,
        model: 'Model',
        target_positions: np.ndarray | Sequence[float],
        *,
        weight: float | Sequence[float] = 1.0,
    ) -> None:
        """Create the objective.

        Args:
            model: The model.
            target_positions: Targets, shape [joint_coord_count] or [n_problems,
                joint_coord_count], in rad and m.
            weight: Factor on each residual, one or shape [joint_dof_count].

        Raises:
            ArgumentError: A wrong shape or a negative weight.
        """
        super().__init__()
        targets = np.atleast_2d(np.array(target_positions, dtype=np.float64))
        if targets.ndim != 2 or targets.shape[1] != model.joint_coord_count:
            raise ArgumentError(
                f'target_positions must have shape [n, {model.joint_coord_count}], got '
                f'{targets.shape}'
            )
        weights = np.asarray(weight, dtype=np.float64)
        if weights.shape not in ((), (model.joint_dof_count,)) or not np.all(weights >= 0.0):
            raise ArgumentError(
                f'weight must be one or {model.joint_dof_count} non-negative numbers, got {weight}'
            )
        self.n_problems = len(targets)
        self._targets = targets
        self._weights = np.broadcast_to(weights, (model.joint_dof_count,)).copy()
        self._dof_coord = dof_coordinates(model)
        self._device: wp.DeviceLike = None
        self._buffers: dict[type, SimpleNamespace] = {}

    def residual_dim(self) -> int:
        """Return the number of degrees of freedom of the model."""
        return len(self._weights)

    def supports_analytic(self) -> bool:
        """Return True."""
        return True

    def bind_device(self, device: wp.DeviceLike) -> None:
        """Put the targets on ``device``."""
        self._device = wp.get_device(device)
        self._coords = wp.array(self._dof_coord, dtype=wp.int32, device=self._device)
        self._buffers.clear()

    def set_batch_layout(self, total_residuals: int, residual_offset: int, n_batch: int) -> None:
        """Register the rows; see :meth:`IKObjective.set_batch_layout`."""
        super().set_batch_layout(total_residuals, residual_offset, n_batch)
        rows = np.arange(n_batch) if self.n_problems > 1 else np.zeros(n_batch)
        self._row_problem = wp.array(rows.astype(np.int32), dtype=wp.int32, device=self._device)

    def set_target_positions(self, positions: np.ndarray | Sequence[float]) -> None:
        """Change the targets, shape [joint_coord_count] or [n_problems, joint_coord_count]."""
        self._targets[:] = positions
        for buffers in self._buffers.values():
            buffers.targets.host[:] = self._targets
            buffers.targets.upload()

    def target_positions(self) -> np.ndarray:
        """Return a copy of the targets, shape [n_problems, joint_coord_count]."""
        return self._targets.copy()

    def compute_residuals(
        self,
        body_q: wp.array,
        joint_q: wp.array,
        model: 'Model',
        residuals: wp.array,
        start_idx: int,
        problem_idx: wp.array | None = None,
    ) -> None:
        """Write the residuals; see :meth:`IKObjective.compute_residuals`."""
        buffers = self._buffers_for(residuals.dtype)
        rows = self._row_problem if problem_idx is None else problem_idx
        wp.launch(
            buffers.kernels.residuals,
            dim=joint_q.shape[0],
            inputs=[
                joint_q, buffers.targets.array, buffers.weights, self._coords, rows, start_idx,
            ],
            outputs=[residuals],
            device=self._device,
        )  # fmt: skip

    def compute_jacobian_analytic(
        self,
        body_q: wp.array,
        joint_q: wp.array,
        model: 'Model',
        jacobian: wp.array,
        joint_S_s: wp.array,
        start_idx: int,
    ) -> None:
        """Write the diagonal Jacobian; see :meth:`IKObjective.compute_jacobian_analytic`."""
        buffers = self._buffers_for(jacobian.dtype)
        wp.launch(
            buffers.kernels.jacobian,
            dim=jacobian.shape[0],
            inputs=[buffers.weights, self._coords, start_idx],
            outputs=[jacobian],
            device=self._device,
        )

    def _buffers_for(self, scalar: type) -> SimpleNamespace:
        """Return the device buffers in one floating-point type, made at first use."""
        if scalar not in self._buffers:
            targets = HostBuffer(self._targets.shape, scalar, self._device)
            targets.host[:] = self._targets
            targets.upload()
            self._buffers[scalar] = SimpleNamespace(
                kernels=_joint_position_kernels(scalar),
                targets=targets,
                weights=wp.array(self._weights, dtype=scalar, device=self._device),
            )
        return self._buffers[scalar]
