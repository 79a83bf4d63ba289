# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objective: a point on a link reaches a target position in the world.

    r = w (p_t - p),   dr/dq_j = -w (v_j + omega_j x p)

v_j, omega_j: twist of degree of freedom j at the world origin.
"""

from collections.abc import Sequence
import functools
from typing import Any
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.arguments import checked_link
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.read_once import read_only
from ros_ik.objectives.base.arguments import checked_vector
from ros_ik.objectives.base.arguments import checked_weight
from ros_ik.objectives.base.builtin import PositionTargetObjective
from ros_ik.objectives.base.functions import objective_functions
from ros_ik.objectives.base.record import make_record
from ros_ik.objectives.base.record import RecordKind
from ros_ik.objectives.interface.jacobian_type import IKJacobianType

if TYPE_CHECKING:
    from ros_ik.model import Model


@no_type_check
@functools.cache
def _residual_kernel(scalar: type, stored: type, differentiable: bool) -> wp.Kernel:
    functions = objective_functions(scalar)
    transform, read_vec3 = functions.transform, functions.read_vec3
    problem_row = functions.problem_row

    @compiled_kernel(differentiable=differentiable)
    def position_residuals(
        body_q: wp.array2d(dtype=transform),  # [n_batch, body_count]
        target_position: wp.array2d(dtype=stored),  # [n_problems, 3]
        weight: wp.array2d(dtype=wp.float64),  # [1, 3]
        link: int,
        offset: wp.array2d(dtype=wp.float64),  # [1, 3]
        problem_idx: wp.array(dtype=wp.int32),  # [n_batch]
        start_idx: int,
        residuals: wp.array2d(dtype=scalar),  # [n_batch, total_residuals]
    ):
        row = wp.tid()
        problem = problem_row(row, problem_idx, target_position.shape[0])
        point = wp.transform_point(body_q[row, link], read_vec3(offset, 0))
        error = read_vec3(target_position, problem) - point
        for axis in range(3):
            residuals[row, start_idx + axis] = scalar(weight[0, axis]) * error[axis]

    return position_residuals


@no_type_check
@functools.cache
def _jacobian_kernel(scalar: type) -> wp.Kernel:
    functions = objective_functions(scalar)
    transform, twist = functions.transform, functions.twist
    read_vec3, point_velocity = functions.read_vec3, functions.point_velocity

    @compiled_kernel()
    def position_jacobian(
        body_q: wp.array2d(dtype=transform),  # [n_batch, body_count]
        joint_S_s: wp.array2d(dtype=twist),  # [n_batch, joint_dof_count]
        weight: wp.array2d(dtype=wp.float64),  # [1, 3]
        link: int,
        offset: wp.array2d(dtype=wp.float64),  # [1, 3]
        chain_dof: wp.array(dtype=wp.int32),  # [n_chain]
        start_idx: int,
        jacobian: wp.array3d(dtype=scalar),  # [n_batch, total_residuals, joint_dof_count]
    ):
        row = wp.tid()
        point = wp.transform_point(body_q[row, link], read_vec3(offset, 0))
        for k in range(chain_dof.shape[0]):
            dof = chain_dof[k]
            velocity = point_velocity(joint_S_s[row, dof], point)
            for axis in range(3):
                jacobian[row, start_idx + axis, dof] = -scalar(weight[0, axis]) * velocity[axis]

    return position_jacobian


class IKObjectivePosition(PositionTargetObjective):
    """A point on a link reaches a position; named and signed as in ``newton.ik``.

    Attributes:
        link_index: The link that carries the point.
    """

    def __init__(
        self,
        link_index: int,
        link_offset: Any,
        target_positions: Any,
        weight: float | Sequence[float] = 1.0,
    ) -> None:
        """Create the objective.

        Args:
            link_index: Index of the link.
            link_offset: The point in the link [m], shape [3].
            target_positions: Targets in the world [m]: numbers of shape [3] or [n_problems, 3], or
                a Warp array [n_problems] of vec3, which is then read where it is.
            weight: Factor on the residuals [1/m], one or per axis.

        Raises:
            ArgumentError: A wrong shape or type, a NaN, a negative weight.
        """
        super().__init__(target_positions, checked_weight('weight', weight, 3))
        self.link_index = checked_link('link_index', link_index)
        offset = checked_vector('link_offset', link_offset, 3)
        self._offset = self._parameter('link_offset', offset, 3)

    @property
    def link_offset(self) -> np.ndarray:
        """The point in the link [m], shape [3]; may be set."""
        return read_only(self._offset.read()[0])

    @link_offset.setter
    def link_offset(self, value: Any) -> None:
        self._offset.write(checked_vector('link_offset', value, 3))

    def init_buffers(
        self, model: 'Model', jacobian_mode: object = IKJacobianType.ANALYTIC
    ) -> None:
        """Find the degrees of freedom that move the link.

        Raises:
            ArgumentError: A link index outside the model.
        """
        self._set_chain(model, self.link_index)

    def record(self) -> Any:
        """Return the record; see :meth:`IKObjective.record`."""
        return make_record(
            RecordKind.POSITION,
            self._weights.array,
            link=self.link_index,
            target=self._targets.array,
            offset=self._offset.array,
            chain_dof=self._chain_dof,
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
        """Write the three residuals; see :meth:`IKObjective.compute_residuals`."""
        rows = body_q.shape[0]
        self._launch(
            _residual_kernel(residuals.dtype, self._targets.scalar, residuals.requires_grad),
            rows,
            [
                body_q, self._targets.array, self._weights.array, self.link_index,
                self._offset.array, self._problems(problem_idx, rows), start_idx,
            ],
            residuals,
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
        """Write the three rows; see :meth:`IKObjective.compute_jacobian_analytic`."""
        self._launch(
            _jacobian_kernel(jacobian.dtype),
            body_q.shape[0],
            [
                body_q, joint_S_s, self._weights.array, self.link_index, self._offset.array,
                self._chain_dof, start_idx,
            ],
            jacobian,
        )  # fmt: skip
