# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Subscriptions that refuse messages too large to be of use, and those that cannot be read.

rclpy makes a Python object of each element of a message before it calls anybody; a hundred
thousand of them would keep the interpreter from the control thread for tens of milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription

from ros_ik.node.drops import Drop
from ros_ik.node.drops import Drops

# A best-effort subscriber hears reliable and best-effort publishers alike.
STREAM = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
# One pose, twist or point; only the name of its frame has no size of its own [bytes].
TARGET_BYTES = 16 * 1024
# Descriptions of large robots have some hundreds of kB; meshes are in files [bytes].
DESCRIPTION_BYTES = 16 * 1024 * 1024
# Some 2,500 joints with names of a usual length [bytes].
JOINTS_BYTES = 256 * 1024


def subscribe(
    node: Node,
    kind: type,
    topic: str,
    callback: Callable[[Any], None],
    drops: Drops,
    *,
    most_bytes: int,
    read: Callable[[bytes], Any] | None = None,
    qos: QoSProfile = STREAM,
) -> Subscription:
    """Return a subscription that passes on messages of at most ``most_bytes``.

    Args:
        node: The node.
        kind: Type of the messages.
        topic: Their topic.
        callback: Called with each message that is small enough.
        drops: Counts the others.
        most_bytes: Largest size of a serialized message.
        read: Makes what is passed on of a serialized message, None for rclpy's own way. Raises
            RuntimeError, ValueError or MemoryError for one that cannot be read.
        qos: Quality of service.
    """
    name = topic.removeprefix('~/')

    def receive(data: bytes) -> None:
        if len(data) > most_bytes:
            drops.add(
                name, Drop.TOO_LARGE, lambda: f'{len(data)} bytes, at most {most_bytes} are read'
            )
            return
        try:
            message = deserialize_message(data, kind) if read is None else read(data)
        except (RuntimeError, ValueError, MemoryError) as error:
            text = str(error)
            drops.add(name, Drop.UNREADABLE, lambda: text)
            return
        callback(message)

    return node.create_subscription(kind, topic, receive, qos, raw=True)
