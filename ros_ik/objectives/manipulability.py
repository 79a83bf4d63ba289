# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objective that keeps the manipulability of a link above a threshold.

    r = w max(0, 1 - m / m_min),   m = sqrt(det(J J^T))

m is Yoshikawa's measure (Yoshikawa, Manipulability of Robotic Mechanisms, 1985). J is the Jacobian
of a point of the link, or some of its rows. With the linear and angular column l_j, omega_j of
joint j, and joints in order from the base, the derivative of m is

    dm/dq_i = m tr((J J^T)^-1 dJ/dq_i J^T)
    d omega_j/dq_i = omega_i x omega_j for i before j, else 0
    d l_j/dq_i = omega_i x l_j for i before j, else omega_j x l_i

r has a kink at m = m_min, but its square, which solvers minimise, is smooth. At a singular
configuration m has no derivative; the Jacobian of r is set to zero there, although it is not zero
nearby. The k x k algebra is in float64, because J J^T squares the condition number of J.
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
from ros_ik.kinematics.runtime.arguments import checked_link
from ros_ik.kinematics.runtime.read_once import read_only
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.numbers import integer_array
from ros_ik.numbers import shown
from ros_ik.objectives.base.arguments import checked_vector
from ros_ik.objectives.base.arguments import checked_weight
from ros_ik.objectives.base.builtin import BuiltinObjective
from ros_ik.objectives.base.formula import block_functions
from ros_ik.objectives.base.formula import Formula
from ros_ik.objectives.base.functions import objective_functions
from ros_ik.objectives.interface.jacobian_type import IKJacobianType
from ros_ik.objectives.jacobian.columns import column_functions
from ros_ik.objectives.jacobian.gram import gram_functions
from ros_ik.objectives.jacobian.serial_joints import serial_joints

if TYPE_CHECKING:
    from ros_ik.model import Model


_ALL_AXES = (0, 1, 2, 3, 4, 5)


@no_type_check
@functools.cache
def _functions(scalar: type) -> SimpleNamespace:
    types, gram, columns = objective_functions(scalar), gram_functions(6), column_functions(scalar)
    vec3, transform, twist = types.vec3, types.transform, types.twist
    read_vec3, link_pose, rows1 = types.read_vec3, types.link_pose, block_functions(scalar).rows1
    matrix, root_determinant, inverse = gram.matrix, gram.root_determinant, gram.inverse
    local_column, column_derivative = columns.local_column, columns.column_derivative

    @wp.struct
    class Parameters:
        link: int
        reference: int
        offset: wp.array2d(dtype=wp.float64)  # [1, 3]
        threshold: wp.array2d(dtype=wp.float64)  # [1, 1]
        counts: wp.types.vector(6, wp.float64)  # 1 for selected rows of the Jacobian, else 0
        chain_dof: wp.array(dtype=wp.int32)  # [n_chain], from the reference to the link
        chain_link: wp.array(dtype=wp.int32)  # [n_chain]
        chain_slides: wp.array(dtype=wp.int32)  # [n_chain]
        chain_axis: wp.array2d(dtype=wp.float64)  # [n_chain, 3], in the link
        chain_point: wp.array2d(dtype=wp.float64)  # [n_chain, 3], in the link

    @wp.struct
    class State:
        to_reference: transform
        point: vec3  # of the link, in the world
        threshold: wp.float64
        measure: wp.float64
        A: matrix  # J J^T; then the matrix B with dr/dq_i = tr(B dJ/dq_i J^T)

    @wp.func
    def joint_column(pose: transform, slides: int, axis: vec3, pivot: vec3, point: vec3) -> twist:
        """Return the velocity of a point of the link due to a joint, from its child's pose."""
        omega = wp.transform_vector(pose, axis)
        linear = omega
        if slides != 0:
            omega = vec3()
        else:
            linear = wp.cross(omega, point - wp.transform_point(pose, pivot))
        return twist(linear[0], linear[1], linear[2], omega[0], omega[1], omega[2])

    @wp.func
    def counted(counts: wp.spatial_vectord, column: twist) -> wp.spatial_vectord:
        """Return the column with zeros in rows that are not selected."""
        return wp.cw_mul(counts, wp.spatial_vectord(column))

    # In a separate function, because the backward pass of a kernel does not replay its loops, and
    # code after the sum needs its value.
    @wp.func
    def chain_gram(
        parameters: Parameters,
        row: int,
        point: vec3,
        to_reference: transform,
        body_q: wp.array2d(dtype=transform),
    ) -> matrix:
        """Return J J^T in axes of the reference; the identity in rows that are not selected."""
        A = wp.diag(wp.spatial_vectord(wp.float64(1.0)) - parameters.counts)
        for j in range(parameters.chain_link.shape[0]):
            pose = to_reference * body_q[row, parameters.chain_link[j]]
            axis = read_vec3(parameters.chain_axis, j)
            pivot = read_vec3(parameters.chain_point, j)
            full = joint_column(pose, parameters.chain_slides[j], axis, pivot, point)
            column = counted(parameters.counts, full)
            A += wp.outer(column, column)
        return A

    @wp.func
    def prepare(
        parameters: Parameters,
        row: int,
        problem: int,
        block: int,
        body_q: wp.array2d(dtype=transform),
    ) -> State:
        state = State()
        to_reference = wp.transform_inverse(link_pose(row, parameters.reference, body_q))
        point = wp.transform_point(body_q[row, parameters.link], read_vec3(parameters.offset, 0))
        A = chain_gram(
            parameters, row, wp.transform_point(to_reference, point), to_reference, body_q
        )
        state.to_reference = to_reference
        state.point = point
        state.threshold = parameters.threshold[0, 0]
        state.measure = root_determinant(A)
        state.A = A
        return state

    @wp.func
    def residual(state: State) -> twist:
        lack = wp.float64(1.0) - state.measure / state.threshold
        return rows1(scalar(wp.max(wp.float64(0.0), lack)))

    @wp.func
    def linearize(state: State) -> State:
        B = matrix()
        if state.measure > wp.float64(0.0) and state.measure < state.threshold:
            B = inverse(state.A) * (-state.measure / state.threshold)
        state.A = B
        return state

    @wp.func
    def column(
        state: State,
        parameters: Parameters,
        row: int,
        slot: int,
        dof: int,
        sign: scalar,
        body_q: wp.array2d(dtype=transform),
        joint_S_s: wp.array2d(dtype=twist),
    ) -> twist:
        slope = wp.float64(0.0)
        by = local_column(joint_S_s[row, dof], state.point, state.to_reference)
        for j in range(parameters.chain_dof.shape[0]):
            S = joint_S_s[row, parameters.chain_dof[j]]
            full = local_column(S, state.point, state.to_reference)
            derivative = counted(parameters.counts, column_derivative(full, by, int(slot < j)))
            slope += wp.dot(state.A * counted(parameters.counts, full), derivative)
        return rows1(scalar(slope))

    return SimpleNamespace(
        Parameters=Parameters,
        State=State,
        prepare=prepare,
        residual=residual,
        linearize=linearize,
        column=column,
    )


MANIPULABILITY = Formula('manipulability', _functions, rows=1, is_one_sided=True)


class IKObjectiveManipulability(BuiltinObjective):
    """Keep Yoshikawa's manipulability of a link above a threshold; one residual.

    Attributes:
        link_index: The link.
        reference_link_index: The link relative to which it moves; -1 for the world.
    """

    formula = MANIPULABILITY

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
            threshold: Measure above which the cost is zero [m^k for k linear axes].
            link_offset: Point of the link whose velocity is used [m], shape [3].
            reference_link_index: An ancestor of the link; -1 for the world. Only the joints
                between the two are used, and the rows are in its axes. Choose a link of the body
                on a robot with a free base.
            axes: Rows of the Jacobian that are used, 0 to 2 along and 3 to 5 about x, y, z;
                (0, 1, 2) for translation only.
            weight: Factor on the residual.

        Raises:
            ArgumentError: A threshold that is not positive, axes that repeat or are unknown, a
                wrong shape, a negative weight.
        """
        super().__init__(checked_weight('weight', weight))
        self.link_index = checked_link('link_index', link_index)
        self.reference_link_index = checked_link('reference_link_index', reference_link_index)
        given = integer_array('axes', axes)
        self._axes = tuple(given.ravel().tolist())
        is_set = given.ndim == 1 and 0 < len(set(self._axes)) == len(self._axes)
        if not is_set or set(self._axes) - set(_ALL_AXES):
            raise ArgumentError(f'axes must be different numbers from 0 to 5, got {shown(axes)}')
        self._threshold = self._parameter('threshold', _checked_threshold(threshold), 1)
        self._offset = self._parameter(
            'link_offset', checked_vector('link_offset', link_offset, 3), 3
        )

    @property
    def threshold(self) -> float:
        """Measure above which the cost is zero; may be set."""
        return float(self._threshold.read()[0, 0])

    @threshold.setter
    def threshold(self, value: float) -> None:
        self._threshold.write(_checked_threshold(value))

    @property
    def link_offset(self) -> np.ndarray:
        """Point of the link whose velocity is used [m], shape [3]; may be set."""
        return read_only(self._offset.read()[0])

    @link_offset.setter
    def link_offset(self, value: Any) -> None:
        self._offset.write(checked_vector('link_offset', value, 3))

    @shares_launch_lock
    def init_buffers(
        self, model: 'Model', jacobian_mode: object = IKJacobianType.ANALYTIC
    ) -> None:
        """Find the joints between the reference link and the link.

        Raises:
            ArgumentError: A link outside the model, a reference that is not its ancestor, a joint
                between them with more than one degree of freedom, or fewer joints than axes.
        """
        joints = serial_joints(model, self.link_index, self.reference_link_index)
        if len(joints.dofs) < len(self._axes):
            raise ArgumentError(
                f'axes must be no more than the {len(joints.dofs)} joints that move link '
                f'{self.link_index}, got {self._axes}'
            )
        self._joint_links = joints.links.tolist()
        self._chain_dof, self._chain_sign, self._chain_link, self._chain_slides = (
            wp.array(values, dtype=wp.int32, device=self.device)
            for values in (joints.dofs, np.ones_like(joints.dofs), joints.links, joints.slides)
        )
        self._chain_axis, self._chain_point = (
            wp.array(values, dtype=wp.float64, ndim=2, device=self.device)
            for values in (joints.axes, joints.points)
        )

    def _fill(self, parameters: Any, scalar: type) -> None:
        parameters.link, parameters.reference = self.link_index, self.reference_link_index
        parameters.offset, parameters.threshold = self._offset.array, self._threshold.array
        parameters.counts = wp.spatial_vectord(*(float(axis in self._axes) for axis in _ALL_AXES))
        parameters.chain_dof, parameters.chain_link = self._chain_dof, self._chain_link
        parameters.chain_slides = self._chain_slides
        parameters.chain_axis, parameters.chain_point = self._chain_axis, self._chain_point

    def _links(self) -> frozenset[int]:
        return frozenset((self.link_index, self.reference_link_index, *self._joint_links))


def _checked_threshold(threshold: float) -> np.ndarray:
    """Return a threshold, float64 [1], or raise ArgumentError."""
    least = checked_vector('threshold', np.atleast_1d(threshold), 1)
    if least[0] <= 0.0:
        raise ArgumentError(f'threshold must be positive, got {threshold}')
    return least
