# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Time from which the age of a command is counted: its receipt by a tick, or its stamp."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.clock import Clock

from ros_ik.node.transport.cdr_readers import Stamp
from ros_ik.node.transport.cdr_templates import NANOSECONDS
from ros_ik.node.transport.mailbox import Mailbox
from ros_ik.settings import Settings


class CommandTime:
    """Conversion of stamps to times on the clock of the servo."""

    def __init__(
        self, now: Callable[[], float], clock: Clock, settings: Mailbox[Settings | None]
    ) -> None:
        """Store the clocks.

        Args:
            now: Clock of the servo [s].
            clock: Clock of the stamps.
            settings: Settings in force.
        """
        self.now = now
        self._clock, self._settings = clock, settings

    def time(self, stamp: Stamp) -> float | None:
        """Return the time from which the age of a command is counted [s].

        It is that of the tick that reads the command. With ``command_time_source`` 'header' it is
        the stamp, unless that is zero. It is never later than now, so that a stamp in the future
        does not keep a command alive.

        Returns:
            The time, or None for a command that is older than its timeout.
        """
        settings, now = self._settings.get(), self.now()
        if settings is None or settings.command_time_source == 'receive':
            return now
        if not (stamp.sec or stamp.nanosec):
            return now
        ahead = self._clock.now().nanoseconds - stamp.sec * NANOSECONDS - stamp.nanosec
        age = max(0.0, ahead / NANOSECONDS)
        return now - age if age <= settings.command_timeout else None
