# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Acceleration that the joints allow each active task: frame tasks and the centre of mass.

The acceleration of a frame along its path is limited to the capability of its joints. Otherwise
some joints would lag behind others: the frame would leave its path, brake too late and oscillate
about its target. Tasks share the joints, so each leaves the others what they are likely to need.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import warp as wp

from ros_ik.kinematics.chain import link_dofs
from ros_ik.kinematics.dynamics.center_of_mass import center_of_mass_functions
from ros_ik.kinematics.dynamics.center_of_mass import has_mass
from ros_ik.kinematics.dynamics.center_of_mass import mass_distribution
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.servo.motion.pose_math import float_length
from ros_ik.servo.motion.pose_math import Vector
from ros_ik.servo.motion.pose_math import ZERO
from ros_ik.servo.motion.ramped_approach import ApproachLimits
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.step.demand_kernel import demand_kernel
from ros_ik.servo.step.demand_kernel import demand_structs
from ros_ik.servo.step.task_joints import center_joints
from ros_ik.servo.step.task_joints import joint_axes
from ros_ik.servo.step.task_joints import TaskJoints

# Fraction of the acceleration limits that is used along a path. The rest is for the accelerations
# due to the velocity of the joints, which grow with the speed.
_PATH_FRACTION = 0.7
# Fraction of the requested acceleration below which the status names the limiting joint.
_LIMITED = 0.5
# Time in which a task is expected to close its remaining distance or to lose its speed, for the
# share that others leave it [s]. A task at rest at its target needs almost nothing.
_LIKELY_TIME = 0.06
# Fraction of the largest need of a task. Joints of which it needs less are shared less.
_SHARED = 0.1


class TaskDemand:
    """Acceleration that the joints allow one task at the last measured configuration.

    Attributes:
        acceleration_scale: Current factor on the acceleration limits [1].
        others: The other active tasks.
        expected: Linear and angular acceleration that the task is likely to need [m/s^2],
            [rad/s^2].
        limiting_joint: Index of the controlled joint that limits its acceleration, or -1.
    """

    def __init__(self, demand: np.ndarray, most: np.ndarray, dt: float) -> None:
        """Keep references to the measurement.

        Args:
            demand: Fraction of its acceleration limit that each controlled joint needs, per
                acceleration of the task, linear first, [n_variables, 6]; updated in place.
            most: Largest norms of the linear and the angular parts of ``demand``, [2].
            dt: Duration of a tick [s].
        """
        self._demand, self._most, self._dt = demand, most, dt
        self.acceleration_scale, self.limiting_joint = 1.0, -1
        self.others: tuple[TaskDemand, ...] = ()
        self.expected = [0.0, 0.0]
        # Linear and angular acceleration as columns, the joint demand of each, and views of them.
        self._accelerations, self._parts = np.zeros((6, 2)), np.zeros((len(demand), 2))
        self._numbers, self._columns = self._accelerations.reshape(-1), tuple(self._parts.T)

    def limits_along(
        self,
        limits: tuple[ApproachLimits, ApproachLimits],
        displacements: tuple[Vector, Vector],
        achieved: tuple[Vector, Vector],
        *,
        ends: bool = False,
    ) -> tuple[ApproachLimits, ApproachLimits]:
        """Return limits of a motion that the joints can keep.

        Args:
            limits: Limits of the linear and the angular motion.
            displacements: Remaining displacements, [m] and [rad], along the axes of the reference
                link.
            achieved: Displacements in the previous tick, [m] and [rad].
            ends: True if the motion is to end after the displacements.
        """
        (linear, angular), dt = limits, self._dt
        if self.others:
            self._set_expected(0, linear, displacements[0], achieved[0])
            self._set_expected(1, angular, displacements[1], achieved[1])
        elif self._allows(linear.acceleration, angular.acceleration):
            self.limiting_joint = -1
            return limits
        moved = achieved if ends else (ZERO, ZERO)
        part = self.part(
            linear.full_acceleration(displacements[0], dt, moved[0]),
            angular.full_acceleration(displacements[1], dt, moved[1]),
        )
        if part == 1.0:
            return limits
        hardest = part / _PATH_FRACTION
        return (
            linear.with_acceleration(part, hardest), angular.with_acceleration(part, hardest)
        )  # fmt: skip

    def limits_of_point(
        self, limits: ApproachLimits, displacement: Vector, achieved: Vector
    ) -> ApproachLimits:
        """Return the limits of a point, for linear motion; see :meth:`limits_along`."""
        if self.others:
            self._set_expected(0, limits, displacement, achieved)
        part = self.part(limits.full_acceleration(displacement, self._dt, achieved), ZERO)
        return limits if part == 1.0 else limits.with_acceleration(part, part / _PATH_FRACTION)

    def part(self, linear: Vector, angular: Vector) -> float:
        """Return the fraction of accelerations that the joints allow, in (0, 1].

        Args:
            linear: Requested linear acceleration [m/s^2].
            angular: Requested angular acceleration [rad/s^2], along the axes of the reference link
                as well.
        """
        self.limiting_joint = -1
        if self._allows(float_length(linear), float_length(angular)):
            return 1.0
        limit = _PATH_FRACTION * self.acceleration_scale
        numbers, parts = self._numbers, self._parts
        numbers[0], numbers[2], numbers[4] = linear
        numbers[7], numbers[9], numbers[11] = angular
        np.dot(self._demand, self._accelerations, parts)
        np.abs(parts, parts)
        # Linear and angular part need not peak at the same time.
        needed = np.add(*self._columns)
        if self.others:
            self._add_demand_of_others(needed)
        joint = int(needed.argmax())
        part = min(limit / max(float(needed[joint]), limit), 1.0)
        if part < _LIMITED:
            self.limiting_joint = joint
        return part

    def max_expected_demand(self) -> float:
        """Return an upper bound on the fraction of its limit that any joint should need."""
        (linear, angular), (most_linear, most_angular) = self.expected, self._most.tolist()
        return linear * most_linear + angular * most_angular

    def expected_demand(self) -> np.ndarray:
        """Return the fraction of its limit that each joint is expected to need, [n]."""
        linear, angular = self.expected
        squares = self._demand * self._demand
        return linear * np.sqrt(squares[:, :3].sum(axis=1)) + angular * np.sqrt(
            squares[:, 3:].sum(axis=1)
        )

    def _allows(self, linear: float, angular: float) -> bool:
        """Return True if the joints surely allow accelerations of these sizes, in any direction.

        Args:
            linear: Linear acceleration [m/s^2].
            angular: Angular acceleration [rad/s^2].
        """
        most_linear, most_angular = self._most.tolist()
        most = most_linear * linear + most_angular * angular
        for other in self.others:
            most += other.max_expected_demand()
        return bool(most <= _PATH_FRACTION * self.acceleration_scale)

    def _add_demand_of_others(self, needed: np.ndarray) -> None:
        """Add the expected need of the other tasks to that of the joints [n], in place."""
        largest = float(needed.max())
        if largest > 0.0:
            used = np.minimum(needed / (_SHARED * largest), 1.0)
            for other in self.others:
                needed += used * other.expected_demand()

    def _set_expected(
        self, kind: int, limits: ApproachLimits, displacement: Vector, achieved: Vector
    ) -> None:
        """Set the expected acceleration of the task, linear (0) or angular (1)."""
        speed = float_length(achieved) / self._dt
        self.expected[kind] = limits.likely_acceleration(displacement, speed, _LIKELY_TIME)


class JointDemand:
    """Joint demand of every task of one robot; owned by the control thread.

    Attributes:
        frames: Demand of the frame of each task.
        center: Demand of the centre of mass.
    """

    @shares_launch_lock
    def __init__(
        self, robot: ControlledRobot, chains: Sequence[TaskJoints], weight: HostBuffer, dt: float
    ) -> None:
        """Start with every frame, without the centre of mass.

        Args:
            robot: The robot.
            chains: Joints that move the frame of each task.
            weight: Weights of their axes, [n_tasks, 6], relative to the largest of each task.
            dt: Duration of a tick [s].
        """
        model, group, device = robot.model, robot.group, wp.get_device(robot.model.device)
        types, masses_of = spatial_functions(wp.float64), center_of_mass_functions(wp.float64)
        mass = has_mass(model)
        center = center_joints(robot)
        tasks, variables, rows = len(chains) + 1, group.n_variables, 6 * (len(chains) + 1)
        dofs = np.concatenate([chain.dofs for chain in (*chains, center)])
        starts = np.cumsum([0, *map(len, chains), len(center)])
        moves_base = np.isin(center.dofs, link_dofs(model, robot.base_link))

        def indices(values: np.ndarray) -> wp.array:
            return wp.array(values.astype(np.int32), dtype=wp.int32, device=device)

        def numbers(values: np.ndarray) -> wp.array:
            return wp.array(values, dtype=wp.float64, device=device)

        structs = demand_structs()
        self.column = wp.zeros(int(starts[-2]), dtype=types.twist, device=device)
        self._active = HostBuffer((tasks,), wp.int32, device)
        self._weight = weight
        self._masses = (
            mass_distribution(model, wp.float64).arrays if mass else masses_of.MassArrays()
        )
        self._chains = structs.TaskChains()
        self._chains.start = indices(starts)
        self._chains.variable = indices(group.dof_variable[dofs])
        self._chains.factor = numbers(group.dof_scale[dofs])
        self._center_chain = chain = structs.CenterChain()
        chain.base, chain.dof = robot.base_link, indices(center.dofs)
        chain.child, chain.axis, chain.point, chain.slides = joint_axes(
            robot, center.joints, center.dofs, center.signs
        )
        chain.moves_base = indices(moves_base)
        self._acceleration = numbers(group.variable_limits(robot.acceleration))
        self._workspace = work = structs.Workspace()
        work.row_of = wp.zeros(rows, dtype=wp.int32, device=device)
        work.J = wp.zeros((rows, variables), dtype=wp.float64, device=device)
        work.L = wp.zeros((rows, rows), dtype=wp.float64, device=device)
        work.x = wp.zeros(rows, dtype=wp.float64, device=device)
        self._demand = HostBuffer((tasks, variables), types.twist, device)
        self._most = HostBuffer((tasks, 2), wp.float64, device)
        *self.frames, self.center = (
            TaskDemand(demand, most, dt)
            for demand, most in zip(self._demand.host, self._most.host, strict=True)
        )
        self.choose([True] * len(chains), False)

    @property
    def _tasks(self) -> list[TaskDemand]:
        return [*self.frames, self.center]

    def scale_acceleration(self, scale: float) -> None:
        """Set the factor on the acceleration limits [1]."""
        for task in self._tasks:
            task.acceleration_scale = scale

    def choose(self, frames: Sequence[bool], center: bool) -> None:
        """Set the active frames [n_tasks], and whether the centre of mass is active."""
        self._active.host[:] = active = [*frames, center]
        chosen = [task for task, is_active in zip(self._tasks, active, strict=True) if is_active]
        for task in self._tasks:
            task.others = tuple(other for other in chosen if other is not task)
            task.expected = [0.0, 0.0]

    def continue_from(self, other: JointDemand) -> None:
        """Copy the measurement of the same robot with the same settings."""
        for task, of_other in zip(self._tasks, other._tasks, strict=True):
            task.expected = of_other.expected.copy()

    def limiting_joints(self) -> list[int]:
        """Return the indices of the controlled joints whose limits slow an active task."""
        tasks = zip(self._tasks, self._active.host.tolist(), strict=True)
        return [
            task.limiting_joint
            for task, is_active in tasks
            if is_active and task.limiting_joint >= 0
        ]

    def record(self, body_q: wp.array) -> None:
        """Launch the measurement after that of the columns; a graph can capture it.

        Args:
            body_q: Link poses on the device [1, body_count].
        """
        self._active.upload()
        launch(
            demand_kernel(),
            dim=1,
            inputs=[
                self._active.array, self._weight.array, self.column, self._chains, self._masses,
                self._center_chain, body_q, self._acceleration, self._workspace,
            ],
            outputs=[self._demand.array, self._most.array],
            device=self._most.array.device,
        )  # fmt: skip
        for buffer in (self._demand, self._most):
            buffer.download()
