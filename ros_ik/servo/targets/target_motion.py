# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Predicted motion of the pose targets of one sender between its messages."""

from __future__ import annotations

from collections.abc import Sequence
import math

from ros_ik.servo.motion.pose_math import float_difference
from ros_ik.servo.motion.pose_math import float_length
from ros_ik.servo.motion.pose_math import float_moved
from ros_ik.servo.motion.pose_math import float_unit
from ros_ik.servo.targets.message_times import MessageTimes
from ros_ik.servo.targets.message_times import SILENCE
from ros_ik.servo.targets.vector_motion import Gains
from ros_ik.servo.targets.vector_motion import SAME
from ros_ik.servo.targets.vector_motion import VectorMotion

# Number of periods for which the acceleration is extrapolated.
_CURVED = 2.0
# Longest interval between messages of a motion [s]. Less frequent poses are separate goals, and
# the motion between them is unknown.
_SLOWEST = 0.25
# Fraction of the period within which an equal pose is a repetition of the same message.
_TWICE = 0.5


class TargetMotion:
    """Motion of the pose targets of one frame task."""

    def __init__(self) -> None:
        """Start without a target."""
        self._times = MessageTimes()
        self.reset()

    def reset(self) -> None:
        """Drop all targets."""
        self._times.reset()
        self._parts = VectorMotion(), VectorMotion()
        self._pose: Sequence[float] | None = None
        self._time = self._heard = -math.inf

    def moves(self, now: float) -> bool:
        """Return whether the target is in motion at a time [s]."""
        if all(part.rests for part in self._parts):
            return False
        return now - self._time <= SILENCE * self._times.period

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
            received: Time of receipt [s].
            stamp: Stamp on the clock of the sender [s], or None.
            speeds: Largest linear and angular speed [m/s, rad/s].
            accelerations: Largest linear and angular acceleration [m/s^2, rad/s^2].
        """
        if stamp is None and self._is_twice(pose, received):
            return True
        self._heard = received
        time = self._times.add(received, stamp)
        if time is None:
            return False
        interval, period = time - self._time, self._times.period
        if self._pose is None or not 0.0 < interval <= min(SILENCE * period, _SLOWEST):
            self._parts = VectorMotion(), VectorMotion()
        else:
            gains, curved = Gains(period), _CURVED * period
            moved = float_difference(pose, self._pose)
            limits = zip(speeds, accelerations, strict=True)
            for part, way, most in zip(self._parts, moved, limits, strict=True):
                part.add(way, interval, curved, gains, most)
        self._pose, self._time = pose, time
        return True

    def at(self, now: float) -> Sequence[float]:
        """Return the predicted pose at a time, seven numbers."""
        assert self._pose is not None
        if not self.moves(now):
            return self._pose
        # The clock offset is a mean, so a message may seem to be from the future.
        period = self._times.period
        since = max(now - self._time, -2.0 * period)
        ways = (part.at(since, _CURVED * period) for part in self._parts)
        return float_unit(float_moved(self._pose, *ways))

    def _is_twice(self, pose: Sequence[float], received: float) -> bool:
        """Return whether a message without a stamp repeats the previous one."""
        if self._pose is None or received - self._heard >= _TWICE * self._times.period:
            return False
        return max(map(float_length, float_difference(pose, self._pose))) <= SAME
