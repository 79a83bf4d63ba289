# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""One frame task between ticks: its accepted targets and the motion of its reference."""

from __future__ import annotations

import enum
import math

import numpy as np

from ros_ik.servo.approach import Approach
from ros_ik.servo.approach import ApproachLimits
from ros_ik.servo.command import PoseTarget
from ros_ik.servo.command import TwistTarget
from ros_ik.servo.pose_filter import PoseFilter
from ros_ik.servo.pose_math import length
from ros_ik.servo.pose_math import move_pose
from ros_ik.servo.pose_math import pose_between
from ros_ik.servo.pose_math import pose_difference
from ros_ik.servo.pose_math import quat_conjugate
from ros_ik.servo.pose_math import quat_multiply
from ros_ik.servo.pose_math import quat_rotate
from ros_ik.servo.step_solver import link_offset
from ros_ik.servo.twist import TwistMotion
from ros_ik.settings import Settings
from ros_ik.settings import TaskSettings


class Pursuit(enum.Enum):
    """Which target of a frame task counts."""

    NONE = 0
    POSE = 1
    TWIST = 2


class TaskTracker:
    """Follows the targets of one frame task. Poses are those of its frame in its reference link.

    Attributes:
        pursuit: Which target counts.
        goal: Accepted pose [7], None without one.
        received: Time from which its age counts [s].
        lasting: Its sequence if it counts as long as a command has it, 0 if it goes stale.
        twist: Accepted velocity, None without one.
        rejected: Time of receipt of the last target that was refused as a jump [s], -inf for none.
        jumps: Number of targets refused as a jump.
        pose: Commanded pose [7] at the last :meth:`measure`.
        linear_error: Distance to the pose target at the last :meth:`measure` [m].
        angular_error: Angle to the pose target at the last :meth:`measure` [rad].
        remaining: What is left to what the step aims at, at the last :meth:`measure` [m plus rad].
    """

    def __init__(self, link: int, reference: int, dt: float) -> None:
        """Start without a target."""
        self._link, self._reference = link, reference
        self._linear, self._angular = Approach(dt), Approach(dt)
        self._motion, self._filter = TwistMotion(dt), PoseFilter(dt)
        self._sequence = self._twist_sequence = 0
        self.pursuit = Pursuit.NONE
        self.goal: np.ndarray | None = None
        self.twist: TwistTarget | None = None
        self.received = self.rejected = -math.inf
        self.lasting = 0
        self.jumps = 0
        self.pose = np.zeros(7)
        # What the last measurement was made of, and what was left then.
        self._body_q: np.ndarray | None = None
        self._left_to: np.ndarray | None = None
        self._left = np.zeros(3), np.zeros(3)
        self.linear_error = self.angular_error = math.nan
        self.remaining = 0.0
        self._aim: np.ndarray | None = None
        self._before: np.ndarray | None = None

    def apply(self, task: TaskSettings, settings: Settings) -> None:
        """Take over settings."""
        self._offset, self._body_q = link_offset(task), None
        self._settings, self._general = task, settings
        self._linear_axes = np.array([float(weight > 0.0) for weight in task.position_weight])
        self._angular_axes = np.array([float(weight > 0.0) for weight in task.orientation_weight])
        self._filter.tau = settings.target_filter_tau
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
        """Forget the targets and ignore those up to ``sequence``."""
        self.goal = self.twist = None
        self.received = self.rejected = -math.inf
        self.lasting = 0
        self._sequence = max(self._sequence, sequence)
        self._twist_sequence = max(self._twist_sequence, sequence)
        self.rest()

    def rest(self) -> None:
        """Forget the velocity: the next motion starts from rest."""
        self._linear.reset()
        self._angular.reset()
        self._motion.rest()
        self._filter.reset()
        self._aim = self._before = None
        self.pursuit = Pursuit.NONE

    def pursue(self, pursuit: Pursuit) -> None:
        """Say which target counts; from one kind to the other the velocity goes on."""
        if Pursuit.NONE in (pursuit, self.pursuit):
            self.rest()
        elif pursuit is Pursuit.POSE:
            linear, angular = self._motion.velocity
            self._linear.velocity, self._angular.velocity = linear.copy(), angular.copy()
            self._filter.reset()
        else:
            self._motion.rest()
        self.pursuit = pursuit

    def is_newer(self, target: PoseTarget) -> bool:
        """Return whether a pose target has not been seen yet."""
        return target.sequence > self._sequence

    def frame_pose(self, body_q: np.ndarray) -> np.ndarray:
        """Return the pose of the frame in its reference link, from link poses [body_count, 7]."""
        return pose_between(body_q[self._reference], body_q[self._link], self._offset)

    def accept(self, target: PoseTarget, body_q: np.ndarray) -> bool:
        """Take a new target, unless it is a jump and jumps are refused; return whether it was.

        Args:
            target: The target.
            body_q: Link poses at the commanded configuration, in which a target given in a moving
                link is frozen.
        """
        self._sequence = target.sequence
        pose = target.pose
        if target.frame_link != self._reference:
            pose = pose_between(body_q[self._reference], body_q[target.frame_link], pose)
        if self._general.target_jump_policy == 'reject' and self._is_jump(
            pose, self.frame_pose(body_q)
        ):
            self.rejected = target.received
            self.jumps += 1
            return False
        self.goal, self.received, self.rejected = pose, target.received, -math.inf
        self.lasting = target.sequence if target.lasting else 0
        return True

    def accept_twist(self, target: TwistTarget | None) -> bool:
        """Take a velocity if it is a new one; return whether it was."""
        if target is None or target.sequence <= self._twist_sequence:
            return False
        self.twist, self._twist_sequence = target, target.sequence
        return True

    def withdraw(self, target: PoseTarget | None) -> bool:
        """Forget a lasting target that the command no longer has; return whether it was one."""
        if not self.lasting or (target is not None and target.sequence == self.lasting):
            return False
        self.goal, self.lasting, self.received = None, 0, -math.inf
        return True

    def measure(self, body_q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what is left to the pose target on the axes that count: vectors [m] and [rad].

        Args:
            body_q: Link poses [body_count, 7]; the same array holds the same poses.
        """
        goal, aim = self.goal, self._aim
        if body_q is not self._body_q:
            self._body_q, self.pose = body_q, self.frame_pose(body_q)
            self._left_to = None
        if goal is None:
            left = np.zeros(3), np.zeros(3)
        elif goal is self._left_to:
            left = self._left
        else:
            self._left_to = goal
            self._left = left = self._difference(goal)
            self.linear_error, self.angular_error = length(left[0]), length(left[1])
        if aim is not None:
            self.remaining = (
                self.linear_error + self.angular_error
                if aim is goal
                else sum(map(length, self._difference(aim)))
            )
        return left

    def reference(self, body_q: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the pose to reach in this tick, and how much nearer it lies, in m plus rad.

        Args:
            body_q: Link poses at the commanded configuration [body_count, 7].
        """
        before = self._before
        self._aim = None
        left = self.measure(body_q)
        achieved = (
            (np.zeros(3), np.zeros(3)) if before is None else pose_difference(self.pose, before)
        )
        self._before = self.pose
        if self.pursuit is Pursuit.TWIST:
            shift, turn = self._follow(body_q, achieved)
        else:
            shift, turn = self._approach(left, achieved)
        pose = move_pose(self.pose, shift, turn)
        way = length(shift) + length(turn)
        if self.pursuit is Pursuit.TWIST:
            self._aim, self.remaining = pose, way
        return pose, way

    def reached(self) -> bool:
        """Return whether the errors of the last :meth:`measure` are within the tolerances."""
        return (
            self.linear_error <= self._settings.linear_tolerance
            and self.angular_error <= self._settings.angular_tolerance
        )

    def _approach(
        self, left: tuple[np.ndarray, np.ndarray], achieved: tuple[np.ndarray, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the displacement of this tick towards the pose target."""
        goal: np.ndarray = self.goal  # type: ignore[assignment]
        self._aim = self._filter.step(goal, self.pose)
        self.remaining = self.linear_error + self.angular_error
        if self._aim is not goal:
            left = self._difference(self._aim)
            self.remaining = length(left[0]) + length(left[1])
        return (
            self._linear.step(left[0], achieved[0], self._linear_limits),
            self._angular.step(left[1], achieved[1], self._angular_limits),
        )

    def _follow(
        self, body_q: np.ndarray, achieved: tuple[np.ndarray, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the displacement of this tick by the commanded velocity."""
        twist: TwistTarget = self.twist  # type: ignore[assignment]
        linear, angular = twist.linear, twist.angular
        if twist.frame_link != self._reference:
            turn = quat_multiply(
                quat_conjugate(body_q[self._reference, 3:].tolist()).tolist(),
                body_q[twist.frame_link, 3:].tolist(),
            ).tolist()
            linear = quat_rotate(turn, linear.tolist())
            angular = quat_rotate(turn, angular.tolist())
        return self._motion.step(
            self.pose,
            achieved,
            (linear, angular),
            (self._linear_axes, self._angular_axes),
            (self._linear_limits, self._angular_limits),
        )

    def _difference(self, goal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what takes the pose to ``goal`` on the axes that count."""
        linear, angular = pose_difference(goal, self.pose)
        return linear * self._linear_axes, angular * self._angular_axes

    def _is_jump(self, goal: np.ndarray, pose: np.ndarray) -> bool:
        linear, angular = pose_difference(goal, pose)
        return (
            length(linear * self._linear_axes) > self._general.max_target_step_linear
            or length(angular * self._angular_axes) > self._general.max_target_step_angular
        )
