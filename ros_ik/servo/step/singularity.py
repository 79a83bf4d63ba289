# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Singularities of the frames of tasks, and damping near them.

If the smallest singular value sigma of the weighted Jacobian of a frame (see
:mod:`ros_ik.servo.step.singularity_kernel`) is below a threshold s, lambda^2 |dq|^2 is added to
the cost of a step. This bounds the steps and does not change their end (Nakamura and Hanafusa,
Inverse Kinematic Solutions with Singularity Robustness, 1986):

    lambda^2 = max(W)^2 lambda_max^2 (1 - (sigma_f / s)^2)

sigma_f is the smallest singular value without the joints at their position limits. If sigma were
used, an arm with a joint at its limit would swing undamped at the edge of its reach.

With jerk limits, changes of a step are damped as well, see :mod:`ros_ik.servo.step.joint_task`.

The bound on the speed towards a singularity is elsewhere: its formula is in
:mod:`ros_ik.servo.motion.singular_approach`, and :mod:`ros_ik.servo.step.frame_mobility` applies
it to a frame.
"""

from collections.abc import Sequence
import dataclasses
import math

import numpy as np
import warp as wp

from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.step.frame_mobility import FrameMobility
from ros_ik.servo.step.joint_demand import JointDemand
from ros_ik.servo.step.singularity_kernel import FOUND
from ros_ik.servo.step.singularity_kernel import singularity_kernel
from ros_ik.servo.step.task_joints import chain_joints
from ros_ik.servo.step.task_joints import joint_axes
from ros_ik.settings import Settings


@dataclasses.dataclass(slots=True)
class Damping:
    """Damping of a step.

    Attributes:
        square: lambda^2 of the step; 0 away from singularities.
        is_near: True if sigma of a frame is below the threshold.
        slows: True if the step approaches a singularity more slowly than requested.
        task: Index of the frame task nearest to a singularity.
        sigma: Its smallest singular value [m/rad].
    """

    square: float = 0.0
    is_near: bool = False
    slows: bool = False
    task: int = 0
    sigma: float = np.inf


_UNDAMPED = Damping()


class SingularityMonitor:
    """Nearness of all frame tasks to singularities; owned by the control thread.

    Attributes:
        frames: Mobility of the frame of each task.
        demand: Joint demand of the frames and of the centre of mass.
    """

    @shares_launch_lock
    def __init__(self, robot: ControlledRobot, settings: Settings) -> None:
        """Find the controlled joints that move each frame relative to its reference link."""
        model, tasks = robot.model, len(robot.task_links)
        device = wp.get_device(model.device)
        chains = [
            chain_joints(robot, link, reference)
            for link, reference in zip(robot.task_links, robot.task_references, strict=True)
        ]
        joints, dofs, signs = (
            np.concatenate([getattr(chain, name) for chain in chains])
            for name in ('joints', 'dofs', 'signs')
        )
        self._counts = np.array([len(chain) for chain in chains])
        vec3 = spatial_functions(wp.float64).vec3

        def indices(values: np.ndarray) -> wp.array:
            return wp.array(values.astype(np.int32), dtype=wp.int32, device=device)

        links = np.array([robot.task_links, robot.task_references]).T
        self._constant = [
            indices(np.cumsum([0, *self._counts])),
            *joint_axes(robot, joints, dofs, signs),
            wp.array(robot.acceleration[dofs], dtype=wp.float64, device=device),
            indices(dof_coordinates(model)[dofs]),
        ]
        self._robot, self._dofs = robot, dofs
        self._position = HostBuffer((2, len(dofs)), wp.float64, device)
        self._links = indices(links)
        self._offset = HostBuffer((tasks,), vec3, device)
        self._weight = HostBuffer((tasks, 6), wp.float64, device)
        self._found = HostBuffer((tasks, FOUND), wp.float64, device)
        self.demand = JointDemand(robot, chains, self._weight, settings.period)
        self.frames = [
            FrameMobility(found, demand, robot.ramp, settings.period)
            for found, demand in zip(self._found.host, self.demand.frames, strict=True)
        ]
        self.demand.scale_acceleration(settings.limits_acceleration_scale)
        self.set_position_margin(robot.position_margin(settings))
        self.apply(settings)

    def apply(self, settings: Settings) -> None:
        """Apply settings."""
        for index, task in enumerate(settings.tasks):
            weights = np.array(task.position_weight + task.orientation_weight)
            self._weight.host[index] = weights / weights.max()
            self._offset.host[index] = task.offset_xyz
        self._threshold = settings.solver_singularity_threshold
        self._most = settings.solver_singularity_damping
        # A chain with fewer joints than rows is always singular.
        self._is_reported = (self._counts >= np.count_nonzero(self._weight.host, axis=1)).tolist()
        self._largest = [
            max(task.position_weight + task.orientation_weight) for task in settings.tasks
        ]
        for frame, weights, is_reported in zip(
            self.frames, self._weight.host.tolist(), self._is_reported, strict=True
        ):
            frame.weights, frame.is_damped = weights, is_reported and self._most > 0.0

    def set_position_margin(self, margin: np.ndarray) -> None:
        """Set the margin to the position limits [joint_dof_count]."""
        self._position.write([limit[self._dofs] for limit in self._robot.inner_limits(margin)])

    def choose(self, active: Sequence[bool], center: bool) -> None:
        """Set the active tasks, and the state of the centre of mass, from the next measurement on.

        Args:
            active: Mask of the active tasks, [n_tasks]; inactive tasks do not slow a step.
            center: True if the centre of mass is active.
        """
        for frame, is_active in zip(self.frames, active, strict=True):
            frame.slows = frame.slows and is_active
        self.demand.choose(active, center)

    def continue_from(self, other: 'SingularityMonitor') -> None:
        """Copy the measurement of the same robot with the same settings."""
        for frame, of_other in zip(self.frames, other.frames, strict=True):
            frame.slows = of_other.slows
        self.demand.continue_from(other.demand)

    def sigma(self) -> np.ndarray:
        """Return sigma of each task [m/rad]; inf for a chain with too few joints."""
        return np.where(self._is_reported, self._found.host[:, 0], np.inf)

    def damping(self, active: Sequence[bool]) -> Damping:
        """Return the damping of a step from the configuration measured last.

        Args:
            active: Mask of the active tasks, [n_tasks].
        """
        if self._most == 0.0 or not any(active):
            return _UNDAMPED
        square, near, slows, worst, least = 0.0, False, False, 0, math.inf
        for task, (sigma, free) in enumerate(self._found.host[:, :2].tolist()):
            if active[task] and self._is_reported[task]:
                part = 1.0 - min(free / self._threshold, 1.0) ** 2
                square = max(square, part * self._largest[task] ** 2)
                near = near or sigma < self._threshold
                slows = slows or self.frames[task].slows
                if sigma < least:
                    worst, least = task, sigma
        return Damping(square * self._most**2, near, slows, worst, least)

    def record(self, joint_q: wp.array, body_q: wp.array) -> None:
        """Launch the measurement; allocates nothing, so a graph can capture it.

        Args:
            joint_q: Coordinates on the device [1, joint_coord_count].
            body_q: Link poses on the device [1, body_count].
        """
        for buffer in (self._offset, self._weight):
            buffer.upload()
        launch(
            singularity_kernel(),
            dim=len(self._counts),
            inputs=[
                joint_q[0], body_q[0], self._links, self._offset.array, self._weight.array,
                *self._constant, self._position.array,
            ],
            outputs=[self._found.array, self.demand.column],
            device=self._found.array.device,
        )  # fmt: skip
        self._found.download()
        self.demand.record(body_q)

