# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The last command while the servo is silent: where the controller still holds the robot.

Gravity, friction and noise keep a robot near its command, not at it. A motion that began at the
measured state would step by that offset, and the robot would sink by it with every start. It
begins at the last command instead, as long as nothing has moved the robot since: the measured
state is near the command, and stays where it settled. Controllers may be switched while the servo
is inactive, paused or stopped; after that the last command is not used.
"""

from __future__ import annotations

import numpy as np

from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.settings import Settings

# Time in which a robot settles at its last command, beside the delay of its controller [s].
_SETTLING = 0.5
# Motion of a settled robot without a command from here [rad]; more than noise and creep.
_MOVED = 0.01


class RestingCommand:
    """Detects whether the controller still holds the last command; one per servo."""

    def __init__(self, robot: ControlledRobot, settings: Settings) -> None:
        """Start without a command."""
        self._coords = robot.coords
        self._unit = robot.radian
        self.apply(settings)
        self.forget()

    def apply(self, settings: Settings) -> None:
        """Apply settings."""
        self._tolerance = settings.synchronise_tolerance * self._unit
        self._settling = settings.following_error_delay + _SETTLING

    def forget(self) -> None:
        """Forget the command until targets are tracked again: another controller may be active."""
        self._command: np.ndarray | None = None
        self._settled: np.ndarray | None = None
        self._is_new = False

    def move(self) -> None:
        """Expect a rest: targets are tracked."""
        self._command = self._settled = None
        self._is_new = True

    def rest(self, now: float, joint_q: np.ndarray) -> None:
        """Remember where the commands ended.

        Args:
            now: Current time [s].
            joint_q: Commanded coordinates [joint_coord_count].
        """
        if self._is_new:
            self._is_new = False
            self._command, self._since = joint_q[self._coords].copy(), now

    def observe(self, now: float, joint_q: np.ndarray) -> None:
        """Take in the measured coordinates [joint_coord_count] of a tick without motion."""
        if self._command is None or abs(now - self._since) < self._settling:
            return
        measured = joint_q[self._coords]
        if self._settled is None:
            self._settled = measured.copy()
        elif np.any(np.abs(measured - self._settled) > _MOVED * self._unit):
            self.forget()

    def holds(self, joint_q: np.ndarray) -> bool:
        """Return whether the controller holds the command, the robot being measured there.

        Args:
            joint_q: Measured coordinates [joint_coord_count].
        """
        if self._command is None:
            return False
        offset = joint_q[self._coords] - self._command
        return bool(np.all(np.abs(offset) <= self._tolerance))
