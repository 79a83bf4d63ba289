# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Check that the robot is on its way to the last command, shortly after that command.

A controller that lags still moves the robot to the last command while the next motion starts. A
start at the measured state would then step back by the distance that is left. A joint with offset
e from the last command is on its way to it, if one of these is true:

- it is there, |e| <= near;
- the command has been at rest for no longer than the accepted lag, and the joint is between
  commands of that time;
- it approaches the command: e has kept its sign for a time w, and has shrunk at a rate at which
  the joint arrives within a time s,

      |e| <= |e(-w)| s / (s + w),    which is at least |e(-w)| exp(-w / s)

s is the time in which a robot settles, and the accepted lag after a gap in the joint states. A
joint that rests elsewhere, goes elsewhere or was put elsewhere is held by something else.
"""

from __future__ import annotations

import collections
import math

import numpy as np

from ros_ik.servo.interface.measurement import Measurement
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.state.resting_command import SETTLING_TIME
from ros_ik.settings import Settings

# Distance from the command within which a joint is there [rad]; above noise.
NOISE = 1e-3
# Time over which a joint approaches the command [s].
_APPROACH_TIME = 0.04
# Time between two measured states from which on there may have been a rest in between [s].
_GAP = 0.1
# Largest number of commands, and of measured states, that are kept for each of these times.
_MAX_SAMPLES = 12


class ArrivalCheck:
    """Commands and measured states of the last moments; one per servo."""

    def __init__(self, robot: ControlledRobot, settings: Settings) -> None:
        """Start without a command."""
        self._coords = robot.coords
        self._unit = robot.radian
        self._commands: collections.deque[tuple[float, np.ndarray]] = collections.deque()
        self._states: collections.deque[tuple[float, np.ndarray]] = collections.deque()
        # Time of the last tick after which the command moved [s].
        self._moved = -math.inf
        # Times of the last tick and of the last look at the measured state [s].
        self._now = self._looked = -math.inf
        self.apply(settings)

    def apply(self, settings: Settings) -> None:
        """Apply settings."""
        self._delay = settings.following_error_delay
        self._settling = self._delay + SETTLING_TIME
        # The last command is a period old.
        self._span = self._delay + settings.period
        self._spacing = max(settings.period, self._span / _MAX_SAMPLES)
        self._spacing -= 0.5 * settings.period

    def forget(self) -> None:
        """Drop the command."""
        self._moved = self._looked = -math.inf
        self._commands.clear()
        self._states.clear()

    def observe(
        self, now: float, measurement: Measurement, joint_q: np.ndarray, *, moves: bool
    ) -> None:
        """Record the measured state and the last command.

        Args:
            now: Current time [s].
            measurement: The newest measured state.
            joint_q: Commanded coordinates [joint_coord_count].
            moves: True if the command is in motion.
        """
        if now < self._now:
            # The clock jumped backwards.
            self.forget()
        self._now = now
        if moves:
            self._moved = now
        elif now - self._moved > self._settling:
            return
        commands, states = self._commands, self._states
        if not commands or now - commands[-1][0] >= self._spacing:
            commands.append((now, joint_q[self._coords]))
            while len(commands) > 1 and now - commands[1][0] >= self._span:
                commands.popleft()
        # A look takes as long as the rest of this.
        if now - self._looked < _APPROACH_TIME / _MAX_SAMPLES:
            return
        self._looked = now
        received = float(measurement.received[self._coords].min())
        if not states or received > states[-1][0]:
            states.append((received, measurement.joint_q[self._coords]))
            # The newest from before a gap stays, too.
            while len(states) > 2 and received - states[1][0] >= _APPROACH_TIME:
                states.popleft()

    def passes(
        self, now: float, measurement: Measurement, joint_q: np.ndarray, near: float
    ) -> bool:
        """Return True if all controlled joints are on their way to the last command.

        Args:
            now: Current time [s].
            measurement: The newest measured state.
            joint_q: Commanded coordinates, at rest [joint_coord_count].
            near: Distance from a command within which a joint is there [rad].
        """
        if not (self._states and 0.0 <= now - self._moved <= self._settling):
            return False
        measured, command = measurement.joint_q[self._coords], joint_q[self._coords]
        offset, within = command - measured, near * self._unit
        arrives = np.abs(offset) <= within
        if now - self._moved <= self._delay:
            recent = np.array([command, *(positions for _, positions in self._commands)])
            low, high = recent.min(axis=0) - within, recent.max(axis=0) + within
            arrives |= (low <= measured) & (measured <= high)
        since, then = self._states[0]
        time = float(measurement.received[self._coords].min()) - since
        if time >= _APPROACH_TIME:
            before = command - then
            left = self._settling if time < _GAP else self._delay
            most = np.abs(before) * (left / (left + time))
            arrives |= (offset * before > 0.0) & (np.abs(offset) <= most)
        return bool(arrives.all())
