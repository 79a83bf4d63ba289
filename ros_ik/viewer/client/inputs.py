# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Topics that the viewer listens to, read once a picture.

The node publishes some of them with each tick. Messages that no picture shows are overwritten in
DDS, where they cost this process next to nothing: the processors are the node's.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
import functools
import time
from typing import Any

from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from visualization_msgs.msg import MarkerArray

from ros_ik.node.transport.polled_subscription import Stream
from ros_ik.viewer.robot.robot_state import COMMANDED
from ros_ik.viewer.robot.robot_state import MEASURED
from ros_ik.viewer.robot.robot_state import RobotState
from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.msg import ObstacleArray

# A node that has said nothing for so long is not there [s].
SILENCE = 2.0
_NEWEST = QoSProfile(depth=1)
# Joint states may come in parts, from as many publishers.
_JOINTS = QoSProfile(depth=8, reliability=ReliabilityPolicy.BEST_EFFORT)
# Whoever compares them with what he sent needs the answer to each of his messages.
_LISTS = QoSProfile(depth=20, durability=DurabilityPolicy.TRANSIENT_LOCAL)
_TARGETS = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class Inputs:
    """The newest messages; for the thread of ROS.

    Attributes:
        robot: Takes measured and commanded joints, None before there is one.
        velocities: Measured velocities by joint [rad/s or m/s].
        poses: Measured pose of the frame by task.
        targets: Targets by task that came since :meth:`take_targets`, whoever published them.
        markers: The newest markers, None where there are none or after they were taken.
        obstacles: Lists of obstacles of the node since the last look, the oldest first, each with
            the identity of its publisher.
    """

    def __init__(self, node: Node, name: str) -> None:
        """Listen to the node of a name."""
        self._node, self._name = node, name
        self.robot: RobotState | None = None
        self.velocities: dict[str, float] = {}
        self.poses: dict[str, PoseStamped] = {}
        self.targets: dict[str, PoseStamped] = {}
        self.markers: MarkerArray | None = None
        self.obstacles: collections.deque[tuple[ObstacleArray, bytes]]
        self.obstacles = collections.deque(maxlen=_LISTS.depth)
        self._status: IkStatus | None = None
        self._status_time = -SILENCE
        self._streams: list[Stream] = []
        self._marker_stream: Stream | None = None
        measured, commanded = (
            functools.partial(self._on_joints, which) for which in (MEASURED, COMMANDED)
        )
        self._listen(JointState, 'joint_states', measured, _JOINTS)
        self._listen(JointState, f'{name}/command_state', commanded, _TARGETS)
        self._listen(IkStatus, f'{name}/status', self._on_status, _NEWEST)
        self._lists = self._listen(
            ObstacleArray, f'{name}/current_obstacles', self._on_obstacles, _LISTS
        )

    def follow_task(self, task: str) -> None:
        """Listen to the pose of a task's frame and to its targets.

        Raises:
            ValueError: A name that no topic can have.
        """
        poses, targets = (
            functools.partial(kept.__setitem__, task) for kept in (self.poses, self.targets)
        )
        self._listen(PoseStamped, f'{self._name}/{task}/current_pose', poses, _NEWEST)
        self._listen(PoseStamped, f'{self._name}/{task}/target_pose', targets, _TARGETS)

    def listen_to_markers(self, is_wanted: bool) -> None:
        """Listen to the markers or not: the node draws them only for those who listen."""
        if is_wanted and self._marker_stream is None:
            self._marker_stream = self._listen(
                MarkerArray, f'{self._name}/markers', self._on_markers, _NEWEST
            )
        elif not is_wanted and self._marker_stream is not None:
            self._marker_stream.destroy()
            self._streams.remove(self._marker_stream)
            self._marker_stream = self.markers = None

    def read(self) -> None:
        """Take what has come."""
        now = time.monotonic()
        for stream in tuple(self._streams):
            stream.read(now)

    def status(self) -> IkStatus | None:
        """Return the newest status, None where nothing has been heard for a while."""
        return self._status if time.monotonic() - self._status_time < SILENCE else None

    def take_targets(self) -> dict[str, PoseStamped]:
        """Return the targets that came since the last call, by task."""
        taken = dict(self.targets)
        self.targets.clear()
        return taken

    def _listen(
        self, kind: type, topic: str, take: Callable[[Any], None], qos: QoSProfile
    ) -> Stream:
        def receive(data: bytes) -> None:
            take(deserialize_message(data, kind))

        stream = Stream(self._node, kind, topic, receive, qos)
        self._streams.append(stream)
        return stream

    def _on_obstacles(self, message: ObstacleArray) -> None:
        self.obstacles.append((message, self._publisher_of(self._lists)))

    def _publisher_of(self, stream: Stream) -> bytes:
        """Return the identity of who published the message that a stream passes on."""
        gid = stream.info.get('publisher_gid')
        if gid is not None:
            return bytes(gid['data'])
        # Before ROS 2 Jazzy only the graph says it, and may know of a node later than its messages
        # come.
        known = self._node.get_publishers_info_by_topic(stream.topic)
        return b''.join(sorted(bytes(info.endpoint_gid) for info in known))

    def _on_joints(self, which: int, message: JointState) -> None:
        if self.robot is not None:
            self.robot.set_joints(which, message.name, message.position)
        if which == MEASURED:
            self.velocities.update(zip(message.name, message.velocity, strict=False))

    def _on_status(self, message: IkStatus) -> None:
        self._status, self._status_time = message, time.monotonic()

    def _on_markers(self, message: MarkerArray) -> None:
        self.markers = message
