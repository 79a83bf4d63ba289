# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Report of simulated time that is missing or stands still, in the text of a status."""

from __future__ import annotations

import math

from ros_ik.node.execution.schedule import RosTimeSchedule
from ros_ik.node.execution.schedule import SteadySchedule
from ros_ik.servo import ServoOutput
from ros_ik.servo import StatusCode

# Topic of simulated time, and the status texts before its first message and while it stands still.
CLOCK = '/clock'
_NO_CLOCK = f'waiting for {CLOCK}: use_sim_time is set'
_CLOCK_STANDS = f'waiting for {CLOCK}: time stands still'
# Time after which the status reports that simulated time stands still [s]; longer than the period
# of any usual clock.
_CLOCK_SILENCE = 0.5


class ClockReport:
    """Reports on the clock of the servo; used by the control thread."""

    def __init__(self, schedule: SteadySchedule | RosTimeSchedule) -> None:
        """Start without a time; ``schedule`` has the clock."""
        self._schedule = schedule
        # Latest time of the servo's clock, and steady time at which it changed [s].
        self._time, self._changed = math.nan, -math.inf

    def add_to(self, output: ServoOutput, started: float) -> None:
        """Add a missing /clock, or one that stands still, to an output.

        Args:
            output: Output of the tick, or that of an earlier one.
            started: Steady time of the tick [s].
        """
        now = self._schedule.now()
        if now != self._time:
            self._time, self._changed = now, started
        if CLOCK in output.waiting_for:
            return  # the output of an earlier tick
        if not self._schedule.has_time():
            # While there is no time, this text replaces those of normal states, such as inactive.
            is_in_order = output.code == StatusCode.OK
            output.text = _NO_CLOCK if is_in_order else f'{output.text}; {_NO_CLOCK}'
        elif started - self._changed > _CLOCK_SILENCE:
            output.text += f'; {_CLOCK_STANDS}'
        else:
            return
        output.waiting_for = (*output.waiting_for, CLOCK)
