# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Topics and services of a configured node, from configure to cleanup."""

from __future__ import annotations

from collections.abc import Callable

from ros_ik.node.control.inbox import ControlledServo
from ros_ik.node.control.inbox import Inbox
from ros_ik.node.control.publishing import CommandPublishers
from ros_ik.node.subscribers.inputs import Inputs
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.node.transport.polled_subscription import StreamNode
from ros_ik.servo import Servo
from ros_ik.settings import Settings


class NodeInterface:
    """Publishers and inputs of a configured node; they stay when the servo is replaced.

    Attributes:
        inputs: Subscriptions and services.
    """

    def __init__(
        self,
        node: StreamNode,
        settings: Settings,
        inbox: Inbox,
        now: Callable[[], float],
        message_stats: MessageStats,
        obstacles_changed: Callable[[], None],
    ) -> None:
        """Create topics and services.

        Args:
            node: The node.
            settings: Settings in force.
            inbox: Inputs of the control loop.
            now: Clock of the servo [s].
            message_stats: Counter of dropped messages.
            obstacles_changed: Function called after each change of the obstacles by a message.
        """
        self._inbox = inbox
        self._publishers = CommandPublishers(node, settings)
        try:
            self.inputs = Inputs(
                node, settings, inbox, now, message_stats, obstacles_changed
            )
        except Exception:
            self._publishers.destroy()
            raise
        inbox.publishers.put(self._publishers)

    def adopt(self, servo: Servo, generation: int) -> None:
        """Run another servo from the next tick on.

        Args:
            servo: The servo.
            generation: Number of models loaded, including this one.
        """
        templates = self._publishers.templates(servo)
        # First drop the targets of the old robot; command motion last.
        measurement = self.inputs.adopt(servo)
        jumps = self.inputs.jump_counter(servo)
        self._inbox.controlled.put(
            ControlledServo(servo, templates, generation, measurement, jumps)
        )
        self.set_model_loading(False)

    def set_model_loading(self, is_loading: bool) -> None:
        """Bring the robot to rest while a new servo is built, or let it move again."""
        self.inputs.change(model_loading=is_loading)

    def destroy(self, await_rest: Callable[[], None]) -> None:
        """Remove topics and services from the node, the publishers after ``await_rest``."""
        self.inputs.destroy()
        self._inbox.publishers.put(None)
        await_rest()
        self._publishers.destroy()
