# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Topics that the control thread reads itself, at the beginning of a tick.

An executor wakes its thread for each message, which takes the interpreter from a running tick
for 0.2 ms. Read by the tick, a message takes 0.04 ms. Messages that come faster than ticks are
overwritten in DDS, which takes no time of the interpreter.
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

# A topic was heard of lately where a message came within this time [s]; every other one is looked
# at that often [s].
_LATELY, _LOOK_PERIOD = 1.0, 0.01


class Stream:
    """A subscription that no executor serves, of a node that :class:`LeavesStreams`.

    Attributes:
        topic: The topic.
        heard: When a reading last found a message [s], -inf before.
        info: What the middleware says of the message that was passed on last.
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
            topic: Their topic.
            receive: Called by :meth:`read` with each serialized message.
            qos: Quality of service; its depth is the most that one reading takes.
        """
        self._node, self._kind, self._receive, self._depth = node, kind, receive, qos.depth
        self.topic = topic
        self.heard = -math.inf
        self.info: Mapping[str, Any] = {}
        # How often messages were discarded, and how often when the present reading began.
        self._discards = self._discards_before = 0
        self._subscription = node.create_subscription(kind, topic, _left_alone, qos, raw=True)

    def read(self, now: float) -> None:
        """Pass on what has come since the last time, the oldest first; ``now`` in s."""
        self._discards_before = self._discards
        for data, info in self._messages():
            self.heard, self.info = now, info
            self._receive(data)

    def discard(self) -> None:
        """Forget what has come and was not read to its end; any thread may ask for it."""
        self._discards += 1
        for _ in self._messages():
            pass

    @property
    def is_discarded(self) -> bool:
        """True if messages were discarded since the present reading began."""
        return self._discards != self._discards_before

    def destroy(self) -> None:
        """Remove the subscription from the node; another thread may be reading it."""
        self._node.destroy_subscription(self._subscription)

    def _messages(self) -> Iterator[tuple[bytes, Mapping[str, Any]]]:
        """Take messages out of DDS with their info, as many as the depth at most."""
        handle = self._subscription.handle
        try:
            with handle:
                for _ in range(self._depth):
                    taken = handle.take_message(self._kind, True)
                    if taken is None:
                        return
                    yield taken
        except InvalidHandle:
            pass  # destroyed a moment ago


class StreamRound:
    """Reads streams in each tick: recently active ones every time, the others in turn.

    A silent topic costs a tick a tenth of a message; a node of several tasks has a dozen of them.
    """

    def __init__(self, streams: Sequence[Stream], period: float) -> None:
        """Keep the streams; ``period`` is the time between two readings [s]."""
        self._streams = tuple(streams)
        self._turns = itertools.cycle(self._streams)
        self._looks = min(len(streams), math.ceil(len(streams) * period / _LOOK_PERIOD))

    def read(self, now: float) -> None:
        """Read what is to be read at ``now`` [s]."""
        before = now - _LATELY
        for stream in self._streams:
            if stream.heard >= before:
                stream.read(now)
        for stream in itertools.islice(self._turns, self._looks):
            if stream.heard < before:
                stream.read(now)


class LeavesStreams:
    """Mixin of nodes whose streams are left alone by executors; it comes before the node."""

    @property
    def subscriptions(self) -> Iterator[Subscription]:
        """Return the subscriptions that an executor is to serve: all but those of streams."""
        every: Iterator[Subscription] = super().subscriptions  # type: ignore[misc]
        return (each for each in every if each.callback is not _left_alone)


class StreamNode(LeavesStreams, LifecycleNode):
    """A lifecycle node with streams."""


def _left_alone(data: Any) -> None:
    pass
