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


class AnyDurabilitySubscription:
    """Subscription to latched and to volatile publishers, with what the latched ones keep.

    A reader that asks for kept messages hears no volatile publisher, and volatile is the default
    of ROS. Therefore there are two readers, which both hear the latched publishers. Of equal
    messages, one after the other, that of the second reader is dropped. Others may be passed on
    twice, in order: what they change must not depend on that.
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
        # Hash of the last message, if it was latched, and its time [s].
        self._latched, self._time = 0, -math.inf
        volatile = QoSProfile(depth=qos.depth, reliability=qos.reliability)
        # rclpy would warn that volatile publishers are not heard.
        silent = SubscriptionEventCallbacks(use_default_callbacks=False)
        self._subscriptions = (
            node.create_subscription(
                kind, topic, self._on_latched, qos, raw=True, event_callbacks=silent
            ),
            node.create_subscription(kind, topic, self._on_any, volatile, raw=True),
        )

    def destroy(self) -> None:
        """Destroy both readers."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def _on_latched(self, data: bytes) -> None:
        self._latched, self._time = hash(data), time.monotonic()
        self._receive(data)

    def _on_any(self, data: bytes) -> None:
        if time.monotonic() - self._time < _APART and hash(data) == self._latched:
            return
        self._time = -math.inf
        self._receive(data)
