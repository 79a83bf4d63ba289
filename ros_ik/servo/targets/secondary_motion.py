# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Secondary motion in the null space of the targets: posture and secondary aims.

The posture attracts joints to positions. Secondary aims are joint velocities: towards the middle
of the joint ranges, towards the preferred side of an elbow, and along the gradient of the
manipulability. In each step their sum V replaces the attraction of the posture, with the same
small weight, so that targets keep their accuracy.

When targets, weights or aims change, V is blended from an initial velocity v with its rate of
change a, so that the joint accelerations stay continuous. Normally the blend starts from the last
V. After a change of active tasks or weights, it starts from the velocities of the joints, because
joints that V controls from now on may be moving already.

    V(t) = V_wanted(t) + s (v - V_wanted(t)) + a t exp(-3 t / T),    s = (1 + t / T) exp(-t / T)
"""

from __future__ import annotations

import copy
import math

import numpy as np

from ros_ik.servo.interface.active_tasks import ActiveTasks
from ros_ik.servo.motion.manipulability_slope import manipulability_slope
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.step.step_solver import POSTURE_TIME
from ros_ik.servo.step.task_joints import ChainMotion
from ros_ik.settings import Settings
from ros_ik.settings import TaskSettings

# Time constants of the blend [s]: T of the initial velocity, and T / 3 of its rate of change.
_TIME, _SHORT_TIME = 0.1, 0.1 / 3.0
# Difference of every joint from the wanted velocity at which a blend ends [rad/s].
_DONE = 1e-5
# Gradients below which the speed of an aim decreases, so that it does not oscillate about its
# optimum: of the height of an elbow [m/rad] and of the logarithm of the manipulability [1/rad].
_ELBOW_SLOPE, _MANIPULABILITY_SLOPE = 0.05, 0.2


class TaskAims:
    """Secondary aims of one frame task: elbow direction and manipulability."""

    def __init__(self, robot: ControlledRobot, task: int) -> None:
        """Find the joints that affect the aims."""
        link, reference = robot.task_links[task], robot.task_references[task]
        self.frame = ChainMotion(robot, link, reference)
        elbow = robot.elbow_links[task]
        self._elbow = None if elbow < 0 else ChainMotion(robot, elbow, reference)
        self._elbow_speed = self._manipulability_speed = 0.0

    @property
    def is_enabled(self) -> bool:
        """True if an aim is enabled."""
        return self._elbow_speed > 0.0 or self._manipulability_speed > 0.0

    def apply(self, settings: TaskSettings) -> None:
        """Apply settings."""
        self._elbow_speed = 0.0 if self._elbow is None else settings.elbow_speed
        self._manipulability_speed = settings.manipulability_speed
        direction = np.array(settings.elbow_direction)
        self._direction = direction / max(float(np.linalg.norm(direction)), 1e-12)
        self._offset = settings.offset_xyz
        self._rows = np.array(settings.position_weight + settings.orientation_weight) > 0.0

    def add(self, velocity: np.ndarray, poses: np.ndarray) -> None:
        """Add the aimed velocities of the controlled joints [n_variables], in place.

        Args:
            velocity: Velocities to add to [rad/s or m/s].
            poses: Link poses [body_count, 7].
        """
        if self._elbow is not None and self._elbow_speed > 0.0:
            linear, _ = self._elbow.at(poses)
            _add(velocity, self._elbow, linear @ self._direction, self._elbow_speed, _ELBOW_SLOPE)
        if self._manipulability_speed > 0.0:
            slope = manipulability_slope(*self.frame.at(poses, self._offset), self._rows)
            if slope is not None:
                speed = self._manipulability_speed
                _add(velocity, self.frame, slope, speed, _MANIPULABILITY_SLOPE)


class SecondaryMotion:
    """Motion of the joints in the null space of the targets; owned by the control thread.

    Attributes:
        posture: Preferred coordinates [joint_coord_count].
    """

    def __init__(self, robot: ControlledRobot, settings: Settings) -> None:
        """Start at the neutral configuration, without targets."""
        self._robot, self._dt = robot, settings.period
        self._aims = [TaskAims(robot, task) for task in range(len(settings.tasks))]
        dofs = robot.group.variable_dof
        limits = np.array(robot.driver_limits)[:, dofs]
        limits[:, ~np.isfinite(limits).all(axis=0)] = np.nan
        self._middle = limits.mean(axis=0)
        self.posture = robot.model.neutral_joint_q()
        self._chosen = ActiveTasks((False,) * len(settings.tasks))
        # Joints that move active targets.
        self._moved = np.zeros(len(dofs), dtype=bool)
        # Initial velocity of the blend and its rate of change, None for those of the joints, and
        # the time since the start of the blend [s], None after its end.
        self._blend_start: tuple[np.ndarray, np.ndarray] | None = None
        self._blend_time: float | None = None
        # V and its change in the last tick, or None if the posture was used instead.
        self._last: tuple[np.ndarray, np.ndarray] | None = None
        self._settings = settings
        self.apply(settings, self.posture)

    def branch(self) -> SecondaryMotion:
        """Return a copy for predictions.

        It shares posture and aims, which :meth:`set_posture` and :meth:`choose` change in place.
        """
        return copy.copy(self)

    def apply(self, settings: Settings, joint_q: np.ndarray) -> None:
        """Apply settings; the motion changes smoothly, and only if they concern it.

        Args:
            settings: The settings.
            joint_q: Commanded coordinates [joint_coord_count].
        """
        previous, self._settings = self._settings, settings
        for aims, task in zip(self._aims, settings.tasks, strict=True):
            aims.apply(task)
        group, names = self._robot.group.joint_names, settings.posture_joints
        chosen = np.isin(group, names) if names else np.ones(len(group), dtype=bool)
        self._placed = chosen if settings.posture_positions else np.zeros(len(group), dtype=bool)
        self._is_enabled = (
            settings.posture_centering > 0.0
            or any(aims.is_enabled for aims in self._aims)
            or (self._placed.any() and not self._placed.all())
        )
        from_joints = _weights(settings) != _weights(previous)
        # Other parameters leave the posture where the motion started.
        if from_joints or _wishes(settings) != _wishes(previous):
            self._blend(joint_q, from_joints)
            self.set_posture(joint_q)

    def choose(self, active: ActiveTasks, joint_q: np.ndarray) -> None:
        """Set the active tasks.

        Args:
            active: The active tasks.
            joint_q: Commanded coordinates [joint_coord_count].
        """
        from_joints = active != self._chosen
        self._chosen = active
        self._moved[:] = active.center
        for aims, is_active in zip(self._aims, active.frames, strict=True):
            if is_active:
                self._moved[aims.frame.variables] = True
        self._blend(joint_q, from_joints)
        self.set_posture(joint_q)

    def rest(self) -> None:
        """Reset the velocity; the next motion starts with the velocity of the joints."""
        self._chosen, self._last = ActiveTasks(()), None

    def set_posture(self, joint_q: np.ndarray) -> None:
        """Set the posture from the settings, or from the given coordinates if there is none.

        Args:
            joint_q: Coordinates [joint_coord_count].
        """
        self.posture[:] = joint_q
        positions, names = self._settings.posture_positions, self._settings.posture_joints
        if positions:
            coords = [self._robot.coord_of[name] for name in names]
            self.posture[coords or self._robot.coords] = positions

    def target(
        self, joint_q: np.ndarray, steps: tuple[np.ndarray, np.ndarray], poses: np.ndarray
    ) -> np.ndarray:
        """Return the preferred coordinates of this tick [joint_coord_count].

        Args:
            joint_q: Commanded coordinates [joint_coord_count].
            steps: The last step and the previous one [joint_dof_count].
            poses: Link poses at joint_q [body_count, 7].
        """
        time = self._blend_time
        if time is None and not self._is_enabled:
            self._last = None
            return self.posture
        coords, dt = self._robot.coords, self._dt
        velocity = self._wanted_velocity(joint_q[coords], poses)
        if time is not None:
            if self._blend_start is None:
                self._blend_start = joint_velocity, _ = self._joint_motion(steps)
                self._move_posture(joint_velocity)
                velocity = self._wanted_velocity(joint_q[coords], poses)
            had, change = self._blend_start
            time += dt
            left = (1.0 + time / _TIME) * math.exp(-time / _TIME) * (had - velocity)
            left += time * math.exp(-time / _SHORT_TIME) * change
            velocity += left
            self._blend_time = time if np.abs(left).max() > _DONE else None
        previous = velocity if self._last is None else self._last[0]
        self._last = velocity, (velocity - previous) / dt
        target = joint_q.copy()
        target[coords] += velocity * POSTURE_TIME
        return target

    def _blend(self, joint_q: np.ndarray, from_joints: bool) -> None:
        """Start a blend: from the velocity of the joints if ``from_joints``, otherwise from V."""
        self._blend_time, self._blend_start = 0.0, None
        if from_joints:
            return
        coords = self._robot.coords
        pull = (self.posture - joint_q)[coords] / POSTURE_TIME
        self._blend_start = self._last or (pull, np.zeros(len(coords)))

    def _joint_motion(self, steps: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Return the joint velocities and their changes."""
        last, before_last = (step[self._robot.group.variable_dof] / self._dt for step in steps)
        return last, (last - before_last) / self._dt

    def _move_posture(self, velocity: np.ndarray) -> None:
        """Move the posture by the way that the joints still make while a blend ends.

        The blend of a velocity v to zero, v (1 + t / T) exp(-t / T), has the integral 2 T v.

        Args:
            velocity: Velocities of the controlled joints [n_variables].
        """
        self.posture = self.posture.copy()
        coords = self._robot.coords[~self._placed]
        self.posture[coords] += 2.0 * _TIME * velocity[~self._placed]

    def _wanted_velocity(self, positions: np.ndarray, poses: np.ndarray) -> np.ndarray:
        """Return the aimed velocities of the controlled joints [n_variables].

        Args:
            positions: Positions of the controlled joints.
            poses: Link poses [body_count, 7].
        """
        pull = (self.posture[self._robot.coords] - positions) / POSTURE_TIME
        if not self._is_enabled:
            return pull
        # With aims, joints must not return to their positions at the start of the motion.
        velocity = np.where(self._placed | ~self._moved, pull, 0.0)
        if self._settings.posture_centering > 0.0:
            gap = np.where(self._moved, self._middle - positions, 0.0)
            velocity += self._settings.posture_centering * np.nan_to_num(gap)
        for aims, is_active in zip(self._aims, self._chosen.frames, strict=True):
            if is_active and aims.is_enabled:
                aims.add(velocity, poses)
        return velocity


def _weights(settings: Settings) -> tuple[object, ...]:
    """Return the weights of all active terms of a step, and the priorities."""
    return settings.posture_weight, settings.solver_regularization, *settings.balance


def _wishes(settings: Settings) -> list[object]:
    """Return the parameters of the posture and of the aims."""
    aims = [
        (task.elbow_speed, task.elbow_direction, task.manipulability_speed)
        for task in settings.tasks
    ]
    return [settings.posture_positions, settings.posture_centering, *aims]


def _add(
    velocity: np.ndarray, chain: ChainMotion, slope: np.ndarray, speed: float, least: float
) -> None:
    """Add a velocity of norm ``speed`` along a gradient over a chain's joints [n], in place."""
    slope = slope * chain.factors
    size = max(float(np.linalg.norm(slope)), least)
    np.add.at(velocity, chain.variables, speed / size * slope)
