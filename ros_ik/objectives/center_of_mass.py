# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objective: the centre of mass of the robot, or of some links, reaches a position in the world.

    r = w (c_t - c),   c = sum_b m_b x_b / m,   dr/dq_j = -w dc/dq_j

The Jacobian of the centre of mass is that of :mod:`ros_ik.kinematics.center_of_mass`.
"""

from collections.abc import Sequence
import functools
from typing import Any
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.kinematics.arguments import checked_link
from ros_ik.kinematics.center_of_mass import center_of_mass_functions
from ros_ik.kinematics.center_of_mass import mass_distribution
from ros_ik.kinematics.center_of_mass import MassDistribution
from ros_ik.objectives.arguments import checked_weight
from ros_ik.objectives.builtin import PositionTargetObjective
from ros_ik.objectives.functions import objective_functions
from ros_ik.objectives.jacobian_type import IKJacobianType
from ros_ik.objectives.record import make_record
from ros_ik.objectives.record import RecordKind

if TYPE_CHECKING:
    from ros_ik.model import Model


@no_type_check
@functools.cache
def _residual_kernel(scalar: type, stored: type, differentiable: bool) -> wp.Kernel:
    functions, masses_of = objective_functions(scalar), center_of_mass_functions(scalar)
    transform, read_vec3 = functions.transform, functions.read_vec3
    problem_row = functions.problem_row
    MassArrays, center_of_mass = masses_of.MassArrays, masses_of.center_of_mass

    @wp.kernel(enable_backward=differentiable, module='unique')
    def center_of_mass_residuals(
        masses: MassArrays,
        body_q: wp.array2d(dtype=transform),  # [n_batch, body_count]
        target_position: wp.array2d(dtype=stored),  # [n_problems, 3]
        weight: wp.array2d(dtype=wp.float64),  # [1, 3]
        problem_idx: wp.array(dtype=wp.int32),  # [n_batch]
        start_idx: int,
        residuals: wp.array2d(dtype=scalar),  # [n_batch, total_residuals]
    ):
        row = wp.tid()
        problem = problem_row(row, problem_idx, target_position.shape[0])
        error = read_vec3(target_position, problem) - center_of_mass(masses, row, body_q)
        for axis in range(3):
            residuals[row, start_idx + axis] = scalar(weight[0, axis]) * error[axis]

    return center_of_mass_residuals


@no_type_check
@functools.cache
def _jacobian_kernel(scalar: type) -> wp.Kernel:
    functions, masses_of = objective_functions(scalar), center_of_mass_functions(scalar)
    transform, twist = functions.transform, functions.twist
    MassArrays, velocity_of = masses_of.MassArrays, masses_of.center_of_mass_velocity

    @wp.kernel(enable_backward=False, module='unique')
    def center_of_mass_jacobian(
        masses: MassArrays,
        body_q: wp.array2d(dtype=transform),  # [n_batch, body_count]
        joint_S_s: wp.array2d(dtype=twist),  # [n_batch, joint_dof_count]
        weight: wp.array2d(dtype=wp.float64),  # [1, 3]
        start_idx: int,
        jacobian: wp.array3d(dtype=scalar),  # [n_batch, total_residuals, joint_dof_count]
    ):
        row, dof = wp.tid()
        velocity = velocity_of(masses, row, dof, body_q, joint_S_s)
        for axis in range(3):
            jacobian[row, start_idx + axis, dof] = -scalar(weight[0, axis]) * velocity[axis]

    return center_of_mass_jacobian


class IKObjectiveCenterOfMass(PositionTargetObjective):
    """The centre of mass reaches a position in the world."""

    def __init__(
        self,
        target_positions: Any,
        *,
        weight: float | Sequence[float] = 1.0,
        bodies: Sequence[int] | None = None,
    ) -> None:
        """Create the objective.

        Args:
            target_positions: Targets in the world [m]: numbers of shape [3] or [n_problems, 3], or
                a Warp array [n_problems] of vec3, which is then read where it is.
            weight: Factor on the residuals [1/m], one or per axis: (1, 1, 0) leaves the height.
            bodies: Indices of the links that count; None for all.

        Raises:
            ArgumentError: A wrong shape or type, a NaN, a negative weight, bodies that are no
                indices.
        """
        super().__init__(target_positions, checked_weight('weight', weight, 3))
        self._bodies = None
        if bodies is not None:
            self._bodies = [checked_link('an index in bodies', body) for body in bodies]
        self._masses: dict[type, MassDistribution] = {}

    def init_buffers(
        self, model: 'Model', jacobian_mode: object = IKJacobianType.ANALYTIC
    ) -> None:
        """Gather the masses and the bodies that each degree of freedom moves.

        Raises:
            ArgumentError: A link outside the model, or links without mass.
        """
        self._masses = {
            scalar: mass_distribution(model, scalar, self._bodies)
            for scalar in (wp.float32, wp.float64)
        }

    def record(self) -> Any:
        """Return the record; see :meth:`IKObjective.record`."""
        masses = self._masses[wp.float64]
        moved = np.flatnonzero(np.diff(masses.arrays.moved_start.numpy()))
        return make_record(
            RecordKind.CENTER_OF_MASS,
            self._weights.array,
            target=self._targets.array,
            chain_dof=wp.array(moved, dtype=wp.int32, device=self.device),
            masses=masses.arrays,
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
                self._masses[residuals.dtype].arrays, body_q, self._targets.array,
                self._weights.array, self._problems(problem_idx, rows), start_idx,
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
            (body_q.shape[0], jacobian.shape[2]),
            [
                self._masses[jacobian.dtype].arrays, body_q, joint_S_s, self._weights.array,
                start_idx,
            ],
            jacobian,
        )  # fmt: skip
