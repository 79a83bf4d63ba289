# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Topics that drop oversized or malformed messages.

rclpy creates a Python object for each element of a message before it calls a callback. A hundred
thousand of them would block the control thread for tens of milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
import functools
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription

from ros_ik.node.transport.message_stats import Drop
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.node.transport.polled_subscription import Stream
from ros_ik.node.transport.polled_subscription import StreamNode
from ros_ik.node.transport.qos_profiles import LATEST_TARGET

# A pose, twist or point with the name of its frame [bytes].
TARGET_BYTES = 16 * 1024
# Descriptions of large robots have hundreds of kB, without meshes [bytes].
DESCRIPTION_BYTES = 16 * 1024 * 1024
# A flag with encapsulation and padding [bytes].
FLAG_BYTES = 64
# About 2,500 joints with names of usual length [bytes].
JOINTS_BYTES = 256 * 1024


def subscribe(
    node: Node,
    kind: type,
    topic: str,
    callback: Callable[[Any], None],
    message_stats: MessageStats,
    *,
    most_bytes: int,
    qos: QoSProfile,
) -> Subscription:
    """Return a subscription that passes on messages of at most ``most_bytes``.

    Args:
        node: The node.
        kind: Type of the messages.
        topic: Name of the topic.
        callback: Function called with each accepted message.
        message_stats: Counter of dropped messages.
        most_bytes: Largest size of a serialized message.
        qos: Quality of service.
    """
    receive = message_receiver(kind, topic, callback, message_stats, most_bytes)
    return node.create_subscription(kind, topic, receive, qos, raw=True)


def stream(
    node: StreamNode,
    kind: type,
    topic: str,
    callback: Callable[[Any], None],
    message_stats: MessageStats,
    *,
    most_bytes: int,
    read: Callable[[bytes], Any],
    qos: QoSProfile = LATEST_TARGET,
) -> Stream:
    """Return a stream that passes on messages of at most ``most_bytes``.

    Args:
        node: The node.
        kind: Type of the messages.
        topic: Name of the topic.
        callback: Function called by the reader of the stream with the result of ``read``.
        message_stats: Counter of dropped messages.
        most_bytes: Largest size of a serialized message.
        read: Converts a serialized message. Raises RuntimeError, ValueError or MemoryError if it
            is malformed.
        qos: Quality of service.
    """
    receive = _receiver(topic, callback, message_stats.add_in_tick, most_bytes, read)
    return Stream(node, kind, topic, receive, qos)


def message_receiver(
    kind: type,
    topic: str,
    callback: Callable[[Any], None],
    message_stats: MessageStats,
    most_bytes: int,
) -> Callable[[bytes], None]:
    """Return a callback of a subscription to serialized messages; see :func:`subscribe`."""
    read = functools.partial(deserialize_message, message_type=kind)
    return _receiver(topic, callback, message_stats.add, most_bytes, read)


def _receiver(
    topic: str,
    callback: Callable[[Any], None],
    drop: Callable[..., None],
    most_bytes: int,
    read: Callable[[bytes], Any],
) -> Callable[[bytes], None]:
    """Return a callback that checks serialized messages and passes them on."""
    name = topic.removeprefix('~/')

    def receive(data: bytes) -> None:
        if len(data) > most_bytes:
            drop(name, Drop.TOO_LARGE, lambda: f'{len(data)} bytes, at most {most_bytes} are read')
            return
        try:
            message = read(data)
        except (RuntimeError, ValueError, MemoryError) as error:
            text = str(error)
            drop(name, Drop.UNREADABLE, lambda: text)
            return
        callback(message)

    return receive
