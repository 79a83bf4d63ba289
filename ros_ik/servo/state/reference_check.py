# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Check that the controller follows the commands, from a reference that it reported.

A reference tells where the controller was. One that follows the commands goes on to the last one,
and is there or on its way. A reference with offset e from the last command and velocity v is that
of such a controller, if one of these is true for a lag s:

- the commands moved within s before the reference, it is between their smallest and largest, and
  no joint goes in a direction in which they did not. A controller that goes from its setpoint to
  each command in turn, in lines or with a filter, stays there;
- each joint is at the last command, or approaches it so fast that it arrives within s:

      e v > 0,    |e| <= |v| s

A reference that rests elsewhere after the end of the motion does not follow. Long after it, the
reference itself is where the controller holds the robot.
"""

from __future__ import annotations

import collections
import math
from typing import NamedTuple

import numpy as np

from ros_ik.servo.interface.measurement import ControllerReference
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.state.arrival_check import NOISE
from ros_ik.servo.state.resting_command import SETTLING_TIME
from ros_ik.settings import Settings

# Speed below which a joint is at rest [rad/s].
RESTS = 1e-3
# Distance within which a reference is at the last command [rad or m].
_ARRIVED = 1e-9
# Largest delay of a message with a reference, and time after which a controller that rests has
# followed the last command or will not, as fractions of following_error.delay [1].
_DELAY, _RESPONSE = 0.5, 0.2
# Largest number of time spans into which the commands are divided.
_MAX_SPANS = 16


class _Span(NamedTuple):
    """Smallest and largest positions and steps of the commands of a time span.

    Attributes:
        start: Start of the time span [s].
        low: [2, n_variables], rad or m.
        high: The same.
    """

    start: float
    low: np.ndarray
    high: np.ndarray


class ReferenceCheck:
    """Commands of the last moments; one per servo."""

    def __init__(self, robot: ControlledRobot, settings: Settings) -> None:
        """Start without a command."""
        self._coords, self._unit = robot.coords, robot.radian
        self._spans: collections.deque[_Span] = collections.deque()
        # Position and step of the last command.
        self._last = np.zeros((2, len(robot.coords)))
        # Times of the last tick, and of the last one before which the command moved [s].
        self._now = self._moved = -math.inf
        self.apply(settings)

    def apply(self, settings: Settings) -> None:
        """Apply settings."""
        self._period = settings.period
        # A setpoint is on its way to a command for a period.
        delay = settings.following_error_delay
        self._lag = (1.0 + _DELAY) * delay + 2.0 * settings.period
        self._response = _RESPONSE * delay + 2.0 * settings.period
        self._memory = self._lag + settings.joint_state_timeout

    def forget(self) -> None:
        """Drop all commands."""
        self._spans.clear()
        self._now = self._moved = -math.inf

    def restart(self, now: float, positions: np.ndarray) -> None:
        """Drop all commands, because the next one goes from somewhere else.

        Args:
            now: Current time [s].
            positions: Positions from which it goes [n_variables].
        """
        self.forget()
        self._now, self._last[0], self._last[1] = now, positions, 0.0
        self._spans.append(_Span(now, self._last.copy(), self._last.copy()))

    def observe(self, now: float, joint_q: np.ndarray, *, moves: bool) -> None:
        """Record the last command.

        Args:
            now: Current time [s].
            joint_q: Commanded coordinates [joint_coord_count].
            moves: True if the command is in motion.
        """
        if now < self._now:
            # The clock jumped backwards.
            self.forget()
        self._now = now
        if not moves:
            return
        self._moved = now
        spans, last = self._spans, self._last
        positions = joint_q[self._coords]
        np.subtract(positions, last[0] if spans else positions, out=last[1])
        last[0] = positions
        if spans and now - spans[-1].start < self._memory / _MAX_SPANS:
            np.minimum(spans[-1].low, last, out=spans[-1].low)
            np.maximum(spans[-1].high, last, out=spans[-1].high)
            return
        spans.append(_Span(now, last.copy(), last.copy()))
        # The command from before stays as long as it may still be in force.
        while len(spans) > 1 and now - spans[1].start >= self._memory:
            spans.popleft()

    def passes(
        self, reference: ControllerReference, joint_q: np.ndarray, acceleration: np.ndarray
    ) -> bool:
        """Return True if a reference is that of a controller on its way to the last command.

        Args:
            reference: Reference of the controllers.
            joint_q: Commanded coordinates, at rest [joint_coord_count].
            acceleration: Acceleration limits of the controlled joints [rad/s^2 or m/s^2].
        """
        rest = float(reference.received.min()) - self._moved
        if rest > self._lag + SETTLING_TIME:
            return False
        command = joint_q[self._coords]
        if self._approaches(reference, command):
            return True
        return rest <= self._lag and self._is_between(reference, command, acceleration)

    def _approaches(self, reference: ControllerReference, command: np.ndarray) -> bool:
        """Return True if the reference approaches the command.

        One that is there is as good a start as the command.
        """
        offset, velocities = command - reference.positions, reference.velocities
        # Comparisons with NaN are false.
        comes = (offset * velocities > 0.0) & (np.abs(offset) <= np.abs(velocities) * self._lag)
        is_there = (np.abs(offset) <= _ARRIVED) & (np.abs(velocities) <= RESTS * self._unit)
        return bool(comes.any() and (comes | is_there).all())

    def _is_between(
        self, reference: ControllerReference, command: np.ndarray, acceleration: np.ndarray
    ) -> bool:
        """Return True if the reference is between the commands of the time by which it may lag."""
        positions, velocities = reference.positions, reference.velocities
        received = float(reference.received.min())
        # Positions that are off by a dt^2 give a step within the acceleration limits.
        change = np.where(np.isfinite(acceleration), acceleration * self._period, 0.0)
        near, slow = NOISE * self._unit + change * self._period, RESTS * self._unit
        low, high = self._range(received - self._lag, command)
        if np.any((positions < low[0] - near) | (positions > high[0] + near)):
            return False
        turns = (velocities < -slow - change) & (low[1] >= 0.0)
        turns |= (velocities > slow + change) & (high[1] <= 0.0)
        if turns.any():
            return False
        rests = bool(np.all(np.abs(velocities) <= slow))
        if rests and received - self._moved >= self._response:
            return bool(np.all(np.abs(positions - command) <= near))
        return True

    def _range(self, since: float, command: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return smallest and largest positions and steps [2, n_variables] since a time [s].

        The command that was in force then is included.
        """
        low = np.array([command, np.zeros(len(command))])
        high = low.copy()
        for span in reversed(self._spans):
            np.minimum(low, span.low, out=low)
            np.maximum(high, span.high, out=high)
            if span.start <= since:
                break
        return low, high
