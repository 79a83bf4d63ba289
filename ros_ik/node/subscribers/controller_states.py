# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""References of the controllers, from their state topics.

Controllers publish them at 50 Hz or more, but only the start of a motion needs them. Messages are
therefore kept as bytes and deserialized on demand.
"""

from __future__ import annotations

from collections.abc import Callable
import functools
from typing import Any
from typing import NamedTuple

import numpy as np
from rclpy.serialization import deserialize_message

from ros_ik.node.transport.message_stats import Drop
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.node.transport.polled_subscription import Stream
from ros_ik.node.transport.polled_subscription import StreamNode
from ros_ik.node.transport.size_limited_subscription import JOINTS_BYTES
from ros_ik.node.transport.size_limited_subscription import stream
from ros_ik.numbers import is_bounded
from ros_ik.servo import ControllerReference
from ros_ik.servo import Rejection
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.settings import OutputSettings
from ros_ik.settings import Settings

try:
    from control_msgs.msg import JointTrajectoryControllerState
except ImportError:
    JointTrajectoryControllerState = None

_NAME = 'controller_state'


class _ReceivedState(NamedTuple):
    """Newest message of a controller, and its time of receipt [s]."""

    data: bytes
    time: float


class ControllerStates:
    """Subscriptions to the controllers of the outputs, if control_msgs is installed.

    Attributes:
        streams: Topics that the control thread reads.
    """

    def __init__(
        self,
        node: StreamNode,
        settings: Settings,
        message_stats: MessageStats,
        now: Callable[[], float],
    ) -> None:
        """Subscribe to the state topics.

        Args:
            node: The node.
            settings: Settings in force.
            message_stats: Counter of dropped messages.
            now: Clock of the servo [s].
        """
        self._message_stats, self._now = message_stats, now
        self._heard: dict[str, _ReceivedState] = {}
        self.streams: tuple[Stream, ...] = ()
        if JointTrajectoryControllerState is not None:
            topics = [state_topic(node, output) for output in settings.outputs]
            self.streams = tuple(self._listen(node, topic) for topic in topics if topic)

    def reference_of(self, robot: ControlledRobot) -> ControllerReference | None:
        """Return the references of the joints of a robot, None before the first message.

        Joints without a reference have no time of receipt.
        """
        if not self._heard:
            return None
        count = robot.group.n_variables
        reference = ControllerReference(np.zeros(count), np.zeros(count), np.full(count, -np.inf))
        variable_of = {name: k for k, name in enumerate(robot.group.joint_names)}
        for topic, heard in self._heard.items():
            self._merge(topic, heard, variable_of, reference)
        return reference

    def destroy(self) -> None:
        """Destroy the subscriptions."""
        for topic in self.streams:
            topic.destroy()

    def _listen(self, node: StreamNode, topic: str) -> Stream:
        return stream(
            node,
            JointTrajectoryControllerState,
            topic,
            functools.partial(self._keep, topic),
            self._message_stats,
            most_bytes=JOINTS_BYTES,
            read=bytes,
        )

    def _keep(self, topic: str, data: bytes) -> None:
        self._heard[topic] = _ReceivedState(data, self._now())

    def _merge(
        self,
        topic: str,
        heard: _ReceivedState,
        variable_of: dict[str, int],
        reference: ControllerReference,
    ) -> None:
        """Write the references of a message for the joints of ``variable_of``."""
        try:
            message = deserialize_message(heard.data, JointTrajectoryControllerState)
        except (RuntimeError, ValueError, MemoryError) as error:
            text = str(error)
            self._message_stats.add_in_tick(_NAME, Drop.UNREADABLE, lambda: text)
            return
        point = _reference_point(message)
        names, positions, velocities = message.joint_names, point.positions, point.velocities
        if len(positions) != len(names) or len(velocities) not in (0, len(names)):
            sizes = f'{len(names)} names, {len(positions)} positions on {topic}'
            self._message_stats.add_in_tick(_NAME, Rejection.WRONG_SIZE, lambda: sizes)
            return
        if not (is_bounded(list(positions)) and is_bounded(list(velocities))):
            self._message_stats.add_in_tick(_NAME, Rejection.NON_FINITE, lambda: topic)
            return
        for entry, name in enumerate(names):
            variable = variable_of.get(name)
            if variable is not None:
                reference.positions[variable] = positions[entry]
                reference.velocities[variable] = velocities[entry] if len(velocities) else np.nan
                reference.received[variable] = heard.time


def state_topic(node: StreamNode, output: OutputSettings) -> str:
    """Return the topic of the state of an output's controller, or ''.

    A joint_trajectory_controller publishes it in the namespace of its command topic.
    """
    if output.state_topic or output.type != 'joint_trajectory':
        return output.state_topic
    return f'{node.resolve_topic_name(output.topic).rpartition("/")[0]}/{_NAME}'


def _reference_point(message: Any) -> Any:
    """Return the reference of a state; releases before Iron name it ``desired``."""
    point = getattr(message, 'reference', None)
    if (point is None or not len(point.positions)) and hasattr(message, 'desired'):
        return message.desired
    return point
