# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objective: a frame on a link reaches a target pose in the world or in a reference link.

    r = [ w_p (p_t - p) ;  w_r log(R_t R^T) ]

p, R are the pose of the frame, all seen in the reference link (in world axes when there is none).
The Jacobian treats the logarithm as the identity, -w_r omega for -w_r J_l^-1(theta) omega: exact
at the target and along the gradient of the angle everywhere, as in newton.ik and roboplan.
"""

from collections.abc import Sequence
import functools
from types import SimpleNamespace
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.chain import relative_chain
from ros_ik.kinematics.host_buffer import HostBuffer
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.objectives.objective import IKObjective

if TYPE_CHECKING:
    from ros_ik.model import Model

_IDENTITY_POSE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


@no_type_check
@functools.cache
def _pose_kernels(scalar: type) -> SimpleNamespace:
    """Build the residual and Jacobian kernels of one floating-point type."""
    spatial = spatial_functions(scalar)
    rotation_log = spatial.rotation_log
    point_velocity = spatial.point_velocity
    vec3 = wp.types.vector(3, scalar)
    transform = wp.types.transformation(scalar)
    spatial_vector = wp.types.vector(6, scalar)

    @wp.func
    def frame_in_world(
        row: int, link: int, offset: transform, body_q: wp.array2d(dtype=transform)
    ) -> transform:
        return body_q[row, link] * offset

    @wp.func
    def reference_in_world(
        row: int, reference: int, body_q: wp.array2d(dtype=transform)
    ) -> transform:
        if reference >= 0:
            return body_q[row, reference]
        return wp.transform_identity(dtype=scalar)

    @wp.kernel(enable_backward=False, module='unique')
    def pose_residuals(
        body_q: wp.array2d(dtype=transform),  # [n_batch, body_count]
        target_pose: wp.array(dtype=transform),  # [n_problems]
        weight: wp.array(dtype=scalar),  # [6]
        link: int,
        reference: int,
        offset: wp.array(dtype=transform),  # [1]
        problem_idx: wp.array(dtype=wp.int32),  # [n_batch]
        start_idx: int,
        residuals: wp.array2d(dtype=scalar),  # [n_batch, total_residuals]
    ):
        row = wp.tid()
        target = target_pose[problem_idx[row]]
        frame = frame_in_world(row, link, offset[0], body_q)
        pose = wp.transform_inverse(reference_in_world(row, reference, body_q)) * frame
        position = wp.transform_get_translation(target) - wp.transform_get_translation(pose)
        rotation = rotation_log(
            wp.transform_get_rotation(target) * wp.quat_inverse(wp.transform_get_rotation(pose))
        )
        for axis in range(3):
            residuals[row, start_idx + axis] = weight[axis] * position[axis]
            residuals[row, start_idx + 3 + axis] = weight[3 + axis] * rotation[axis]

    @wp.kernel(enable_backward=False, module='unique')
    def pose_jacobian(
        body_q: wp.array2d(dtype=transform),  # [n_batch, body_count]
        joint_S_s: wp.array2d(dtype=spatial_vector),  # [n_batch, joint_dof_count]
        weight: wp.array(dtype=scalar),  # [6]
        link: int,
        reference: int,
        offset: wp.array(dtype=transform),  # [1]
        chain_dof: wp.array(dtype=wp.int32),  # [n_chain]
        chain_sign: wp.array(dtype=wp.int32),  # [n_chain]
        start_idx: int,
        jacobian: wp.array3d(dtype=scalar),  # [n_batch, total_residuals, joint_dof_count]
    ):
        row = wp.tid()
        frame = frame_in_world(row, link, offset[0], body_q)
        point = wp.transform_get_translation(frame)
        to_reference = wp.quat_inverse(
            wp.transform_get_rotation(reference_in_world(row, reference, body_q))
        )
        for k in range(chain_dof.shape[0]):
            dof = chain_dof[k]
            sign = scalar(chain_sign[k])
            S = joint_S_s[row, dof]
            linear = wp.quat_rotate(to_reference, point_velocity(S, point))
            angular = wp.quat_rotate(to_reference, vec3(S[3], S[4], S[5]))
            for axis in range(3):
                jacobian[row, start_idx + axis, dof] = -sign * weight[axis] * linear[axis]
                jacobian[row, start_idx + 3 + axis, dof] = -sign * weight[3 + axis] * angular[axis]

    return SimpleNamespace(
        residuals=pose_residuals, jacobian=pose_jacobian, scalar=scalar, transform=transform
    )


class IKObjectivePose(IKObjective):
    """A frame on a link reaches a pose; the position and rotation residuals have weights per axis.

    Attributes:
        link_index: The link that carries the frame.
        reference_link_index: The link in which targets are given; -1 for the world.
        n_problems: Number of targets.
    """

    def __init__(
        self,
        link_index: int,
        target_poses: np.ndarray | Sequence[float],
        *,
        link_offset: np.ndarray | Sequence[float] | None = None,
        reference_link_index: int = -1,
        position_weight: float | Sequence[float] = 1.0,
        rotation_weight: float | Sequence[float] = 1.0,
    ) -> None:
        """Create the objective.

        Args:
            link_index: Index of the link.
            target_poses: Targets, shape [7] or [n_problems, 7]: x y z [m], qx qy qz qw, of the
                frame in the reference link.
            link_offset: Pose of the frame in the link, shape [7]; None for the link's origin.
            reference_link_index: Link in which the targets are given; -1 for the world.
            position_weight: Factor on the position residual [1/m], one or per axis.
            rotation_weight: Factor on the rotation residual [1/rad], one or per axis.

        Raises:
            ArgumentError: A wrong shape, a zero or non-finite quaternion, a negative weight.
        """
        super().__init__()
        poses = np.atleast_2d(np.asarray(target_poses, dtype=np.float64))
        if poses.ndim != 2 or poses.shape[1] != 7 or not len(poses):
            raise ArgumentError(f'target_poses must have shape [n, 7], got {poses.shape}')
        self.link_index = int(link_index)
        self.reference_link_index = int(reference_link_index)
        self.n_problems = len(poses)
        self._offset = checked_pose(
            'link_offset', _IDENTITY_POSE if link_offset is None else link_offset
        )
        self._targets = np.stack([checked_pose('target_poses', pose) for pose in poses])
        self._weights = np.concatenate([
            per_axis('position_weight', position_weight),
            per_axis('rotation_weight', rotation_weight),
        ])  # fmt: skip
        self._device: wp.DeviceLike = None
        self._buffers: dict[type, SimpleNamespace] = {}

    def residual_dim(self) -> int:
        """Return 6: three of position, three of rotation."""
        return 6

    def residual_blocks(self) -> tuple[int, ...]:
        """Return (3, 3): metres, then radians."""
        return (3, 3)

    def supports_analytic(self) -> bool:
        """Return True."""
        return True

    def bind_device(self, device: wp.DeviceLike) -> None:
        """Put the targets on ``device``."""
        self._device = wp.get_device(device)
        self._buffers.clear()

    def init_buffers(self, model: 'Model', jacobian_mode: object = None) -> None:
        """Find the degrees of freedom between the reference link and the link.

        Raises:
            ArgumentError: A link index outside the model.
        """
        dofs, signs = relative_chain(model, self.link_index, self.reference_link_index)
        self._chain_dof = wp.array(dofs, dtype=wp.int32, device=self._device)
        self._chain_sign = wp.array(signs, dtype=wp.int32, device=self._device)

    def set_batch_layout(self, total_residuals: int, residual_offset: int, n_batch: int) -> None:
        """Register the rows; see :meth:`IKObjective.set_batch_layout`."""
        super().set_batch_layout(total_residuals, residual_offset, n_batch)
        rows = (
            np.arange(n_batch, dtype=np.int32)
            if self.n_problems > 1
            else np.zeros(n_batch, np.int32)
        )
        self._row_problem = wp.array(rows, dtype=wp.int32, device=self._device)

    def set_target_pose(self, problem_idx: int, pose: np.ndarray | Sequence[float]) -> None:
        """Change one target, shape [7]; a solve reports values that are not finite."""
        self._targets[problem_idx] = pose
        for buffers in self._buffers.values():
            buffers.targets.host[problem_idx] = self._targets[problem_idx]
            buffers.targets.upload()

    def set_target_poses(self, poses: np.ndarray) -> None:
        """Change every target, shape [n_problems, 7]."""
        self._targets[:] = poses
        for buffers in self._buffers.values():
            buffers.targets.host[:] = self._targets
            buffers.targets.upload()

    def target_poses(self) -> np.ndarray:
        """Return a copy of the targets, shape [n_problems, 7]."""
        return self._targets.copy()

    def set_link_offset(self, pose: np.ndarray | Sequence[float]) -> None:
        """Change the pose of the frame in the link, shape [7]."""
        self._offset = checked_pose('link_offset', pose)
        for buffers in self._buffers.values():
            buffers.offset.host[:] = self._offset
            buffers.offset.upload()

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
        buffers = self._buffers_for(residuals.dtype)
        wp.launch(
            buffers.kernels.residuals,
            dim=body_q.shape[0],
            inputs=[
                body_q, buffers.targets.array, buffers.weights.array, self.link_index,
                self.reference_link_index, buffers.offset.array,
                self._row_problem if problem_idx is None else problem_idx, start_idx,
            ],
            outputs=[residuals],
            device=self._device,
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
        buffers = self._buffers_for(jacobian.dtype)
        wp.launch(
            buffers.kernels.jacobian,
            dim=body_q.shape[0],
            inputs=[
                body_q, joint_S_s, buffers.weights.array, self.link_index,
                self.reference_link_index, buffers.offset.array,
                self._chain_dof, self._chain_sign, start_idx,
            ],
            outputs=[jacobian],
            device=self._device,
        )  # fmt: skip

    def _buffers_for(self, scalar: type) -> SimpleNamespace:
        """Return the device buffers in one floating-point type, made at first use."""
        if scalar not in self._buffers:
            kernels = _pose_kernels(scalar)
            targets = HostBuffer((self.n_problems,), kernels.transform, self._device)
            offset = HostBuffer((1,), kernels.transform, self._device)
            weights = HostBuffer((6,), scalar, self._device)
            for buffer, value in (
                (targets, self._targets),
                (offset, self._offset),
                (weights, self._weights),
            ):
                buffer.host[:] = value
                buffer.upload()
            self._buffers[scalar] = SimpleNamespace(
                kernels=kernels, targets=targets, offset=offset, weights=weights
            )
        return self._buffers[scalar]


def checked_pose(name: str, pose: np.ndarray | Sequence[float]) -> np.ndarray:
    """Return a pose with a unit quaternion as float64 [7], or raise ArgumentError naming it."""
    value = np.array(pose, dtype=np.float64)
    if value.shape != (7,) or not np.all(np.isfinite(value)):
        raise ArgumentError(f'{name} must be 7 finite numbers x y z qx qy qz qw, got {pose}')
    norm = np.linalg.norm(value[3:])
    if norm < 1e-9:
        raise ArgumentError(f'{name} has a quaternion of zero length: {pose}')
    value[3:] /= norm
    return value


def per_axis(name: str, weight: float | Sequence[float]) -> np.ndarray:
    """Return one non-negative weight per axis as float64 [3], or raise ArgumentError naming it."""
    value = np.asarray(weight, dtype=np.float64)
    if value.shape not in ((), (3,)) or not np.all(np.isfinite(value)) or np.any(value < 0.0):
        raise ArgumentError(f'{name} must be one or three non-negative numbers, got {weight}')
    return np.broadcast_to(value, (3,)).copy()
