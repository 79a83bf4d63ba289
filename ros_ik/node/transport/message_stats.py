# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Counters of messages: used ones by topic, dropped ones by reason, for the log and the status."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import dataclasses
import enum
import threading
import time

from rclpy.node import Node

from ros_ik.servo import Rejection
from ros_ik.servo import StatusCode

# Time between two lines in the log that say the same [s].
_LOG_PERIOD = 5.0
# Most sentences that are made in that time for one topic and reason; they may all be different.
_MOST_SENTENCES = 20
# Lines that wait to be logged.
_MOST_LINES = 64
# Longest sentence in the log and the status; names in a message may have any length.
_LONGEST = 500
# How long the newest drop stays in the status [s].
_SHOWN = 1.0
# What the code for a missing transform may take the place of.
_IDLE = (StatusCode.OK, StatusCode.COMMAND_STALE, StatusCode.DEADLINE_MISSED)


class Drop(enum.Enum):
    """Reasons to drop a message before the servo sees it; the values name the counters."""

    TF_UNAVAILABLE = 'tf_unavailable'
    TOO_OLD = 'too_old'
    TOO_LARGE = 'too_large'
    UNREADABLE = 'unreadable'
    INVALID_GOAL = 'invalid_goal'
    TOO_MANY_GOALS = 'too_many_goals'
    INTERNAL_ERROR = 'internal_error'


Reason = Drop | Rejection

_MESSAGE = 'dropped a message on'


@dataclasses.dataclass(frozen=True)
class Refusal:
    """The newest drop.

    Attributes:
        topic: Name of the topic, service or action below the node.
        reason: Why the message was dropped.
        time: When, on the steady clock [s].
        event: What happened, before the name of the topic.
        sentence: The reason for people, '' where it was not made.
    """

    topic: str
    reason: Reason
    time: float
    event: str = _MESSAGE
    sentence: str = ''


class MessageStats:
    """Counts dropped and used messages; for any thread, one at a time for each topic.

    Attributes:
        counts: How often, by reason.
        total: Sum of the counts.
        used: How many messages were of use, by topic.
        latest: The newest drop, None where its topic has delivered something of use since.
    """

    def __init__(self, node: Node) -> None:
        """Start with nothing dropped; ``node`` logs."""
        self._node = node
        self.counts: dict[str, int] = {}
        self.total = 0
        self.used: dict[str, int] = {}
        self.latest: Refusal | None = None
        self._logged: dict[str, float] = {}
        # Begin of a period, and how many sentences were made in it.
        self._made: dict[tuple[str, Reason], tuple[float, int]] = {}
        self._counting = threading.Lock()
        self._unlogged: deque[tuple[Refusal, Callable[[], str]]] = deque(maxlen=_MOST_LINES)

    def add(
        self,
        topic: str,
        reason: Reason,
        what: Callable[[], str],
        count: int = 1,
        event: str = _MESSAGE,
    ) -> None:
        """Count a drop, and log it.

        Args:
            topic: Name of the topic, service or action below the node.
            reason: Why.
            what: Says what it was; called only as often as is logged, for it may take long.
            count: How many parts of one message were dropped.
            event: What happened, before the name of the topic.
        """
        refusal = self._count(Refusal(topic, reason, time.monotonic(), event), count)
        if refusal is not None:
            self._log(refusal, what)

    def add_in_tick(
        self, topic: str, reason: Reason, what: Callable[[], str], count: int = 1
    ) -> None:
        """Count a drop like :meth:`add`, and leave logging to :meth:`log`."""
        refusal = self._count(Refusal(topic, reason, time.monotonic()), count)
        if refusal is not None:
            self._unlogged.append((refusal, what))

    def log(self) -> None:
        """Log what ticks have dropped; to be called now and then."""
        while self._unlogged:
            self._log(*self._unlogged.popleft())

    def _count(self, refusal: Refusal, count: int) -> Refusal | None:
        """Count; return the drop if its sentence is to be logged."""
        reason, key = refusal.reason, (refusal.topic, refusal.reason)
        with self._counting:
            self.counts[reason.value] = self.counts.get(reason.value, 0) + count
            self.total += count
        self.latest = refusal
        begin, made = self._made.get(key, (-_LOG_PERIOD, 0))
        if refusal.time - begin >= _LOG_PERIOD:
            begin, made = refusal.time, 0
        if made >= _MOST_SENTENCES:
            return None
        self._made[key] = begin, made + 1
        return refusal

    def _log(self, refusal: Refusal, what: Callable[[], str]) -> None:
        """Log a drop, unless the log says the same of a short time ago."""
        sentence = what()[:_LONGEST]
        if self.latest is refusal:
            self.latest = dataclasses.replace(refusal, sentence=sentence)
        line = f'{_described(refusal)}: {sentence}'
        self._logged = {
            line: at for line, at in self._logged.items() if refusal.time - at < _LOG_PERIOD
        }
        if line not in self._logged:
            self._logged[line] = refusal.time
            self._node.get_logger().warning(line)

    def accepted(self, topic: str) -> None:
        """Count a used message: the status no longer shows the drop of its topic."""
        self.used[topic] = self.used.get(topic, 0) + 1
        latest = self.latest
        if latest is not None and latest.topic == topic:
            self.latest = None

    def shown(self, code: StatusCode, text: str) -> tuple[StatusCode, str]:
        """Return code and text of a status with what was dropped a short time ago."""
        latest = self.latest
        if latest is None or time.monotonic() - latest.time > _SHOWN:
            return code, text
        if latest.reason is Drop.TF_UNAVAILABLE and code in _IDLE:
            code = StatusCode.TF_UNAVAILABLE
        sentence = latest.sentence and f': {latest.sentence}'
        return code, f'{text}; {_described(latest)}{sentence}'


def _described(refusal: Refusal) -> str:
    """Return the text of a drop and its counter."""
    return f'{refusal.event} {refusal.topic}: {refusal.reason.value}'
