# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Differential inverse kinematics of the servo: tasks, limits, barriers, and a check of each step.

Tasks that are not asked for have weight zero, and the joint task is the posture (small weight) or
the joint target (weight 1). So two programs serve every mode, one with the centre of mass and one
without its rows, which cost time. Both are captured before the first tick, and every setting is a
number that a graph reads: no tick builds, compiles or captures anything.
"""

from __future__ import annotations

from collections.abc import Sequence
import operator

import numpy as np
import warp as wp

from ros_ik.barriers import CollisionBarrier
from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.limits import AccelerationLimit
from ros_ik.limits import JerkLimit
from ros_ik.limits import Limit
from ros_ik.limits import MotionLimit
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.objectives import IKObjectiveCenterOfMass
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.servo.interface.command import Obstacle
from ros_ik.servo.motion.center_of_mass import has_mass
from ros_ik.servo.motion.pose_math import quat_from_rpy
from ros_ik.servo.motion.position_stop_check import can_stop
from ros_ik.servo.motion.viable_steps import ViableSteps
from ros_ik.servo.robot.barriers import apply_settings
from ros_ik.servo.robot.barriers import collision_margin
from ros_ik.servo.robot.barriers import COLLISION_RANGE
from ros_ik.servo.robot.barriers import make_barriers
from ros_ik.servo.robot.barriers import make_scene
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.robot.obstacle_scene import ObstacleScene
from ros_ik.servo.step.barrier_stop_check import StopCheck
from ros_ik.servo.step.commanded_state import StepAhead
from ros_ik.servo.step.singularity import Damping
from ros_ik.settings import Settings
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
# Part of a limit that is rounding.
_RELATIVE_ROUNDING = 1e-6
# What margins and gains of barriers come from, and what weights of tasks and damping do.
_BARRIERS = operator.attrgetter(
    'barriers_self_collision_margin', 'barriers_self_collision_gain', 'barriers_world_margin',
    'barriers_world_gain',
)  # fmt: skip
_WEIGHTS = operator.attrgetter(
    'com_weight', 'posture_weight', 'solver_singularity_threshold', 'solver_singularity_damping'
)


class StepSolver:
    """Solves and checks steps of one robot; owned by the control thread.

    Attributes:
        diff: The solver.
        ahead: Where its steps lead.
        acceleration: Acceleration limit of each variable of the group, scaled [rad/s^2 or m/s^2].
        is_strict: Whether limits of jerk hold always.
        barriers: The barriers.
        scene: What the robot is made of and the obstacles; None where nothing is watched.
        barrier_rows: Index of the barrier of each barrier value.
        row_range: Value from which on a row says no more than that nothing is near [m].
    """

    def __init__(
        self, robot: ControlledRobot, settings: Settings, scene: ObstacleScene | None = None
    ) -> None:
        """Set up the program and run it once, which compiles and captures everything.

        Args:
            robot: The robot.
            settings: The settings.
            scene: The scene of another solver for the same robot, whose obstacles stay.

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
        # Targets are written where the solver reads them.
        self._targets = [HostBuffer((1,), wp.transformd, model.device) for _ in settings.tasks]
        for target in self._targets:
            target.host[:, 6] = 1.0
            target.upload()
        self._poses = [
            self._pose_objective(index, task) for index, task in enumerate(settings.tasks)
        ]
        self._pose_tasks = [
            Task(objective, priority=task.priority)
            for objective, task in zip(self._poses, settings.tasks, strict=True)
        ]
        neutral = model.neutral_joint_q()
        self._joints = IKObjectiveJointPosition(model, neutral)
        self._joint_numbers = b''
        # The posture comes after every target.
        lowest = max(task.priority for task in settings.tasks)
        self._joint_task = Task(self._joints, priority=lowest)
        self._center = (
            IKObjectiveCenterOfMass(np.zeros(3), reference_link_index=robot.base_link)
            if has_mass(model)
            else None
        )
        self._center_tasks = [Task(self._center)] if self._center is not None else []
        margin = robot.position_margin(settings)
        self._acceleration_limit = AccelerationLimit(robot.acceleration, position_margin=margin)
        self._velocity_limit = VelocityLimit(robot.velocity, scale=settings.limits_velocity_scale)
        self._step_before = np.zeros(model.joint_dof_count)
        self._position_limit = PositionLimit(margin=margin)
        self._motion_limit: MotionLimit | None = None
        self._jerk_limit: JerkLimit | MotionLimit | None = None
        self._limits: tuple[Limit, ...] = (
            self._position_limit, self._velocity_limit, self._acceleration_limit,
        )  # fmt: skip
        if settings.limits_jerk == 'strict':
            self._jerk_limit = self._motion_limit = MotionLimit(
                robot.velocity, robot.acceleration, robot.jerk, position_margin=margin
            )
            # Positions and velocities are held by it, which alone knows how.
            self._limits = self._acceleration_limit, self._motion_limit
        elif np.isfinite(robot.jerk).any():
            self._jerk_limit = JerkLimit(robot.jerk, velocity=robot.velocity)
            self._limits += (self._jerk_limit,)
        self._viable = (
            ViableSteps(robot, settings.period) if self._jerk_limit is not None else None
        )
        self.scene = scene or make_scene(robot, settings)
        self.barriers = make_barriers(robot, settings, self.scene)
        counts = [barrier.row_count for barrier in self.barriers]
        self.barrier_rows = np.repeat(np.arange(len(self.barriers)), counts)
        self._first_row = [sum(counts[:index]) for index in range(len(counts))]
        self.ahead = StepAhead(robot, settings)
        self._damping = 0.0
        rows = [self.barriers[index] for index in self.barrier_rows]
        # Rows of pairs that are farther apart have this value.
        self.row_range = np.array(
            [COLLISION_RANGE if isinstance(b, CollisionBarrier) else np.inf for b in rows]
        )
        self._row_margin = np.array([barrier.margin for barrier in rows])
        self._dof_coord = dof_coordinates(model)
        self._moving = np.flatnonzero((group.dof_variable >= 0) & (self._dof_coord >= 0))
        self._moving_coords = self._dof_coord[self._moving]
        # What steps and coordinates are compared with before they leave.
        self._lowest = robot.lower[self._moving] - _ROUNDING
        self._highest = robot.upper[self._moving] + _ROUNDING
        self._size, self._after = np.zeros((2, len(self._moving)))
        self._room = np.zeros((3, len(self._moving)))
        # The tasks of the two programs: without the centre of mass, and with it.
        self._tasks = (
            (*self._pose_tasks, self._joint_task),
            (*self._pose_tasks, *self._center_tasks, self._joint_task),
        )
        self._active: tuple[bool, ...] = ()
        self._joint_mode = self._center_active = False
        self._keep_margin(margin)
        scale = settings.limits_acceleration_scale
        jerk = None if self._motion_limit is None else robot.jerk
        self._stops = StopCheck(self.diff, self.barriers, robot.acceleration * scale, jerk)
        self._scale_acceleration(scale)
        self._take_over(settings, None)
        self._largest_change = robot.jerk * settings.period**3 * (1.0 + _RELATIVE_ROUNDING)
        self._warm_up(neutral)

    def apply(self, settings: Settings) -> None:
        """Take over settings; stricter limits wait for :meth:`settle`."""
        self._take_over(settings, self._settings)

    @property
    def is_strict(self) -> bool:
        """True where limits of jerk hold in every motion and every stop."""
        return self._motion_limit is not None

    @property
    def has_jerk_limits(self) -> bool:
        """True where any joint has a limit of jerk, which :meth:`aim` keeps."""
        return self._viable is not None

    @property
    def is_settled(self) -> bool:
        """True if every setting is in force: stricter limits have to wait in motion."""
        settings = self._settings
        return (
            self._acceleration_limit.scale == settings.limits_acceleration_scale
            and self._velocity_limit.scale == settings.limits_velocity_scale
            and self._margin is self._wanted_margin
        )

    def settle(self, joint_q: np.ndarray, last_step: np.ndarray) -> None:
        """Take over limits that had to wait, as far as the robot can stop in time with them.

        Where limits of jerk are strict they wait for rest.

        Args:
            joint_q: Commanded coordinates [joint_coord_count].
            last_step: The step that led there [joint_dof_count].
        """
        if self.is_settled or (self._motion_limit is not None and last_step.any()):
            return
        settings = self._settings
        scale, before = settings.limits_acceleration_scale, self._acceleration_limit.scale
        if not last_step.any():
            self._stops.set_deceleration(self._robot.acceleration * max(scale, before))
            self._stops.rest()
        if scale > before and self._stops.brakes_with(self._robot.acceleration * scale):
            self._scale_acceleration(scale)
        elif scale < before and self._can_stop_with(scale, self._margin, joint_q, last_step):
            self._scale_acceleration(scale)
        if self._margin is not self._wanted_margin and self._can_stop_with(
            self._acceleration_limit.scale, self._wanted_margin, joint_q, last_step
        ):
            self._keep_margin(self._wanted_margin)
        if not last_step.any():
            self._scale_velocity(settings.limits_velocity_scale)

    def continue_from(self, other: StepSolver) -> None:
        """Go on as the solver of the same robot with the same settings would."""
        self.choose(other._active, other._joint_mode, other._center_active)
        self._step_before[:] = other._step_before
        if self._acceleration_limit.scale != other._acceleration_limit.scale:
            self._scale_acceleration(other._acceleration_limit.scale)
        self.ahead.conditioning.continue_from(other.ahead.conditioning)
        self._stops.continue_from(other._stops)
        self.diff.continue_from(other.diff)
        if self._velocity_limit.scale != other._velocity_limit.scale:
            self._scale_velocity(other._velocity_limit.scale)
        if not np.array_equal(self._margin, other._margin):
            self._keep_margin(other._margin)

    def begin(self, step: np.ndarray) -> None:
        """Begin a motion at a constant velocity, of which ``step`` is the way of a tick."""
        self._step_before[:] = step

    def choose(self, active: tuple[bool, ...], joint_mode: bool, center: bool = False) -> None:
        """Say which pose tasks count, and the centre of mass, or that the joint task does."""
        if (active, joint_mode, center) != (self._active, self._joint_mode, self._center_active):
            self._active, self._joint_mode, self._center_active = active, joint_mode, center
            self.ahead.conditioning.choose([counts and not joint_mode for counts in active])
            self._set_weights()

    def damp(self) -> Damping:
        """Set the damping of the next step from how near the tasks are to a singularity.

        That is at the configuration where ``ahead`` is.
        """
        active = () if self._joint_mode else self._active
        damping = self.ahead.conditioning.damping(active)
        self._damping = damping.square
        return damping

    def set_pose(self, task: int, pose: Sequence[float] | np.ndarray) -> None:
        """Give the pose that a task is to have after the step, seven numbers in its reference."""
        target = self._targets[task]
        target.host[0] = pose
        target.upload()

    def set_center(self, position: np.ndarray) -> None:
        """Give where the centre of mass is to be after the step, in the base frame [m], [3]."""
        if self._center is not None:
            self._center.set_target_position(0, position)

    def set_joints(self, joint_q: np.ndarray) -> None:
        """Give the coordinates of the posture or of the joint target, [joint_coord_count]."""
        numbers = joint_q.tobytes()
        if numbers != self._joint_numbers:
            self._joint_numbers = numbers
            self._joints.set_target_positions(joint_q)

    def solve(self, joint_q: np.ndarray, last_step: np.ndarray, step: np.ndarray) -> SolveStatus:
        """Find the best step; see :meth:`DifferentialIK.solve_ik`.

        Args:
            joint_q: Commanded coordinates [joint_coord_count].
            last_step: The step before [joint_dof_count].
            step: Output [joint_dof_count].
        """
        self._acceleration_limit.set_last_displacement(last_step)
        if self._jerk_limit is not None:
            self._jerk_limit.set_last_displacements(last_step, self._step_before)
        wanted = self._settings.limits_velocity_scale
        if self._motion_limit is None and self._velocity_limit.scale > wanted:
            self._scale_velocity(max(wanted, self._velocity_limit.scale - self._scale_loss()))
        return self._solve(joint_q, step)

    def set_obstacles(self, obstacles: tuple[Obstacle, ...], body_q: np.ndarray) -> None:
        """Take over the obstacles; nothing is compiled or captured.

        Args:
            obstacles: At most ``barriers.max_obstacles``.
            body_q: Link poses in which new ones are placed, to stay there [body_count, 7].
        """
        if self.scene is not None and self.scene.max_obstacles:
            self.scene.set_obstacles(obstacles, body_q)

    def enforce_stopping(
        self, joint_q: np.ndarray, step: np.ndarray, last_step: np.ndarray
    ) -> bool:
        """Draw a step towards a stop where the robot could not stop after it; return whether.

        Args:
            joint_q: Commanded coordinates [joint_coord_count].
            step: The step [joint_dof_count], changed in place.
            last_step: The step before.
        """
        return self._settings.barriers_recheck and self._stops.cut(
            joint_q, step, last_step, self._step_before
        )

    def take(self, last_step: np.ndarray) -> None:
        """Note that a step is taken after ``last_step`` [joint_dof_count]."""
        self._step_before[:] = last_step

    def rest(self) -> None:
        """Note that the robot has rested for a tick."""
        self._step_before[:] = 0.0

    def turns(self, step: np.ndarray) -> bool:
        """Return whether strict limits of jerk do not permit to rest after a step that is zero.

        Args:
            step: The step taken last [joint_dof_count].
        """
        if self._motion_limit is None:
            return False
        return bool((np.abs(step - self._step_before) > self._largest_change).any())

    def aim(
        self,
        joint_q: np.ndarray,
        last_step: np.ndarray,
        way: np.ndarray,
        pace: np.ndarray | float = 0.0,
    ) -> np.ndarray:
        """Return the steps of the controlled joints that limits of jerk permit.

        Args:
            joint_q: Commanded coordinates [joint_coord_count].
            last_step: The step before [joint_dof_count].
            way: See :meth:`ViableSteps.aim`.
            pace: See :meth:`ViableSteps.aim`.
        """
        steps = last_step, self._step_before
        return self._viable.aim(joint_q, steps, way, pace)  # type: ignore[union-attr]

    def confine(self, joint_q: np.ndarray, step: np.ndarray, last_step: np.ndarray) -> None:
        """Move a step to the nearest one that strict limits of jerk permit.

        Args:
            joint_q: Commanded coordinates [joint_coord_count].
            step: The step [joint_dof_count], changed in place.
            last_step: The step before.
        """
        group = self._robot.group
        steps, joints = (last_step, self._step_before), step[group.variable_dof]
        joints = self._viable.confine(joint_q, steps, joints)  # type: ignore[union-attr]
        driven = group.dof_variable >= 0
        step[driven] = group.dof_scale[driven] * joints[group.dof_variable[driven]]

    def barrier_values(self, joint_q: np.ndarray) -> np.ndarray:
        """Return the value of each barrier row [m], without margins."""
        if not self.barriers:
            return np.zeros(0)
        return self.diff.barrier_values(joint_q, self.barriers)

    def allowed_decrease(self, values: np.ndarray) -> np.ndarray:
        """Return the least change of each barrier value in one step [m]; positive: must grow."""
        inside = values - self._row_margin
        return -self._row_gain * self._settings.period * inside / (1.0 + np.abs(inside))

    def row_pair(self, row: int) -> tuple[str, str]:
        """Return whose distance a row of the last barrier values is; '' twice for none."""
        index = self.barrier_rows[row]
        barrier = self.barriers[index]
        if not isinstance(barrier, CollisionBarrier):
            return '', ''
        return barrier.closest_pair(row - self._first_row[index]) or ('', '')

    def row_distance(self, row: int) -> float:
        """Return what the value of a row lacks to a distance [m]."""
        return collision_margin(self.barriers[self.barrier_rows[row]], self._settings)

    def fault(self, joint_q: np.ndarray, step: np.ndarray, next_q: np.ndarray) -> str:
        """Return what is wrong with a step, '' for nothing: the last check before it leaves.

        A joint outside its limits may move inwards.
        """
        moving, coords = self._moving, self._moving_coords
        size, after, room = self._size, self._after, self._room
        np.abs(step.take(moving, out=size, mode='clip'), out=size)
        next_q.take(coords, out=after, mode='clip')
        np.subtract(self._longest, size, out=room[0])
        np.subtract(after, self._lowest, out=room[1])
        np.subtract(self._highest, after, out=room[2])
        if np.minimum.reduce(room, axis=None) >= 0.0:
            return ''
        q, fast = joint_q[coords], size > self._longest
        below = (after < self._lowest) & (after < q)
        above = (after > self._highest) & (after > q)
        wrong = fast | below | above
        if not wrong.any():
            return ''
        dof = int(moving[np.argmax(wrong)])
        limit = 'velocity' if fast[np.argmax(wrong)] else 'position'
        return f'the step would break the {limit} limit of degree of freedom {dof}'

    def bound_joint(self, joint_q: np.ndarray) -> str:
        """Return the name of a controlled joint that rests at its limit, '' for none."""
        lowest, highest = self._inner_bounds
        q = joint_q[self._robot.coords]
        room = np.minimum(q - lowest, highest - q)
        least = int(room.argmin())
        return self._robot.group.joint_names[least] if room[least] < 1e-6 else ''

    def _pose_objective(self, index: int, settings: TaskSettings) -> IKObjectivePose:
        return IKObjectivePose(
            self._robot.task_links[index],
            self._targets[index].array,
            link_offset=link_offset(settings),
            reference_link_index=self._robot.task_references[index],
            exact_jacobian=False,
        )

    def _solve(self, joint_q: np.ndarray, step: np.ndarray) -> SolveStatus:
        return self.diff.solve_ik(  # type: ignore[return-value]
            joint_q,
            self._tasks[self._center_active],
            self._limits,
            self.barriers,
            step,
            self._settings.solver_regularization + self._damping,
        )

    def _take_over(self, settings: Settings, before: Settings | None) -> None:
        """Take over what differs from the settings before: a tick waits for it."""
        self._settings = settings
        if before is None or settings.solver_max_iterations != before.solver_max_iterations:
            self.diff.set_max_iterations(settings.solver_max_iterations)
        if before is None or settings.limits_position_margin != before.limits_position_margin:
            margin = self._robot.position_margin(settings)
            self._wanted_margin = margin
            if (margin <= self._margin).all():
                self._keep_margin(margin)
        if before is None or _BARRIERS(settings) != _BARRIERS(before):
            apply_settings(self.barriers, self.scene, settings)
            gains = np.array([barrier.gain for barrier in self.barriers])
            self._row_gain = gains[self.barrier_rows]
        scale = settings.limits_acceleration_scale
        if scale >= self._acceleration_limit.scale and not self.is_strict:
            # Motion may count on harder braking as soon as the check of stops does.
            self._stops.set_deceleration(self._robot.acceleration * scale)
        if not settings.barriers_recheck:
            self._stops.rest()
        speed = max(settings.limits_velocity_scale, self._velocity_limit.scale)
        if before is None or speed != self._velocity_limit.scale:
            self._scale_velocity(speed)
        self._scale_motion()
        if before is None or settings.solver_damping != before.solver_damping:
            for task in (*self._pose_tasks, *self._center_tasks):
                task.damping = settings.solver_damping
        if before is None or _tracked(settings) != _tracked(before):
            for objective, task_settings in zip(self._poses, settings.tasks, strict=True):
                objective.set_link_offset(link_offset(task_settings))
            self.ahead.apply(settings)
            self._set_weights()

    def _can_stop_with(
        self, scale: float, margin: np.ndarray, joint_q: np.ndarray, last_step: np.ndarray
    ) -> bool:
        """Return whether the robot can stop with a scale of accelerations before a margin."""
        acceleration, dt = self._robot.acceleration * scale, self._settings.period
        return can_stop(self._robot, joint_q, last_step, acceleration, margin, dt)

    def _keep_margin(self, margin: np.ndarray) -> None:
        """Keep a distance from the position limits [joint_dof_count] from now on."""
        self._margin = self._wanted_margin = margin
        self._position_limit.set_margin(margin)
        for limit in self._motion_limits():
            limit.set_position_margin(margin)
        self._acceleration_limit.set_position_margin(margin)
        robot, dofs = self._robot, self._robot.group.variable_dof
        self._inner_bounds = robot.lower[dofs] + margin[dofs], robot.upper[dofs] - margin[dofs]

    def _scale_acceleration(self, scale: float) -> None:
        self._acceleration_limit.scale = scale
        self.acceleration = scale * self._robot.group.variable_limits(self._robot.acceleration)
        self._stops.set_deceleration(self._robot.acceleration * scale)
        self.ahead.conditioning.scale_acceleration(scale)
        self._scale_motion()

    def _scale_motion(self) -> None:
        """Give limits on motions their scales; a lower speed is come down to as jerks permit."""
        for limit in self._motion_limits():
            limit.set_scales(self._settings.limits_velocity_scale, self._acceleration_limit.scale)

    def _motion_limits(self) -> list[MotionLimit]:
        """Return the limits on motions: that of the program, and that of what it is asked for."""
        asked = self._viable.limit if self._viable is not None else None
        return [limit for limit in (self._motion_limit, asked) if limit is not None]

    def _scale_velocity(self, scale: float) -> None:
        self._velocity_limit.scale = scale
        step = self._robot.velocity * scale * self._settings.period
        self._longest = step[self._moving] + _ROUNDING

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
        for task in self._center_tasks:
            task.weight = settings.com_weight if self._center_active else 0.0
        self._joint_task.weight = 1.0 if self._joint_mode else settings.posture_weight
        self._joint_task.gain = (
            1.0 if self._joint_mode else min(1.0, settings.period / _POSTURE_TIME)
        )

    def _warm_up(self, joint_q: np.ndarray) -> None:
        """Run everything that a tick runs."""
        step = np.zeros(self._robot.model.joint_dof_count)
        self.set_joints(joint_q)
        poses = self.ahead.at(joint_q)
        for index in range(len(self._pose_tasks)):
            self.set_pose(index, poses[self._robot.task_links[index]])
        # The first solve gives the limits their arrays; only then can they take the last step.
        for has_center in (self._center is not None, False):
            self._center_active = has_center
            self._solve(joint_q, step)
        self.solve(joint_q, np.zeros_like(step), step)
        self.enforce_stopping(joint_q, step, np.zeros_like(step))
        self.barrier_values(joint_q)
        self.ahead.advance(joint_q, step)


def _tracked(settings: Settings) -> list[tuple]:
    """Return what says which frames are tracked, and how their errors and others count."""
    tasks = [
        (task.offset_xyz, task.offset_rpy, task.position_weight, task.orientation_weight)
        for task in settings.tasks
    ]
    return [*tasks, _WEIGHTS(settings)]


def link_offset(settings: TaskSettings) -> np.ndarray:
    """Return the pose of the controlled frame in its link, [7]."""
    return np.concatenate([settings.offset_xyz, quat_from_rpy(*settings.offset_rpy)])
