# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Frames of messages, resolved to links of the model, or by tf.

Links of the model need no tf. Other frames are looked up in a tf2 buffer, if tf2_ros is installed
and ``use_tf`` is true. Lookups do not wait: the caller drops a message without a transform.
"""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
from typing import Any

from builtin_interfaces.msg import Time as TimeMessage
import numpy as np
from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from rclpy.time import Time

from ros_ik.node.subscribers.rejections import NOT_A_LINK
from ros_ik.node.transport.cdr_readers import Stamp
from ros_ik.node.transport.message_stats import Drop
from ros_ik.node.transport.message_stats import Reason
from ros_ik.servo import Rejection
from ros_ik.servo.motion.pose_math import pose_multiply
from ros_ik.servo.motion.pose_math import quat_rotate
from ros_ik.servo.robot.controlled_robot import ControlledRobot

try:
    from tf2_msgs.msg import TFMessage
    import tf2_ros
except ImportError:
    tf2_ros = None

# The QoS of the listener of tf2_ros.
_TF = QoSProfile(depth=100)
_TF_STATIC = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
_MISSING = f'{NOT_A_LINK}, and tf2_ros is not installed'


@dataclasses.dataclass(frozen=True, eq=False)
class ResolvedFrame:
    """Frame of a target: a link, and a pose in it.

    Attributes:
        link: Name of a link of the model, '' for the default of the target.
        pose: Pose of the frame in that link, [7]; None if the frame is the link.
    """

    link: str
    pose: np.ndarray | None = None

    def moved_pose(self, pose: np.ndarray) -> np.ndarray:
        """Transform a pose [7] from the frame to the link; its quaternion keeps its norm."""
        return pose if self.pose is None else pose_multiply(self.pose, pose)

    def moved_point(self, point: np.ndarray) -> np.ndarray:
        """Transform a point [3] from the frame to the link."""
        return point if self.pose is None else self.pose[:3] + self.turned(point)

    def turned(self, vector: np.ndarray) -> np.ndarray:
        """Rotate a vector [3] from the axes of the frame to those of the link."""
        return vector if self.pose is None else quat_rotate(self.pose[3:], vector)


@dataclasses.dataclass(frozen=True)
class UnresolvedFrame:
    """Reason why a frame cannot be resolved."""

    reason: Reason
    text: str


class Transforms:
    """Lookup of frames among the links of the model and in tf; for any thread."""

    def __init__(self, node: Node, use_tf: bool) -> None:
        """Subscribe to tf if it is enabled and tf2_ros is installed."""
        self._node, self._use_tf = node, use_tf
        self._links = {'': ResolvedFrame('')}
        self._base = ''
        self._buffer: Any = None
        self._subscriptions: list = []
        if use_tf and tf2_ros is not None:
            self._listen()

    def adopt(self, robot: ControlledRobot) -> None:
        """Switch to the links of another model."""
        labels = robot.model.body_label
        self._links = {name: ResolvedFrame(name) for name in ('', *labels)}
        self._base = labels[robot.base_link]

    def destroy(self) -> None:
        """Destroy the subscriptions."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        if self._buffer is not None:
            self._jumps.unregister()
        self._subscriptions, self._buffer = [], None

    def find(self, frame_id: str, stamp: TimeMessage | Stamp) -> ResolvedFrame | UnresolvedFrame:
        """Look up a frame.

        Args:
            frame_id: Name of the frame, '' for the default of the target.
            stamp: Time of the data. Zero, or a time before or after all transforms in the buffer,
                selects the newest one.
        """
        link = self._links.get(frame_id)
        if link is not None:
            return link
        if not self._use_tf:
            return UnresolvedFrame(Rejection.UNKNOWN_FRAME, NOT_A_LINK)
        if self._buffer is None:
            return UnresolvedFrame(Drop.TF_UNAVAILABLE, _MISSING)
        if stamp.sec < 0:
            return UnresolvedFrame(Drop.TF_UNAVAILABLE, 'its stamp is before the epoch')
        try:
            return ResolvedFrame(self._base, self._look_up(frame_id, stamp))
        except tf2_ros.TransformException as error:
            return UnresolvedFrame(Drop.TF_UNAVAILABLE, str(error))

    def _listen(self) -> None:
        """Add transforms to the buffer; a backward jump of the clock clears non-static ones."""
        node, buffer = self._node, tf2_ros.Buffer()
        self._buffer = buffer
        backwards = JumpThreshold(
            min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=True
        )
        self._jumps = node.get_clock().create_jump_callback(
            backwards, post_callback=lambda jump: buffer.clear()
        )
        self._subscriptions = [
            node.create_subscription(TFMessage, topic, _filler(take), qos)
            for topic, take, qos in (
                ('tf', buffer.set_transform, _TF),
                ('tf_static', buffer.set_transform_static, _TF_STATIC),
            )
        ]

    def _look_up(self, frame_id: str, stamp: TimeMessage | Stamp) -> np.ndarray:
        # The core does not wait, and Buffer.lookup_transform would look up twice.
        look_up = self._buffer.lookup_transform_core
        try:
            given = Time(seconds=stamp.sec, nanoseconds=stamp.nanosec)
            found = look_up(self._base, frame_id, given)
        except tf2_ros.ExtrapolationException:
            found = look_up(self._base, frame_id, Time())
        shift, turn = found.transform.translation, found.transform.rotation
        pose = np.array([shift.x, shift.y, shift.z, turn.x, turn.y, turn.z, turn.w])
        pose[3:] /= np.linalg.norm(pose[3:])
        return pose


def _filler(take: Callable[[Any, str], None]) -> Callable[[Any], None]:
    def fill(message: Any) -> None:
        for transform in message.transforms:
            take(transform, 'ros_ik')

    return fill
