# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Signs that the targets of a frame do not come from one sender with one clock.

Two senders that stream to one topic make the targets alternate between two places: message k is
near message k - 2 and far from message k - 1, again and again. A sender whose clock is set, or
that mixes up its messages, has stamps that jump or run back. Neither is dropped: the robot follows
the newest target as ever, and the status says why it goes to and fro.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

# Times in a row that a message goes back, and how near it comes, as a part of the way between two.
_TURNS, _NEAR = 6, 0.25
# Least way between two places: noise turns at random, and by less [m].
_LEAST = 0.01
# Change of the difference between stamp and receipt that is a jump [s]; networks delay by less.
_JUMP = 0.25
# Time for which a sign stays in the status [s].
_SHOWN = 1.0

_ALTERNATE = 'its targets alternate between two places: is there a second sender?'
_BACK = 'stamps of its targets run back: a second sender, or a network that mixes them up?'
_JUMPED = 'the clock of the stamps of its targets jumped'


class SenderCheck:
    """Looks at the pose targets of one frame as they come."""

    def __init__(self) -> None:
        """Start without a target."""
        self._until = -math.inf
        self._sign = ''
        self.reset()

    def reset(self) -> None:
        """Begin anew with the next target."""
        self._last: Sequence[float] | None = None
        self._before: Sequence[float] | None = None
        self._turns = 0
        self._stamp = self._offset = math.nan

    def sign(self, now: float) -> str:
        """Return what is wrong with the sender, for a person; '' for nothing.

        Args:
            now: Present time [s].
        """
        return self._sign if abs(now - self._until) <= _SHOWN else ''

    def add(self, place: Sequence[float], received: float, stamp: float | None) -> None:
        """Take in a target.

        Args:
            place: Position [m].
            received: Time of receipt [s].
            stamp: Time on the clock of its sender [s], None for none.
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
        """Compare a stamp with the one before."""
        offset = received - stamp
        # Comparisons with the first, which is not a number, are false.
        if abs(offset - self._offset) > _JUMP:
            self._show(_JUMPED, received)
        elif stamp < self._stamp:
            self._show(_BACK, received)
        self._stamp, self._offset = stamp, offset

    def _show(self, sign: str, received: float) -> None:
        self._sign, self._until = sign, received
