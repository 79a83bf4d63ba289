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
    """

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
    """Deadlines one period apart on ROS time; slow ticks while ROS time stands still."""

    def __init__(self, period: float, now: Callable[[], float]) -> None:
        """Start now.

        Args:
            period: Time between ticks [s].
            now: Function that returns ROS time [s].
        """
        self._period = period
        self.now = now
        self._deadline = now()

    def has_time(self) -> bool:
        """Return True if the clock has a time; ROS time is 0 before the first /clock."""
        return self.now() > 0.0

    def pause(self) -> float:
        """Return the time until the next deadline [s], with ROS time at real-time speed."""
        return self._deadline + self._period - self.now()

    def wait(self) -> int:
        """Wait until ROS time reaches the next deadline; return the number of missed deadlines."""
        self._deadline += self._period
        give_up = time.monotonic() + _STANDSTILL
        while time.monotonic() < give_up:
            now = self.now()
            if now >= self._deadline or now < self._deadline - 2.0 * self._period:
                break
            time.sleep(_POLL_PERIOD)
        behind = self.now() - self._deadline
        if abs(behind) <= self._period:
            return 0
        self._deadline = self.now()
        # A clock that stands still or jumped back causes no missed deadlines.
        return int(behind / self._period) if behind > 0.0 else 0
