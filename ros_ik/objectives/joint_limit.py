# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objective: joints stay inside their limits, as a penalty.

    r_j = w_j (max(0, q_j - u_j) + max(0, l_j - q_j)) per degree of freedom with one coordinate

dr_j/dq_j is w_j above the upper limit, -w_j below the lower one, and zero between. Degrees of
freedom of joints with quaternions (ball, free) have no coordinate of their own and no limit.
"""

from collections.abc import Sequence
import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.kinematics.runtime.arguments import checked_numbers
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.objectives.base.arguments import checked_weight
from ros_ik.objectives.base.builtin import BuiltinObjective
from ros_ik.objectives.base.parameter import Parameter
from ros_ik.objectives.base.record import make_record
from ros_ik.objectives.base.record import RecordKind
from ros_ik.objectives.interface.jacobian_type import IKJacobianType

if TYPE_CHECKING:
    from ros_ik.model import Model


@no_type_check
@functools.cache
def _joint_limit_kernels(scalar: type, stored: type, differentiable: bool) -> SimpleNamespace:
    @compiled_kernel(differentiable=differentiable)
    def joint_limit_residuals(
        joint_q: wp.array2d(dtype=scalar),  # [n_batch, joint_coord_count]
        lower: wp.array2d(dtype=stored),  # [joint_dof_count, 1]
        upper: wp.array2d(dtype=stored),  # [joint_dof_count, 1]
        weight: wp.array2d(dtype=wp.float64),  # [1, joint_dof_count]
        dof_coord: wp.array(dtype=wp.int32),  # [joint_dof_count], -1 where there is none
        start_idx: int,
        residuals: wp.array2d(dtype=scalar),  # [n_batch, total_residuals]
    ):
        row, dof = wp.tid()
        coord = dof_coord[dof]
        violation = scalar(0.0)
        if coord >= 0:
            above = joint_q[row, coord] - scalar(upper[dof, 0])
            below = scalar(lower[dof, 0]) - joint_q[row, coord]
            violation = wp.max(scalar(0.0), above) + wp.max(scalar(0.0), below)
        residuals[row, start_idx + dof] = scalar(weight[0, dof]) * violation

    @compiled_kernel()
    def joint_limit_jacobian(
        joint_q: wp.array2d(dtype=scalar),  # [n_batch, joint_coord_count]
        lower: wp.array2d(dtype=stored),  # [joint_dof_count, 1]
        upper: wp.array2d(dtype=stored),  # [joint_dof_count, 1]
        weight: wp.array2d(dtype=wp.float64),  # [1, joint_dof_count]
        dof_coord: wp.array(dtype=wp.int32),  # [joint_dof_count], -1 where there is none
        start_idx: int,
        jacobian: wp.array3d(dtype=scalar),  # [n_batch, total_residuals, joint_dof_count]
    ):
        row, dof = wp.tid()
        coord = dof_coord[dof]
        slope = scalar(0.0)
        if coord >= 0:
            if joint_q[row, coord] > scalar(upper[dof, 0]):
                slope += scalar(weight[0, dof])
            if joint_q[row, coord] < scalar(lower[dof, 0]):
                slope -= scalar(weight[0, dof])
        jacobian[row, start_idx + dof, dof] = slope

    return SimpleNamespace(residuals=joint_limit_residuals, jacobian=joint_limit_jacobian)


class IKObjectiveJointLimit(BuiltinObjective):
    """A penalty on joints outside their limits; named and signed as in ``newton.ik``.

    A penalty gives way to other objectives. Hard limits are those of the solvers.
    """

    def __init__(
        self,
        joint_limit_lower: Any,
        joint_limit_upper: Any,
        weight: float | Sequence[float] = 0.1,
    ) -> None:
        """Create the objective.

        Args:
            joint_limit_lower: Lower limits [rad or m], numbers of shape [joint_dof_count], -inf
                where there is none, or a Warp array, such as a model's, which is then read where
                it is.
            joint_limit_upper: Upper limits, likewise.
            weight: Factor on the residuals, one or per degree of freedom.

        Raises:
            ArgumentError: Shapes or types that differ, a NaN, a lower limit above the upper one,
                a negative weight.
        """
        is_array = isinstance(joint_limit_lower, wp.array)
        count = int(joint_limit_lower.size if is_array else np.size(joint_limit_lower))
        super().__init__(checked_weight('weight', weight, count))
        self._lower = self._parameter('joint_limit_lower', joint_limit_lower, 1)
        self._upper = self._parameter('joint_limit_upper', joint_limit_upper, 1, count=count)
        if self._lower.scalar != self._upper.scalar:
            raise ArgumentError('joint_limit_lower and joint_limit_upper must have one type')
        wrong = np.flatnonzero(self._lower.read() > self._upper.read())
        if len(wrong):
            raise ArgumentError(
                f'joint_limit_lower is above joint_limit_upper for degrees of freedom {wrong}'
            )

    @property
    def joint_limit_lower(self) -> wp.array:
        """Lower limits on the device, shape [joint_dof_count]; may be replaced."""
        return self._lower.array.flatten()

    @joint_limit_lower.setter
    def joint_limit_lower(self, values: Any) -> None:
        self._lower = self._limits(self._lower, values)

    @property
    def joint_limit_upper(self) -> wp.array:
        """Upper limits on the device, shape [joint_dof_count]; may be replaced."""
        return self._upper.array.flatten()

    @joint_limit_upper.setter
    def joint_limit_upper(self, values: Any) -> None:
        self._upper = self._limits(self._upper, values)

    def _limits(self, known: Parameter, values: Any) -> Parameter:
        """Return what takes the place of limits, in their type: a kernel reads both."""
        if not isinstance(values, wp.array):
            numbers = checked_numbers(known.name, values).ravel()
            values = wp.array(numbers, dtype=known.scalar, device=known.array.device)
        elif values.dtype != known.scalar:
            raise ArgumentError(
                f'{known.name} must be an array of {known.scalar.__name__}, like the other limits'
            )
        return self._replace(known, values)

    def init_buffers(
        self, model: 'Model', jacobian_mode: object = IKJacobianType.ANALYTIC
    ) -> None:
        """Find the coordinate of each degree of freedom.

        Raises:
            ArgumentError: The model has another number of degrees of freedom.
        """
        if model.joint_dof_count != self.residual_dim():
            raise ArgumentError(
                f'joint_limit_lower must have {model.joint_dof_count} values, one per degree of '
                f'freedom of the model, got {self.residual_dim()}'
            )
        self._dof_coord = wp.array(dof_coordinates(model), dtype=wp.int32, device=self.device)

    def record(self) -> Any:
        """Return the record; see :meth:`IKObjective.record`."""
        return make_record(
            RecordKind.JOINT_LIMIT,
            self._weights.array,
            target=self._lower.array,
            upper=self._upper.array,
            dof_coord=self._dof_coord,
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
        """Write one residual per degree of freedom; the limits serve every problem."""
        kernels = _joint_limit_kernels(
            residuals.dtype, self._lower.scalar, residuals.requires_grad
        )
        self._launch_dofs(kernels.residuals, joint_q, start_idx, residuals)

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
        """Write the diagonal; see :meth:`IKObjective.compute_jacobian_analytic`."""
        kernels = _joint_limit_kernels(jacobian.dtype, self._lower.scalar, False)
        self._launch_dofs(kernels.jacobian, joint_q, start_idx, jacobian)

    def _launch_dofs(
        self, kernel: wp.Kernel, joint_q: wp.array, start_idx: int, output: wp.array
    ) -> None:
        self._launch(
            kernel,
            (joint_q.shape[0], self.residual_dim()),
            [
                joint_q, self._lower.array, self._upper.array, self._weights.array,
                self._dof_coord, start_idx,
            ],
            output,
        )  # fmt: skip
