# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objective: a link stays able to move in every direction, away from singular configurations.

    r = w max(0, 1 - m / m_min),   m = sqrt(det(J J^T))

m is Yoshikawa's measure (Yoshikawa, Manipulability of Robotic Mechanisms, 1985) of the Jacobian J
of a point of the link, or of some of its rows. Its derivative needs that of J. With l_j, omega_j
the linear and angular column of joint j, and joints in order from the base,

    dm/dq_i = m tr((J J^T)^-1 dJ/dq_i J^T)
    d omega_j/dq_i = omega_i x omega_j for i before j, else 0
    d l_j/dq_i = omega_i x l_j for i before j, else omega_j x l_i

r has a kink where m = m_min, its square, which solvers minimise, has none. At a singular
configuration m is zero and every direction looks alike: the Jacobian of r is zero there, and not
zero nearby. The k x k algebra is in float64, as J J^T squares the condition of J.
"""

from collections.abc import Sequence
import functools
from typing import Any
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_link
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.read_once import read_only
from ros_ik.objectives.base.arguments import checked_vector
from ros_ik.objectives.base.arguments import checked_weight
from ros_ik.objectives.base.builtin import BuiltinObjective
from ros_ik.objectives.base.functions import objective_functions
from ros_ik.objectives.base.record import make_record
from ros_ik.objectives.base.record import RecordKind
from ros_ik.objectives.interface.jacobian_type import IKJacobianType
from ros_ik.objectives.jacobian.columns import column_functions
from ros_ik.objectives.jacobian.columns import rows_function
from ros_ik.objectives.jacobian.gram import gram_functions
from ros_ik.objectives.jacobian.serial_joints import serial_joints

if TYPE_CHECKING:
    from ros_ik.model import Model


_ALL_AXES = (0, 1, 2, 3, 4, 5)


@no_type_check
@functools.cache
def _residual_kernel(scalar: type, k: int, differentiable: bool) -> wp.Kernel:
    functions, gram = objective_functions(scalar), gram_functions(k)
    transform, twist, vec3 = functions.transform, functions.twist, functions.vec3
    read_vec3, link_pose = functions.read_vec3, functions.link_pose
    matrix, root_determinant = gram.matrix, gram.root_determinant
    chosen = rows_function(scalar, k)

    @wp.func
    def joint_column(pose: transform, slides: int, axis: vec3, pivot: vec3, point: vec3) -> twist:
        """Velocity of a point of the link by a joint, from the pose of the joint's child."""
        omega = wp.transform_vector(pose, axis)
        linear = omega
        if slides != 0:
            omega = vec3()
        else:
            linear = wp.cross(omega, point - wp.transform_point(pose, pivot))
        return twist(linear[0], linear[1], linear[2], omega[0], omega[1], omega[2])

    # A function of its own: the backward pass of a kernel does not replay its loops, and what
    # follows the sum needs its value.
    @wp.func
    def chain_gram(
        row: int,
        link: int,
        reference: int,
        offset: vec3,
        axes: wp.array(dtype=wp.int32),
        chain_link: wp.array(dtype=wp.int32),
        chain_slides: wp.array(dtype=wp.int32),
        chain_axis: wp.array2d(dtype=wp.float64),
        chain_point: wp.array2d(dtype=wp.float64),
        body_q: wp.array2d(dtype=transform),
    ) -> matrix:
        """J J^T in the axes of the reference."""
        to_reference = wp.transform_inverse(link_pose(row, reference, body_q))
        point = wp.transform_point(to_reference * body_q[row, link], offset)
        A = matrix()
        for j in range(chain_link.shape[0]):
            pose = to_reference * body_q[row, chain_link[j]]
            axis, pivot = read_vec3(chain_axis, j), read_vec3(chain_point, j)
            column = chosen(joint_column(pose, chain_slides[j], axis, pivot, point), axes)
            A += wp.outer(column, column)
        return A

    @compiled_kernel(differentiable=differentiable)
    def manipulability_residual(
        body_q: wp.array2d(dtype=transform),  # [n_batch, body_count]
        link: int,
        reference: int,
        offset: wp.array2d(dtype=wp.float64),  # [1, 3]
        axes: wp.array(dtype=wp.int32),  # [k]
        chain_link: wp.array(dtype=wp.int32),  # [n_chain]
        chain_slides: wp.array(dtype=wp.int32),  # [n_chain]
        chain_axis: wp.array2d(dtype=wp.float64),  # [n_chain, 3], in the link
        chain_point: wp.array2d(dtype=wp.float64),  # [n_chain, 3], in the link
        threshold: wp.array2d(dtype=wp.float64),  # [1, 1]
        weight: wp.array2d(dtype=wp.float64),  # [1, 1]
        start_idx: int,
        residuals: wp.array2d(dtype=scalar),  # [n_batch, total_residuals]
    ):
        row = wp.tid()
        A = chain_gram(
            row, link, reference, read_vec3(offset, 0), axes, chain_link, chain_slides,
            chain_axis, chain_point, body_q,
        )  # fmt: skip
        lack = wp.float64(1.0) - root_determinant(A) / threshold[0, 0]
        residuals[row, start_idx] = scalar(weight[0, 0] * wp.max(wp.float64(0.0), lack))

    return manipulability_residual


@no_type_check
@functools.cache
def _jacobian_kernel(scalar: type, k: int) -> wp.Kernel:
    functions, gram = objective_functions(scalar), gram_functions(k)
    transform, twist = functions.transform, functions.twist
    read_vec3, link_pose = functions.read_vec3, functions.link_pose
    columns = column_functions(scalar)
    local_column, column_derivative = columns.local_column, columns.column_derivative
    matrix, root_determinant, inverse = gram.matrix, gram.root_determinant, gram.inverse
    chosen = rows_function(scalar, k)

    @compiled_kernel()
    def manipulability_jacobian(
        body_q: wp.array2d(dtype=transform),  # [n_batch, body_count]
        joint_S_s: wp.array2d(dtype=twist),  # [n_batch, joint_dof_count]
        link: int,
        reference: int,
        offset: wp.array2d(dtype=wp.float64),  # [1, 3]
        axes: wp.array(dtype=wp.int32),  # [k]
        chain_dof: wp.array(dtype=wp.int32),  # [n_chain], from the reference to the link
        threshold: wp.array2d(dtype=wp.float64),  # [1, 1]
        weight: wp.array2d(dtype=wp.float64),  # [1, 1]
        start_idx: int,
        jacobian: wp.array3d(dtype=scalar),  # [n_batch, total_residuals, joint_dof_count]
    ):
        row = wp.tid()
        to_reference = wp.transform_inverse(link_pose(row, reference, body_q))
        point = wp.transform_point(body_q[row, link], read_vec3(offset, 0))
        A = matrix()
        for j in range(chain_dof.shape[0]):
            S = joint_S_s[row, chain_dof[j]]
            column = chosen(local_column(S, point, to_reference), axes)
            A += wp.outer(column, column)
        measure = root_determinant(A)
        below = measure > wp.float64(0.0) and measure < threshold[0, 0]
        B = matrix()
        if below:
            B = inverse(A) * (-weight[0, 0] * measure / threshold[0, 0])
        for i in range(chain_dof.shape[0]):
            slope = wp.float64(0.0)
            by = local_column(joint_S_s[row, chain_dof[i]], point, to_reference)
            for j in range(chain_dof.shape[0]):
                full = local_column(joint_S_s[row, chain_dof[j]], point, to_reference)
                derivative = column_derivative(full, by, int(i < j))
                slope += wp.dot(B * chosen(full, axes), chosen(derivative, axes))
            jacobian[row, start_idx, chain_dof[i]] = scalar(slope)

    return manipulability_jacobian


class IKObjectiveManipulability(BuiltinObjective):
    """A link keeps a measure of manipulability above a threshold; one residual.

    Attributes:
        link_index: The link.
        reference_link_index: The link it moves relative to; -1 for the world.
    """

    construction_only = frozenset(('axes',))

    def __init__(
        self,
        link_index: int,
        threshold: float,
        *,
        link_offset: Any = (0.0, 0.0, 0.0),
        reference_link_index: int = -1,
        axes: Sequence[int] = _ALL_AXES,
        weight: float = 1.0,
    ) -> None:
        """Create the objective.

        Args:
            link_index: Index of the link.
            threshold: Measure from which on nothing is to gain, in m to the number of linear axes.
            link_offset: Point of the link whose velocity counts [m], shape [3].
            reference_link_index: A link that carries the link: only joints between the two count,
                and the axes are its axes. On a robot with a free base, a link of the body.
            axes: Rows of the Jacobian that count, 0 to 2 along and 3 to 5 about x, y, z:
                (0, 1, 2) for translation only.
            weight: Factor on the residual.

        Raises:
            ArgumentError: A threshold that is not positive, axes that repeat or are unknown, a
                wrong shape, a negative weight.
        """
        super().__init__(checked_weight('weight', weight))
        self.link_index = checked_link('link_index', link_index)
        self.reference_link_index = checked_link('reference_link_index', reference_link_index)
        self._axes = tuple(int(axis) for axis in axes)
        if not self._axes or set(self._axes) - set(_ALL_AXES) or len(set(self._axes)) != len(axes):
            raise ArgumentError(f'axes must be different numbers from 0 to 5, got {tuple(axes)}')
        self._threshold = self._parameter('threshold', _checked_threshold(threshold), 1)
        self._offset = self._parameter(
            'link_offset', checked_vector('link_offset', link_offset, 3), 3
        )

    @property
    def threshold(self) -> float:
        """Measure from which on nothing is to gain; may be set."""
        return float(self._threshold.read()[0, 0])

    @threshold.setter
    def threshold(self, value: float) -> None:
        self._threshold.write(_checked_threshold(value))

    @property
    def link_offset(self) -> np.ndarray:
        """Point of the link whose velocity counts [m], shape [3]; may be set."""
        return read_only(self._offset.read()[0])

    @link_offset.setter
    def link_offset(self, value: Any) -> None:
        self._offset.write(checked_vector('link_offset', value, 3))

    def init_buffers(
        self, model: 'Model', jacobian_mode: object = IKJacobianType.ANALYTIC
    ) -> None:
        """Find the joints between the reference link and the link.

        Raises:
            ArgumentError: A link outside the model, a reference that does not carry the link, a
                joint between them of more than one degree of freedom, or fewer joints than axes.
        """
        joints = serial_joints(model, self.link_index, self.reference_link_index)
        if len(joints.dofs) < len(self._axes):
            raise ArgumentError(
                f'axes must be no more than the {len(joints.dofs)} joints that move link '
                f'{self.link_index}, got {self._axes}'
            )
        self._rows, self._chain_dof, self._chain_link, self._chain_slides = (
            wp.array(values, dtype=wp.int32, device=self.device)
            for values in (self._axes, joints.dofs, joints.links, joints.slides)
        )
        self._chain_axis, self._chain_point = (
            wp.array(values, dtype=wp.float64, ndim=2, device=self.device)
            for values in (joints.axes, joints.points)
        )

    def record(self) -> Any:
        """Return the record; see :meth:`IKObjective.record`."""
        return make_record(
            RecordKind.MANIPULABILITY,
            self._weights.array,
            link=self.link_index,
            reference=self.reference_link_index,
            offset=self._offset.array,
            axis=self._threshold.array,
            chain_dof=self._chain_dof,
            axes=self._rows,
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
        """Write the residual; the threshold serves every problem."""
        self._launch(
            _residual_kernel(residuals.dtype, len(self._axes), residuals.requires_grad),
            body_q.shape[0],
            [
                body_q, self.link_index, self.reference_link_index, self._offset.array,
                self._rows, self._chain_link, self._chain_slides, self._chain_axis,
                self._chain_point, self._threshold.array, self._weights.array, start_idx,
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
        """Write the row; see :meth:`IKObjective.compute_jacobian_analytic`."""
        self._launch(
            _jacobian_kernel(jacobian.dtype, len(self._axes)),
            body_q.shape[0],
            [
                body_q, joint_S_s, self.link_index, self.reference_link_index,
                self._offset.array, self._rows, self._chain_dof, self._threshold.array,
                self._weights.array, start_idx,
            ],
            jacobian,
        )  # fmt: skip


def _checked_threshold(threshold: float) -> np.ndarray:
    """Return a threshold, float64 [1], or raise ArgumentError."""
    least = checked_vector('threshold', np.atleast_1d(threshold), 1)
    if least[0] <= 0.0:
        raise ArgumentError(f'threshold must be positive, got {threshold}')
    return least
