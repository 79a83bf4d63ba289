# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Topics of targets: poses, velocities, joint positions, the centre of mass."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import dataclasses
import functools
from typing import Any

from geometry_msgs.msg import PointStamped
from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import TwistStamped
import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from ros_ik.node.bounded import JOINTS_BYTES
from ros_ik.node.bounded import subscribe
from ros_ik.node.bounded import TARGET_BYTES
from ros_ik.node.drops import Drop
from ros_ik.node.drops import Drops
from ros_ik.node.mailbox import Mailbox
from ros_ik.node.pose_stream import PoseSample
from ros_ik.node.pose_stream import read_pose_stamped
from ros_ik.node.receipt import Receipt
from ros_ik.node.transforms import Nowhere
from ros_ik.node.transforms import Place
from ros_ik.node.transforms import Transforms
from ros_ik.servo import Command
from ros_ik.servo import Rejection
from ros_ik.servo import TargetReader
from ros_ik.servo.robot import ControlledRobot
from ros_ik.settings import Settings


class TargetTopics:
    """Turns messages into targets of the command; used in the thread of the executor."""

    def __init__(
        self,
        node: Node,
        settings: Settings,
        command: Mailbox[Command],
        receipt: Receipt,
        transforms: Transforms,
        drops: Drops,
    ) -> None:
        """Subscribe.

        Args:
            node: The node.
            settings: Settings in force.
            command: What is asked for, changed here.
            receipt: Says when a message counts as received.
            transforms: Finds frames.
            drops: Counts what is of no use.
        """
        self._node, self._command, self._drops = node, command, drops
        self._receipt, self._transforms = receipt, transforms
        self._reader: TargetReader | None = None
        self._task_count = len(settings.tasks)
        self._subscriptions = [
            self._subscribe(PoseStamped, 'target_pose', self._pose, 0),
            self._subscribe(JointState, 'target_joints', self._joints),
            self._subscribe(PointStamped, 'target_com', self._center_of_mass),
        ]
        for index, task in enumerate(settings.tasks):
            self._subscriptions += [
                self._subscribe(PoseStamped, f'{task.name}/target_pose', self._pose, index),
                self._subscribe(TwistStamped, f'{task.name}/target_twist', self._twist, index),
            ]

    def take_over(self, robot: ControlledRobot) -> None:
        """Read targets for another robot from now on and drop those for the one before."""
        self._reader = TargetReader(robot)
        none = (None,) * self._task_count
        self._command.update(
            functools.partial(
                dataclasses.replace, poses=none, twists=none, joints=None, center_of_mass=None
            )
        )

    def destroy(self) -> None:
        """Remove the subscriptions from the node."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def _subscribe(self, kind: type, topic: str, read: Callable[..., Any], *task: int) -> Any:
        """Listen to one topic.

        Args:
            kind: Type of the messages.
            topic: Name of the topic below the node.
            read: Returns from the reader, what ``task`` says, the message, its place and its time
                the change of the command, or the reason why there is none.
            task: Index of the frame task, where there is one.
        """
        return subscribe(
            self._node,
            kind,
            f'~/{topic}',
            functools.partial(self._receive, topic, read, task),
            self._drops,
            most_bytes=JOINTS_BYTES if kind is JointState else TARGET_BYTES,
            read=read_pose_stamped if kind is PoseStamped else None,
        )

    def _receive(
        self, topic: str, read: Callable[..., Any], task: tuple[int, ...], message: Any
    ) -> None:
        header, drop = message.header, self._drops.add
        if self._reader is None:
            drop(topic, Rejection.NOT_READY, lambda: 'there is no model')
            return
        received = self._receipt.time(header.stamp)
        if received is None:
            drop(topic, Drop.TOO_OLD, lambda: f'its stamp is {header.stamp}')
            return
        # Joints are given in no frame, whatever the header says.
        frame_id = '' if isinstance(message, JointState) else header.frame_id
        place = self._transforms.find(frame_id, header.stamp)
        if isinstance(place, Nowhere):
            text = place.text
            drop(topic, place.reason, lambda: f"frame '{frame_id}': {text}")
            return
        change = read(self._reader, *task, message, place, received)
        if isinstance(change, Rejection):
            drop(topic, change, lambda: str(message)[:500])
            return
        self._command.update(change)
        self._drops.accepted(topic)

    def _pose(
        self, reader: TargetReader, task: int, sample: PoseSample, place: Place, received: float
    ) -> Callable[[Command], Command] | Rejection:
        given: Sequence[float] = sample.numbers
        if place.pose is not None:
            given = place.moved_pose(np.array(given)).tolist()
        target = reader.pose(task, place.link, given[:3], given[3:], received)
        if isinstance(target, Rejection):
            return target
        return lambda command: command.with_pose(task, target)

    def _twist(
        self, reader: TargetReader, task: int, message: TwistStamped, place: Place, received: float
    ) -> Callable[[Command], Command] | Rejection:
        linear, angular = (
            place.turned(np.array((v.x, v.y, v.z))).tolist()
            for v in (message.twist.linear, message.twist.angular)
        )
        target = reader.twist(task, place.link, linear, angular, received)
        if isinstance(target, Rejection):
            return target
        return lambda command: command.with_twist(task, target)

    def _center_of_mass(
        self, reader: TargetReader, message: PointStamped, place: Place, received: float
    ) -> Callable[[Command], Command] | Rejection:
        given = np.array((message.point.x, message.point.y, message.point.z))
        target = reader.center_of_mass(place.link, place.moved_point(given).tolist(), received)
        if isinstance(target, Rejection):
            return target
        return lambda command: dataclasses.replace(command, center_of_mass=target)

    def _joints(
        self, reader: TargetReader, message: JointState, place: Place, received: float
    ) -> Callable[[Command], Command] | Rejection:
        target = reader.joints(message.name, message.position, received)
        if isinstance(target, Rejection):
            return target
        return lambda command: dataclasses.replace(command, joints=target)
