# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Subscription to latched and to volatile publishers of a topic."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
import inspect
import time
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile

from ros_ik.node.transport.dds_events import SubscriptionEventCallbacks
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.node.transport.size_limited_subscription import message_receiver

# Messages of one reader that wait for their copy at most: those of 4 s at 1 kHz.
_MOST_SINGLE = 4096
# Without times of publication, time within which equal messages of both readers are copies [s].
_APART = 0.1
# Signature of callbacks that receive a message and its middleware information.
_WITH_INFO = inspect.signature(lambda data, info: None)


class AnyDurabilitySubscription:
    """Subscription to latched and to volatile publishers, with what the latched ones keep.

    A reader that asks for kept messages hears no volatile publisher, and volatile is the default
    of ROS. Therefore there are two readers, which both hear the latched publishers. The second
    copy of a message is dropped, however late it comes: copies have the same time of publication.
    On ROS 2 Humble, where callbacks do not receive that time, only equal messages within 0.1 s
    count as copies.
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
        # Messages that one reader has passed on and the other one may still receive. Keys are the
        # time of publication [ns] and a hash. Values are True if the reader is the one of latched
        # messages, and the time at which it received the message [s].
        self._single: dict[tuple[int, int], tuple[bool, float]] = {}
        volatile = QoSProfile(depth=qos.depth, reliability=qos.reliability)
        # rclpy would warn that volatile publishers are not heard.
        silent = SubscriptionEventCallbacks(use_default_callbacks=False)
        self._subscriptions = (
            node.create_subscription(
                kind, topic, self._reader(True), qos, raw=True, event_callbacks=silent
            ),
            node.create_subscription(kind, topic, self._reader(False), volatile, raw=True),
        )

    def destroy(self) -> None:
        """Destroy both readers."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def _reader(self, keeps: bool) -> Callable[..., None]:
        """Return the callback of the reader that hears kept messages, or of the other one."""

        def receive(*received: Any) -> None:
            if len(received) == 1 and isinstance(received[0], tuple):
                # The events executor of rclpy 9 gives message and information as one argument.
                received = received[0]
            data, *info = received
            self._pass(keeps, data, info[0] if info else {})

        # rclpy gives information to functions that cannot be called without.
        receive.__signature__ = _WITH_INFO  # type: ignore[attr-defined]
        return receive

    def _pass(self, keeps: bool, data: bytes, info: Mapping[str, Any]) -> None:
        """Pass on a message of a reader, unless the other one has passed it on."""
        now, published = time.monotonic(), int(info.get('source_timestamp') or 0)
        key = published, hash(data)
        reader, then = self._single.pop(key, (keeps, now))
        if reader is not keeps and (published or now - then < _APART):
            return
        self._single[key] = keeps, now
        if len(self._single) > _MOST_SINGLE:
            del self._single[next(iter(self._single))]
        self._receive(data)
