# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Detection of several senders, or of faulty stamps, of targets.

If two senders publish on one topic, the publishers of its messages alternate. Where publishers are
unknown, or one program relays both, targets alternate between two positions: they return to the
previous position repeatedly, after one message or a few. If the clock of a sender is set, or
messages arrive out of order, stamps jump or decrease. Targets of two kinds may come in turn, too.
No message is dropped: the robot follows the newest target, poses without prediction, and the
status names the cause.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

# Number of consecutive returns to the previous position that are an alternation.
_TURNS = 4
# Tolerance of a position relative to the distance of the two.
_NEAR = 0.25
# Minimum distance between the two positions [m]; noise alternates too, but by less.
_MIN_DISTANCE = 0.005
# Longest stay at a position between two returns [s]. Targets that change less often are separate.
_LONGEST_STAY = 0.25
# Number of stamps of which copies of messages are recognised, which return to positions, too, and
# the time for which they are [s]. Longer repetitions are those of a sender with a fixed stamp.
_RECENT_STAMPS, _COPYING_TIME = 8, 0.5
# Change of the offset between stamp and receipt that is a jump [s]; network delays are shorter.
_OFFSET_JUMP = 0.25
# Time for which the status reports a finding [s].
_FAULT_TIME = 1.0
# Time for which a sender is remembered, and in which two returns are an alternation [s]. A program
# that hands over to another does not return that soon.
_MEMORY = 1.0

_TARGETS_ALTERNATE = 'its targets alternate between two places: is there a second sender?'
_PUBLISHERS_ALTERNATE = 'several publishers send its targets in turn'
_TWIST_PUBLISHERS_ALTERNATE = 'several publishers send its velocities in turn'
_KINDS_ALTERNATE = 'its poses and velocities come in turn; ~/set_mode selects one kind'
_JOINT_PUBLISHERS_ALTERNATE = 'several publishers send targets of joints in turn'
_JOINTS_ALTERNATE = 'targets of joints and of frames come in turn; ~/set_mode selects one kind'
_STAMPS_DECREASE = (
    'stamps of its targets run back: a second sender, or a network that mixes them up?'
)
_STAMPS_JUMP = 'the clock of the stamps of its targets jumped'
_STAMPS_STAY = 'stamps of its targets do not advance'


class SenderTurns:
    """Turns of the senders of targets, by the identifiers of their publishers, or of their kinds.

    Attributes:
        alternated: Time of the message with which senders last alternated [s], or -inf.
    """

    def __init__(self) -> None:
        """Start without a message."""
        self.alternated = -math.inf
        self.reset()

    def reset(self) -> None:
        """Restart with the next message."""
        self._last: bytes | None = None
        # Time of the last message of each recent sender [s], and of the last return to one.
        self._heard: dict[bytes, float] = {}
        self._returned = -math.inf

    def are_reported(self, now: float) -> bool:
        """Return True if the status still reports the last alternation; ``now`` in s."""
        return abs(now - self.alternated) <= _FAULT_TIME

    def add(self, sender: bytes | None, received: float) -> bool:
        """Process a message; return True if another sender sent the previous one.

        Args:
            sender: Identifier of the publisher, or kind of the target; None if unknown.
            received: Time from which its age is counted [s].
        """
        if sender is None:
            return False
        changed = self._last is not None and sender != self._last
        if changed:
            heard = self._heard.get(sender, -math.inf)
            if received - heard <= _MEMORY:
                if received - self._returned <= _MEMORY:
                    self.alternated = received
                self._returned = received
            self._heard = {
                one: time for one, time in self._heard.items() if received - time <= _MEMORY
            }
        self._heard[sender], self._last = received, sender
        return changed


class SenderCheck:
    """Check of the streams of targets of one frame task, or of the centre of mass.

    Attributes:
        twists: Turns of the senders of velocities.
        kinds: Turns of the kinds of active targets.
    """

    def __init__(self) -> None:
        """Start without a target."""
        # Fault of the stamps, and its time [s].
        self._fault, self._faulted = '', -math.inf
        # Time at which positions last alternated [s].
        self._alternated = -math.inf
        self._poses, self.twists, self.kinds = SenderTurns(), SenderTurns(), SenderTurns()
        self.reset()

    def reset(self) -> None:
        """Restart with the next target."""
        for turns in (self._poses, self.twists, self.kinds):
            turns.reset()
        # The last position, the one before it at some distance, and the time of the last change.
        self._here: Sequence[float] | None = None
        self._there: Sequence[float] | None = None
        self._changed = -math.inf
        self._turns = 0
        self._stamp = self._offset = math.nan
        # Last position, even of a copy.
        self._heard: Sequence[float] | None = None
        # Positions of recent stamps, None if a stamp has several, and their times of receipt [s].
        self._stamped: dict[float, tuple[Sequence[float] | None, float]] = {}

    def fault(self, now: float) -> str:
        """Return a description of the fault of the sender, or ''.

        Args:
            now: Current time [s].
        """
        if self._poses.are_reported(now):
            return _PUBLISHERS_ALTERNATE
        if self.twists.are_reported(now):
            return _TWIST_PUBLISHERS_ALTERNATE
        if abs(now - self._alternated) <= _FAULT_TIME:
            return _TARGETS_ALTERNATE
        if self.kinds.are_reported(now):
            return _KINDS_ALTERNATE
        return self._fault if abs(now - self._faulted) <= _FAULT_TIME else ''

    def add(
        self,
        position: Sequence[float],
        received: float,
        stamp: float | None,
        sender: bytes | None = None,
    ) -> bool:
        """Process a target of a place; return True if it continues the motion of the previous one.

        Args:
            position: Target position [m].
            received: Time from which its age is counted [s].
            stamp: Stamp on the clock of the sender [s], or None.
            sender: Identifier of the publisher; None if unknown.
        """
        if stamp is not None:
            self._check_stamp(stamp, received, position)
        changed = self._poses.add(sender, received)
        if stamp is None or not self._is_copy(stamp, received, position):
            self._check_position(position, received)
        self._heard = position
        alternated = max(self._poses.alternated, self._alternated)
        return not changed and abs(received - alternated) > _FAULT_TIME

    def _is_copy(self, stamp: float, received: float, position: Sequence[float]) -> bool:
        """Return True if a recent message had the same stamp and position."""
        stamped = self._stamped
        if stamp in stamped:
            known, first_received = stamped[stamp]
            if known == position:
                return abs(received - first_received) <= _COPYING_TIME
            stamped[stamp] = None, first_received
            return False
        if len(stamped) >= _RECENT_STAMPS:
            del stamped[next(iter(stamped))]
        stamped[stamp] = position, received
        return False

    def _check_position(self, position: Sequence[float], received: float) -> None:
        """Compare a position with the last two."""
        here, there = self._here, self._there
        self._here = position
        if here is None:
            return
        stay = received - self._changed
        # Whatever comes after a long stay is no return, so the previous position is irrelevant.
        apart = 0.0 if there is None or stay > _LONGEST_STAY else math.dist(here, there)
        if math.dist(position, here) <= _NEAR * apart:
            return
        self._changed = received
        returns = (
            there is not None
            and math.dist(position, here) >= _MIN_DISTANCE
            and math.dist(position, there) <= _NEAR * apart
            and stay <= _LONGEST_STAY
        )
        self._there = here
        self._turns = self._turns + 1 if returns else 0
        if self._turns >= _TURNS:
            self._alternated = received

    def _check_stamp(self, stamp: float, received: float, position: Sequence[float]) -> None:
        """Compare a stamp with the previous one; a copy of the message has the same position."""
        offset = received - stamp
        # Comparisons with the initial NaN are false.
        if abs(offset - self._offset) > _OFFSET_JUMP:
            self._set_fault(_STAMPS_JUMP, received)
        elif stamp < self._stamp:
            self._set_fault(_STAMPS_DECREASE, received)
        elif stamp == self._stamp and position != self._heard:
            self._set_fault(_STAMPS_STAY, received)
        self._stamp, self._offset = stamp, offset

    def _set_fault(self, fault: str, received: float) -> None:
        self._fault, self._faulted = fault, received


class JointSenderCheck:
    """Check of the stream of joint targets, and of its turns with targets of frames.

    Attributes:
        senders: Turns of the senders of joint targets.
        kinds: Turns of joint targets and targets of frames.
    """

    def __init__(self) -> None:
        """Start without a target."""
        self.senders, self.kinds = SenderTurns(), SenderTurns()

    def reset(self) -> None:
        """Restart with the next target."""
        self.senders.reset()
        self.kinds.reset()

    def fault(self, now: float) -> str:
        """Return a description of the fault of the senders, or ''; ``now`` in s."""
        if self.senders.are_reported(now):
            return _JOINT_PUBLISHERS_ALTERNATE
        return _JOINTS_ALTERNATE if self.kinds.are_reported(now) else ''
