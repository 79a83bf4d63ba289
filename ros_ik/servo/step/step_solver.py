# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Differential inverse kinematics of the servo: tasks, limits, barriers, step checks.

Inactive tasks have weight zero. The joint task is the posture (with a small weight) or the joint
target (with weight 1). Two programs therefore serve every mode: one with the rows of the centre of
mass, which cost time, and one without. A robot whose tasks may get different priorities has both
with levels too, which cost more time. All are captured before the first tick, and settings are
numbers that the graphs read, so no tick builds, compiles or captures anything.
"""

from __future__ import annotations

from collections.abc import Sequence
import operator

import numpy as np
import warp as wp

from ros_ik.kinematics.dynamics.center_of_mass import has_mass
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.objectives import IKObjectiveCenterOfMass
from ros_ik.objectives import IKObjectivePose
from ros_ik.servo.barriers.barrier_rows import BarrierRows
from ros_ik.servo.barriers.configured_barriers import apply_settings
from ros_ik.servo.barriers.configured_barriers import make_barriers
from ros_ik.servo.barriers.configured_barriers import make_scene
from ros_ik.servo.barriers.obstacle_scene import ObstacleScene
from ros_ik.servo.interface.active_tasks import ActiveTasks
from ros_ik.servo.interface.obstacle import Obstacle
from ros_ik.servo.motion.pose_math import IDENTITY
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.robot.controlled_robot import link_offset
from ros_ik.servo.step.barrier_stop_check import BarrierStopCheck
from ros_ik.servo.step.commanded_state import CommandedState
from ros_ik.servo.step.joint_task import JointTask
from ros_ik.servo.step.limits_in_force import LimitsInForce
from ros_ik.servo.step.singularity import Damping
from ros_ik.settings import Settings
from ros_ik.settings import TaskSettings
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task
from ros_ik.solvers.differential_ik.quadratic_program.lead import bounds_with_lead

# Time constant of the posture [s]. It is slow compared with the tasks, so that they keep their
# accuracy.
POSTURE_TIME = 1.0
# Time by which barriers act ahead, in durations of an acceleration ramp. Without it, links that
# meet a barrier swing about it; see docs/motion_quality.md.
_LEAD_RAMPS = 1.5
# Parameters that determine margins and gains of barriers, and those that determine task weights
# and damping.
_BARRIERS = operator.attrgetter(
    'barriers_self_collision_margin', 'barriers_self_collision_gain', 'barriers_world_margin',
    'barriers_world_gain', 'barriers_world_evasion_speed',
)  # fmt: skip
_WEIGHTS = operator.attrgetter(
    'com_weight', 'posture_weight', 'solver_singularity_threshold', 'solver_singularity_damping'
)


class StepSolver:
    """Solution and check of the steps of one robot; owned by the control thread.

    Attributes:
        robot: The robot.
        settings: The current settings.
        diff: The solver.
        commanded_state: State after the last step.
        limits: Joint limits.
        barriers: The barriers.
        scene: Collision shapes of the robot, and obstacles; None without barriers.
        rows: Rows of the barrier values.
        has_levels: True if tasks may get different priorities.
    """

    def __init__(
        self, robot: ControlledRobot, settings: Settings, scene: ObstacleScene | None = None
    ) -> None:
        """Set up the program and run it once, which compiles and captures all kernels.

        Args:
            robot: The robot.
            settings: The settings.
            scene: Scene of another solver of the same robot, whose obstacles are kept.
        """
        self.robot, self.settings = robot, settings
        model, group = robot.model, robot.group
        self.diff = DifferentialIK(
            model,
            group,
            DifferentialIKSettings(
                dt=settings.period,
                max_iterations=settings.solver_max_iterations,
                barrier_lead=_LEAD_RAMPS * robot.ramp,
                level_feedforward=True,
                curvature_feedforward=True,
                strict_priorities=True,
            ),
        )
        # Targets are written to the arrays that the solver reads.
        self._targets = [HostBuffer((1,), wp.transformd, model.device) for _ in settings.tasks]
        for target in self._targets:
            target.host[:] = IDENTITY
            target.upload()
        self._poses = [
            self._pose_objective(index, task) for index, task in enumerate(settings.tasks)
        ]
        self._pose_tasks = [Task(objective) for objective in self._poses]
        neutral = model.neutral_joint_q()
        self._joints = JointTask(model)
        self._center = (
            IKObjectiveCenterOfMass(np.zeros(3), reference_link_index=robot.base_link)
            if has_mass(model)
            else None
        )
        self._center_tasks = [Task(self._center)] if self._center is not None else []
        # One task without a centre of mass has no other to precede it, and the kernels of levels
        # take 9 s to compile the first time.
        self.has_levels = (
            len(settings.tasks) > 1 or settings.com_weight > 0.0 or max(_priorities(settings)) > 1
        )
        self.scene = scene or make_scene(robot, settings)
        self.barriers = make_barriers(robot, settings, self.scene)
        self.rows = BarrierRows(self.barriers, self.diff.settings.barrier_lead, settings)
        self.commanded_state = CommandedState(robot, settings)
        self._damping = 0.0
        # Tasks of the two programs, without and with the centre of mass.
        self._tasks = (
            (*self._pose_tasks, self._joints.task),
            (*self._pose_tasks, *self._center_tasks, self._joints.task),
        )
        self._active = ActiveTasks((False,) * len(self._pose_tasks))
        self._stops = BarrierStopCheck(
            self.diff,
            self.barriers,
            robot.scaled_acceleration(settings),
            robot.jerk if settings.limits_jerk == 'strict' else None,
        )
        self.limits = LimitsInForce(
            robot, settings, self._stops, self.commanded_state.singularity
        )
        self._apply(settings, None)
        self._warm_up(neutral)

    def apply(self, settings: Settings) -> None:
        """Apply settings; stricter limits wait for :meth:`LimitsInForce.apply_deferred`."""
        self.limits.apply(settings)
        self._apply(settings, self.settings)

    def continue_from(self, other: StepSolver) -> None:
        """Copy the state of the solver of the same robot with the same settings."""
        self.choose(other._active)
        self.limits.continue_from(other.limits)
        self.commanded_state.singularity.continue_from(other.commanded_state.singularity)
        self._stops.continue_from(other._stops)
        self.diff.continue_from(other.diff)

    def choose(self, active: ActiveTasks) -> None:
        """Set the active tasks."""
        if active != self._active:
            self._active = active
            self.commanded_state.choose(active.frames, active.center)
            self.limits.choose(active.joints)
            self._set_weights()

    def update_damping(self) -> Damping:
        """Set the damping of the next step from the mobility of the frames.

        The mobility is that at the configuration of ``commanded_state``.
        """
        damping = self.commanded_state.singularity.damping(self._active.frames)
        self._damping = damping.square
        return damping

    def set_pose(self, task: int, pose: Sequence[float] | np.ndarray) -> None:
        """Set the reference pose of a frame task, seven numbers in its reference link."""
        target = self._targets[task]
        target.host[0] = pose
        target.upload()

    def set_center(self, position: np.ndarray) -> None:
        """Set the reference of the centre of mass in the base frame [m], [3]."""
        if self._center is not None:
            self._center.set_target_position(0, position)

    def set_joints(self, joint_q: np.ndarray) -> None:
        """Set the coordinates of the posture or of the joint target, [joint_coord_count].

        Mimic joints follow their drivers.
        """
        if self.robot.has_followers:
            joint_q = self.robot.model.apply_mimic(joint_q)
        self._joints.set_target(joint_q)

    def solve(self, joint_q: np.ndarray, last_step: np.ndarray, step: np.ndarray) -> SolveStatus:
        """Solve for the step; see :meth:`DifferentialIK.solve_ik`.

        Args:
            joint_q: Commanded coordinates [joint_coord_count].
            last_step: Previous step [joint_dof_count].
            step: Output [joint_dof_count].
        """
        self.limits.prepare_step(last_step)
        if self.robot.ramp > 0.0:
            ramp = self.robot.ramp / self.settings.period
            self._joints.damp_change(self._free_weight() * ramp, joint_q, last_step)
        return self._solve(joint_q, step)

    def set_obstacles(self, obstacles: tuple[Obstacle, ...], body_q: np.ndarray) -> None:
        """Apply the obstacles; nothing is compiled or captured.

        Args:
            obstacles: At most ``barriers.max_obstacles``.
            body_q: Link poses at which the poses of new obstacles are evaluated once [body_count,
                7].
        """
        if self.scene is not None and self.scene.max_obstacles:
            self.scene.set_obstacles(obstacles, body_q)

    def limit_to_stoppable(
        self, joint_q: np.ndarray, step: np.ndarray, last_step: np.ndarray
    ) -> bool:
        """Blend a step with braking until a stop is feasible; return True if it changed.

        Args:
            joint_q: Commanded coordinates [joint_coord_count].
            step: The step [joint_dof_count], changed in place.
            last_step: Previous step.
        """
        return self.settings.barriers_recheck and self._stops.blend_with_stop(
            joint_q, step, last_step, self.limits.step_before_last
        )

    def barrier_values(self, joint_q: np.ndarray) -> np.ndarray:
        """Return the value of each barrier row [m], without margins."""
        if not self.barriers:
            return np.zeros(0)
        return self.diff.barrier_values(joint_q, self.barriers)

    def least_change(self, joint_q: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the least change of each value in the step that was made last, with its lead.

        Args:
            joint_q: Commanded coordinates before that step [joint_coord_count].
            values: Barrier values there.
        """
        least, lead = self.rows.least_change(values), self.diff.settings.barrier_lead
        if lead == 0.0:
            return least
        previous = self.diff.integrate(joint_q, -self.limits.step_before_last)
        steady = values - self.barrier_values(previous)
        return bounds_with_lead(least, steady, lead, self.settings.period)

    def _pose_objective(self, index: int, settings: TaskSettings) -> IKObjectivePose:
        return IKObjectivePose(
            self.robot.task_links[index],
            self._targets[index].array,
            link_offset=link_offset(settings),
            reference_link_index=self.robot.task_references[index],
            exact_jacobian=False,
        )

    def _solve(self, joint_q: np.ndarray, step: np.ndarray) -> SolveStatus:
        return self.diff.solve_ik(
            joint_q,
            self._tasks[self._active.center],
            self.limits.of_program,
            self.barriers,
            step,
            self.settings.solver_regularization + self._damping,
        )

    def _free_weight(self) -> float:
        """Return the weight of the square of a motion that no target controls."""
        if self._active.joints:
            return self._damping
        weight = self.settings.posture_weight
        return self._damping + weight * weight + self.settings.solver_regularization

    def _apply(self, settings: Settings, previous: Settings | None) -> None:
        """Apply changed settings between two ticks."""
        self.settings = settings
        if previous is None or settings.solver_max_iterations != previous.solver_max_iterations:
            self.diff.set_max_iterations(settings.solver_max_iterations)
        if previous is None or _BARRIERS(settings) != _BARRIERS(previous):
            apply_settings(self.barriers, self.scene, settings)
            self.rows.apply(settings)
        if previous is None or settings.solver_damping != previous.solver_damping:
            for task in (*self._pose_tasks, *self._center_tasks):
                task.damping = settings.solver_damping
        if previous is None or _priorities(settings) != _priorities(previous):
            self._set_priorities(_priorities(settings))
        if previous is None or _tracked(settings) != _tracked(previous):
            for objective, task_settings in zip(self._poses, settings.tasks, strict=True):
                objective.set_link_offset(link_offset(task_settings))
            self.commanded_state.apply(settings)
            self._set_weights()

    def _set_priorities(self, priorities: Sequence[int]) -> None:
        for task, priority in zip(self._pose_tasks, priorities, strict=True):
            task.priority = priority
        # The posture comes after every target.
        self._joints.task.priority = max(priorities)

    def _set_weights(self) -> None:
        settings, active = self.settings, self._active
        for task, task_settings, is_active in zip(
            self._pose_tasks, settings.tasks, active.frames, strict=True
        ):
            weights = task_settings.position_weight + task_settings.orientation_weight
            task.weight = weights if is_active else 0.0
        for task in self._center_tasks:
            task.weight = settings.com_weight if active.center else 0.0
        if active.joints:
            self._joints.set_weight(1.0, 1.0)
        else:
            self._joints.set_weight(
                settings.posture_weight, min(1.0, settings.period / POSTURE_TIME)
            )

    def _warm_up(self, joint_q: np.ndarray) -> None:
        """Run everything that a tick runs, once."""
        step = np.zeros(self.robot.model.joint_dof_count)
        self.set_joints(joint_q)
        poses = self.commanded_state.at(joint_q)
        for index in range(len(self._pose_tasks)):
            self.set_pose(index, poses[self.robot.task_links[index]])
        # The first solve allocates the arrays of the limits, which then accept the last step.
        others = [1] * (len(self._pose_tasks) - 1)
        for first in (2, 1) if self.has_levels else (1,):
            self._set_priorities([first, *others])
            for has_center in (self._center is not None, False):
                self._active = self._active._replace(center=has_center)
                self._solve(joint_q, step)
        self._set_priorities(_priorities(self.settings))
        self.solve(joint_q, np.zeros_like(step), step)
        self.limit_to_stoppable(joint_q, step, np.zeros_like(step))
        self.barrier_values(joint_q)
        self.commanded_state.advance(joint_q, step)


def _priorities(settings: Settings) -> list[int]:
    return [task.priority for task in settings.tasks]


def _tracked(settings: Settings) -> list[tuple]:
    """Return the settings of tracked frames, and the weights of all errors."""
    tasks = [
        (task.offset_xyz, task.offset_rpy, task.position_weight, task.orientation_weight)
        for task in settings.tasks
    ]
    return [*tasks, _WEIGHTS(settings)]
