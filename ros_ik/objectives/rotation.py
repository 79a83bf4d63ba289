# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objective for the orientation of a frame on a link, in the world.

    r = w theta,   theta = log(R R_t^-1),   dr/dq_j = w J_l^-1(theta) omega_j

theta is the rotation vector from the target to the frame, in world axes. J_l is the left Jacobian
of SO(3), see :mod:`ros_ik.objectives.base.functions`. Newton replaces J_l by the identity.
"""

from collections.abc import Sequence
import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.arguments import checked_link
from ros_ik.kinematics.runtime.read_once import read_only
from ros_ik.model.conventions.checks import checked_flag
from ros_ik.objectives.base.arguments import checked_quaternions
from ros_ik.objectives.base.arguments import checked_unit
from ros_ik.objectives.base.arguments import checked_weight
from ros_ik.objectives.base.formula import block_functions
from ros_ik.objectives.base.formula import Formula
from ros_ik.objectives.base.functions import objective_functions
from ros_ik.objectives.base.link_objective import LinkObjective
from ros_ik.objectives.base.number_table import as_table
from ros_ik.objectives.base.number_table import table_functions

# Newton's threshold: below this length of the vector part, the axis is not computed.
_NO_AXIS = 1e-8


@no_type_check
@functools.cache
def _error_functions(scalar: type) -> SimpleNamespace:
    """Build ``rotation_error(..) -> quat`` and ``rotation_vector(quat) -> vec3``."""
    functions = objective_functions(scalar)
    vec3, quat, transform = functions.vec3, functions.quat, functions.transform

    @wp.func
    def rotation_error(pose: transform, offset: quat, target: quat, shorter: int) -> quat:
        """Return the rotation from the target to the frame, for the shorter way if asked."""
        error = wp.transform_get_rotation(pose) * offset * wp.quat_inverse(target)
        if shorter != 0 and error[3] < scalar(0.0):
            error = -error
        return error

    @wp.func
    def rotation_vector(q: quat) -> vec3:
        """Return axis times angle; the axis is undefined at an angle of a full turn."""
        v = vec3(q[0], q[1], q[2])
        sine = wp.length(v)
        factor = scalar(0.0)
        if sine > scalar(wp.static(_NO_AXIS)):
            factor = scalar(2.0) * wp.atan2(sine, q[3]) / sine
        else:
            factor = scalar(2.0) / wp.abs(q[3])  # not finite for a quaternion of zeros
        return factor * v

    return SimpleNamespace(rotation_error=rotation_error, rotation_vector=rotation_vector)


@no_type_check
@functools.cache
def _functions(scalar: type) -> SimpleNamespace:
    types, tables = objective_functions(scalar), table_functions(scalar)
    vec3, transform, twist = types.vec3, types.transform, types.twist
    read_quat, log_velocity = types.read_quat, types.log_velocity
    Table, table_quat = tables.Table, tables.table_quat
    errors, rows3 = _error_functions(scalar), block_functions(scalar).rows3
    rotation_error, rotation_vector = errors.rotation_error, errors.rotation_vector

    @wp.struct
    class Parameters:
        link: int
        shorter: int
        offset: wp.array2d(dtype=wp.float64)  # [1, 4]
        target: Table  # [n_problems, 4]

    @wp.struct
    class State:
        theta: vec3

    @wp.func
    def prepare(
        parameters: Parameters,
        row: int,
        problem: int,
        block: int,
        body_q: wp.array2d(dtype=transform),
    ) -> State:
        state = State()
        state.theta = rotation_vector(
            rotation_error(
                body_q[row, parameters.link],
                read_quat(parameters.offset, 0, 0),
                table_quat(parameters.target, problem, 0),
                parameters.shorter,
            )
        )
        return state

    @wp.func
    def residual(state: State) -> twist:
        return rows3(state.theta)

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
        S = joint_S_s[row, dof]
        return rows3(log_velocity(state.theta, vec3(S[3], S[4], S[5])))

    return SimpleNamespace(
        Parameters=Parameters, State=State, prepare=prepare, residual=residual, column=column
    )


ROTATION = Formula('rotation', _functions, rows=3)


class IKObjectiveRotation(LinkObjective):
    """Rotate a frame on a link to an orientation; names and signs are those of ``newton.ik``.

    Attributes:
        link_index: The link that carries the frame.
        canonicalize_quat_err: True if the error is the shorter of the two rotations.
    """

    formula = ROTATION

    def __init__(
        self,
        link_index: int,
        link_offset_rotation: Any,
        target_rotations: Any,
        canonicalize_quat_err: bool = True,
        weight: float | Sequence[float] = 1.0,
    ) -> None:
        """Create the objective.

        Args:
            link_index: Index of the link.
            link_offset_rotation: Orientation of the frame in the link, x y z w, shape [4].
            target_rotations: Orientations of the frame in the world, x y z w: numbers of shape
                [4] or [n_problems, 4], which are normalised, or a Warp array [n_problems] of vec4
                or quaternions, which is read in place.
            canonicalize_quat_err: Use the shorter rotation, of up to half a turn. Otherwise the
                sign of the quaternions selects the rotation, of up to a full turn. The Jacobian
                grows without bound near a full turn.
            weight: Factor on the residuals [1/rad], one or per axis.

        Raises:
            ArgumentError: A wrong shape or type, a zero quaternion, a negative weight.
        """
        super().__init__(checked_weight('weight', weight, 3))
        self.link_index = checked_link('link_index', link_index)
        self.canonicalize_quat_err = checked_flag(
            'canonicalize_quat_err', canonicalize_quat_err
        )
        offset = checked_unit('link_offset_rotation', link_offset_rotation, 4)
        self._offset = self._parameter('link_offset_rotation', offset, 4)
        targets = checked_quaternions('target_rotations', target_rotations, 0)
        self._set_targets('target_rotations', targets, 4)

    @property
    def target_rotations(self) -> wp.array:
        """Targets on the device, read by the next solve.

        This is the Warp array that was given, or else an array of shape [n_problems, 4].
        """
        return self._targets.given

    @target_rotations.setter
    def target_rotations(self, values: Any) -> None:
        self._replace_targets(checked_quaternions('target_rotations', values, 0))

    def set_target_rotation(self, problem_idx: int, new_rotation: Any) -> None:
        """Change one target, x y z w of any length; a solve reports a zero quaternion."""
        self._targets.write_row(problem_idx, new_rotation)

    def set_target_rotations(self, new_rotations: Any) -> None:
        """Copy every target, into the given array if the constructor got a Warp array.

        Later changes of the argument have no effect. To have another array read in place, assign
        it to ``target_rotations``.
        """
        self._targets.write(new_rotations)

    @property
    def link_offset_rotation(self) -> np.ndarray:
        """Orientation of the frame in the link, x y z w, shape [4]; may be set."""
        return read_only(self._offset.read()[0])

    @link_offset_rotation.setter
    def link_offset_rotation(self, value: Any) -> None:
        self._offset.write(checked_unit('link_offset_rotation', value, 4))

    def _fill(self, parameters: Any, scalar: type) -> None:
        parameters.link, parameters.offset = self.link_index, self._offset.array
        parameters.shorter = int(self.canonicalize_quat_err)
        parameters.target = as_table(self._targets)
