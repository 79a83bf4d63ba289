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
from typing import Any
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.objectives.base.arguments import checked_weight
from ros_ik.objectives.base.builtin import BuiltinObjective
from ros_ik.objectives.base.functions import objective_functions
from ros_ik.objectives.base.record import make_record
from ros_ik.objectives.base.record import RecordKind

if TYPE_CHECKING:
    from ros_ik.model import Model


@no_type_check
@functools.cache
def _joint_position_kernels(scalar: type, stored: type, differentiable: bool) -> SimpleNamespace:
    problem_row = objective_functions(scalar).problem_row

    @compiled_kernel(differentiable=differentiable)
    def joint_position_residuals(
        joint_q: wp.array2d(dtype=scalar),  # [n_batch, joint_coord_count]
        target_q: wp.array2d(dtype=stored),  # [n_problems, joint_coord_count]
        weight: wp.array2d(dtype=wp.float64),  # [1, joint_dof_count]
        dof_coord: wp.array(dtype=wp.int32),  # [joint_dof_count], -1 where there is none
        problem_idx: wp.array(dtype=wp.int32),  # [n_batch]
        start_idx: int,
        residuals: wp.array2d(dtype=scalar),  # [n_batch, total_residuals]
    ):
        row, dof = wp.tid()
        problem = problem_row(row, problem_idx, target_q.shape[0])
        coord = dof_coord[dof]
        value = scalar(0.0)
        if coord >= 0:
            error = scalar(target_q[problem, coord]) - joint_q[row, coord]
            value = scalar(weight[0, dof]) * error
        residuals[row, start_idx + dof] = value

    @compiled_kernel()
    def joint_position_jacobian(
        weight: wp.array2d(dtype=wp.float64),  # [1, joint_dof_count]
        dof_coord: wp.array(dtype=wp.int32),  # [joint_dof_count]
        start_idx: int,
        jacobian: wp.array3d(dtype=scalar),  # [n_batch, total_residuals, joint_dof_count]
    ):
        row, dof = wp.tid()
        if dof_coord[dof] >= 0:
            jacobian[row, start_idx + dof, dof] = -scalar(weight[0, dof])

    return SimpleNamespace(residuals=joint_position_residuals, jacobian=joint_position_jacobian)


class IKObjectiveJointPosition(BuiltinObjective):
    """Joints reach target positions; one residual per degree of freedom of the model."""

    construction_only = frozenset(('model',))

    def __init__(
        self, model: 'Model', target_positions: Any, *, weight: float | Sequence[float] = 1.0
    ) -> None:
        """Create the objective.

        Args:
            model: The model.
            target_positions: Targets in rad and m: numbers of shape [joint_coord_count] or
                [n_problems, joint_coord_count], or a Warp array, which is then read where it is.
            weight: Factor on each residual, one or shape [joint_dof_count].

        Raises:
            ArgumentError: A wrong shape or type, a NaN, a negative weight.
        """
        super().__init__(checked_weight('weight', weight, model.joint_dof_count))
        self._set_targets('target_positions', target_positions, model.joint_coord_count)
        self._dof_coord = dof_coordinates(model)

    def bind_device(self, device: wp.DeviceLike) -> None:
        """Put targets and weights on ``device``."""
        super().bind_device(device)
        self._coords = wp.array(self._dof_coord, dtype=wp.int32, device=self.device)

    def set_target_positions(self, positions: Any) -> None:
        """Change every target: numbers or a Warp array, as given to the constructor."""
        self._targets.write(positions)

    def target_positions(self) -> np.ndarray:
        """Return a copy of the targets, shape [n_problems, joint_coord_count]."""
        return self._targets.read()

    def record(self) -> Any:
        """Return the record; see :meth:`IKObjective.record`."""
        return make_record(
            RecordKind.JOINT_POSITION,
            self._weights.array,
            target=self._targets.array,
            dof_coord=self._coords,
            chain_dof=wp.array(np.arange(self.residual_dim()), dtype=wp.int32, device=self.device),
        )

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
        rows = joint_q.shape[0]
        kernels = _joint_position_kernels(
            residuals.dtype, self._targets.scalar, residuals.requires_grad
        )
        self._launch(
            kernels.residuals,
            (rows, self.residual_dim()),
            [
                joint_q, self._targets.array, self._weights.array, self._coords,
                self._problems(problem_idx, rows), start_idx,
            ],
            residuals,
        )  # fmt: skip

    def compute_jacobian_autodiff(
        self, tape: wp.Tape, model: 'Model', jacobian: wp.array, start_idx: int, dq_dof: wp.array
    ) -> None:
        """Write the diagonal with one backward pass."""
        self._tape_reader.diagonal(tape, jacobian, start_idx, dq_dof)

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
        kernels = _joint_position_kernels(jacobian.dtype, self._targets.scalar, False)
        self._launch(
            kernels.jacobian,
            (jacobian.shape[0], self.residual_dim()),
            [self._weights.array, self._coords, start_idx],
            jacobian,
        )
