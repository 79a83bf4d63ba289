# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Tracking of one frame task: the motion of its reference towards the accepted targets."""

from __future__ import annotations

from collections.abc import Sequence
import copy
import enum
import math

import numpy as np

from ros_ik.servo.interface.target import PoseTarget
from ros_ik.servo.motion.approach import Approach
from ros_ik.servo.motion.pose_filter import PoseFilter
from ros_ik.servo.motion.pose_math import float_between
from ros_ik.servo.motion.pose_math import float_difference
from ros_ik.servo.motion.pose_math import float_length
from ros_ik.servo.motion.pose_math import float_moved
from ros_ik.servo.motion.pose_math import float_scaled
from ros_ik.servo.motion.pose_math import IDENTITY
from ros_ik.servo.motion.pose_math import quat_conjugate
from ros_ik.servo.motion.pose_math import quat_multiply
from ros_ik.servo.motion.pose_math import quat_rotate
from ros_ik.servo.motion.pose_math import Vector
from ros_ik.servo.motion.pose_math import ZERO
from ros_ik.servo.motion.ramped_approach import ApproachLimits
from ros_ik.servo.robot.controlled_robot import link_offset
from ros_ik.servo.step.frame_mobility import FrameMobility
from ros_ik.servo.targets.accepted_targets import AcceptedTargets
from ros_ik.servo.targets.active_axes import ActiveAxes
from ros_ik.servo.targets.jump_check import pursued_distances
from ros_ik.servo.targets.twist import TwistMotion
from ros_ik.settings import Settings
from ros_ik.settings import TaskSettings

# Time for which a moving target is predicted, in ticks after the start of this one. 1, the end of
# the tick, would be exact; a smaller value lags, and overshoots less at a sudden stop. The
# approach leads by its braking distance, so at 100 Hz the command lags by less than a tick.
_PREDICTION_TICKS = -0.6
# Pose of a frame in itself.
_HERE: Sequence[float] = IDENTITY.tolist()
# Speed by which the request for a single target may always exceed the achieved one [m/s or rad/s].
# A distant posture takes up to 0.5 mm/s of a bent Panda. With 2 mm/s slow joints brake too late.
# Beside other targets it is 0: they take more than the posture does.
_EXCESS = 1e-3


class TargetKind(enum.Enum):
    """Kind of the target that a frame task follows.

    REST is velocity zero, for a task whose velocity has ended while others have targets.
    """

    NONE = 0
    POSE = 1
    TWIST = 2
    REST = 3

    @property
    def is_from_sender(self) -> bool:
        """True for a target that was sent."""
        return self is TargetKind.POSE or self is TargetKind.TWIST

    @property
    def is_velocity(self) -> bool:
        """True for a velocity."""
        return self is TargetKind.TWIST or self is TargetKind.REST


class TaskTracker:
    """Tracker of one frame task. Poses are those of its frame in its reference link.

    Attributes:
        target_kind: Kind of the active target.
        accepted: Targets that the frame may follow.
        pose: Commanded pose at the last :meth:`measure`, seven floats.
        linear_error: Position error of the command at the last :meth:`measure` [m].
        angular_error: Orientation error of the command at the last :meth:`measure` [rad].
        remaining: Remaining distance to the point aimed at, at the last :meth:`measure` [m plus
            rad].
    """

    def __init__(self, link: int, reference: int, dt: float, ramp: float) -> None:
        """Start without a target; :meth:`apply` must come next.

        Args:
            link: Index of the link that carries the frame.
            reference: Index of its reference link.
            dt: Duration of a tick [s].
            ramp: See :class:`ApproachLimits`.
        """
        self._link, self._reference, self._ramp = link, reference, ramp
        self._linear, self._angular = Approach(dt), Approach(dt)
        self._motion, self._filter = TwistMotion(dt), PoseFilter(dt)
        self.accepted, self._dt = AcceptedTargets(reference), dt
        self.target_kind = TargetKind.NONE
        self.pose: Sequence[float] = IDENTITY.tolist()
        self._offset: Sequence[float] = _HERE
        # Link poses and target of the last measurement, and its result.
        self._body_q: np.ndarray | None = None
        self._error_target: np.ndarray | None = None
        self._error = ZERO, ZERO
        # Last pose of :meth:`errors_at`, its target, and its errors.
        self._compared: np.ndarray | None = None
        self._compared_to: Sequence[float] | None = None
        self._compared_errors = math.nan, math.nan
        self.linear_error = self.angular_error = math.nan
        self.remaining = 0.0
        # Pose that the step aims at, and the displacements that follow it, as plain floats.
        self._aim: Sequence[float] | None = None
        self._aim_motion = ZERO, ZERO
        self._previous_pose: Sequence[float] | None = None
        self._axes = ActiveAxes(ZERO, ZERO, is_all=False)

    @property
    def must_come_to_rest(self) -> bool:
        """True if the frame moves by a velocity, and is to come to rest once that ends."""
        return self.target_kind.is_velocity and not self._motion.has_come_to_rest

    def branch(self) -> TaskTracker:
        """Return an independent copy."""
        other = copy.copy(self)
        other._linear, other._angular = copy.copy(self._linear), copy.copy(self._angular)
        other._motion, other._filter = self._motion.branch(), copy.copy(self._filter)
        other.accepted = self.accepted.branch()
        return other

    def apply(self, task: TaskSettings, settings: Settings) -> None:
        """Apply settings."""
        self._settings = task
        self._body_q = self._compared = None
        previous, self._offset = self._offset, link_offset(task).tolist()
        previous_axes, self._axes = self._axes, ActiveAxes.of_task(task)
        if self._offset != previous or self._axes != previous_axes:
            self.restart(float_between(previous, IDENTITY.tolist(), self._offset))
        of_task = task.target_filter_tau
        self._filter.tau = settings.target_filter_tau if of_task < 0.0 else of_task
        predicts = task.target_prediction == 'velocity' and self._filter.tau == 0.0
        longest, widest = pursued_distances(settings)
        linear = ApproachLimits(
            task.max_linear_speed, task.max_linear_acceleration, task.gain, longest, self._ramp
        )
        angular = ApproachLimits(
            task.max_angular_speed, task.max_angular_acceleration, task.gain, widest, self._ramp
        )
        self._limits = linear, angular
        self.accepted.apply(settings)
        self.accepted.configure(self._axes, self._limits, predicts=predicts)

    def drop(self, sequence: int) -> None:
        """Drop the targets, and ignore those up to ``sequence``."""
        self.accepted.drop(sequence)
        self.rest()

    def rest(self) -> None:
        """Reset the velocity; the next motion starts from rest."""
        self._linear.reset()
        self._angular.reset()
        self._motion.rest()
        self._filter.reset()
        self._aim = self._previous_pose = None
        self.target_kind = TargetKind.NONE

    def set_initial_velocity(self, previous_body_q: np.ndarray, body_q: np.ndarray) -> None:
        """Start with the current velocity of the frame, if it followed no target before.

        Args:
            previous_body_q: Link poses of the previous tick [body_count, 7].
            body_q: Current link poses [body_count, 7].
        """
        if self._previous_pose is not None or self.target_kind is TargetKind.NONE:
            return
        self._previous_pose = self._frame(previous_body_q)
        self._set_velocity(float_difference(self._frame(body_q), self._previous_pose))

    def restart(self, offset: Sequence[float] = _HERE) -> None:
        """Go on at the velocity of the commanded pose, after a change of what it depends on.

        Args:
            offset: Pose of the frame in the one that it was before. An axis that was free, and a
                point away from the axis of a rotation, may be moving.
        """
        if self._previous_pose is None:
            return
        self.pose, self._previous_pose = (
            float_between(IDENTITY.tolist(), pose, offset)
            for pose in (self.pose, self._previous_pose)
        )
        self._set_velocity(float_difference(self.pose, self._previous_pose))
        self._motion.rest()

    def set_target_kind(self, target_kind: TargetKind) -> None:
        """Set the kind of the active target; the velocity is kept between kinds."""
        if TargetKind.NONE in (target_kind, self.target_kind):
            self.rest()
        elif target_kind is TargetKind.POSE:
            linear, angular = self._motion.velocity
            self._linear.velocity = tuple(linear.tolist())
            self._angular.velocity = tuple(angular.tolist())
            self._filter.reset()
        elif self.target_kind is TargetKind.POSE:
            self._motion.rest()
        self.target_kind = target_kind

    def frame_pose(self, body_q: np.ndarray) -> np.ndarray:
        """Return the pose of the frame in its reference link, from link poses [body_count, 7]."""
        return np.array(self._frame(body_q))

    def accept(self, target: PoseTarget, body_q: np.ndarray) -> bool:
        """Accept a new target; see :meth:`AcceptedTargets.accept`."""
        return self.accepted.accept(target, body_q, self._frame)

    def measure(self, body_q: np.ndarray) -> tuple[Vector, Vector]:
        """Return the remaining displacement to the pose target on active axes [m], [rad].

        Args:
            body_q: Link poses [body_count, 7]. The result is cached for the same array object, so
                it must not be modified.
        """
        target, aim = self.accepted.pose, self._aim
        if body_q is not self._body_q:
            self._body_q, self.pose = body_q, self._frame(body_q)
            self._error_target = None
        if target is None:
            left = ZERO, ZERO
        elif target is self._error_target:
            left = self._error
        else:
            self._error_target = target
            self._error = left = self._difference(self.accepted.floats)
            self.linear_error, self.angular_error = float_length(left[0]), float_length(left[1])
        if aim is not None:
            self.remaining = (
                self.linear_error + self.angular_error
                if aim is self.accepted.floats
                else self._length(*self._difference(aim))
            )
        return left

    def reference(
        self,
        body_q: np.ndarray,
        now: float,
        mobility: FrameMobility,
    ) -> tuple[Sequence[float], float]:
        """Return the reference pose of this tick, and its distance, in m plus rad.

        Args:
            body_q: Link poses at the commanded configuration [body_count, 7].
            now: Time of the tick [s].
            mobility: Joint limits along the motion of the frame.
        """
        previous = self._previous_pose
        self._aim, self._aim_motion = None, (ZERO, ZERO)
        left = self.measure(body_q)
        achieved = (ZERO, ZERO) if previous is None else float_difference(self.pose, previous)
        self._previous_pose = self.pose
        moves_by_velocity = self.target_kind.is_velocity
        if moves_by_velocity:
            shift, turn = self._follow_velocity(body_q, achieved, mobility)
        elif self.accepted.predicts and self.accepted.motion.moves(now):
            shift, turn = self._follow_moving_pose(achieved, now, mobility)
        else:
            shift, turn = self._approach_pose(left, achieved, mobility)
        shift, turn = mobility.slowed(shift, turn)
        pose = float_moved(self.pose, shift, turn)
        distance = float_length(shift) + float_length(turn)
        if moves_by_velocity:
            self._aim, self.remaining = pose, distance
        return pose, distance

    def errors_at(self, pose: np.ndarray) -> tuple[float, float]:
        """Return position [m] and orientation error [rad] of a pose [7] to the target."""
        if pose is not self._compared or self.accepted.floats is not self._compared_to:
            self._compared, self._compared_to = pose, self.accepted.floats
            left = float_difference(self.accepted.floats, pose.tolist())
            self._compared_errors = self._axes.lengths(left)
        return self._compared_errors

    def reached(self, linear: float, angular: float) -> bool:
        """Return True if errors [m] and [rad] are within the tolerances."""
        return (
            linear <= self._settings.linear_tolerance
            and angular <= self._settings.angular_tolerance
        )

    def _set_velocity(self, moved: tuple[Vector, Vector]) -> None:
        """Start with the displacements of the previous tick, [m] and [rad]."""
        self._linear.velocity, self._angular.velocity = (
            float_scaled(displacement, 1.0 / self._dt) for displacement in moved
        )

    def _frame(self, body_q: np.ndarray) -> Sequence[float]:
        """Return :meth:`frame_pose` as plain floats."""
        return float_between(
            body_q[self._reference].tolist(), body_q[self._link].tolist(), self._offset
        )

    def _approach_pose(
        self,
        left: tuple[Vector, Vector],
        achieved: tuple[Vector, Vector],
        mobility: FrameMobility,
    ) -> tuple[Vector, Vector]:
        """Return the displacement of this tick towards the pose target."""
        self._aim = self._filter.step(self.accepted.floats, self.pose)
        self.remaining = self.linear_error + self.angular_error
        if self._aim is not self.accepted.floats:
            left = self._difference(self._aim)
            self.remaining = float_length(left[0]) + float_length(left[1])
        linear, angular = mobility.limits_along(self._limits, left, achieved, ends=True)
        excess = 0.0 if mobility.demand.others else _EXCESS
        self._linear.excess = self._angular.excess = excess
        return (
            self._linear.step(left[0], achieved[0], linear),
            self._angular.step(left[1], achieved[1], angular),
        )

    def _follow_moving_pose(
        self, achieved: tuple[Vector, Vector], now: float, mobility: FrameMobility
    ) -> tuple[Vector, Vector]:
        """Return the displacement of this tick along with a moving target, and towards it."""
        end = now + _PREDICTION_TICKS * self._dt
        aim, motion = self.accepted.motion.between(end - self._dt, end)
        # The filter is off, and starts here when a parameter enables it.
        self._aim = self._filter.step(aim, self.pose)
        shift, turn = self._aim_motion = self._axes.part(motion)
        left, angle = self._difference(self._aim)
        linear, angular = mobility.limits_along(self._limits, (left, angle), achieved)
        self.remaining = self._length(left, angle)
        return (
            self._linear.step_with_target(shift, left, achieved[0], linear),
            self._angular.step_with_target(turn, angle, achieved[1], angular),
        )

    def _follow_velocity(
        self,
        body_q: np.ndarray,
        achieved: tuple[Vector, Vector],
        mobility: FrameMobility,
    ) -> tuple[Vector, Vector]:
        """Return the displacement of this tick by the target velocity, or to rest."""
        shift, rotation = self._motion.step(
            np.array(self.pose),
            (np.array(achieved[0]), np.array(achieved[1])),
            self._velocity(body_q),
            (np.array(self._axes.linear), np.array(self._axes.angular)),
            lambda left: mobility.limits_along(self._limits, left, achieved),
        )
        return tuple(shift.tolist()), tuple(rotation.tolist())

    def _velocity(self, body_q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the target velocity along the axes of the reference link [m/s], [rad/s]."""
        twist = self.accepted.twist if self.target_kind is TargetKind.TWIST else None
        if twist is None:
            return np.zeros(3), np.zeros(3)
        if twist.frame_link == self._reference:
            return twist.linear, twist.angular
        turn = quat_multiply(
            quat_conjugate(body_q[self._reference, 3:].tolist()).tolist(),
            body_q[twist.frame_link, 3:].tolist(),
        ).tolist()
        return (
            quat_rotate(turn, twist.linear.tolist()), quat_rotate(turn, twist.angular.tolist())
        )  # fmt: skip

    def _difference(self, pose: Sequence[float]) -> tuple[Vector, Vector]:
        """Return the displacement to ``pose`` on active axes."""
        return self._axes.part(float_difference(pose, self.pose))

    def _length(self, linear: Vector, angular: Vector) -> float:
        """Return the remaining distance to the aim of the step, from differences to its pose."""
        (x, y, z), (a, b, c) = linear, angular
        (u, v, w), (d, e, f) = self._aim_motion
        return math.hypot(x + u, y + v, z + w) + math.hypot(a + d, b + e, c + f)
