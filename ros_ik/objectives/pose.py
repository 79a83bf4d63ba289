# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objective for the pose of a frame on a link, in the world or in a reference link.

    r = [ w_p (p_t - p) ;  w_r theta ],   theta = log(R_t R^T)

p, R are the pose of the frame and p_t, R_t its target, all in the reference link, or in the world.
With the velocity v, omega of the frame relative to the reference link, in its axes,

    dr = [ -w_p v ;  -w_r J_l^-1(-theta) omega ]

J_l is the left Jacobian of SO(3), see :mod:`ros_ik.objectives.base.functions`. The geometric form
replaces J_l by the identity, as newton.ik and roboplan do. It is exact at the target, and gives
the exact gradient of the angle everywhere.
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
from ros_ik.model.conventions.poses import IDENTITY_POSE
from ros_ik.objectives.base.arguments import checked_pose
from ros_ik.objectives.base.arguments import checked_quaternions
from ros_ik.objectives.base.arguments import checked_weight
from ros_ik.objectives.base.formula import Formula
from ros_ik.objectives.base.functions import objective_functions
from ros_ik.objectives.base.link_objective import LinkObjective
from ros_ik.objectives.base.number_table import as_table
from ros_ik.objectives.base.number_table import table_functions


@no_type_check
@functools.cache
def _functions(exact: bool, scalar: type) -> SimpleNamespace:
    types, tables = objective_functions(scalar), table_functions(scalar)
    vec3, quat, transform, twist = types.vec3, types.quat, types.transform, types.twist
    rotation_difference, log_velocity = types.rotation_difference, types.log_velocity
    point_velocity, link_pose = types.point_velocity, types.link_pose
    read_transform = types.read_transform
    Table, table_vec3, table_quat = tables.Table, tables.table_vec3, tables.table_quat

    @wp.struct
    class Parameters:
        link: int
        reference: int
        offset: wp.array2d(dtype=wp.float64)  # [1, 7]
        target: Table  # [n_problems, 7]

    @wp.struct
    class State:
        point: vec3  # of the frame, in the world
        to_reference: quat
        position: vec3
        rotation: vec3

    @wp.func
    def prepare(
        parameters: Parameters,
        row: int,
        problem: int,
        block: int,
        body_q: wp.array2d(dtype=transform),
    ) -> State:
        state = State()
        frame = body_q[row, parameters.link] * read_transform(parameters.offset, 0)
        to_reference = wp.transform_inverse(link_pose(row, parameters.reference, body_q))
        pose = to_reference * frame
        state.point = wp.transform_get_translation(frame)
        state.to_reference = wp.transform_get_rotation(to_reference)
        target = table_vec3(parameters.target, problem, 0)
        state.position = target - wp.transform_get_translation(pose)
        state.rotation = rotation_difference(
            table_quat(parameters.target, problem, 3), wp.transform_get_rotation(pose)
        )
        return state

    @wp.func
    def exact_rate(rotation: vec3, omega: vec3) -> vec3:
        return log_velocity(-rotation, omega)

    @wp.func
    def geometric_rate(rotation: vec3, omega: vec3) -> vec3:
        return omega

    # A branch inside the loop over columns would make compilers evaluate both sides.
    rotation_rate = exact_rate if exact else geometric_rate

    @wp.func
    def residual(state: State) -> twist:
        p = state.position
        theta = state.rotation
        return twist(p[0], p[1], p[2], theta[0], theta[1], theta[2])

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
        v = point_velocity(S, state.point)
        omega = vec3(S[3], S[4], S[5])
        if parameters.reference >= 0:
            v = sign * wp.quat_rotate(state.to_reference, v)
            omega = sign * wp.quat_rotate(state.to_reference, omega)
        rate = rotation_rate(state.rotation, omega)
        return -twist(v[0], v[1], v[2], rate[0], rate[1], rate[2])

    return SimpleNamespace(
        Parameters=Parameters, State=State, prepare=prepare, residual=residual, column=column
    )


POSE = Formula('pose', functools.partial(_functions, True), rows=6, unit_rows=3)
GEOMETRIC_POSE = Formula(
    'geometric_pose', functools.partial(_functions, False), rows=6, unit_rows=3
)


class IKObjectivePose(LinkObjective):
    """Move a frame on a link to a pose, with weights per axis for position and rotation.

    Attributes:
        link_index: The link that carries the frame.
        reference_link_index: Link in whose frame the targets are given; -1 for the world.
        exact_jacobian: True for the exact Jacobian of the rotation, False for the geometric form.
    """

    construction_only = frozenset(('position_weight', 'rotation_weight'))
    _places_a_point = True

    def __init__(
        self,
        link_index: int,
        target_poses: Any,
        *,
        link_offset: np.ndarray | Sequence[float] | None = None,
        reference_link_index: int = -1,
        position_weight: float | Sequence[float] = 1.0,
        rotation_weight: float | Sequence[float] = 1.0,
        exact_jacobian: bool = True,
    ) -> None:
        """Create the objective.

        Args:
            link_index: Index of the link.
            target_poses: Targets of the frame in the reference link, x y z [m] qx qy qz qw:
                numbers of shape [7] or [n_problems, 7], or a Warp array [n_problems] of
                transforms, which is read in place.
            link_offset: Pose of the frame in the link, shape [7]; None for the link's origin.
            reference_link_index: Link in whose frame the targets are given; -1 for the world.
            position_weight: Factor on the position residual [1/m], one or per axis.
            rotation_weight: Factor on the rotation residual [1/rad], one or per axis.
            exact_jacobian: False for the geometric form of the Jacobian. A control step then turns
                about a constant axis, however far the target is.

        Raises:
            ArgumentError: A wrong shape, a number that is not finite, a quaternion whose norm is
                outside [0.99, 1.01], a negative weight.
        """
        position = checked_weight('position_weight', position_weight, 3)
        rotation = checked_weight('rotation_weight', rotation_weight, 3)
        super().__init__(np.concatenate([position, rotation]))
        self.link_index = checked_link('link_index', link_index)
        self.reference_link_index = checked_link('reference_link_index', reference_link_index)
        self.exact_jacobian = checked_flag('exact_jacobian', exact_jacobian)
        offset = checked_pose('link_offset', IDENTITY_POSE if link_offset is None else link_offset)
        self._offset = self._parameter('link_offset', offset, 7)
        targets = checked_quaternions('target_poses', target_poses, 3, unit=True)
        self._set_targets('target_poses', targets, 7)

    def _replace_targets(self, values: Any) -> None:
        super()._replace_targets(checked_quaternions('target_poses', values, 3, unit=True))

    @property
    def formula(self) -> Formula:
        """Exact or geometric formula."""
        return POSE if self.exact_jacobian else GEOMETRIC_POSE

    def residual_blocks(self) -> tuple[int, ...]:
        """Return (3, 3): metres, then radians."""
        return (3, 3)

    def set_target_pose(self, problem_idx: int, pose: Any) -> None:
        """Change one target, shape [7]; a solve reports non-finite values."""
        self._targets.write_row(problem_idx, pose)

    def set_target_poses(self, poses: Any) -> None:
        """Copy every target, into the given array if the constructor got a Warp array.

        Later changes of the argument have no effect. To have another array read in place, assign
        it to ``target_poses``.
        """
        self._targets.write(poses)

    def target_poses(self) -> np.ndarray:
        """Return a copy of the targets, shape [n_problems, 7]."""
        return self._targets.read()

    @property
    def link_offset(self) -> np.ndarray:
        """Pose of the frame in the link, shape [7]; may be set."""
        return read_only(self._offset.read()[0])

    @link_offset.setter
    def link_offset(self, pose: np.ndarray | Sequence[float]) -> None:
        self.set_link_offset(pose)

    def set_link_offset(self, pose: np.ndarray | Sequence[float]) -> None:
        """Change the pose of the frame in the link, shape [7]."""
        self._offset.write(checked_pose('link_offset', pose))

    def _fill(self, parameters: Any, scalar: type) -> None:
        parameters.link, parameters.reference = self.link_index, self.reference_link_index
        parameters.offset = self._offset.array
        parameters.target = as_table(self._targets)
