# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Counters of messages: used ones by topic, dropped ones by reason; log lines and status."""

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

# Minimum time between two equal lines in the log [s].
_LOG_PERIOD = 5.0
# Maximum number of different lines in that time per topic and reason.
_MAX_SENTENCES = 20
# Number of texts composed in that time per topic and reason, however fast the drops come, and
# minimum time between further ones [s].
_MAX_FAST, _COMPOSE_PERIOD = 20, 0.05
# Maximum number of queued log lines.
_MAX_LINES = 64
# Maximum length of a text in log and status; names in a message may have any length.
_MAX_TEXT_LENGTH = 500
# Time for which the status reports the newest drop [s].
_REPORT_TIME = 1.0
# Codes that TF_UNAVAILABLE may replace.
_REPLACEABLE_CODES = (StatusCode.OK, StatusCode.COMMAND_STALE, StatusCode.DEADLINE_MISSED)


class Drop(enum.Enum):
    """Reasons to drop a message before it reaches the servo; the values name the counters."""

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
class DropReport:
    """Topic and reason of a drop.

    Attributes:
        topic: Name of the topic, service or action, relative to the node.
        reason: Reason of the drop.
        time: Time on the steady clock [s].
        event: Text before the name of the topic.
        sentence: Reason as text, or that of the previous drop alike; '' if none was composed.
        frame: Name of the frame that could not be transformed, or ''.
    """

    topic: str
    reason: Reason
    time: float
    event: str = _MESSAGE
    sentence: str = ''
    frame: str = ''


@dataclasses.dataclass
class _Texts:
    """Texts of drops alike that were composed in a period.

    Attributes:
        begin: Start of the period [s].
        count: Number of texts.
        composed: Time of the last one [s].
        last: The last one.
        lines: Number of lines in the log.
    """

    begin: float
    count: int = 0
    composed: float = 0.0
    last: str = ''
    lines: int = 0


class MessageStats:
    """Counters of dropped and used messages; for any thread, used ones by one thread per topic.

    Attributes:
        counts: Number of drops by reason.
        total: Number of all drops.
        used: Number of used messages by topic.
        latest: Newest drop, or None if its topic has delivered a valid message since.
    """

    def __init__(self, node: Node) -> None:
        """Start with nothing dropped; ``node`` logs."""
        self._node = node
        self.counts: dict[str, int] = {}
        self.total = 0
        self.used: dict[str, int] = {}
        self.latest: DropReport | None = None
        self._logged: dict[str, float] = {}
        self._texts: dict[tuple[str, Reason], _Texts] = {}
        # Held while counters or the newest drop change.
        self._counting = threading.Lock()
        # Held while a line is logged, which the control thread does not do.
        self._logging = threading.Lock()
        self._unlogged: deque[tuple[DropReport, Callable[[], str]]] = deque(maxlen=_MAX_LINES)

    def add(
        self,
        topic: str,
        reason: Reason,
        what: Callable[[], str],
        count: int = 1,
        event: str = _MESSAGE,
        frame: str = '',
    ) -> None:
        """Count a drop, and log it.

        Args:
            topic: Name of the topic, service or action, relative to the node.
            reason: Reason of the drop.
            what: Function that describes the message; called for some of many drops only, because
                it may take long.
            count: Number of dropped parts of one message.
            event: Text before the name of the topic.
            frame: Name of the frame that could not be transformed, or ''.
        """
        drop = self._count(DropReport(topic, reason, time.monotonic(), event, frame=frame), count)
        if drop is not None:
            self._log(drop, what)

    def add_in_tick(
        self,
        topic: str,
        reason: Reason,
        what: Callable[[], str],
        count: int = 1,
        event: str = _MESSAGE,
        frame: str = '',
    ) -> None:
        """Count a drop like :meth:`add`, and leave logging to :meth:`log`."""
        drop = self._count(DropReport(topic, reason, time.monotonic(), event, frame=frame), count)
        if drop is not None:
            self._unlogged.append((drop, what))

    def log(self) -> None:
        """Log the drops of ticks; call it periodically."""
        while True:
            try:
                drop, what = self._unlogged.popleft()
            except IndexError:
                return
            self._log(drop, what)

    def _count(self, drop: DropReport, count: int) -> DropReport | None:
        """Count a drop; return it if its text is to be composed."""
        reason, key = drop.reason, (drop.topic, drop.reason)
        with self._counting:
            self.counts[reason.value] = self.counts.get(reason.value, 0) + count
            self.total += count
            texts = self._texts.get(key)
            if texts is None or drop.time - texts.begin >= _LOG_PERIOD:
                texts = self._texts[key] = _Texts(drop.time)
            self.latest = drop = dataclasses.replace(drop, sentence=texts.last)
            if texts.count >= _MAX_FAST and drop.time - texts.composed < _COMPOSE_PERIOD:
                return None
            texts.count, texts.composed = texts.count + 1, drop.time
        return drop

    def _log(self, drop: DropReport, what: Callable[[], str]) -> None:
        """Log a drop, unless an equal line was logged recently."""
        sentence = what()[:_MAX_TEXT_LENGTH]
        with self._counting:
            texts = self._texts[drop.topic, drop.reason]
            texts.last = sentence
            if self.latest is drop:
                self.latest = dataclasses.replace(drop, sentence=sentence)
        line = f'{_described(drop)}: {sentence}'
        with self._logging:
            self._logged = {
                line: at for line, at in self._logged.items() if drop.time - at < _LOG_PERIOD
            }
            if line not in self._logged and texts.lines < _MAX_SENTENCES:
                texts.lines += 1
                self._logged[line] = drop.time
                self._node.get_logger().warning(line)

    def accepted(self, topic: str) -> None:
        """Count a used message; the status no longer shows a drop of its topic."""
        self.used[topic] = self.used.get(topic, 0) + 1
        if self.latest is None:
            return
        with self._counting:
            if self.latest is not None and self.latest.topic == topic:
                self.latest = None

    def shown(self, code: StatusCode, text: str) -> tuple[StatusCode, str]:
        """Return code and text of a status, with a recent drop."""
        latest = self._recent()
        if latest is None:
            return code, text
        if latest.reason is Drop.TF_UNAVAILABLE and code in _REPLACEABLE_CODES:
            code = StatusCode.TF_UNAVAILABLE
        sentence = latest.sentence and f': {latest.sentence}'
        return code, f'{text}; {_described(latest)}{sentence}'

    def missing_frames(self) -> tuple[str, ...]:
        """Return the frame that a recent message needed and tf could not transform, if any."""
        latest = self._recent()
        if latest is None or latest.reason is not Drop.TF_UNAVAILABLE:
            return ()
        return (latest.frame[:_MAX_TEXT_LENGTH],)

    def _recent(self) -> DropReport | None:
        """Return the newest drop while the status reports it, otherwise None."""
        latest = self.latest
        is_recent = latest is not None and time.monotonic() - latest.time <= _REPORT_TIME
        return latest if is_recent else None


def _described(drop: DropReport) -> str:
    """Return the text of a drop and its counter."""
    return f'{drop.event} {drop.topic}: {drop.reason.value}'
