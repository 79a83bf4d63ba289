# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Topics of targets: poses, velocities, joint positions, the centre of mass."""

from __future__ import annotations

from collections.abc import Callable
import functools
from typing import Any

from geometry_msgs.msg import PointStamped
from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import TwistStamped
import numpy as np
from sensor_msgs.msg import JointState

from ros_ik.node.subscribers.command_time import CommandTime
from ros_ik.node.subscribers.rejections import explain_frame
from ros_ik.node.subscribers.rejections import explain_joints
from ros_ik.node.subscribers.rejections import explain_numbers
from ros_ik.node.subscribers.transforms import ResolvedFrame
from ros_ik.node.subscribers.transforms import Transforms
from ros_ik.node.subscribers.transforms import UnresolvedFrame
from ros_ik.node.transport.cdr_readers import JointReader
from ros_ik.node.transport.cdr_readers import JointSample
from ros_ik.node.transport.cdr_readers import read_jog
from ros_ik.node.transport.cdr_readers import read_point
from ros_ik.node.transport.cdr_readers import read_pose
from ros_ik.node.transport.cdr_readers import read_twist
from ros_ik.node.transport.cdr_readers import StampedSample
from ros_ik.node.transport.mailbox import Mailbox
from ros_ik.node.transport.message_stats import Drop
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.node.transport.polled_subscription import Stream
from ros_ik.node.transport.polled_subscription import StreamNode
from ros_ik.node.transport.size_limited_subscription import JOINTS_BYTES
from ros_ik.node.transport.size_limited_subscription import stream
from ros_ik.node.transport.size_limited_subscription import TARGET_BYTES
from ros_ik.servo import Command
from ros_ik.servo import JointTarget
from ros_ik.servo import JointVelocityTarget
from ros_ik.servo import Rejection
from ros_ik.servo import TargetReader
from ros_ik.servo.interface.velocity_units import frame_speeds
from ros_ik.servo.interface.velocity_units import joint_speeds
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.settings import Settings

try:
    from control_msgs.msg import JointJog
except ImportError:
    JointJog = None

Sample = StampedSample | JointSample
Change = Callable[[Command], Command]


class TargetTopics:
    """Conversion of messages to targets of the command.

    Attributes:
        streams: Topics that the control thread reads.
    """

    def __init__(
        self,
        node: StreamNode,
        settings: Settings,
        in_force: Mailbox[Settings | None],
        command: Mailbox[Command],
        command_time: CommandTime,
        transforms: Transforms,
        message_stats: MessageStats,
    ) -> None:
        """Subscribe.

        Args:
            node: The node.
            settings: Settings at the start.
            in_force: Mailbox of the current settings.
            command: Command to change.
            command_time: Time from which the age of a message is counted.
            transforms: Lookup of frames.
            message_stats: Counter of dropped messages.
        """
        self._node, self._command, self._message_stats = node, command, message_stats
        self._command_time, self._transforms = command_time, transforms
        self._settings, self._in_force = settings, in_force
        self._reader: TargetReader | None = None
        self._task_count = len(settings.tasks)
        self._by_topic: dict[str, Stream] = {}
        self._pose_stream('target_pose', 0)
        self._stream(JointState, JointReader(), 'target_joints', self._joints, 'target_joints')
        if JointJog is not None:
            read = functools.partial(read_jog, JointJog)
            self._stream(JointJog, read, 'target_joint_jog', self._joints, 'target_joint_jog')
        self._stream(PointStamped, read_point, 'target_com', self._center_of_mass, 'target_com')
        for index, task in enumerate(settings.tasks):
            self._pose_stream(f'{task.name}/target_pose', index)
            topic = f'{task.name}/target_twist'
            self._stream(TwistStamped, read_twist, topic, self._twist, index, topic)
        self.streams = tuple(self._by_topic.values())

    def adopt(self, robot: ControlledRobot) -> None:
        """Switch to another robot, and drop targets for the previous one."""
        reader, none = TargetReader(robot), (None,) * self._task_count

        def begin(command: Command) -> Command:
            self._reader = reader
            return command.with_changes(poses=none, twists=none, joints=None, center_of_mass=None)

        self._command.update(begin)

    def forget_unread(self) -> None:
        """Discard targets that no tick has read yet."""
        for topic in self.streams:
            topic.discard()

    def destroy(self) -> None:
        """Destroy the subscriptions."""
        for topic in self.streams:
            topic.destroy()

    def _pose_stream(self, topic: str, task: int) -> None:
        """Subscribe to a topic of poses; the first task has two."""
        self._stream(PoseStamped, read_pose, topic, self._pose, task, topic)

    def _stream(
        self,
        kind: type,
        read: Callable[[bytes], Sample],
        topic: str,
        change: Callable[..., Change | Rejection],
        *what: Any,
    ) -> None:
        """Subscribe to one topic.

        Args:
            kind: Type of the messages.
            read: Reader of the serialized messages.
            topic: Name of the topic, relative to the node.
            change: Function of the target reader, ``what``, the sample, its frame and its time
                that returns the change of the command, or a rejection.
            what: Index of the frame task, for its targets, and the topic.
        """
        self._by_topic[topic] = stream(
            self._node,
            kind,
            f'~/{topic}',
            functools.partial(self._receive, topic, change, what),
            self._message_stats,
            most_bytes=JOINTS_BYTES if kind in (JointState, JointJog) else TARGET_BYTES,
            read=read,
        )

    def _receive(
        self,
        topic: str,
        change_of: Callable[..., Change | Rejection],
        what: tuple[Any, ...],
        sample: Sample,
    ) -> None:
        """Check a message of a stream and put its target into the command, or count the drop."""
        drop, reader = self._message_stats.add_in_tick, self._reader
        if reader is None:
            drop(topic, Rejection.NOT_READY, lambda: 'there is no model')
            return
        received = self._command_time.time(sample.stamp)
        if received is None:
            drop(topic, Drop.TOO_OLD, lambda: 'its stamp is older than command_timeout')
            return
        frame = self._transforms.find(sample.frame_id, sample.stamp)
        if isinstance(frame, UnresolvedFrame):
            text = frame.text
            explain = functools.partial(explain_frame, sample.frame_id, text)
            drop(topic, frame.reason, explain, frame=sample.frame_id)
            return
        change = change_of(reader, *what, sample, frame, received)
        if isinstance(change, Rejection):
            drop(topic, change, lambda: _why(change, sample, reader))
            return
        source = self._by_topic[topic]
        # Meanwhile the robot may have changed, or targets may have been discarded.
        self._command.update(
            lambda command: (
                change(command) if self._reader is reader and not source.is_discarded else command
            )
        )
        self._message_stats.accepted(topic)

    def _pose(
        self,
        reader: TargetReader,
        task: int,
        topic: str,
        sample: StampedSample,
        frame: ResolvedFrame,
        received: float,
    ) -> Change | Rejection:
        """Return the change of a command by a pose target, or the reason to reject it."""
        given = sample.numbers
        if frame.pose is not None:
            given = frame.moved_pose(np.array(given)).tolist()
        target = reader.pose(
            task, frame.link, given[:3], given[3:], received, stamp=sample.stamp.seconds,
            sender=self._by_topic[topic].publisher, topic=topic,
        )  # fmt: skip
        if isinstance(target, Rejection):
            return target
        return lambda command: command.with_pose(task, target)

    def _twist(
        self,
        reader: TargetReader,
        task: int,
        topic: str,
        sample: StampedSample,
        frame: ResolvedFrame,
        received: float,
    ) -> Change | Rejection:
        """Return the change of a command by a velocity target, or the reason to reject it."""
        numbers = frame_speeds(sample.numbers, self._in_force.get() or self._settings)
        if isinstance(numbers, Rejection):
            return numbers
        linear, angular = (
            frame.turned(np.array(part)).tolist() for part in (numbers[:3], numbers[3:])
        )
        sender = self._by_topic[topic].publisher
        target = reader.twist(task, frame.link, linear, angular, received, sender=sender)
        if isinstance(target, Rejection):
            return target
        return lambda command: command.with_twist(task, target)

    def _center_of_mass(
        self,
        reader: TargetReader,
        topic: str,
        sample: StampedSample,
        frame: ResolvedFrame,
        received: float,
    ) -> Change | Rejection:
        point = frame.moved_point(np.array(sample.numbers)).tolist()
        target = reader.center_of_mass(
            frame.link, point, received, stamp=sample.stamp.seconds,
            sender=self._by_topic[topic].publisher,
        )  # fmt: skip
        if isinstance(target, Rejection):
            return target
        return lambda command: command.with_changes(center_of_mass=target)

    def _joints(
        self,
        reader: TargetReader,
        topic: str,
        sample: JointSample,
        frame: ResolvedFrame,
        received: float,
    ) -> Change | Rejection:
        target: JointTarget | JointVelocityTarget | Rejection
        sender = self._by_topic[topic].publisher
        if sample.unused not in (0, len(sample.names)):
            return Rejection.WRONG_SIZE
        if sample.velocities:
            target = self._joint_velocities(reader, sample, received, sender)
        else:
            target = reader.joints(sample.names, sample.positions, received, sender=sender)
        if isinstance(target, Rejection):
            return target
        return lambda command: command.with_changes(joints=target)

    def _joint_velocities(
        self, reader: TargetReader, sample: JointSample, received: float, sender: bytes | None
    ) -> JointVelocityTarget | Rejection:
        velocities = joint_speeds(sample.velocities, self._in_force.get() or self._settings)
        if isinstance(velocities, Rejection):
            return velocities
        return reader.joint_velocities(sample.names, velocities, received, sender=sender)


def _why(reason: Rejection, sample: Sample, reader: TargetReader) -> str:
    """Explain why a target is rejected."""
    if isinstance(sample, JointSample):
        return explain_joints(reason, sample, reader.joint_names)
    return explain_numbers(reason, sample.numbers, sample.frame_id)
