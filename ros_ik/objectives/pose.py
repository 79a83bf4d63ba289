# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objective: a frame on a link reaches a target pose in the world or in a reference link.

    r = [ w_p (p_t - p) ;  w_r theta ],   theta = log(R_t R^T)

p, R are the pose of the frame, all seen in the reference link (in world axes when there is none).
With v, omega the velocity of the frame relative to the reference link, in its axes,

    dr = [ -w_p v ;  -w_r J_l^-1(-theta) omega ]

with the left Jacobian of SO(3), see :mod:`ros_ik.objectives.base.functions`. The geometric form
takes J_l for the identity: exact at the target and along the gradient of the angle everywhere, as
in newton.ik and roboplan.
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
from ros_ik.objectives.base.arguments import checked_pose
from ros_ik.objectives.base.arguments import checked_quaternions
from ros_ik.objectives.base.arguments import checked_weight
from ros_ik.objectives.base.builtin import BuiltinObjective
from ros_ik.objectives.base.functions import objective_functions
from ros_ik.objectives.base.record import make_record
from ros_ik.objectives.base.record import RecordKind
from ros_ik.objectives.interface.jacobian_type import IKJacobianType

if TYPE_CHECKING:
    from ros_ik.model import Model

_IDENTITY_POSE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


@no_type_check
@functools.cache
def _residual_kernel(scalar: type, stored: type, differentiable: bool) -> wp.Kernel:
    functions = objective_functions(scalar)
    transform, rotation_log = functions.transform, functions.rotation_log
    problem_row, read_transform = functions.problem_row, functions.read_transform
    link_pose = functions.link_pose

    @compiled_kernel(differentiable=differentiable)
    def pose_residuals(
        body_q: wp.array2d(dtype=transform),  # [n_batch, body_count]
        target_pose: wp.array2d(dtype=stored),  # [n_problems, 7]
        weight: wp.array2d(dtype=wp.float64),  # [1, 6]
        link: int,
        reference: int,
        offset: wp.array2d(dtype=wp.float64),  # [1, 7]
        problem_idx: wp.array(dtype=wp.int32),  # [n_batch]
        start_idx: int,
        residuals: wp.array2d(dtype=scalar),  # [n_batch, total_residuals]
    ):
        row = wp.tid()
        target = read_transform(target_pose, problem_row(row, problem_idx, target_pose.shape[0]))
        frame = body_q[row, link] * read_transform(offset, 0)
        pose = wp.transform_inverse(link_pose(row, reference, body_q)) * frame
        position = wp.transform_get_translation(target) - wp.transform_get_translation(pose)
        rotation = rotation_log(
            wp.transform_get_rotation(target) * wp.quat_inverse(wp.transform_get_rotation(pose))
        )
        for axis in range(3):
            residuals[row, start_idx + axis] = scalar(weight[0, axis]) * position[axis]
            residuals[row, start_idx + 3 + axis] = scalar(weight[0, 3 + axis]) * rotation[axis]

    return pose_residuals


@no_type_check
@functools.cache
def _jacobian_kernel(scalar: type, stored: type) -> wp.Kernel:
    functions = objective_functions(scalar)
    vec3, transform, twist = functions.vec3, functions.transform, functions.twist
    rotation_log, log_velocity = functions.rotation_log, functions.log_velocity
    point_velocity, problem_row = functions.point_velocity, functions.problem_row
    read_transform, link_pose = functions.read_transform, functions.link_pose

    @compiled_kernel()
    def pose_jacobian(
        body_q: wp.array2d(dtype=transform),  # [n_batch, body_count]
        joint_S_s: wp.array2d(dtype=twist),  # [n_batch, joint_dof_count]
        target_pose: wp.array2d(dtype=stored),  # [n_problems, 7]
        weight: wp.array2d(dtype=wp.float64),  # [1, 6]
        link: int,
        reference: int,
        offset: wp.array2d(dtype=wp.float64),  # [1, 7]
        exact: int,
        chain_dof: wp.array(dtype=wp.int32),  # [n_chain]
        chain_sign: wp.array(dtype=wp.int32),  # [n_chain]
        problem_idx: wp.array(dtype=wp.int32),  # [n_batch]
        start_idx: int,
        jacobian: wp.array3d(dtype=scalar),  # [n_batch, total_residuals, joint_dof_count]
    ):
        row = wp.tid()
        frame = body_q[row, link] * read_transform(offset, 0)
        point = wp.transform_get_translation(frame)
        to_reference = wp.quat_inverse(
            wp.transform_get_rotation(link_pose(row, reference, body_q))
        )
        error = vec3()
        if exact != 0:
            target = read_transform(
                target_pose, problem_row(row, problem_idx, target_pose.shape[0])
            )
            rotation = to_reference * wp.transform_get_rotation(frame)
            error = rotation_log(wp.transform_get_rotation(target) * wp.quat_inverse(rotation))
        for k in range(chain_dof.shape[0]):
            dof = chain_dof[k]
            sign = scalar(chain_sign[k])
            S = joint_S_s[row, dof]
            linear = wp.quat_rotate(to_reference, point_velocity(S, point))
            angular = wp.quat_rotate(to_reference, vec3(S[3], S[4], S[5]))
            if exact != 0:
                angular = log_velocity(-error, angular)
            for axis in range(3):
                jacobian[row, start_idx + axis, dof] = (
                    -sign * scalar(weight[0, axis]) * linear[axis]
                )
                jacobian[row, start_idx + 3 + axis, dof] = (
                    -sign * scalar(weight[0, 3 + axis]) * angular[axis]
                )

    return pose_jacobian


class IKObjectivePose(BuiltinObjective):
    """A frame on a link reaches a pose; the position and rotation residuals have weights per axis.

    Attributes:
        link_index: The link that carries the frame.
        reference_link_index: The link in which targets are given; -1 for the world.
        exact_jacobian: Whether the Jacobian is that of the logarithm, not of the angle alone.
    """

    construction_only = frozenset(('position_weight', 'rotation_weight'))

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
                transforms, which is then read where it is.
            link_offset: Pose of the frame in the link, shape [7]; None for the link's origin.
            reference_link_index: Link in which the targets are given; -1 for the world.
            position_weight: Factor on the position residual [1/m], one or per axis.
            rotation_weight: Factor on the rotation residual [1/rad], one or per axis.
            exact_jacobian: False for the geometric form of the module, with which a control step
                turns about one axis all the way however far the target is.

        Raises:
            ArgumentError: A wrong shape, a number that is not finite, a quaternion whose norm is
                outside [0.99, 1.01], a negative weight.
        """
        position = checked_weight('position_weight', position_weight, 3)
        rotation = checked_weight('rotation_weight', rotation_weight, 3)
        super().__init__(np.concatenate([position, rotation]))
        self.link_index = checked_link('link_index', link_index)
        self.reference_link_index = checked_link('reference_link_index', reference_link_index)
        self.exact_jacobian = bool(exact_jacobian)
        offset = checked_pose(
            'link_offset', _IDENTITY_POSE if link_offset is None else link_offset
        )
        self._offset = self._parameter('link_offset', offset, 7)
        targets = checked_quaternions('target_poses', target_poses, 3, unit=True)
        self._set_targets('target_poses', targets, 7)

    def _replace_targets(self, values: Any) -> None:
        super()._replace_targets(checked_quaternions('target_poses', values, 3, unit=True))

    def residual_blocks(self) -> tuple[int, ...]:
        """Return (3, 3): metres, then radians."""
        return (3, 3)

    def init_buffers(
        self, model: 'Model', jacobian_mode: object = IKJacobianType.ANALYTIC
    ) -> None:
        """Find the degrees of freedom between the reference link and the link.

        Raises:
            ArgumentError: A link index outside the model.
        """
        self._set_chain(model, self.link_index, self.reference_link_index)

    def set_target_pose(self, problem_idx: int, pose: Any) -> None:
        """Change one target, shape [7]; a solve reports values that are not finite."""
        self._targets.write_row(problem_idx, pose)

    def set_target_poses(self, poses: Any) -> None:
        """Change every target: numbers or a Warp array, as given to the constructor."""
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

    def record(self) -> Any:
        """Return the record; see :meth:`IKObjective.record`."""
        return make_record(
            RecordKind.POSE,
            self._weights.array,
            link=self.link_index,
            reference=self.reference_link_index,
            flag=int(self.exact_jacobian),
            target=self._targets.array,
            offset=self._offset.array,
            chain_dof=self._chain_dof,
            chain_sign=self._chain_sign,
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
        """Write the six residuals; see :meth:`IKObjective.compute_residuals`."""
        rows = body_q.shape[0]
        self._launch(
            _residual_kernel(residuals.dtype, self._targets.scalar, residuals.requires_grad),
            rows,
            [
                body_q, self._targets.array, self._weights.array, self.link_index,
                self.reference_link_index, self._offset.array,
                self._problems(problem_idx, rows), start_idx,
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
        """Write the six rows; see :meth:`IKObjective.compute_jacobian_analytic`."""
        rows = body_q.shape[0]
        self._launch(
            _jacobian_kernel(jacobian.dtype, self._targets.scalar),
            rows,
            [
                body_q, joint_S_s, self._targets.array, self._weights.array, self.link_index,
                self.reference_link_index, self._offset.array, int(self.exact_jacobian),
                self._chain_dof, self._chain_sign, self._problem_idx.get(rows), start_idx,
            ],
            jacobian,
        )  # fmt: skip
