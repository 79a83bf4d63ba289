# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Differential inverse kinematics of the servo: tasks, limits, barriers, and a check of each step.

One program serves every mode, so that its graph is captured once: tasks that are not asked for
have weight zero, and the joint task is the posture (small weight) or the joint target (weight 1).
"""

from __future__ import annotations

import numpy as np

from ros_ik.barriers import PositionBarrier
from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.limits import AccelerationLimit
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.servo.pose_math import IDENTITY
from ros_ik.servo.pose_math import quat_from_rpy
from ros_ik.servo.robot import ControlledRobot
from ros_ik.settings import Settings
from ros_ik.settings import SettingsError
from ros_ik.settings import TaskSettings
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task

# The posture closes 1/e of its gap in this time [s]: slow beside the tasks, so that its pull is
# far below their accuracy.
_POSTURE_TIME = 1.0
# Rounding that the check of a step forgives [rad or m].
_ROUNDING = 1e-9


class StepSolver:
    """Solves and checks steps of one robot; owned by the control thread.

    Attributes:
        diff: The solver.
        acceleration: Acceleration limit of each variable of the group, scaled [rad/s^2 or m/s^2].
        barriers: The barriers.
        barrier_rows: Index of the barrier of each barrier value.
    """

    def __init__(self, robot: ControlledRobot, settings: Settings) -> None:
        """Set up the program and run it once, which compiles and captures everything.

        Raises:
            SettingsError: A barrier on a link that the model does not have.
        """
        self._robot, self._settings = robot, settings
        model, group = robot.model, robot.group
        self.diff = DifferentialIK(
            model,
            group,
            DifferentialIKSettings(
                dt=settings.period, max_iterations=settings.solver_max_iterations
            ),
        )
        self._poses = [
            self._pose_objective(index, task) for index, task in enumerate(settings.tasks)
        ]
        self._pose_tasks = [Task(objective) for objective in self._poses]
        neutral = model.neutral_joint_q()
        self._joints = IKObjectiveJointPosition(model, neutral)
        self._joint_task = Task(self._joints)
        margin = robot.position_margin(settings)
        self._acceleration_limit = AccelerationLimit(robot.acceleration, position_margin=margin)
        self._velocity_limit = VelocityLimit(robot.velocity, scale=settings.limits_velocity_scale)
        self._limits = (
            PositionLimit(margin=margin),
            self._velocity_limit,
            self._acceleration_limit,
        )
        self.barriers = tuple(self._barrier(index) for index in range(len(settings.barriers)))
        self.barrier_rows = np.repeat(
            np.arange(len(self.barriers)), [barrier.row_count for barrier in self.barriers]
        )
        self._dof_coord = dof_coordinates(model)
        self._moving = np.flatnonzero((group.dof_variable >= 0) & (self._dof_coord >= 0))
        self._active: tuple[bool, ...] = ()
        self._joint_mode = False
        self.apply(settings)
        self._warm_up(neutral)

    def apply(self, settings: Settings) -> None:
        """Take over the settings that need no new program."""
        self._settings = settings
        self._acceleration_limit.scale = settings.limits_acceleration_scale
        self._scale_velocity(max(settings.limits_velocity_scale, self._velocity_limit.scale))
        allowed = self._robot.group.variable_limits(self._robot.acceleration)
        self.acceleration = allowed * settings.limits_acceleration_scale
        for objective, task_settings in zip(self._poses, settings.tasks, strict=True):
            objective.set_link_offset(link_offset(task_settings))
        for task in self._pose_tasks:
            task.damping = settings.solver_damping
        self._set_weights()

    def choose(self, active: tuple[bool, ...], joint_mode: bool) -> None:
        """Say which pose tasks count, or that the joint task is the target."""
        if (active, joint_mode) != (self._active, self._joint_mode):
            self._active, self._joint_mode = active, joint_mode
            self._set_weights()

    def set_pose(self, task: int, pose: np.ndarray) -> None:
        """Give the pose that a task is to have after the step, [7] in its reference link."""
        self._poses[task].set_target_pose(0, pose)

    def set_joints(self, joint_q: np.ndarray) -> None:
        """Give the coordinates of the posture or of the joint target, [joint_coord_count]."""
        self._joints.set_target_positions(joint_q)

    def solve(self, joint_q: np.ndarray, last_step: np.ndarray, step: np.ndarray) -> SolveStatus:
        """Find the best step; see :meth:`DifferentialIK.solve_ik`.

        Args:
            joint_q: Commanded coordinates [joint_coord_count].
            last_step: The step before [joint_dof_count].
            step: Output [joint_dof_count].
        """
        self._acceleration_limit.set_last_displacement(last_step)
        wanted = self._settings.limits_velocity_scale
        if self._velocity_limit.scale > wanted:
            self._scale_velocity(max(wanted, self._velocity_limit.scale - self._scale_loss()))
        return self._solve(joint_q, step)

    def enforce_barriers(self, joint_q: np.ndarray, step: np.ndarray) -> bool:
        """Cut a step that makes a violated barrier worse; return whether something was cut."""
        if not self.barriers or not self._settings.barriers_recheck:
            return False
        status = self.diff.enforce_barriers(joint_q, self.barriers, step)
        return status != SolveStatus.CONVERGED

    def barrier_values(self, joint_q: np.ndarray) -> np.ndarray:
        """Return the value of each barrier row [m], without margins."""
        if not self.barriers:
            return np.zeros(0)
        return self.diff.barrier_values(joint_q, self.barriers)

    def allowed_decrease(self, values: np.ndarray) -> np.ndarray:
        """Return the least change of each barrier value in one step [m]; positive: must grow."""
        gain = np.array([barrier.gain for barrier in self.barriers])[self.barrier_rows]
        margin = np.array([barrier.margin for barrier in self.barriers])[self.barrier_rows]
        inside = values - margin
        return -gain * self._settings.period * inside / (1.0 + np.abs(inside))

    def fault(self, joint_q: np.ndarray, step: np.ndarray, next_q: np.ndarray) -> str:
        """Return what is wrong with a step, '' for nothing: the last check before it leaves.

        A joint outside its limits may move inwards.
        """
        robot, moving = self._robot, self._moving
        coords = self._dof_coord[moving]
        size = np.abs(step[moving])
        fast = size > self._max_step[moving] + _ROUNDING
        q, after = joint_q[coords], next_q[coords]
        below = (after < robot.lower[moving] - _ROUNDING) & (after < q)
        above = (after > robot.upper[moving] + _ROUNDING) & (after > q)
        wrong = fast | below | above
        if not wrong.any():
            return ''
        dof = int(moving[np.argmax(wrong)])
        limit = 'velocity' if fast[np.argmax(wrong)] else 'position'
        return f'the step would break the {limit} limit of degree of freedom {dof}'

    def bound_joint(self, joint_q: np.ndarray) -> str:
        """Return the name of a controlled joint that rests at its limit, '' for none."""
        dofs = self._robot.group.variable_dof
        q = joint_q[self._robot.coords]
        margin = self._robot.position_margin(self._settings)[dofs]
        room = np.minimum(
            q - self._robot.lower[dofs] - margin, self._robot.upper[dofs] - margin - q
        )
        least = int(np.argmin(room))
        return self._robot.group.joint_names[least] if room[least] < 1e-6 else ''

    def _pose_objective(self, index: int, settings: TaskSettings) -> IKObjectivePose:
        return IKObjectivePose(
            self._robot.task_links[index],
            IDENTITY,
            link_offset=link_offset(settings),
            reference_link_index=self._robot.task_references[index],
            exact_jacobian=False,
        )

    def _barrier(self, index: int) -> PositionBarrier:
        settings = self._settings.barriers[index]
        prefix = f'barriers.position.{settings.name}'
        model = self._robot.model
        if settings.frame not in model.body_label:
            raise SettingsError(f'{prefix}.frame', f'the model has no link {settings.frame!r}')
        try:
            return PositionBarrier(
                model.body_index(settings.frame),
                settings.min,
                settings.max,
                axes=settings.axes,
                reference_link_index=self._robot.base_link,
                gain=settings.gain,
                margin=settings.margin,
                # The calming cost would slow every motion of the frame, however far from the box;
                # the acceleration limits calm what is near it.
                safe_displacement_gain=0.0,
                name=settings.name,
            )
        except ValueError as error:
            raise SettingsError(prefix, str(error)) from error

    def _solve(self, joint_q: np.ndarray, step: np.ndarray) -> SolveStatus:
        tasks = [*self._pose_tasks, self._joint_task]
        return self.diff.solve_ik(  # type: ignore[return-value]
            joint_q, tasks, self._limits, self.barriers, step, self._settings.solver_regularization
        )

    def _scale_velocity(self, scale: float) -> None:
        self._velocity_limit.scale = scale
        self._max_step = self._robot.velocity * scale * self._settings.period

    def _scale_loss(self) -> float:
        """Return how far the scale may fall in a tick, so that no joint brakes too hard."""
        dofs = self._robot.group.variable_dof
        velocity = self._robot.velocity[dofs]
        limited = np.isfinite(velocity) & (velocity > 0.0)
        loss = self.acceleration[limited] * self._settings.period / velocity[limited]
        return float(np.min(loss, initial=1.0))

    def _set_weights(self) -> None:
        settings = self._settings
        for index, (task, task_settings) in enumerate(
            zip(self._pose_tasks, settings.tasks, strict=True)
        ):
            weights = task_settings.position_weight + task_settings.orientation_weight
            on = index < len(self._active) and self._active[index] and not self._joint_mode
            task.weight = weights if on else 0.0
        self._joint_task.weight = 1.0 if self._joint_mode else settings.posture_weight
        self._joint_task.gain = (
            1.0 if self._joint_mode else min(1.0, settings.period / _POSTURE_TIME)
        )

    def _warm_up(self, joint_q: np.ndarray) -> None:
        """Run everything that a tick runs."""
        step = np.zeros(self._robot.model.joint_dof_count)
        self.set_joints(joint_q)
        poses = self.diff.body_poses(joint_q)
        for index in range(len(self._pose_tasks)):
            self.set_pose(index, poses[self._robot.task_links[index]])
        # The first solve gives the limits their arrays; only then can they take the last step.
        self._solve(joint_q, step)
        self.solve(joint_q, np.zeros_like(step), step)
        self.enforce_barriers(joint_q, step)
        self.barrier_values(joint_q)
        self.diff.integrate(joint_q, step)


def link_offset(settings: TaskSettings) -> np.ndarray:
    """Return the pose of the controlled frame in its link, [7]."""
    return np.concatenate([settings.offset_xyz, quat_from_rpy(*settings.offset_rpy)])
