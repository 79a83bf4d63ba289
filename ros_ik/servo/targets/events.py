# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Events between two ticks: activation, pause, reset, a clock that went backwards."""

from __future__ import annotations

import math

from ros_ik.servo.interface.command import Command

# How long a clock that went backwards stays in the status [s].
_CLOCK_JUMP_TIME = 1.0


class Events:
    """Compares each command with the one before.

    Attributes:
        activated: Whether the servo was activated in this tick.
        drops_targets: Whether this tick forgets the targets.
        forgets_command: Whether another controller may hold the robot since: the last command says
            nothing then.
        forgotten: Sequence up to which targets are forgotten then.
    """

    def __init__(self) -> None:
        """Start inactive."""
        self.activated = self.drops_targets = self.forgets_command = False
        self.forgotten = 0
        self._last = Command(active=False)
        self._last_now = -math.inf
        self._jumped_at = -math.inf

    @property
    def clock_jumped(self) -> bool:
        """True if the clock went backwards within the last second."""
        return self._jumped_at != -math.inf

    def notice(self, now: float, command: Command) -> None:
        """Compare with the tick before.

        Args:
            now: Present time [s].
            command: What is asked for.
        """
        last, backwards = self._last, now < self._last_now
        self._last, self._last_now = command, now
        if backwards:
            self._jumped_at = now
        elif now - self._jumped_at > _CLOCK_JUMP_TIME:
            self._jumped_at = -math.inf
        self.activated = command.active and not last.active
        reset = command.resets != last.resets
        unpaused = last.paused and not command.paused
        self.forgets_command = self.activated or reset or backwards
        self.drops_targets = self.forgets_command or unpaused
        if self.drops_targets:
            known = None if backwards else command.forgotten
            self.forgotten = command.newest_target() if known is None else known
