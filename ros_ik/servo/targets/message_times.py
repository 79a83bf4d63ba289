# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Estimated sending times of the messages of one sender, on the receiver's clock.

If messages have increasing stamps, these are shifted by the offset between the two clocks, to
which a line is fitted: a simulated clock may be slower than the receiver's. Otherwise a line is
fitted to the times of receipt. Both remove the jitter of ticks and networks.
"""

from __future__ import annotations

import collections
import math

# Number of messages over which times of receipt and clock offsets are averaged.
_MEMORY, _CLOCK_MEMORY = 300, 1000
# Number of messages after which the drift of a clock is estimated; before, it is less than the
# jitter.
_STEADY = 100
# Number of messages after which the period is accurate enough to detect lost messages.
_FIRST = 10
# Periods by which the gap decreases with each message: where every fifth message is lost, three or
# four in succession are lost every few hundred messages.
_FORGOTTEN = 0.002
# Time without a message after which the estimate restarts, in periods, and at least in seconds.
_SILENCE, _SHORTEST_SILENCE = 6.0, 0.2
# Change of the clock offset that is a jump [s].
_CLOCK_JUMP = 0.25
# Number of stamps of which late copies are recognised.
_RECENT_STAMPS = 8
# Number of old stamps after which a clock may have been set back, and the time for which they
# increase, in periods beyond the longest recent gap. Until then, a message that overtook them
# would be followed by a newer one, within a second even from a sender that rarely advances its
# stamps.
_MAX_OLD, _OLD_PERIODS, _LONGEST_WAIT = 3, 0.5, 1.0


class _OldStamps:
    """Stamps since the newest one, which are those of a clock that was set back if they increase.

    Copies and overtaken messages among them do not matter.

    Attributes:
        number: Number of all old stamps.
        increases: Number of stamps that increase among themselves.
        began: Time of receipt of the first of these [s].
    """

    def __init__(self) -> None:
        """Start without an old stamp."""
        self.forget()

    def forget(self) -> None:
        """Restart after a newer stamp."""
        self.number = self.increases = 0
        self.began = self._first = self._last = -math.inf

    def add(self, received: float, stamp: float) -> None:
        """Add an old stamp [s] that is not known, received at a time [s]."""
        if stamp < self._first or not self.increases:
            self.increases, self.began, self._first, self._last = 1, received, stamp, stamp
        elif stamp > self._last:
            self.increases, self._last = self.increases + 1, stamp


class MessageTimes:
    """Estimated sending times of the messages of one sender, on the receiver's clock.

    Attributes:
        period: Mean time between two messages [s]; 0 before the second message.
        gap: Longest recent interval between messages, in periods; above 1 if some were lost.
        stamp: Newest stamp on the clock of the sender [s], NaN without one.
    """

    def __init__(self) -> None:
        """Start before the first message."""
        self.reset()

    def reset(self) -> None:
        """Restart the estimate."""
        self.period, self.gap = 0.0, 1.0
        self._time = self.stamp = math.nan
        self._received = -math.inf
        self._offset = self._drift = 0.0
        self._count = 0
        self._recent: collections.deque[float] = collections.deque(maxlen=_RECENT_STAMPS)
        self._old = _OldStamps()
        # True if the last message was accepted although its stamp is that of the one before.
        self._stays = False

    @property
    def silence(self) -> float:
        """Longest interval between two messages of a stream [s], 0 before the second message."""
        return max(_SILENCE * self.period, _SHORTEST_SILENCE) if self.period > 0.0 else 0.0

    def add(self, received: float, stamp: float | None) -> float | None:
        """Return the sending time of a message [s], or None if it is older than the previous one.

        Args:
            received: Time from which its age is counted [s].
            stamp: Stamp on the clock of the sender [s], or None.
        """
        if (stamp is None) != math.isnan(self.stamp):
            self.reset()  # another sender
        if stamp is None:
            return self._from_receipt(received)
        return self._from_stamp(received, stamp)

    def _from_stamp(self, received: float, stamp: float) -> float | None:
        """Return the sending time by a stamp, None for one that is not newer than the last."""
        if self._count and not stamp > self.stamp:
            if self._is_overtaken(received, stamp):
                return None
            stays = stamp == self.stamp
            self.reset()
            self._stays = stays
        else:
            self._stays = False
        offset = received - stamp
        if self._count and abs(offset - self._offset) > _CLOCK_JUMP:
            self.reset()
        self._count = min(self._count + 1, _CLOCK_MEMORY)
        if self._count > 1:
            self._renew_offset(offset, stamp - self.stamp)
            self._renew_period(stamp - self.stamp)
        else:
            self._offset = offset
        self.stamp, self._received = stamp, received
        self._recent.append(stamp)
        self._old.forget()
        return stamp + self._offset

    def _is_overtaken(self, received: float, stamp: float) -> bool:
        """Return False if an old stamp is from a clock that was set back or stands still.

        Args:
            received: Time from which the age of its message is counted [s].
            stamp: Stamp that is not newer than the newest one [s].
        """
        old = self._old
        old.number += 1
        silence = min(max(self.silence, _SHORTEST_SILENCE), _LONGEST_WAIT)
        if old.number >= _MAX_OLD and abs(received - self._received) > silence:
            return False
        if self._stays and stamp == self.stamp:
            return False
        if stamp in self._recent:
            return True
        old.add(received, stamp)
        longest = min((self.gap + _OLD_PERIODS) * self.period, _LONGEST_WAIT)
        return old.increases < _MAX_OLD or abs(received - old.began) < longest

    def _renew_offset(self, offset: float, interval: float) -> None:
        """Average the offset of the clocks, later along a line."""
        n = self._count
        self._offset += self._drift * interval
        error = offset - self._offset
        if n <= _STEADY:
            self._offset += error / n
            return
        shift, slope = _line_changes(error, n)
        self._offset += shift
        self._drift += slope / interval

    def _renew_period(self, interval: float) -> None:
        # After lost messages the interval is a multiple of the period.
        steps = self._steps(interval)
        mean = interval / steps
        self.period += (mean - self.period) / (self._count - 1)

    def _steps(self, interval: float) -> int:
        """Return the number of periods in an interval [s], 1 until it is known; note a gap."""
        steps = max(round(interval / self.period), 1) if self._count > _FIRST else 1
        lost = steps if interval <= self.silence else 1  # a longer one is a pause of the sender
        self.gap = max(self.gap - _FORGOTTEN, lost)
        return steps

    def _from_receipt(self, received: float) -> float:
        """Return the sending time by a line through the last times of receipt."""
        interval = received - self._time
        silent = self._count > 1 and interval > self.silence
        if silent or not received > self._received:
            self.reset()
        self._received = received
        self._count = n = min(self._count + 1, _MEMORY)
        if n == 1:
            self._time = received
            return received
        if n == 2:
            self.period, self._time = max(interval, 0.0), received
            return received
        # Fit a line to all times of receipt, later to the latest ones.
        steps, error = 1, interval - self.period
        if n > _FIRST:
            # Allow for lost messages.
            steps = self._steps(interval)
            error = interval - steps * self.period
            error = min(max(error, -0.5 * self.period), 0.5 * self.period)
        shift, slope = _line_changes(error, n)
        self._time += steps * self.period + shift
        self.period += slope / steps
        return self._time


def _line_changes(error: float, n: int) -> tuple[float, float]:
    """Return the changes of the end and of the slope of a line, fitted to n equally spaced values.

    They are those of least squares, by an alpha-beta filter.

    Args:
        error: Distance of the last value from the line through the others.
        n: Number of values.
    """
    return error * 2.0 * (2.0 * n - 1.0) / (n * (n + 1.0)), error * 6.0 / (n * (n + 1.0))
