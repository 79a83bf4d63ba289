# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Detection of several senders, or of faulty stamps, on the topic of one frame task.

If two senders publish on one topic, targets alternate between two places: message k is near
message k - 2 and far from message k - 1, repeatedly. If the clock of a sender is set, or messages
arrive out of order, stamps jump or decrease. No message is dropped: the robot follows the newest
target, and the status names the cause.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

# Number of consecutive returns to the previous place, and their tolerance relative to the distance
# of the two places.
_TURNS, _NEAR = 6, 0.25
# Minimum distance between the two places [m]; noise alternates too, but by less.
_LEAST = 0.01
# Change of the offset between stamp and receipt that is a jump [s]; network delays are shorter.
_JUMP = 0.25
# Time for which the status reports a finding [s].
_SHOWN = 1.0

_ALTERNATE = 'its targets alternate between two places: is there a second sender?'
_BACK = 'stamps of its targets run back: a second sender, or a network that mixes them up?'
_JUMPED = 'the clock of the stamps of its targets jumped'


class SenderCheck:
    """Check of the stream of pose targets of one frame task."""

    def __init__(self) -> None:
        """Start without a target."""
        self._until = -math.inf
        self._sign = ''
        self.reset()

    def reset(self) -> None:
        """Restart with the next target."""
        self._last: Sequence[float] | None = None
        self._before: Sequence[float] | None = None
        self._turns = 0
        self._stamp = self._offset = math.nan

    def sign(self, now: float) -> str:
        """Return a description of the fault of the sender, or ''.

        Args:
            now: Current time [s].
        """
        return self._sign if abs(now - self._until) <= _SHOWN else ''

    def add(self, place: Sequence[float], received: float, stamp: float | None) -> None:
        """Process a target.

        Args:
            place: Target position [m].
            received: Time of receipt [s].
            stamp: Stamp on the clock of the sender [s], or None.
        """
        if stamp is not None:
            self._compare(stamp, received)
        if self._last is not None and self._before is not None:
            moved = math.dist(place, self._last)
            turned = moved > _LEAST and math.dist(place, self._before) < _NEAR * moved
            self._turns = self._turns + 1 if turned else 0
            if self._turns >= _TURNS:
                self._show(_ALTERNATE, received)
        self._before, self._last = self._last, place

    def _compare(self, stamp: float, received: float) -> None:
        """Compare a stamp with the previous one."""
        offset = received - stamp
        # Comparisons with the initial NaN are false.
        if abs(offset - self._offset) > _JUMP:
            self._show(_JUMPED, received)
        elif stamp < self._stamp:
            self._show(_BACK, received)
        self._stamp, self._offset = stamp, offset

    def _show(self, sign: str, received: float) -> None:
        self._sign, self._until = sign, received
