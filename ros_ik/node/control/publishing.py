# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Publishers of a tick. Messages are allocated once and refilled.

Commands are written into serialized messages, see ``cdr_templates``.
"""

from __future__ import annotations

from collections.abc import Sequence
import time

from geometry_msgs.msg import PoseStamped
import numpy as np
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState

from ros_ik.node.control.command_messages import fill_all
from ros_ik.node.control.command_messages import output_message
from ros_ik.node.control.command_messages import output_publisher
from ros_ik.node.control.command_messages import VelocityMessage
from ros_ik.node.control.statistics import TickStatistics
from ros_ik.node.control.status_message import NodeState
from ros_ik.node.control.status_message import StatusMessage
from ros_ik.node.transport.cdr_templates import Marks
from ros_ik.node.transport.cdr_templates import SerializedMessage
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.node.transport.pose_messages import fill_pose
from ros_ik.node.transport.qos_profiles import LATEST
from ros_ik.servo import Servo
from ros_ik.servo import ServoOutput
from ros_ik.servo import StatusCode
from ros_ik.servo import TaskReport
from ros_ik.servo import trajectory_layout
from ros_ik.settings import Settings
from ros_ik_interfaces.msg import IkStatus

# Longest wait for controllers to acknowledge the last command [s].
_ACKNOWLEDGEMENT_TIME = 0.1


class CommandPublishers:
    """Publishers of commands, command state and current poses of one configuration."""

    def __init__(self, node: Node, settings: Settings) -> None:
        """Create the publishers; :meth:`templates` makes the messages of a robot."""
        self._node, self._settings = node, settings
        self._commands = [output_publisher(node, output) for output in settings.outputs]
        self._poses = [
            node.create_publisher(PoseStamped, f'~/{task.name}/current_pose', LATEST)
            for task in settings.tasks
        ]
        self._state = node.create_publisher(JointState, '~/command_state', LATEST)
        # Messages with the last command.
        self._sent: CommandTemplates | None = None

    def templates(self, servo: Servo) -> CommandTemplates:
        """Return the messages of one servo."""
        return CommandTemplates(servo, self._settings)

    def publish_command(
        self, output: ServoOutput, templates: CommandTemplates, nanoseconds: int
    ) -> None:
        """Publish the command at a time [ns] for each controller, and the command state.

        If any number is not finite, nothing is published, and the output reports it.
        """
        self._sent = templates
        if not fill_all(templates.commands, output, nanoseconds):
            output.code = StatusCode.NON_FINITE_BLOCKED
            output.text = 'a command that is not finite was not published'
            self.stop_velocities()
            return
        for publisher, template in zip(self._commands, templates.commands, strict=True):
            publisher.publish(template.serialized.to_bytes())
        if self._state.get_subscription_count():
            self._state.publish(templates.state_bytes(output, nanoseconds))

    def stop_velocities(self) -> None:
        """Publish zero to velocity controllers whose last velocity was not zero.

        A velocity lasts until the next message, so a tick without a command must end it.
        """
        if self._sent is None:
            return
        for publisher, template in zip(self._commands, self._sent.commands, strict=True):
            if isinstance(template, VelocityMessage) and template.stop():
                publisher.publish(template.serialized.to_bytes())

    def wait_for_all_acked(self) -> None:
        """Wait briefly until every reliable subscriber has acknowledged the last command.

        DDS resends lost messages only as long as the publisher exists.
        """
        give_up = time.monotonic() + _ACKNOWLEDGEMENT_TIME
        for publisher in self._commands:
            left = max(0.0, give_up - time.monotonic())
            publisher.wait_for_all_acked(Duration(seconds=left))

    def wants_poses(self) -> bool:
        """Return True if the measured poses have subscribers."""
        return any([publisher.get_subscription_count() for publisher in self._poses])

    def publish_poses(
        self, output: ServoOutput, templates: CommandTemplates, nanoseconds: int
    ) -> None:
        """Publish the measured pose of each frame task at a time [ns]."""
        for publisher, message, task in zip(
            self._poses, templates.poses, output.tasks, strict=True
        ):
            if task.current_pose is not None:
                publisher.publish(message.to_bytes(task.current_pose, nanoseconds))

    def destroy(self) -> None:
        """Destroy the publishers; velocity controllers get zero."""
        self.stop_velocities()
        self.wait_for_all_acked()
        for publisher in (*self._commands, *self._poses, self._state):
            self._node.destroy_publisher(publisher)


class CommandTemplates:
    """Messages of one servo, with the constant fields filled in.

    Attributes:
        commands: One message per output.
        poses: One message per frame task.
        base_frame: Link of poses without a frame_id.
    """

    def __init__(self, servo: Servo, settings: Settings) -> None:
        """Make the messages."""
        robot = servo.robot
        labels = robot.model.body_label
        self.commands = [
            output_message(
                output,
                trajectory_layout(robot, index, output, settings.period, settings.rollout_steps),
            )
            for index, output in enumerate(settings.outputs)
        ]
        self._coords, self._dofs = robot.coords, robot.group.variable_dof
        count = len(robot.group.joint_names)
        marks = Marks()
        position, velocity = marks.take(count), marks.take(count)
        self._state = SerializedMessage(
            JointState(name=list(robot.group.joint_names), position=position, velocity=velocity)
        )
        self._position = self._state.numbers(position)
        self._velocity = self._state.numbers(velocity)
        self.poses = [PoseMessage(labels[reference]) for reference in robot.task_references]
        self.base_frame = labels[robot.base_link]

    def state_bytes(self, output: ServoOutput, nanoseconds: int) -> bytes:
        """Return the serialized command state at a time [ns]."""
        self._state.set_stamp(nanoseconds)
        output.joint_q.take(self._coords, out=self._position, mode='clip')
        output.joint_qd.take(self._dofs, out=self._velocity, mode='clip')
        return self._state.to_bytes()


class PoseMessage:
    """The measured pose of one frame task."""

    def __init__(self, frame_id: str) -> None:
        """Set the frame_id."""
        message, mark = PoseStamped(), Marks().take(7)
        message.header.frame_id = frame_id
        fill_pose(message.pose, mark)
        self._serialized = SerializedMessage(message)
        self._numbers = self._serialized.numbers(mark)

    def to_bytes(self, pose: np.ndarray, nanoseconds: int) -> bytes:
        """Return the serialized message of a pose [7] at a time [ns]."""
        self._numbers[:] = pose
        self._serialized.set_stamp(nanoseconds)
        return self._serialized.to_bytes()


class StatusPublisher:
    """Publisher of ~/status."""

    def __init__(self, node: Node, control_rate: float, message_stats: MessageStats) -> None:
        """Create the publisher.

        Args:
            node: The node.
            control_rate: Rate to report [Hz].
            message_stats: Counter of dropped messages, written by other threads too.
        """
        self._publisher: Publisher = node.create_publisher(IkStatus, '~/status', 10)
        self._message = StatusMessage(control_rate, message_stats)

    def has_subscribers(self) -> bool:
        """Return True if there are subscribers."""
        return self._publisher.get_subscription_count() > 0

    def publish(
        self,
        output: ServoOutput,
        state: NodeState,
        statistics: TickStatistics,
        tick_ms: float,
        nanoseconds: int,
    ) -> None:
        """Publish the status of one tick; see :meth:`StatusMessage.fill`."""
        self._publisher.publish(
            self._message.fill(output, state, statistics, tick_ms, nanoseconds)
        )


def empty_output(task_names: Sequence[str]) -> ServoOutput:
    """Return the output of a tick without a servo."""
    return ServoOutput(
        StatusCode.WAITING_FOR_MODEL, '', np.zeros(0), np.zeros(0), publish=False, still=True,
        tasks=[TaskReport(name) for name in task_names],
    )  # fmt: skip
