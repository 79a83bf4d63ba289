# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The last command while the servo is silent, as long as the controller holds it.

Because of gravity, friction and noise, a robot rests near its command, not at it. A motion that
started at the measured state would step by that offset, and the robot would sink with every start.
It therefore starts at the last command, if the measured state is near it and has not changed since
it settled. Another controller may move the robot while the servo is inactive or stopped; the last
command is not used after that. After a pause it is.
"""

from __future__ import annotations

import numpy as np

from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.state.resting_state import RESTING_TRANSITIONS
from ros_ik.servo.state.resting_state import RestingEvent
from ros_ik.servo.state.resting_state import RestingState
from ros_ik.settings import Settings
from ros_ik.state_machine import StateMachine

# Time in which a robot settles at its last command, in addition to the controller delay [s].
SETTLING_TIME = 0.5
# Displacement that shows that something else moves a settled robot [rad]; above noise and creep.
_MOVED = 0.01


class RestingCommand:
    """The last command, and a check that the controller still holds it; one per servo."""

    def __init__(self, robot: ControlledRobot, settings: Settings) -> None:
        """Start without a command."""
        self._coords = robot.coords
        self._unit = robot.radian
        # Commanded and settled positions of the controlled joints, and the time of the former [s].
        self._command = self._settled = np.zeros(len(robot.coords))
        self._since = 0.0
        self._machine = StateMachine(RestingState.NONE, RESTING_TRANSITIONS)
        self.apply(settings)

    def apply(self, settings: Settings) -> None:
        """Apply settings."""
        self._tolerance = settings.synchronise_tolerance * self._unit
        self._settling = settings.following_error_delay + SETTLING_TIME

    @property
    def is_at_rest(self) -> bool:
        """True if there is a command at rest."""
        return self._machine.state in (RestingState.RESTING, RestingState.SETTLED)

    def forget(self) -> None:
        """Drop the command until targets are tracked again; another controller may be active."""
        self._machine.handle(RestingEvent.FORGET)

    def move(self) -> None:
        """Record that targets are tracked."""
        self._machine.handle(RestingEvent.TRACK)

    def rest(self, now: float, joint_q: np.ndarray) -> None:
        """Record the command at rest, if targets were tracked before.

        Args:
            now: Current time [s].
            joint_q: Commanded coordinates [joint_coord_count].
        """
        if self._machine.state is RestingState.MOVING:
            self._machine.handle(RestingEvent.REST)
            self._command, self._since = joint_q[self._coords], now

    def observe(self, now: float, joint_q: np.ndarray) -> None:
        """Process the measured coordinates [joint_coord_count] of a tick without motion."""
        if not self.is_at_rest or abs(now - self._since) < self._settling:
            return
        measured = joint_q[self._coords]
        if self._machine.state is RestingState.RESTING:
            self._machine.handle(RestingEvent.SETTLE)
            self._settled = measured
        elif np.any(np.abs(measured - self._settled) > _MOVED * self._unit):
            self.forget()

    def holds(self, joint_q: np.ndarray) -> bool:
        """Return True if the controller holds the command, from the measured state.

        Args:
            joint_q: Measured coordinates [joint_coord_count].
        """
        if not self.is_at_rest:
            return False
        offset = joint_q[self._coords] - self._command
        return bool(np.all(np.abs(offset) <= self._tolerance))
