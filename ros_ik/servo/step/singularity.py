# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Conditioning of the frames of tasks: near a singularity one direction takes long steps.

Where the least singular value sigma of the weighted Jacobian of a frame (see
:mod:`ros_ik.servo.step.conditioning_kernel`) is below a threshold s, the cost of a step has
lambda^2 |dq|^2 more, which bounds the steps without moving where they end (Nakamura and Hanafusa,
Inverse Kinematic Solutions with Singularity Robustness, 1986):

    lambda^2 = max(W)^2 lambda_max^2 (1 - (sigma / s)^2)
"""

from collections.abc import Sequence
import dataclasses
import math

import numpy as np
import warp as wp

from ros_ik.kinematics.chain import link_dofs
from ros_ik.kinematics.chain import relative_chain
from ros_ik.kinematics.dynamics.center_of_mass import precise_array
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.objectives.jacobian.gram import gram_functions
from ros_ik.servo.motion.pose_math import quat_rotate
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.step.conditioning_kernel import conditioning_kernel
from ros_ik.servo.step.conditioning_kernel import FOUND
from ros_ik.servo.step.frame_mobility import FrameMobility
from ros_ik.servo.step.frame_mobility import MeasuredChain
from ros_ik.settings import Settings


@dataclasses.dataclass(frozen=True)
class Damping:
    """Damping of a step.

    Attributes:
        square: lambda^2 of the step; 0 away from singularities.
        slows: Whether the step nears a singularity more slowly than was asked for.
        task: Index of the frame task that is nearest to a singularity.
        sigma: Its least singular value [m/rad].
    """

    square: float = 0.0
    slows: bool = False
    task: int = 0
    sigma: float = np.inf


_UNDAMPED = Damping()


class Conditioning:
    """Measures every frame task of one robot; owned by the control thread.

    Attributes:
        frames: What the joints allow the frame of each task.
    """

    def __init__(self, robot: ControlledRobot, settings: Settings) -> None:
        """Find the controlled joints that move each frame as seen from its reference link."""
        model, tasks = robot.model, len(robot.task_links)
        device = wp.get_device(model.device)
        chains = [_chain(robot, task) for task in range(tasks)]
        joints = np.concatenate([joints for joints, _ in chains])
        signs = np.concatenate([signs for _, signs in chains])
        self._counts = np.array([len(joints) for joints, _ in chains])
        poses = precise_array(model, 'joint_X_c').reshape(-1, 7)[joints]
        dofs = model.joint_qd_start.numpy()[joints]
        axes = precise_array(model, 'joint_axis').reshape(-1, 3)[dofs]
        turned = [quat_rotate(pose[3:], axis) for pose, axis in zip(poses, axes, strict=True)]
        vec3 = spatial_functions(wp.float64).vec3

        def indices(values: np.ndarray) -> wp.array:
            return wp.array(values.astype(np.int32), dtype=wp.int32, device=device)

        links = np.array([robot.task_links, robot.task_references]).T
        limits = robot.acceleration[dofs]
        self._constant = [
            indices(np.concatenate([[0], np.cumsum(self._counts)])),
            indices(model.joint_child.numpy()[joints]),
            wp.array(np.reshape(turned, (-1, 3)) * signs[:, None], dtype=vec3, device=device),
            wp.array(poses[:, :3], dtype=vec3, device=device),
            indices(model.joint_dof_dim.numpy().reshape(-1, 2)[joints, 0] == 1),
            wp.array(limits, dtype=wp.float64, device=device),
            wp.array(self._relative(limits), dtype=wp.float64, device=device),
        ]
        self._links = indices(links)
        self._offset = HostBuffer((tasks,), vec3, device)
        self._weight = HostBuffer((tasks, 6), wp.float64, device)
        self._found = HostBuffer((tasks, FOUND), wp.float64, device)
        self._demand = HostBuffer((len(dofs),), gram_functions(6).vector, device)
        ends = np.cumsum(self._counts)
        self.frames = [
            FrameMobility(
                MeasuredChain(
                    self._found.host[task],
                    self._demand.host[end - count : end],
                    robot.group.dof_variable[dofs[end - count : end]],
                ),
                robot.ramp,
                settings.period,
            )
            for task, (end, count) in enumerate(zip(ends, self._counts, strict=True))
        ]
        self.scale_acceleration(settings.limits_acceleration_scale)
        self.apply(settings)

    def _relative(self, limits: np.ndarray) -> np.ndarray:
        """Return limits to the largest of each chain, 1 where there is none."""
        parts = np.split(limits, np.cumsum(self._counts)[:-1])
        largest = [np.full(len(part), part.max(initial=0.0)) for part in parts]
        with np.errstate(invalid='ignore', divide='ignore'):
            relative = limits / np.concatenate(largest)
        return np.where(np.isinf(limits), 1.0, np.nan_to_num(relative))

    def apply(self, settings: Settings) -> None:
        """Take over settings."""
        for index, task in enumerate(settings.tasks):
            weights = np.array(task.position_weight + task.orientation_weight)
            self._weight.host[index] = weights / weights.max()
            self._offset.host[index] = task.offset_xyz
        self._threshold = settings.solver_singularity_threshold
        self._most = settings.solver_singularity_damping
        # A chain of fewer joints than rows is singular wherever it is: that says nothing.
        self._is_told = (self._counts >= np.count_nonzero(self._weight.host, axis=1)).tolist()
        self._largest = [
            max(task.position_weight + task.orientation_weight) for task in settings.tasks
        ]
        for frame, weights, told in zip(
            self.frames, self._weight.host.tolist(), self._is_told, strict=True
        ):
            frame.weights, frame.is_damped = weights, told and self._most > 0.0

    def scale_acceleration(self, scale: float) -> None:
        """Say which part of the acceleration limits is in force [1]."""
        for frame in self.frames:
            frame.acceleration_scale = scale

    def choose(self, active: Sequence[bool]) -> None:
        """Say which tasks count from now on, [n_tasks]: the others slow no step."""
        for frame, counts in zip(self.frames, active, strict=True):
            frame.slows = frame.slows and counts

    def continue_from(self, other: 'Conditioning') -> None:
        """Go on as the measurement of the same robot with the same settings would."""
        for frame, before in zip(self.frames, other.frames, strict=True):
            frame.slows = before.slows

    def sigma(self) -> np.ndarray:
        """Return sigma of each task [m/rad], inf where it has too few joints to tell."""
        return np.where(self._is_told, self._found.host[:, 0], np.inf)

    def held_back_by(self, active: Sequence[bool]) -> list[int]:
        """Return the indices of the controlled joints whose acceleration limits slow a frame.

        Args:
            active: Which tasks count, [n_tasks].
        """
        found = [
            frame.held_back_by for frame, counts in zip(self.frames, active, strict=True) if counts
        ]
        return [joint for joint in found if joint >= 0]

    def damping(self, active: Sequence[bool]) -> Damping:
        """Return how a step from the poses that were launched last is to be damped.

        Args:
            active: Which tasks count, [n_tasks].
        """
        if self._most == 0.0 or not any(active):
            return _UNDAMPED
        square, slows, worst, least = 0.0, False, 0, math.inf
        for task, sigma in enumerate(self._found.host[:, 0].tolist()):
            if active[task] and self._is_told[task]:
                part = 1.0 - min(sigma / self._threshold, 1.0) ** 2
                square = max(square, part * self._largest[task] ** 2)
                slows = slows or self.frames[task].slows
                if sigma < least:
                    worst, least = task, sigma
        return Damping(square * self._most**2, slows, worst, least)

    def record(self, body_q: wp.array) -> None:
        """Launch the measurement; allocates nothing, so a graph can capture it.

        Args:
            body_q: Link poses on the device [body_count].
        """
        for buffer in (self._offset, self._weight):
            buffer.upload()
        wp.launch(
            conditioning_kernel(),
            dim=len(self._counts),
            inputs=[
                body_q, self._links, self._offset.array, self._weight.array, *self._constant,
            ],
            outputs=[self._found.array, self._demand.array],
            device=self._found.array.device,
        )  # fmt: skip
        for buffer in (self._found, self._demand):
            buffer.download()


def _chain(robot: ControlledRobot, task: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the controlled joints of one degree of freedom that move a frame, and their signs.

    They come in their order on the way from the reference link to the frame.
    """
    model = robot.model
    dofs, signs = relative_chain(model, robot.task_links[task], robot.task_references[task])
    start, child = model.joint_qd_start.numpy(), model.joint_child.numpy()
    joints = np.searchsorted(start, dofs, side='right') - 1
    depth = np.array([len(link_dofs(model, child[joint])) for joint in joints], dtype=int)
    order = np.argsort(signs * depth, kind='stable')
    joints, dofs, signs = joints[order], dofs[order], signs[order]
    moved = (robot.group.dof_variable[dofs] >= 0) & (start[joints + 1] - start[joints] == 1)
    return joints[moved], np.array(signs, dtype=float)[moved]
