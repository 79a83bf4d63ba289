# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Heartbeats for Nav2's lifecycle manager, by the protocol of bond_core.

While the node is active it sends heartbeats on the topic ``bond``, with its name as the
identifier of the bond, like nav2_util::LifecycleNode. If they end without notice, the manager
shuts down every node that it manages. The messages are those of the package ``bond``; the
heartbeat is a timer of the executor, so it stops when the executor hangs.
"""

from __future__ import annotations

from collections.abc import Callable
import threading
import time
from typing import Any
import uuid

from rclpy.clock import Clock
from rclpy.clock import ClockType
from rclpy.duration import Duration
from rclpy.node import Node

from ros_ik.settings import Settings

try:
    from bond.msg import Status
except ImportError:
    Status = None

TOPIC = 'bond'
# Time without a heartbeat after which either side counts as dead [s], as in
# nav2_util::LifecycleNode.
HEARTBEAT_TIMEOUT = 4.0
_DEPTH = 10
# Maximum time for the end of a bond, if a subscriber of the topic does not acknowledge it [s].
_ACKNOWLEDGEMENT_TIMEOUT = 0.5


def missing_bond(settings: Settings) -> str:
    """Return an error if the settings need the package bond and it is missing, otherwise ''."""
    if settings.bond_heartbeat_period == 0.0 or Status is not None:
        return ''
    return (
        "parameter 'bond_heartbeat_period': above 0 it needs the package bond, "
        'which is not installed'
    )


class ManagerBond:
    """The node's side of the bond, from each activation to its end; for the executor's thread.

    Its topic stays open in between: a publisher that is destroyed at once may take its last
    message with it. When the node shuts down, the main thread calls ``close``.
    """

    def __init__(
        self, node: Node, period: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        """Open the topic.

        Args:
            node: The node.
            period: Time between two heartbeats [s].
            now: Steady clock [s].
        """
        self._node, self._period, self._now = node, period, now
        # Held while a message is sent: none may follow that of the end.
        self._sending = threading.Lock()
        # Identity of this side while there is a bond, else ''.
        self._instance = ''
        # Time of the manager's last heartbeat; None before it, and once its loss is reported.
        self._heard: float | None = None
        self._publisher = node.create_publisher(Status, TOPIC, _DEPTH)
        self._subscription = node.create_subscription(Status, TOPIC, self._on_status, _DEPTH)
        self._timer = node.create_timer(
            period, self._beat, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )
        self._timer.cancel()

    def begin(self) -> None:
        """Start the heartbeats of a new bond."""
        self._instance, self._heard = str(uuid.uuid4()), None
        self._timer.reset()
        self._beat()

    def end(self) -> None:
        """Announce an orderly end of the bond to the manager, if there is one."""
        with self._sending:
            if self._instance:
                self._timer.cancel()
                self._publish(False)
                self._instance = ''

    def close(self) -> None:
        """End the bond, and wait until the manager has received that.

        The executor may use timer and topic meanwhile, so the node destroys them later.
        """
        self.end()
        self._publisher.wait_for_all_acked(Duration(seconds=_ACKNOWLEDGEMENT_TIMEOUT))

    def _beat(self) -> None:
        with self._sending:
            if not self._instance:
                return
            self._publish(True)
        if self._heard is not None and self._now() - self._heard > HEARTBEAT_TIMEOUT:
            self._heard = None
            self._node.get_logger().warning(
                f'no heartbeat of the lifecycle manager on {TOPIC} for {HEARTBEAT_TIMEOUT:g} s'
            )

    def _on_status(self, message: Any) -> None:
        """Record a heartbeat of the manager; ignore bonds of other nodes on the same topic."""
        is_manager = (
            message.id == self._node.get_name() and message.instance_id != self._instance
        )
        if not (is_manager and self._instance):
            return
        self._heard = self._now() if message.active else None
        if not message.active:
            # The manager waits for this answer before it considers the bond broken.
            with self._sending:
                self._publish(False)

    def _publish(self, alive: bool) -> None:
        message = Status()
        message.header.stamp = self._node.get_clock().now().to_msg()
        message.id, message.instance_id = self._node.get_name(), self._instance
        message.active = alive
        message.heartbeat_timeout, message.heartbeat_period = HEARTBEAT_TIMEOUT, self._period
        self._publisher.publish(message)
