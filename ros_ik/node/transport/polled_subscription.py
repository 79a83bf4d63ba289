# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Topics that the control thread reads itself, at the start of a tick.

An executor wakes its thread for each message and takes the interpreter from a running tick for 0.2
ms. If the tick reads the message, it takes 0.04 ms. Messages that arrive faster than ticks are
overwritten in DDS, without the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import itertools
import math
from typing import Any

from rclpy.exceptions import InvalidHandle
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription

from ros_ik.node.transport.polled_events import PolledEventsMixin

# Time after the last message for which a topic is active [s], and polling period of inactive
# topics [s].
_ACTIVE_TIME, _IDLE_POLL_PERIOD = 1.0, 0.01


class Stream:
    """A subscription that no executor serves, of a node derived from :class:`PolledStreamsMixin`.

    Attributes:
        topic: Name of the topic.
        heard: Time of the last reading that found a message [s], -inf before the first.
        info: Middleware information of the last message.
    """

    def __init__(
        self,
        node: Node,
        kind: type,
        topic: str,
        receive: Callable[[bytes], None],
        qos: QoSProfile,
    ) -> None:
        """Subscribe.

        Args:
            node: The node.
            kind: Type of the messages.
            topic: Name of the topic.
            receive: Function called by :meth:`read` with each serialized message.
            qos: Quality of service; its depth is the maximum number of messages per reading.
        """
        self._node, self._kind, self._receive, self._depth = node, kind, receive, qos.depth
        self.topic = topic
        self.heard = -math.inf
        self.info: Mapping[str, Any] = {}
        # Number of discards, and that number at the start of the current reading.
        self._discards = self._discards_before = 0
        self._subscription = node.create_subscription(kind, topic, _never_called, qos, raw=True)

    def read(self, now: float) -> None:
        """Forward new messages, the oldest first; ``now`` in s."""
        self._discards_before = self._discards
        for data, info in self._messages():
            self.heard, self.info = now, info
            self._receive(data)

    @property
    def publisher(self) -> bytes | None:
        """Identifier of the publisher of the last message; None before ROS 2 Kilted."""
        identifier = self.info.get('publisher_gid')
        return None if identifier is None else bytes(identifier['data'])

    def discard(self) -> None:
        """Discard messages that are not processed yet; any thread may call it."""
        self._discards += 1
        for _ in self._messages():
            pass

    @property
    def is_discarded(self) -> bool:
        """True if messages were discarded since the current reading began."""
        return self._discards != self._discards_before

    def destroy(self) -> None:
        """Remove the subscription from the node; another thread may be reading it."""
        self._node.destroy_subscription(self._subscription)

    def _messages(self) -> Iterator[tuple[bytes, Mapping[str, Any]]]:
        """Take messages and their info out of DDS, at most the depth."""
        handle = self._subscription.handle
        try:
            with handle:
                for _ in range(self._depth):
                    taken = handle.take_message(self._kind, True)
                    if taken is None:
                        return
                    yield taken
        except InvalidHandle:
            pass  # destroyed meanwhile


class StreamPoller:
    """Reading of streams in each tick: active ones every time, the others in turn.

    Polling a silent topic takes a tenth of the time of a message, and a node with several tasks
    has a dozen of them.
    """

    def __init__(self, streams: Sequence[Stream], period: float) -> None:
        """Keep the streams; ``period`` is the time between two readings [s]."""
        self._streams = tuple(streams)
        self._turns = itertools.cycle(self._streams)
        self._polls_per_reading = min(
            len(streams), math.ceil(len(streams) * period / _IDLE_POLL_PERIOD)
        )

    def read(self, now: float) -> None:
        """Read the streams that are due at ``now`` [s]."""
        before = now - _ACTIVE_TIME
        for stream in self._streams:
            if stream.heard >= before:
                stream.read(now)
        for stream in itertools.islice(self._turns, self._polls_per_reading):
            if stream.heard < before:
                stream.read(now)


class PolledStreamsMixin(Node):
    """Mixin for nodes with streams, before the class of the node among the bases."""

    @property
    def subscriptions(self) -> Iterator[Subscription]:
        """Return the subscriptions of the executor: all except those of streams."""
        return (each for each in super().subscriptions if each.callback is not _never_called)


class StreamNode(PolledStreamsMixin, PolledEventsMixin, LifecycleNode):
    """A lifecycle node with streams, which may destroy them."""


def _never_called(data: Any) -> None:
    pass
