# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Subscription to latched and to volatile publishers of a topic."""

from __future__ import annotations

from collections.abc import Callable
import functools
import math
import time
from typing import Any

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message

from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.node.transport.size_limited_subscription import receiver

# Time within which the same message reaches both readers [s].
_APART = 0.1
_OTHER = {'kept': 'new', 'new': 'kept'}


class AnyDurabilitySubscription:
    """Subscription to latched and to volatile publishers, with what the latched ones keep.

    A reader that asks for kept messages hears no volatile publisher, and volatile is the default
    of ROS. Therefore there are two readers, which both hear the latched publishers. Of two equal
    messages in a row, one of each reader, the second is dropped. Messages in quick succession may
    be passed on twice, each time in their order: what they change must not depend on that.
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
        read = functools.partial(deserialize_message, message_type=kind)
        self._receive = receiver(topic, callback, message_stats.add, most_bytes, read)
        self._node = node
        # The last message, the reader that may receive it too, and its time [s].
        self._last, self._awaits, self._time = b'', '', -math.inf
        volatile = QoSProfile(depth=qos.depth, reliability=qos.reliability)
        # rclpy would warn that volatile publishers are not heard.
        silent = SubscriptionEventCallbacks(use_default_callbacks=False)
        self._subscriptions = (
            node.create_subscription(
                kind, topic, self._on_kept, qos, raw=True, event_callbacks=silent
            ),
            node.create_subscription(kind, topic, self._on_new, volatile, raw=True),
        )

    def destroy(self) -> None:
        """Destroy both readers."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def _on_kept(self, data: bytes) -> None:
        self._pass('kept', data)

    def _on_new(self, data: bytes) -> None:
        self._pass('new', data)

    def _pass(self, reader: str, data: bytes) -> None:
        now = time.monotonic()
        is_copy = reader == self._awaits and now - self._time < _APART and data == self._last
        self._last, self._awaits, self._time = data, '' if is_copy else _OTHER[reader], now
        if not is_copy:
            self._receive(data)
