# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Events between two ticks: activation, pause, reset, a clock that jumped backwards."""

from __future__ import annotations

import math

from ros_ik.servo.interface.command import Command

# Time for which the status reports a clock that jumped backwards [s].
_CLOCK_JUMP_TIME = 1.0


class CommandEvents:
    """Detection of events by comparison of each command with the previous one.

    Attributes:
        activated: True if the servo was activated in this tick.
        forgets_command: True if the last command is invalid in this tick, because another
            controller may have moved the robot.
        drops_targets: True if all targets are dropped in this tick.
        last_dropped: Sequence number up to which targets are dropped.
    """

    def __init__(self) -> None:
        """Start inactive."""
        self.activated = self.forgets_command = self.drops_targets = False
        self.last_dropped = 0
        self._last = Command(active=False)
        self._last_now = -math.inf
        self._jumped_at = -math.inf

    @property
    def clock_jumped(self) -> bool:
        """True if the clock jumped backwards within the last second."""
        return self._jumped_at != -math.inf

    def notice(self, now: float, command: Command) -> None:
        """Compare a command with that of the previous tick.

        Args:
            now: Current time [s].
            command: Command of this tick.
        """
        last = self._last
        clock_went_back = now < self._last_now
        self._last, self._last_now = command, now
        if clock_went_back:
            self._jumped_at = now
        elif now - self._jumped_at > _CLOCK_JUMP_TIME:
            self._jumped_at = -math.inf
        activated = not last.active or command.activations != last.activations
        resumed = last.paused or command.resumes != last.resumes
        self.activated = command.active and activated
        was_reset = command.resets != last.resets
        self.forgets_command = self.activated or was_reset or clock_went_back
        self.drops_targets = self.forgets_command or (resumed and not command.paused)
        if self.drops_targets:
            known = None if clock_went_back else command.last_dropped
            self.last_dropped = command.newest_target() if known is None else known
