# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objective: the centre of mass of the robot, or of some links, reaches a position.

    r = w (c_t - R^T (c - p)),   c = sum_b m_b x_b / m,   dr/dq_j = -w R^T (dc/dq_j - v_j(c))

p, R are the pose of the reference link in the world and v_j(c) the velocity of its point that is
at c; without a reference, the world stays where it is. The Jacobian of the centre of mass is that
of :mod:`ros_ik.kinematics.dynamics.center_of_mass`.
"""

from collections.abc import Sequence
import functools
from typing import Any
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.kinematics.chain import link_dofs
from ros_ik.kinematics.dynamics.center_of_mass import center_of_mass_functions
from ros_ik.kinematics.dynamics.center_of_mass import mass_distribution
from ros_ik.kinematics.dynamics.center_of_mass import MassDistribution
from ros_ik.kinematics.runtime.arguments import checked_link
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
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
    functions, masses_of = objective_functions(scalar), center_of_mass_functions(scalar)
    transform, read_vec3 = functions.transform, functions.read_vec3
    problem_row, link_pose = functions.problem_row, functions.link_pose
    MassArrays, center_of_mass = masses_of.MassArrays, masses_of.center_of_mass

    @compiled_kernel(differentiable=differentiable)
    def center_of_mass_residuals(
        masses: MassArrays,
        body_q: wp.array2d(dtype=transform),  # [n_batch, body_count]
        reference: int,
        target_position: wp.array2d(dtype=stored),  # [n_problems, 3]
        weight: wp.array2d(dtype=wp.float64),  # [1, 3]
        problem_idx: wp.array(dtype=wp.int32),  # [n_batch]
        start_idx: int,
        residuals: wp.array2d(dtype=scalar),  # [n_batch, total_residuals]
    ):
        row = wp.tid()
        problem = problem_row(row, problem_idx, target_position.shape[0])
        center = center_of_mass(masses, row, body_q)
        seen = wp.transform_point(wp.transform_inverse(link_pose(row, reference, body_q)), center)
        error = read_vec3(target_position, problem) - seen
        for axis in range(3):
            residuals[row, start_idx + axis] = scalar(weight[0, axis]) * error[axis]

    return center_of_mass_residuals


@no_type_check
@functools.cache
def _jacobian_kernel(scalar: type) -> wp.Kernel:
    functions, masses_of = objective_functions(scalar), center_of_mass_functions(scalar)
    transform, twist = functions.transform, functions.twist
    point_velocity = functions.point_velocity
    MassArrays, center_of_mass = masses_of.MassArrays, masses_of.center_of_mass
    velocity_of = masses_of.center_of_mass_velocity

    @compiled_kernel()
    def center_of_mass_jacobian(
        masses: MassArrays,
        body_q: wp.array2d(dtype=transform),  # [n_batch, body_count]
        joint_S_s: wp.array2d(dtype=twist),  # [n_batch, joint_dof_count]
        reference: int,
        moves_reference: wp.array(dtype=wp.int32),  # [joint_dof_count]
        weight: wp.array2d(dtype=wp.float64),  # [1, 3]
        start_idx: int,
        jacobian: wp.array3d(dtype=scalar),  # [n_batch, total_residuals, joint_dof_count]
    ):
        row, dof = wp.tid()
        velocity = velocity_of(masses, row, dof, body_q, joint_S_s)
        if reference >= 0:
            if moves_reference[dof] != 0:
                center = center_of_mass(masses, row, body_q)
                velocity -= point_velocity(joint_S_s[row, dof], center)
            rotation = wp.transform_get_rotation(body_q[row, reference])
            velocity = wp.quat_rotate_inv(rotation, velocity)
        for axis in range(3):
            jacobian[row, start_idx + axis, dof] = -scalar(weight[0, axis]) * velocity[axis]

    return center_of_mass_jacobian


class IKObjectiveCenterOfMass(PositionTargetObjective):
    """The centre of mass reaches a position in the world or in a link.

    Attributes:
        reference_link_index: The link in which targets are given; -1 for the world.
    """

    construction_only = frozenset(('bodies',))

    def __init__(
        self,
        target_positions: Any,
        *,
        weight: float | Sequence[float] = 1.0,
        bodies: Sequence[int] | None = None,
        reference_link_index: int = -1,
    ) -> None:
        """Create the objective.

        Args:
            target_positions: Targets in the reference link [m]: numbers of shape [3] or
                [n_problems, 3], or a Warp array [n_problems] of vec3, which is then read where it
                is.
            weight: Factor on the residuals [1/m], one or per axis: (1, 1, 0) leaves the height.
            bodies: Indices of the links that count; None for all.
            reference_link_index: Link in which the targets are given; -1 for the world.

        Raises:
            ArgumentError: A wrong shape or type, a NaN, a negative weight, bodies or a reference
                that are no indices.
        """
        super().__init__(target_positions, checked_weight('weight', weight, 3))
        self._bodies = None
        if bodies is not None:
            self._bodies = [checked_link('an index in bodies', body) for body in bodies]
        self.reference_link_index = checked_link('reference_link_index', reference_link_index)
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
        moves = np.zeros(model.joint_dof_count, dtype=np.int32)
        moves[link_dofs(model, self.reference_link_index)] = 1
        self._moves_reference = wp.array(moves, dtype=wp.int32, device=self.device)

    def record(self) -> Any:
        """Return the record; see :meth:`IKObjective.record`."""
        masses, moves_reference = self._masses[wp.float64], self._moves_reference.numpy()
        moved = np.flatnonzero(np.diff(masses.arrays.moved_start.numpy()) | moves_reference)
        return make_record(
            RecordKind.CENTER_OF_MASS,
            self._weights.array,
            target=self._targets.array,
            reference=self.reference_link_index,
            chain_dof=wp.array(moved, dtype=wp.int32, device=self.device),
            chain_sign=wp.array(moves_reference[moved], dtype=wp.int32, device=self.device),
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
                self._masses[residuals.dtype].arrays, body_q, self.reference_link_index,
                self._targets.array, self._weights.array, self._problems(problem_idx, rows),
                start_idx,
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
                self._masses[jacobian.dtype].arrays, body_q, joint_S_s,
                self.reference_link_index, self._moves_reference, self._weights.array, start_idx,
            ],
            jacobian,
        )  # fmt: skip
