# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Topics and services by which the node is commanded: messages in, the latest command out."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import functools
from typing import Any

from geometry_msgs.msg import PoseStamped
from rclpy.lifecycle import LifecycleNode
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import SetBool
from std_srvs.srv import Trigger

from ros_ik.node.control_loop import Inbox
from ros_ik.node.mailbox import Mailbox
from ros_ik.node.measuring import JointStateMerger
from ros_ik.servo import Command
from ros_ik.servo import Measurement
from ros_ik.servo import Rejection
from ros_ik.servo import Servo
from ros_ik.servo import TargetReader
from ros_ik.settings import Settings

# A best-effort subscriber hears reliable and best-effort publishers alike.
STREAM = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
_LOG_PERIOD = 5.0


class Inputs:
    """Subscriptions and services of a configured node; used in the thread of the executor."""

    def __init__(
        self,
        node: LifecycleNode,
        settings: Settings,
        inbox: Inbox,
        now: Callable[[], float],
        dropped: dict[str, int],
    ) -> None:
        """Create the subscriptions and services.

        Args:
            node: The node.
            settings: Settings in force.
            inbox: Where commands go.
            now: Clock of the servo [s].
            dropped: Counters by reason, written here.
        """
        self._node, self._inbox, self._now, self._dropped = node, inbox, now, dropped
        self._reader: TargetReader | None = None
        self._merger: JointStateMerger | None = None
        self._measurement: Mailbox[Measurement]
        self._task_count = len(settings.tasks)
        self._subscriptions = self._subscribe(settings)
        self._services = [
            node.create_service(SetBool, '~/pause', self._on_pause),
            node.create_service(Trigger, '~/stop', self._on_stop),
            node.create_service(Trigger, '~/reset', self._on_reset),
        ]

    def take_over(self, servo: Servo) -> Mailbox[Measurement]:
        """Read messages for another servo from now on; targets for the one before are dropped.

        Returns:
            Where the measured states of its robot go.
        """
        self._reader = TargetReader(servo.robot)
        self._merger = JointStateMerger(servo)
        self._measurement = Mailbox(self._merger.measurement())
        self.change(poses=(None,) * self._task_count, joints=None)
        return self._measurement

    def change(self, **fields: Any) -> None:
        """Change the command."""
        self._inbox.command.put(dataclasses.replace(self._inbox.command.get(), **fields))

    def destroy(self) -> None:
        """Remove subscriptions and services from the node."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        for service in self._services:
            self._node.destroy_service(service)
        self._inbox.command.put(Command(active=False))

    def _subscribe(self, settings: Settings) -> list:
        node = self._node
        subscriptions = [
            node.create_subscription(JointState, 'joint_states', self._on_joint_states, STREAM),
            node.create_subscription(JointState, '~/target_joints', self._on_joints, STREAM),
            node.create_subscription(Bool, '~/stop_request', self._on_stop_request, LATCHED),
        ]
        topics = [('~/target_pose', 0)]
        topics += [
            (f'~/{task.name}/target_pose', index) for index, task in enumerate(settings.tasks)
        ]
        for topic, task in topics:
            callback = functools.partial(self._on_pose, task)
            subscriptions.append(node.create_subscription(PoseStamped, topic, callback, STREAM))
        return subscriptions

    def _on_joint_states(self, message: JointState) -> None:
        if self._merger is None:
            return
        measurement = self._merger.merge(message, self._now())
        if isinstance(measurement, Rejection):
            self._drop('joint_states', measurement, f'{len(message.name)} joints')
        else:
            self._measurement.put(measurement)

    def _on_pose(self, task: int, message: PoseStamped) -> None:
        if self._reader is None:
            self._drop('target_pose', Rejection.NOT_READY, 'there is no model')
            return
        position, orientation = message.pose.position, message.pose.orientation
        target = self._reader.pose(
            task,
            message.header.frame_id,
            (position.x, position.y, position.z),
            (orientation.x, orientation.y, orientation.z, orientation.w),
            self._now(),
        )
        if isinstance(target, Rejection):
            self._drop('target_pose', target, f"frame '{message.header.frame_id}', {message.pose}")
            return
        poses = list(self._inbox.command.get().poses)
        poses[task] = target
        self.change(poses=tuple(poses))

    def _on_joints(self, message: JointState) -> None:
        if self._reader is None:
            self._drop('target_joints', Rejection.NOT_READY, 'there is no model')
            return
        target = self._reader.joints(message.name, message.position, self._now())
        if isinstance(target, Rejection):
            self._drop('target_joints', target, f'{list(message.name)}, {list(message.position)}')
        else:
            self.change(joints=target)

    def _on_stop_request(self, message: Bool) -> None:
        self._inbox.command.put(self._inbox.command.get().with_stop_request(message.data))

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self.change(paused=request.data)
        response.success = True
        response.message = 'holding' if request.data else 'waiting for new targets'
        return response

    def _on_stop(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._inbox.command.put(self._inbox.command.get().with_stop())
        response.success, response.message = True, 'stopping; call ~/reset to go on'
        return response

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        command = self._inbox.command.get().with_reset()
        self._inbox.command.put(command)
        response.success = not command.stopped
        response.message = (
            'still stopped: ~/stop_request is true'
            if command.stopped
            else 'waiting for new targets'
        )
        return response

    def _drop(self, topic: str, reason: Rejection, what: str) -> None:
        """Count a message that is of no use, and say so now and then."""
        self._dropped[reason.value] = self._dropped.get(reason.value, 0) + 1
        self._node.get_logger().warning(
            f'dropped a message on {topic}: {reason.value}: {what}',
            throttle_duration_sec=_LOG_PERIOD,
        )
