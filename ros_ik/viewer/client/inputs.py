# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Topics of the shown node, read once per update.

The node publishes some of them in each tick. Messages between two updates are overwritten in DDS,
where they take almost no processor time from the node.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from collections.abc import Collection
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

# Time without a status after which the node is considered absent [s].
SILENCE = 2.0
_NEWEST = QoSProfile(depth=1)
# Joint states may come from several publishers.
_JOINTS = QoSProfile(depth=8, reliability=ReliabilityPolicy.BEST_EFFORT)
# Depth for topics whose messages are compared with sent ones one by one.
_LISTS = QoSProfile(depth=20, durability=DurabilityPolicy.TRANSIENT_LOCAL)
_TARGETS = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class Inputs:
    """Newest messages; for the ROS thread.

    Attributes:
        robot: Robot that receives measured and commanded joints, or None.
        velocities: Measured velocities by joint [rad/s or m/s].
        poses: Measured pose of the frame by task.
        targets: Targets by task since :meth:`take_targets`, from any publisher.
    """

    def __init__(self, node: Node, name: str) -> None:
        """Subscribe to the node with a given name."""
        self._node, self._name = node, name
        self.robot: RobotState | None = None
        self.velocities: dict[str, float] = {}
        self.poses: dict[str, PoseStamped] = {}
        self.targets: dict[str, PoseStamped] = {}
        self._markers: MarkerArray | None = None
        self._obstacles: collections.deque[tuple[ObstacleArray, bytes]]
        self._obstacles = collections.deque(maxlen=_LISTS.depth)
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
        # Number of the last list of obstacles, and how often the numbers have started again.
        self._list_number = self._restarts = 0
        self._lists = self._listen(
            ObstacleArray, f'{name}/current_obstacles', self._on_obstacles, _LISTS
        )

    def follow_task(self, task: str) -> None:
        """Subscribe to the pose of a task's frame and to its targets.

        Raises:
            NameValidationException: The name is not valid in a topic.
        """
        poses, targets = (
            functools.partial(kept.__setitem__, task) for kept in (self.poses, self.targets)
        )
        self._listen(PoseStamped, f'{self._name}/{task}/current_pose', poses, _NEWEST)
        self._listen(PoseStamped, f'{self._name}/{task}/target_pose', targets, _TARGETS)

    def keep_tasks(self, tasks: Collection[str]) -> None:
        """Forget the poses and targets of all other tasks."""
        for kept in (self.poses, self.targets):
            for task in set(kept).difference(tasks):
                del kept[task]

    def listen_to_markers(self, is_wanted: bool) -> None:
        """Subscribe to the markers or unsubscribe; the node draws them only for subscribers."""
        if is_wanted and self._marker_stream is None:
            self._marker_stream = self._listen(
                MarkerArray, f'{self._name}/markers', self._on_markers, _NEWEST
            )
        elif not is_wanted and self._marker_stream is not None:
            self._marker_stream.destroy()
            self._streams.remove(self._marker_stream)
            self._marker_stream = self._markers = None

    def read(self) -> None:
        """Read new messages."""
        now = time.monotonic()
        for stream in tuple(self._streams):
            stream.read(now)

    def status(self) -> IkStatus | None:
        """Return the newest status, or None without a recent one."""
        return self._status if time.monotonic() - self._status_time < SILENCE else None

    def take_targets(self) -> dict[str, PoseStamped]:
        """Return the targets since the last call, by task."""
        taken = dict(self.targets)
        self.targets.clear()
        return taken

    def take_markers(self) -> MarkerArray | None:
        """Return the newest markers, or None if none arrived since the last call."""
        taken, self._markers = self._markers, None
        return taken

    def take_obstacles(self) -> list[tuple[ObstacleArray, bytes]]:
        """Return the lists of obstacles since the last call, the oldest first.

        Returns:
            Each list with the identity of its publisher.
        """
        taken = list(self._obstacles)
        self._obstacles.clear()
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
        self._obstacles.append((message, self._publisher_of_list()))

    def _publisher_of_list(self) -> bytes:
        """Return the identity of the publisher of the last list of obstacles."""
        publisher = self._lists.publisher
        if publisher is not None:
            return publisher
        # Before ROS 2 Kilted only the graph has it, and may discover a node after its first
        # messages. Since Jazzy messages are numbered, those of each publisher from 1.
        number = self._lists.info.get('publication_sequence_number')
        if number is not None:
            self._restarts += number <= self._list_number
            self._list_number = number
        known = self._node.get_publishers_info_by_topic(self._lists.topic)
        identifiers = sorted(bytes(info.endpoint_gid) for info in known)
        return b''.join([*identifiers, self._restarts.to_bytes(8, 'little')])

    def _on_joints(self, which: int, message: JointState) -> None:
        if self.robot is not None:
            self.robot.set_joints(which, message.name, message.position)
        if which == MEASURED:
            self.velocities.update(zip(message.name, message.velocity, strict=False))

    def _on_status(self, message: IkStatus) -> None:
        self._status, self._status_time = message, time.monotonic()

    def _on_markers(self, message: MarkerArray) -> None:
        self._markers = message
