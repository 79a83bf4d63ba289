# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Subscription to latched and to volatile publishers of a topic."""

from __future__ import annotations

from collections.abc import Callable
import functools
import math
import time
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile

from ros_ik.node.transport.dds_events import SubscriptionEventCallbacks
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.node.transport.size_limited_subscription import message_receiver

# Time within which the same message reaches both readers [s].
_APART = 0.1


class AnyDurabilitySubscription:
    """Subscription to latched and to volatile publishers, with what the latched ones keep.

    A reader that asks for kept messages hears no volatile publisher, and volatile is the default
    of ROS. Therefore there are two readers, which both hear the latched publishers. Of two equal
    messages in a row, one of each reader, the second is dropped. Messages in quick succession may
    be passed on twice, each time in their order: what they change must not depend on that. Times
    of publication would tell copies, but the executor of events in rclpy 9 fails for callbacks
    that receive them.
    """

    def __init__(
        self,
        node: Node,
        kind: type,
        topic: str,
        callback: Callable[[Any], None],
        message_stats: MessageStats,
        *,
        most_bytes: int,
        qos: QoSProfile,
    ) -> None:
        """Subscribe.

        Args:
            node: The node.
            kind: Type of the messages.
            topic: Name of the topic.
            callback: Function called with each accepted message.
            message_stats: Counter of dropped messages.
            most_bytes: Largest size of a serialized message.
            qos: Quality of service for latched publishers; others have its depth and reliability.
        """
        self._receive = message_receiver(kind, topic, callback, message_stats, most_bytes)
        self._node = node
        # The last message, its time [s], and whether the reader of kept messages, the other one
        # or neither may receive it too.
        self._last, self._time = b'', -math.inf
        self._awaits: bool | None = None
        volatile = QoSProfile(depth=qos.depth, reliability=qos.reliability)
        # rclpy would warn that volatile publishers are not heard.
        silent = SubscriptionEventCallbacks(use_default_callbacks=False)
        self._subscriptions = (
            node.create_subscription(
                kind, topic, functools.partial(self._pass, True), qos, raw=True,
                event_callbacks=silent,
            ),
            node.create_subscription(
                kind, topic, functools.partial(self._pass, False), volatile, raw=True
            ),
        )  # fmt: skip

    def destroy(self) -> None:
        """Destroy both readers."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def _pass(self, keeps: bool, data: bytes) -> None:
        """Pass on a message of the reader that hears kept ones, or of the other one."""
        now = time.monotonic()
        is_copy = self._awaits is keeps and now - self._time < _APART and data == self._last
        self._last, self._time = data, now
        self._awaits = None if is_copy else not keeps
        if not is_copy:
            self._receive(data)
