# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Topics and services that command the node, merged into the latest command.

The control thread reads the streams: targets, joint states and states of controllers. The executor
serves the others.
"""

from __future__ import annotations

from collections.abc import Callable
import functools
from typing import Any

from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

from ros_ik.node.control.inbox import Inbox
from ros_ik.node.control.jump_counter import JumpCounter
from ros_ik.node.subscribers.command_time import CommandTime
from ros_ik.node.subscribers.control_services import ControlServices
from ros_ik.node.subscribers.controller_states import ControllerStates
from ros_ik.node.subscribers.joint_state_merger import JointStateMerger
from ros_ik.node.subscribers.obstacle_topic import ObstacleTopic
from ros_ik.node.subscribers.target_topics import TargetTopics
from ros_ik.node.subscribers.transforms import Transforms
from ros_ik.node.transport.any_durability import AnyDurabilitySubscription
from ros_ik.node.transport.cdr_readers import JointReader
from ros_ik.node.transport.cdr_readers import JointSample
from ros_ik.node.transport.mailbox import Mailbox
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.node.transport.polled_subscription import StreamNode
from ros_ik.node.transport.polled_subscription import StreamPoller
from ros_ik.node.transport.qos_profiles import CHANGES
from ros_ik.node.transport.qos_profiles import LATEST_STATES
from ros_ik.node.transport.size_limited_subscription import FLAG_BYTES
from ros_ik.node.transport.size_limited_subscription import JOINTS_BYTES
from ros_ik.node.transport.size_limited_subscription import stream
from ros_ik.servo import Command
from ros_ik.servo import Measurement
from ros_ik.servo import Servo
from ros_ik.settings import Settings


class Inputs:
    """Subscriptions and services of a configured node.

    Attributes:
        transforms: Lookup of frames.
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
        """Create the subscriptions and services.

        Args:
            node: The node.
            settings: Settings in force.
            inbox: Inbox for the commands.
            now: Clock of the servo [s].
            message_stats: Counter of dropped messages.
            obstacles_changed: Function called after each change of the obstacles by a message.
        """
        self._inbox, self._now, self._message_stats = inbox, now, message_stats
        self._merger: JointStateMerger | None = None
        self.transforms = Transforms(node, settings.use_tf)
        command_time = CommandTime(now, node.get_clock(), inbox.settings)
        command = inbox.command
        self._targets = TargetTopics(
            node, settings, inbox.settings, command, command_time, self.transforms, message_stats
        )
        self._obstacles = ObstacleTopic(
            node, settings, command, self.transforms, message_stats, obstacles_changed
        )
        self._services = ControlServices(node, command, self._targets.forget_unread)
        self._stop_request = AnyDurabilitySubscription(
            node,
            Bool,
            '~/stop_request',
            self._on_stop_request,
            message_stats,
            most_bytes=FLAG_BYTES,
            qos=CHANGES,
        )
        self._joint_states = stream(
            node,
            JointState,
            'joint_states',
            self._on_joint_states,
            message_stats,
            most_bytes=JOINTS_BYTES,
            read=JointReader(),
            qos=LATEST_STATES,
        )
        self._controllers = ControllerStates(node, settings, message_stats, now)
        streams = (self._joint_states, *self._targets.streams, *self._controllers.streams)
        inbox.streams.put(StreamPoller(streams, settings.period))

    def adopt(self, servo: Servo) -> Mailbox[Measurement]:
        """Switch to another servo; targets for the previous one are dropped.

        Returns:
            Mailbox of the measured states of its robot.
        """
        self.transforms.adopt(servo.robot)
        reference = functools.partial(self._controllers.reference_of, servo.robot)
        merger = JointStateMerger(servo, self._message_stats, reference)
        self._merger = merger
        self._targets.adopt(servo.robot)
        self._obstacles.adopt(servo.robot, merger.measurement.get)
        return merger.measurement

    def settle_obstacles(self) -> None:
        """Fix obstacles in the world whose place was unknown; call it regularly."""
        self._obstacles.settle()

    def jump_counter(self, servo: Servo) -> JumpCounter:
        """Return a counter of the targets that a servo rejects as jumps."""
        return JumpCounter(servo, self._message_stats)

    def activate(self, active: bool) -> None:
        """Let the servo follow new targets, or brake it to rest."""
        self._targets.forget_unread()
        self._inbox.command.update(lambda command: command.with_activation(active))

    def change(self, **fields: Any) -> None:
        """Change the command."""
        self._inbox.command.update(lambda command: command.with_changes(**fields))

    def destroy(self) -> None:
        """Destroy subscriptions and services; a stop, a pause and the mode stay in force."""
        self._inbox.streams.put(StreamPoller((), 0.0))
        self._joint_states.destroy()
        self._stop_request.destroy()
        self._controllers.destroy()
        for part in (self._targets, self._obstacles, self._services, self.transforms):
            part.destroy()
        self._inbox.command.update(Command.with_release)

    def _on_joint_states(self, sample: JointSample) -> None:
        merger = self._merger
        if merger is not None and merger.merge(sample, self._now()):
            self._message_stats.accepted('joint_states')

    def _on_stop_request(self, message: Bool) -> None:
        self._inbox.command.update(lambda command: command.with_stop_request(message.data))
