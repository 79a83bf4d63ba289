# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Predicted motion of the pose targets of one sender between its messages.

Orientations are rotation vectors from one orientation, which stays the same for many messages. If
each message had its own, the sum of two rotation vectors would be wrong to the second order: a
target that turns about a changing axis would make a step with each message.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

from ros_ik.servo.motion.pose_math import float_difference
from ros_ik.servo.motion.pose_math import float_length
from ros_ik.servo.motion.pose_math import float_less
from ros_ik.servo.motion.pose_math import float_moved
from ros_ik.servo.motion.pose_math import float_sum
from ros_ik.servo.motion.pose_math import IDENTITY
from ros_ik.servo.motion.pose_math import Pose
from ros_ik.servo.motion.pose_math import rotation_change
from ros_ik.servo.motion.pose_math import Vector
from ros_ik.servo.motion.pose_math import ZERO
from ros_ik.servo.targets.message_times import MessageTimes
from ros_ik.servo.targets.vector_motion import Gains
from ros_ik.servo.targets.vector_motion import SAME
from ros_ik.servo.targets.vector_motion import VectorMotion

# Periods for which a motion continues beyond the longest recent gap: one more message may be lost,
# and the next one late. After that the target is at the last pose.
_CONTINUED_PERIODS = 1.5
# Longest interval between messages of a motion [s]. Less frequent poses are separate targets, and
# the motion between them is unknown.
_LONGEST_INTERVAL = 0.25
# Earliest time of a prediction, in periods after a message. The clock offset is a mean, so a
# message may seem to be from the future.
_EARLIEST = -2.0
# Relative change of the period above which the gains are recomputed.
_PERIOD_CHANGE = 1e-3
# Fraction of the period within which an equal pose is a repetition of the same message.
_REPETITION = 0.5
# Largest rotation vector [rad]. Longer ones would distort speeds.
_LONGEST_TURN = 0.5


class TargetMotion:
    """Motion of the pose targets of one frame task."""

    def __init__(self) -> None:
        """Start without a target."""
        self._times = MessageTimes()
        # Pose whose orientation has the rotation vector zero; that of the last message.
        self._origin: Sequence[float] = IDENTITY.tolist()
        self._turn = ZERO
        self.reset()

    def reset(self) -> None:
        """Drop all targets."""
        self._times.reset()
        self._gains = Gains(math.inf)
        self._parts = VectorMotion(), VectorMotion()
        self._pose: Sequence[float] | None = None
        self._time = self._heard = self._until = self._seen = -math.inf

    def restart(self) -> None:
        """Restart the motion at rest at the last message; its times continue."""
        # Usual where poses of a place are no motion: the parts are as new already.
        if not all([part.is_new for part in self._parts]):
            self._parts = VectorMotion(), VectorMotion()

    def moves(self, now: float) -> bool:
        """Return True if the target is in motion at a time [s]."""
        linear, angular = self._parts
        if linear.rests and angular.rests:
            return False
        return now <= self._until

    def add(
        self,
        pose: Sequence[float],
        received: float,
        stamp: float | None,
        speeds: tuple[float, float],
        accelerations: tuple[float, float],
    ) -> bool:
        """Add the pose of a message; return False if it is older than the previous one.

        Args:
            pose: Pose, seven numbers.
            received: Time from which its age is counted [s].
            stamp: Stamp on the clock of the sender [s], or None.
            speeds: Largest linear and angular speed [m/s, rad/s].
            accelerations: Largest linear and angular acceleration [m/s^2, rad/s^2].
        """
        if self._is_repetition(pose, received, stamp):
            return True
        self._heard = received
        time = self._times.add(received, stamp)
        if time is None:
            return False
        interval, period = time - self._time, self._times.period
        silence = self._times.silence
        if self._pose is None or not 0.0 < interval <= min(silence, _LONGEST_INTERVAL):
            self.restart()
            self._origin, self._turn = pose, ZERO
        else:
            if not abs(period - self._gains.period) <= _PERIOD_CHANGE * period:
                self._gains = Gains(period)
            gains, turn, moved = self._gains, self._turn, (ZERO, ZERO)
            if pose != self._pose:
                turn = float_difference(pose, self._origin)[1]
                moved = float_difference(pose, self._pose)[0], float_less(turn, self._turn)
                self._turn = turn
            limits = zip(speeds, accelerations, strict=True)
            seen = min(max(self._seen - time, _EARLIEST * period), silence)
            for part, displacement, most in zip(self._parts, moved, limits, strict=True):
                part.add(displacement, interval, gains, most, seen)
            if float_length(turn) > _LONGEST_TURN:
                self._recentre(pose, seen)
        self._pose, self._time = pose, time
        self._until = time + min((self._times.gap + _CONTINUED_PERIODS) * period, silence)
        return True

    def between(self, first: float, second: float) -> tuple[Pose, tuple[Vector, Vector]]:
        """Return the predicted pose at a time, and its displacement until shortly after.

        Args:
            first: The first time [s].
            second: The second time [s].

        Returns:
            The pose, and the displacement [m] and the rotation vector [rad] that follow it.
        """
        assert self._pose is not None
        self._seen = second
        period, (linear, angular) = self._times.period, self._parts
        earliest = self._time + _EARLIEST * period
        first, second = max(first, earliest) - self._time, max(second, earliest) - self._time
        shift = linear.at(first)
        displacement = float_less(linear.at(second), shift)
        if angular.rests:
            return float_moved(self._pose, shift, ZERO), (displacement, ZERO)
        turn = float_sum(self._turn, angular.at(first))
        change = rotation_change(turn, float_sum(self._turn, angular.at(second)))
        x, y, z, *_ = self._pose
        return float_moved((x, y, z, *self._origin[3:]), shift, turn), (displacement, change)

    def _recentre(self, pose: Sequence[float], seen: float) -> None:
        """Let rotation vectors start at the orientation of the last message.

        Args:
            pose: Its pose.
            seen: As in :meth:`VectorMotion.add`.
        """
        origin, turn = self._origin, self._turn

        def recentred(moved: Vector) -> Vector:
            return float_difference(float_moved(origin, ZERO, float_sum(turn, moved)), pose)[1]

        self._parts[1].transform(recentred, seen)
        self._origin, self._turn = pose, ZERO

    def _is_repetition(
        self, pose: Sequence[float], received: float, stamp: float | None
    ) -> bool:
        """Return True if a message repeats the previous one."""
        if self._pose is None:
            return False
        if stamp is not None:
            return stamp == self._times.stamp and pose == self._pose
        if received - self._heard >= _REPETITION * self._times.period:
            return False
        return max(map(float_length, float_difference(pose, self._pose))) <= SAME
