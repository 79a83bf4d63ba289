# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Schedules of ticks: absolute deadlines on the steady clock, or on ROS time in simulation."""

from __future__ import annotations

from collections.abc import Callable
import time

# Polling period of simulated time [s], and time without progress after which a tick reports it.
_POLL_PERIOD = 0.0005
_STANDSTILL = 0.1


class SteadySchedule:
    """Deadlines one period apart on the steady clock.

    Each is computed from the first one, so that rounding errors do not accumulate.

    Attributes:
        now: Clock of the servo [s].
        is_due: True: each tick begins at a deadline or after it.
    """

    is_due = True

    def __init__(self, period: float) -> None:
        """Start now; ``period`` in s."""
        self._period = period
        self._begin = time.monotonic()
        self._count = 1
        self.now: Callable[[], float] = time.monotonic

    def has_time(self) -> bool:
        """Return True: this clock always has a time."""
        return True

    def pause(self) -> float:
        """Return the time until the next deadline [s], negative after it."""
        return self._begin + self._count * self._period - time.monotonic()

    def wait(self) -> int:
        """Sleep until the next deadline; return the number of deadlines that were missed.

        Each deadline that passed before the end of its tick, or without a tick, counts once. The
        next tick then begins at once, and the following one on time.
        """
        delay = self.pause()
        self._count += 1
        if delay > 0.0:
            time.sleep(delay)
            return 0
        skipped = int(-delay / self._period)
        self._count += skipped
        return 1 + skipped


class RosTimeSchedule:
    """Deadlines one period apart on ROS time; slow ticks until ROS time reaches the next one.

    Attributes:
        now: Clock of the servo [s].
        is_due: True if the last wait ended at a deadline or after a jump of the clock, false if it
            ended before, because ROS time is slow or stands still.
    """

    def __init__(self, period: float, now: Callable[[], float]) -> None:
        """Start now.

        Args:
            period: Time between ticks [s].
            now: Function that returns ROS time [s].
        """
        self._period = period
        self.now = now
        self.is_due = True
        self._deadline = now()

    def has_time(self) -> bool:
        """Return True if the clock has a time; ROS time is 0 before the first /clock."""
        return self.now() > 0.0

    def pause(self) -> float:
        """Return the time until the next deadline [s], with ROS time at real-time speed."""
        return self._deadline + self._period - self.now()

    def wait(self) -> int:
        """Wait until ROS time reaches the next deadline; return the number of missed deadlines.

        The wait ends early if that takes long, for ticks that report and do not move.
        """
        before, deadline = self._deadline, self._deadline + self._period
        give_up = time.monotonic() + _STANDSTILL
        while True:
            now = self.now()
            self.is_due = now >= deadline or now < before - self._period
            if self.is_due or time.monotonic() >= give_up:
                break
            time.sleep(_POLL_PERIOD)
        if not self.is_due:
            return 0
        behind = now - deadline
        if abs(behind) <= self._period:
            self._deadline = deadline
            return 0
        self._deadline = now
        # A clock that starts or jumped back causes no missed deadlines.
        return int(behind / self._period) if before > 0.0 and behind > 0.0 else 0
