# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Times at which the messages of a sender were made, on the clock of their receipt.

They are the stamps where these grow, on whatever clock, less the mean difference to the times of
receipt; else the times of receipt on a line through those so far, for ticks and networks make them
jitter.
"""

from __future__ import annotations

import math

# Messages over which times of receipt are averaged, and differences of clocks.
_MEMORY, _CLOCK_MEMORY = 300, 1000
# Messages from which the period is known well enough to count those that were lost.
_FIRST = 10
# Periods without a message after which a sender begins anew.
SILENCE = 6.0
# Shift of the clock of stamps that is a jump [s], and how many stamps in a row may run back.
_CLOCK_JUMP, _MOST_OLD = 0.25, 3


class MessageTimes:
    """Times at which the messages of one sender were made, on the clock of their receipt.

    Attributes:
        period: Mean time between two messages [s], 0 before the second.
    """

    def __init__(self) -> None:
        """Start before the first message."""
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self.period = 0.0
        self._time = self._stamp = math.nan
        self._received = -math.inf
        self._offset = 0.0
        self._count = self._old = 0

    def add(self, received: float, stamp: float | None) -> float | None:
        """Return the time of a message [s]; None where it is older than the one before.

        Args:
            received: Time of receipt [s].
            stamp: Time on the clock of the sender [s], None for none.
        """
        if (stamp is None) != math.isnan(self._stamp):
            self.reset()  # another sender speaks
        if stamp is None:
            return self._from_receipt(received)
        return self._from_stamp(received, stamp)

    def _from_stamp(self, received: float, stamp: float) -> float | None:
        if self._count and not stamp > self._stamp:
            self._old += 1
            if self._old < _MOST_OLD:
                return None
            self.reset()
        offset = received - stamp
        if self._count and abs(offset - self._offset) > _CLOCK_JUMP:
            self.reset()
        self._old = 0
        self._count = min(self._count + 1, _CLOCK_MEMORY)
        self._offset += (offset - self._offset) / self._count
        if self._count > 1:
            self._renew_period(stamp - self._stamp)
        self._stamp = stamp
        return stamp + self._offset

    def _renew_period(self, interval: float) -> None:
        # A message that was lost leaves a multiple of the period.
        steps = max(round(interval / self.period), 1) if self._count > _FIRST else 1
        mean = interval / steps
        self.period += (mean - self.period) / (self._count - 1)

    def _from_receipt(self, received: float) -> float:
        interval = received - self._time
        silent = self._count > 1 and interval > SILENCE * self.period
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
        # A line through all times of receipt, then through the last ones (alpha-beta filter).
        steps, error = 1, interval - self.period
        if n > _FIRST:
            # Others were lost in between.
            steps = max(round(interval / self.period), 1)
            error = interval - steps * self.period
            error = min(max(error, -0.5 * self.period), 0.5 * self.period)
        self._time += steps * self.period + error * 2.0 * (2.0 * n - 1.0) / (n * (n + 1.0))
        self.period += error * 6.0 / (n * (n + 1.0)) / steps
        return self._time
