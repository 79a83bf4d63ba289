# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Messages counted: those of use by topic, the others by reason, in the log and the status."""

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

# Time between two lines in the log on one topic and reason [s].
_LOG_PERIOD = 5.0
# Lines that wait to be logged; there is one for a topic and reason in a period.
_MOST_LINES = 64
# How long the newest drop stays in the status [s].
_SHOWN = 1.0
# What the code for a missing transform may take the place of.
_IDLE = (StatusCode.OK, StatusCode.COMMAND_STALE, StatusCode.DEADLINE_MISSED)


class Drop(enum.Enum):
    """Why the node drops a message before the servo sees it; the values name the counters."""

    TF_UNAVAILABLE = 'tf_unavailable'
    TOO_OLD = 'too_old'
    TOO_LARGE = 'too_large'
    UNREADABLE = 'unreadable'
    REPEATED_JOINT = 'repeated_joint'
    INVALID_GOAL = 'invalid_goal'


Reason = Drop | Rejection


@dataclasses.dataclass(frozen=True)
class Refusal:
    """The newest drop.

    Attributes:
        topic: Name of the topic below the node.
        reason: Why the message was dropped.
        time: When, on the steady clock [s].
    """

    topic: str
    reason: Reason
    time: float


class Drops:
    """Counts what is dropped and what is not; any thread may use it, one at a time for each topic.

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
        self._logged: dict[tuple[str, Reason], float] = {}
        self._counting = threading.Lock()
        self._unlogged: deque[tuple[str, Reason, Callable[[], str]]] = deque(maxlen=_MOST_LINES)

    def add(self, topic: str, reason: Reason, what: Callable[[], str], count: int = 1) -> None:
        """Count what was dropped, and log it.

        Args:
            topic: Name of the topic below the node.
            reason: Why.
            what: Says what it was; called only where that is logged, for it may take long.
            count: How many parts of one message were dropped.
        """
        if self._count(topic, reason, count):
            self._log(topic, reason, what)

    def add_in_tick(
        self, topic: str, reason: Reason, what: Callable[[], str], count: int = 1
    ) -> None:
        """Count what was dropped as :meth:`add` does, and leave it to :meth:`log` to log it."""
        if self._count(topic, reason, count):
            self._unlogged.append((topic, reason, what))

    def log(self) -> None:
        """Log what ticks have dropped; to be called now and then."""
        while self._unlogged:
            self._log(*self._unlogged.popleft())

    def _count(self, topic: str, reason: Reason, count: int) -> bool:
        """Count; return whether it is time for a line in the log."""
        now, key = time.monotonic(), (topic, reason)
        with self._counting:
            self.counts[reason.value] = self.counts.get(reason.value, 0) + count
            self.total += count
        self.latest = Refusal(topic, reason, now)
        is_due = now - self._logged.get(key, -_LOG_PERIOD) >= _LOG_PERIOD
        if is_due:
            self._logged[key] = now
        return is_due

    def _log(self, topic: str, reason: Reason, what: Callable[[], str]) -> None:
        self._node.get_logger().warning(f'dropped a message on {topic}: {reason.value}: {what()}')

    def accepted(self, topic: str) -> None:
        """Count a message that is of use: the status forgets what its topic dropped."""
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
        return code, f'{text}; dropped a message on {latest.topic}: {latest.reason.value}'
