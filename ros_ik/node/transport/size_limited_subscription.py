# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Topics that reject oversized or malformed messages.

rclpy makes a Python object of each element of a message before it calls a callback; a hundred
thousand of them would keep the interpreter from the control thread for tens of milliseconds.
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

# One pose, twist or point; only the name of its frame has no size of its own [bytes].
TARGET_BYTES = 16 * 1024
# Descriptions of large robots have some hundreds of kB; meshes are in files [bytes].
DESCRIPTION_BYTES = 16 * 1024 * 1024
# A flag takes one byte, and what comes before and after it [bytes].
FLAG_BYTES = 64
# Some 2,500 joints with names of a usual length [bytes].
JOINTS_BYTES = 256 * 1024


def subscribe(
    node: Node,
    kind: type,
    topic: str,
    callback: Callable[[Any], None],
    drops: MessageStats,
    *,
    most_bytes: int,
    qos: QoSProfile,
) -> Subscription:
    """Return a subscription that passes on messages of at most ``most_bytes``.

    Args:
        node: The node.
        kind: Type of the messages.
        topic: Their topic.
        callback: Called with each message that is small enough.
        drops: Counts the others.
        most_bytes: Largest size of a serialized message.
        qos: Quality of service.
    """
    read = functools.partial(deserialize_message, message_type=kind)
    receive = _receiver(topic, callback, drops.add, most_bytes, read)
    return node.create_subscription(kind, topic, receive, qos, raw=True)


def stream(
    node: StreamNode,
    kind: type,
    topic: str,
    callback: Callable[[Any], None],
    drops: MessageStats,
    *,
    most_bytes: int,
    read: Callable[[bytes], Any],
    qos: QoSProfile = LATEST_TARGET,
) -> Stream:
    """Return a stream that passes on messages of at most ``most_bytes``.

    Args:
        node: The node.
        kind: Type of the messages.
        topic: Their topic.
        callback: Called by whoever reads the stream with what ``read`` returns.
        drops: Counts what is not passed on.
        most_bytes: Largest size of a serialized message.
        read: Makes what is passed on of a serialized message. Raises RuntimeError, ValueError or
            MemoryError for one that cannot be read.
        qos: Quality of service.
    """
    receive = _receiver(topic, callback, drops.add_in_tick, most_bytes, read)
    return Stream(node, kind, topic, receive, qos)


def _receiver(
    topic: str,
    callback: Callable[[Any], None],
    drop: Callable[..., None],
    most_bytes: int,
    read: Callable[[bytes], Any],
) -> Callable[[bytes], None]:
    """Return what passes on serialized messages."""
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
