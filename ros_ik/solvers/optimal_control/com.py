# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objective: the centre of mass of the robot reaches a position in a reference link.

    r = w (c_t - R^T (c - p)),   dr/dq_j = -w R^T (dc/dq_j - v_j(c))

p, R are the pose of the reference link in the world, c the centre of mass in the world, v_j(c) the
velocity of the point of the reference link that is at c; in world axes without a reference.
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.kinematics.center_of_mass import center_of_mass_functions
from ros_ik.kinematics.center_of_mass import mass_distribution
from ros_ik.kinematics.chain import link_dofs
from ros_ik.objectives import IKJacobianType
from ros_ik.objectives.builtin import PositionTargetObjective
from ros_ik.objectives.functions import objective_functions

if TYPE_CHECKING:
    from ros_ik.model import Model


@no_type_check
@functools.cache
def _relative_center_kernels(scalar: type, stored: type) -> SimpleNamespace:
    functions, masses_of = objective_functions(scalar), center_of_mass_functions(scalar)
    transform, twist, vec3 = functions.transform, functions.twist, functions.vec3
    point_velocity, link_pose = functions.point_velocity, functions.link_pose
    read_vec3 = functions.read_vec3
    MassArrays = masses_of.MassArrays
    center_of_mass, velocity_of = masses_of.center_of_mass, masses_of.center_of_mass_velocity

    @wp.kernel(enable_backward=False, module='unique')
    def relative_center_residuals(
        masses: MassArrays,
        body_q: wp.array2d(dtype=transform),  # [n_batch, body_count]
        reference: int,
        target_position: wp.array2d(dtype=stored),  # [1, 3]
        weight: wp.array2d(dtype=wp.float64),  # [1, 3]
        start_idx: int,
        residuals: wp.array2d(dtype=scalar),  # [n_batch, total_residuals]
    ):
        row = wp.tid()
        center = center_of_mass(masses, row, body_q)
        seen = wp.transform_point(wp.transform_inverse(link_pose(row, reference, body_q)), center)
        error = read_vec3(target_position, 0) - seen
        for axis in range(3):
            residuals[row, start_idx + axis] = scalar(weight[0, axis]) * error[axis]

    @wp.kernel(enable_backward=False, module='unique')
    def relative_center_jacobian(
        masses: MassArrays,
        body_q: wp.array2d(dtype=transform),  # [n_batch, body_count]
        joint_S_s: wp.array2d(dtype=twist),  # [n_batch, joint_dof_count]
        reference: int,
        moves_reference: wp.array(dtype=wp.int32),  # [joint_dof_count]
        weight: wp.array2d(dtype=wp.float64),  # [1, 3]
        start_idx: int,
        jacobian: wp.array3d(dtype=scalar),  # [n_batch, total_residuals, joint_dof_count]
    ):
        row = wp.tid()
        center = center_of_mass(masses, row, body_q)
        to_reference = wp.quat_inverse(
            wp.transform_get_rotation(link_pose(row, reference, body_q))
        )
        for dof in range(jacobian.shape[2]):
            velocity = velocity_of(masses, row, dof, body_q, joint_S_s)
            if moves_reference[dof] != 0:
                velocity -= point_velocity(joint_S_s[row, dof], center)
            seen = vec3(wp.quat_rotate(to_reference, velocity))
            for axis in range(3):
                jacobian[row, start_idx + axis, dof] = -scalar(weight[0, axis]) * seen[axis]

    return SimpleNamespace(residuals=relative_center_residuals, jacobian=relative_center_jacobian)


class RelativeCenterOfMass(PositionTargetObjective):
    """The centre of mass reaches a position in a reference link; one target for all rows."""

    has_record = False

    def __init__(self, reference_link_index: int) -> None:
        """Create the objective with its target at the origin and weight 1.

        Args:
            reference_link_index: Link in which the target is given; -1 for the world.
        """
        super().__init__(np.zeros((1, 3)), np.ones(3))
        self.reference_link_index = int(reference_link_index)

    def init_buffers(
        self, model: 'Model', jacobian_mode: object = IKJacobianType.ANALYTIC
    ) -> None:
        """Gather the masses and what moves the reference link.

        Raises:
            ArgumentError: A link index outside the model, or a robot without mass.
        """
        moves = np.zeros(model.joint_dof_count, dtype=np.int32)
        moves[link_dofs(model, self.reference_link_index)] = 1
        self._moves_reference = wp.array(moves, dtype=wp.int32, device=self.device)
        self._masses: dict[Any, Any] = {
            scalar: mass_distribution(model, scalar).arrays for scalar in (wp.float32, wp.float64)
        }

    def record(self) -> Any:
        """Return None: kernels that evaluate objectives themselves do not know this one."""
        return None

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
        kernels = _relative_center_kernels(residuals.dtype, self._targets.scalar)
        self._launch(
            kernels.residuals,
            body_q.shape[0],
            [
                self._masses[residuals.dtype], body_q, self.reference_link_index,
                self._targets.array, self._weights.array, start_idx,
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
        kernels = _relative_center_kernels(jacobian.dtype, self._targets.scalar)
        self._launch(
            kernels.jacobian,
            body_q.shape[0],
            [
                self._masses[jacobian.dtype], body_q, joint_S_s, self.reference_link_index,
                self._moves_reference, self._weights.array, start_idx,
            ],
            jacobian,
        )  # fmt: skip
