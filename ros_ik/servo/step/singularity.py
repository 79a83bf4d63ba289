# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Conditioning of the frames of tasks: near a singularity one direction takes long steps.

    sigma = least singular value of W J / max(W)

J is the Jacobian of a frame over the joints of its chain, in the axes of its reference link,
linear rows first, W the weights of the task. A joint with axis a through the point p moves a frame
at x by a x (x - p) and turns it by a; one that slides moves it by a. sigma is found as 1/sqrt of
the largest eigenvalue of (J J^T + eps)^-1, by power iteration; rows without weight count as moved.

Where sigma is below a threshold s, the cost of a step has lambda^2 |dq|^2 more, which bounds the
steps without moving where they end (Nakamura and Hanafusa, Inverse Kinematic Solutions with
Singularity Robustness, 1986):

    lambda^2 = max(W)^2 lambda_max^2 (1 - (sigma / s)^2)

The approach of a singularity is slowed too, from where the joints just brake in time, see
:mod:`ros_ik.servo.motion.singular_approach`. It needs the singular vectors u and w of sigma, and

    d sigma / dq . w = u^T W dJ/dt w,    dJ/dt at the velocities w

which is the acceleration of the frame at these velocities, without any of the joints.
"""

from collections.abc import Sequence
import dataclasses
import functools
import math
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.kinematics.chain import link_dofs
from ros_ik.kinematics.chain import relative_chain
from ros_ik.kinematics.dynamics.center_of_mass import precise_array
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.objectives.jacobian.gram import gram_functions
from ros_ik.servo.motion.pose_math import quat_rotate
from ros_ik.servo.motion.pose_math import Vector
from ros_ik.servo.motion.singular_approach import SingularDirection
from ros_ik.servo.motion.singular_approach import slowed_approach
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.settings import Settings

# Added to the squares of the singular values: sigma below its root is not told apart from zero.
_LEAST_SQUARE = 1e-10
_POWER_STEPS = 6


@no_type_check
@functools.cache
def conditioning_kernel() -> wp.Kernel:
    """Build the kernel, float64."""
    types, gram = spatial_functions(wp.float64), gram_functions(6)
    vec3, transform = types.vec3, types.transform
    matrix, vector, inverse = gram.matrix, gram.vector, gram.inverse
    least_square, power_steps = wp.constant(_LEAST_SQUARE), wp.constant(_POWER_STEPS)

    @wp.func
    def placed(pose: transform, back: wp.quatd, frame: vec3, axis: vec3, point: vec3):
        """Axis of a joint, and the arm from it to the frame."""
        arm = frame - wp.transform_point(pose, point)
        return wp.quat_rotate(back, wp.transform_vector(pose, axis)), wp.quat_rotate(back, arm)

    @wp.func
    def weighted(
        weight: wp.array2d(dtype=wp.float64), task: int, linear: vec3, angular: vec3
    ) -> vector:
        row = vector()
        for a in range(3):
            row[a] = weight[task, a] * linear[a]
            row[3 + a] = weight[task, 3 + a] * angular[a]
        return row

    @compiled_kernel()
    def least_singular_values(
        body_q: wp.array(dtype=transform),  # [body_count]
        task_link: wp.array2d(dtype=wp.int32),  # [n_tasks, 2], frame and reference
        offset: wp.array(dtype=vec3),  # [n_tasks], of the frame in its link
        weight: wp.array2d(dtype=wp.float64),  # [n_tasks, 6]
        chain_start: wp.array(dtype=wp.int32),  # [n_tasks + 1]
        child: wp.array(dtype=wp.int32),  # [chains]
        axis: wp.array(dtype=vec3),  # [chains], in the child
        point: wp.array(dtype=vec3),  # [chains], on the axis, in the child
        slides: wp.array(dtype=wp.int32),  # [chains]
        acceleration: wp.array(dtype=wp.float64),  # [chains], limits
        # out
        sigma: wp.array(dtype=wp.float64),  # [n_tasks]
        lost: wp.array(dtype=vector),  # [n_tasks], u
        slope: wp.array(dtype=wp.float64),  # [n_tasks], d sigma / dq . w
        braking: wp.array(dtype=wp.float64),  # [n_tasks], largest acceleration along w
    ):
        task = wp.tid()
        frame = wp.transform_point(body_q[task_link[task, 0]], offset[task])
        back = wp.quat_inverse(wp.transform_get_rotation(body_q[task_link[task, 1]]))
        A = matrix()
        for row in range(6):
            A[row, row] = wp.float64(least_square)
            if weight[task, row] == wp.float64(0.0):
                A[row, row] = wp.float64(1.0)
        for k in range(chain_start[task], chain_start[task + 1]):
            angular, arm = placed(body_q[child[k]], back, frame, axis[k], point[k])
            linear = wp.cross(angular, arm)
            if slides[k] != 0:
                linear = angular
                angular = vec3()
            column = weighted(weight, task, linear, angular)
            A += wp.outer(column, column)
        M = inverse(A)
        M = M * M  # two steps at a time
        worst = int(0)
        for row in range(1, 6):
            if M[row, row] > M[worst, worst]:
                worst = row
        direction = vector()
        direction[worst] = wp.float64(1.0)
        length = wp.float64(1.0)
        for _step in range(power_steps):
            direction = M * direction
            length = wp.length(direction)
            direction = direction / length
        sigma[task] = wp.pow(length, wp.float64(-0.25))
        lost[task] = direction

        # sigma w, and the acceleration of the frame at these velocities, joint by joint outwards.
        squared = wp.float64(0.0)
        largest = wp.float64(wp.inf)
        speed, speed_change = vec3(), vec3()
        rate, rate_change = vec3(), vec3()
        for k in range(chain_start[task], chain_start[task + 1]):
            angular, arm = placed(body_q[child[k]], back, frame, axis[k], point[k])
            turning = wp.cross(rate, angular)
            linear = wp.cross(angular, arm)
            change = wp.cross(turning, arm) - wp.cross(angular, speed - wp.cross(rate, arm))
            if slides[k] != 0:
                linear, change = angular, turning
                angular, turning = vec3(), vec3()
            w = wp.dot(direction, weighted(weight, task, linear, angular))
            squared += w * w
            if w != wp.float64(0.0):
                largest = wp.min(largest, acceleration[k] / wp.abs(w))
            speed_change += w * change
            rate_change += w * turning
            speed += w * linear
            rate += w * angular
        speed_change += wp.cross(rate, speed)
        slope[task] = wp.float64(0.0)
        braking[task] = largest
        if squared > wp.float64(least_square):
            change_of_lost = wp.dot(direction, weighted(weight, task, speed_change, rate_change))
            slope[task] = change_of_lost / squared
            braking[task] = largest * wp.sqrt(squared)

    return least_singular_values


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
        acceleration_scale: Part of the acceleration limits that is in force [1].
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
        self._constant = [
            indices(np.concatenate([[0], np.cumsum(self._counts)])),
            indices(model.joint_child.numpy()[joints]),
            wp.array(np.reshape(turned, (-1, 3)) * signs[:, None], dtype=vec3, device=device),
            wp.array(poses[:, :3], dtype=vec3, device=device),
            indices(model.joint_dof_dim.numpy().reshape(-1, 2)[joints, 0] == 1),
            wp.array(robot.acceleration[dofs], dtype=wp.float64, device=device),
        ]
        self._links = indices(links)
        self._offset = HostBuffer((tasks,), vec3, device)
        self._weight = HostBuffer((tasks, 6), wp.float64, device)
        self._sigma = HostBuffer((tasks,), wp.float64, device)
        self._lost = HostBuffer((tasks,), gram_functions(6).vector, device)
        self._slope = HostBuffer((tasks,), wp.float64, device)
        self._braking = HostBuffer((tasks,), wp.float64, device)
        self._dt, self._ramp = settings.period, robot.ramp
        self.acceleration_scale = settings.limits_acceleration_scale
        self._slows = [False] * tasks
        self.apply(settings)

    def apply(self, settings: Settings) -> None:
        """Take over settings."""
        for index, task in enumerate(settings.tasks):
            weights = np.array(task.position_weight + task.orientation_weight)
            self._weight.host[index] = weights / weights.max()
            self._offset.host[index] = task.offset_xyz
        self._weights = self._weight.host.tolist()
        self._threshold = settings.solver_singularity_threshold
        self._most = settings.solver_singularity_damping
        # A chain of fewer joints than rows is singular wherever it is: that says nothing.
        self._is_told = (self._counts >= np.count_nonzero(self._weight.host, axis=1)).tolist()
        self._largest = [
            max(task.position_weight + task.orientation_weight) for task in settings.tasks
        ]

    def sigma(self) -> np.ndarray:
        """Return sigma of each task [m/rad], inf where it has too few joints to tell."""
        return np.where(self._is_told, self._sigma.host, np.inf)

    def slowed(self, task: int, shift: Vector, turn: Vector) -> tuple[Vector, Vector]:
        """Return a step of a frame, slowed where it nears a singularity too fast.

        Args:
            task: Index of the frame task.
            shift: Displacement of its frame from the poses that were launched last [m].
            turn: Rotation vector [rad]; both along the axes of the reference link.
        """
        self._slows[task] = False
        if self._most == 0.0 or not self._is_told[task]:
            return shift, turn
        step = slowed_approach(
            shift, turn, self._weights[task], self.direction(task), self._ramp, self._dt
        )
        self._slows[task] = step is not None
        return step or (shift, turn)

    def direction(self, task: int) -> SingularDirection:
        """Return the direction in which the frame of a task moves the least."""
        return SingularDirection(
            self._lost.host[task].tolist(), float(self._sigma.host[task]),
            float(self._slope.host[task]),
            float(self._braking.host[task]) * self.acceleration_scale,
        )  # fmt: skip

    def damping(self, active: Sequence[bool]) -> Damping:
        """Return how a step from the poses that were launched last is to be damped.

        Args:
            active: Which tasks count, [n_tasks].
        """
        if self._most == 0.0 or not any(active):
            return _UNDAMPED
        square, slows, worst, least = 0.0, False, 0, math.inf
        for task, sigma in enumerate(self._sigma.host.tolist()):
            if active[task] and self._is_told[task]:
                part = 1.0 - min(sigma / self._threshold, 1.0) ** 2
                square = max(square, part * self._largest[task] ** 2)
                slows = slows or self._slows[task]
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
        found = (self._sigma, self._lost, self._slope, self._braking)
        wp.launch(
            conditioning_kernel(),
            dim=len(self._counts),
            inputs=[
                body_q, self._links, self._offset.array, self._weight.array, *self._constant,
            ],
            outputs=[buffer.array for buffer in found],
            device=self._sigma.array.device,
        )  # fmt: skip
        for buffer in found:
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
