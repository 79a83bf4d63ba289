# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""One frame task between ticks: its accepted target and the motion of its reference towards it."""

from __future__ import annotations

import math

import numpy as np

from ros_ik.servo.approach import Approach
from ros_ik.servo.approach import ApproachLimits
from ros_ik.servo.command import PoseTarget
from ros_ik.servo.pose_math import pose_difference
from ros_ik.servo.pose_math import pose_inverse
from ros_ik.servo.pose_math import pose_multiply
from ros_ik.servo.pose_math import quat_multiply
from ros_ik.servo.pose_math import rotation_exp
from ros_ik.servo.step_solver import link_offset
from ros_ik.settings import Settings
from ros_ik.settings import TaskSettings


class TaskTracker:
    """Follows the targets of one frame task. Poses are those of its frame in its reference link.

    Attributes:
        goal: Accepted target [7], None without one.
        received: Time of its receipt [s].
        rejected: Time of receipt of the last target that was refused as a jump [s], -inf for none.
        jumps: Number of targets refused as a jump.
        pose: Commanded pose [7] at the last :meth:`measure`.
        linear_error: Distance to the target at the last :meth:`measure` [m].
        angular_error: Angle to the target at the last :meth:`measure` [rad].
    """

    def __init__(self, link: int, reference: int, dt: float) -> None:
        """Start without a target."""
        self._link, self._reference = link, reference
        self._linear, self._angular = Approach(dt), Approach(dt)
        self._sequence = 0
        self.goal: np.ndarray | None = None
        self.received = -math.inf
        self.rejected = -math.inf
        self.jumps = 0
        self.pose = np.zeros(7)
        self.linear_error = self.angular_error = math.nan
        self._before: np.ndarray | None = None

    def apply(self, task: TaskSettings, settings: Settings) -> None:
        """Take over settings."""
        self._offset = link_offset(task)
        self._settings, self._general = task, settings
        self._linear_axes = np.array([float(weight > 0.0) for weight in task.position_weight])
        self._angular_axes = np.array([float(weight > 0.0) for weight in task.orientation_weight])
        rejects = settings.target_jump_policy == 'reject'
        self._linear_limits = ApproachLimits(
            task.max_linear_speed, task.max_linear_acceleration, task.gain,
            math.inf if rejects else settings.max_target_step_linear,
        )  # fmt: skip
        self._angular_limits = ApproachLimits(
            task.max_angular_speed, task.max_angular_acceleration, task.gain,
            math.inf if rejects else settings.max_target_step_angular,
        )  # fmt: skip

    def drop(self, sequence: int) -> None:
        """Forget the target and ignore those up to ``sequence``."""
        self.goal = None
        self.received = self.rejected = -math.inf
        self._sequence = max(self._sequence, sequence)
        self.rest()

    def rest(self) -> None:
        """Forget the velocity: the next motion starts from rest."""
        self._linear.reset()
        self._angular.reset()
        self._before = None

    def is_newer(self, target: PoseTarget | None) -> bool:
        """Return whether a target has not been seen yet."""
        return target is not None and target.sequence > self._sequence

    def frame_pose(self, body_q: np.ndarray) -> np.ndarray:
        """Return the pose of the frame in its reference link, from link poses [body_count, 7]."""
        frame = pose_multiply(body_q[self._link], self._offset)
        return pose_multiply(pose_inverse(body_q[self._reference]), frame)

    def accept(self, target: PoseTarget, body_q: np.ndarray) -> None:
        """Take a new target, unless it is a jump and jumps are refused.

        Args:
            target: The target.
            body_q: Link poses at the commanded configuration, in which a target given in a moving
                link is frozen.
        """
        self._sequence = target.sequence
        pose = target.pose
        if target.frame_link != self._reference:
            frame = pose_multiply(body_q[target.frame_link], pose)
            pose = pose_multiply(pose_inverse(body_q[self._reference]), frame)
        if self._general.target_jump_policy == 'reject' and self._is_jump(
            pose, self.frame_pose(body_q)
        ):
            self.rejected = target.received
            self.jumps += 1
            return
        self.goal, self.received, self.rejected = pose, target.received, -math.inf

    def measure(self, body_q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what is left to the target on the axes that count: vectors [m] and [rad]."""
        self.pose = self.frame_pose(body_q)
        linear, angular = pose_difference(self.goal, self.pose)  # type: ignore[arg-type]
        linear, angular = linear * self._linear_axes, angular * self._angular_axes
        self.linear_error = math.sqrt(float(linear @ linear))
        self.angular_error = math.sqrt(float(angular @ angular))
        return linear, angular

    def reference(self, body_q: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the pose to reach in this tick, and how much nearer it lies, in m plus rad.

        Args:
            body_q: Link poses at the commanded configuration [body_count, 7].
        """
        before = self._before
        linear, angular = self.measure(body_q)
        moved, turned = (
            (np.zeros(3), np.zeros(3)) if before is None else pose_difference(self.pose, before)
        )
        self._before = self.pose
        shift = self._linear.step(linear, moved, self._linear_limits)
        turn = self._angular.step(angular, turned, self._angular_limits)
        pose = self.pose.copy()
        pose[:3] += shift
        pose[3:] = quat_multiply(rotation_exp(turn.tolist()).tolist(), pose[3:].tolist())
        return pose, math.sqrt(float(shift @ shift)) + math.sqrt(float(turn @ turn))

    def reached(self) -> bool:
        """Return whether the errors of the last :meth:`measure` are within the tolerances."""
        return (
            self.linear_error <= self._settings.linear_tolerance
            and self.angular_error <= self._settings.angular_tolerance
        )

    def _is_jump(self, goal: np.ndarray, pose: np.ndarray) -> bool:
        linear, angular = pose_difference(goal, pose)
        return (
            float(np.linalg.norm(linear * self._linear_axes))
            > self._general.max_target_step_linear
            or float(np.linalg.norm(angular * self._angular_axes))
            > self._general.max_target_step_angular
        )
