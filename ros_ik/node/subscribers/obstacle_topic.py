# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Topics of obstacles: changes, each message applied as a whole or not at all, and the result."""

from __future__ import annotations

from collections.abc import Callable
import functools

import numpy as np
from rclpy.node import Node

from ros_ik.model.shapes.collision_geometry import rigid_parts
from ros_ik.node.subscribers.fixed_frames import FixedFrames
from ros_ik.node.subscribers.rejections import explain_frame
from ros_ik.node.subscribers.rejections import explain_obstacle
from ros_ik.node.subscribers.transforms import Transforms
from ros_ik.node.subscribers.transforms import UnresolvedFrame
from ros_ik.node.transport.any_durability import AnyDurabilitySubscription
from ros_ik.node.transport.mailbox import Mailbox
from ros_ik.node.transport.message_stats import Drop
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.node.transport.pose_messages import fill_pose
from ros_ik.node.transport.pose_messages import pose_numbers
from ros_ik.node.transport.qos_profiles import CHANGES
from ros_ik.node.transport.qos_profiles import LATCHED
from ros_ik.servo import Command
from ros_ik.servo import Measurement
from ros_ik.servo import Obstacle
from ros_ik.servo import Rejection
from ros_ik.servo.barriers.obstacle_registry import ObstacleKind
from ros_ik.servo.barriers.obstacle_registry import ObstacleOperation
from ros_ik.servo.barriers.obstacle_registry import ObstacleRegistry
from ros_ik.servo.barriers.obstacle_registry import ObstacleRequest
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.settings import Settings
from ros_ik_interfaces.msg import Obstacle as ObstacleMessage
from ros_ik_interfaces.msg import ObstacleArray

_TOPIC = 'obstacles'
_CURRENT_TOPIC = 'current_obstacles'
# A message may remove and add every obstacle, and some more.
_SPARE = 100
# Four times the size of an obstacle with names of usual length [bytes].
_OBSTACLE_BYTES = 1024


class ObstacleTopic:
    """Obstacles of the command; used in the executor's thread."""

    def __init__(
        self,
        node: Node,
        settings: Settings,
        command: Mailbox[Command],
        transforms: Transforms,
        message_stats: MessageStats,
        changed: Callable[[], None],
    ) -> None:
        """Subscribe to changes, and advertise the current obstacles.

        Args:
            node: The node.
            settings: Settings in force.
            command: Command to change.
            transforms: Lookup of frames.
            message_stats: Counter of dropped messages.
            changed: Function called after each change by a message, before its publication.
        """
        self._node, self._command, self._changed = node, command, changed
        self._transforms, self._message_stats = transforms, message_stats
        self._most = settings.barriers_max_obstacles
        self._most_requests = 2 * self._most + _SPARE
        # Obstacles for the current robot; None before the first one.
        self._registry: ObstacleRegistry | None = None
        self._frames: FixedFrames | None = None
        self._is_destroyed = False
        # By name, so that a changed obstacle leaves the others unchanged.
        self._entries: dict[str, tuple[Obstacle, ObstacleMessage]] = {}
        self._current = node.create_publisher(ObstacleArray, f'~/{_CURRENT_TOPIC}', LATCHED)
        self._subscription = AnyDurabilitySubscription(
            node,
            ObstacleArray,
            f'~/{_TOPIC}',
            self._receive,
            message_stats,
            most_bytes=_OBSTACLE_BYTES * self._most_requests,
            qos=CHANGES,
        )

    def adopt(self, robot: ControlledRobot, measured: Callable[[], Measurement]) -> None:
        """Keep the obstacles for another robot, if it has their links.

        Args:
            robot: The robot.
            measured: Function that returns its measured state.
        """
        before, registry = self._registry, ObstacleRegistry(robot, self._most)
        self._registry, self._frames = registry, FixedFrames(robot, measured)
        if before is not None:
            for obstacle in self._command.get().obstacles:
                self._carry_over(obstacle, before.robot, registry)
        self._put(registry, lambda: None)

    def settle(self) -> None:
        """Fix obstacles in the world whose link was at an unknown place before."""
        registry, frames = self._registry, self._frames
        if registry is None or frames is None or not frames.have_states_changed():
            return
        labels, requests = registry.robot.model.body_label, []
        for obstacle in registry.obstacles:
            link, pose = frames.express(labels[obstacle.frame_link], obstacle.pose)
            if link != labels[obstacle.frame_link]:
                requests.append(_repeated(obstacle, link, pose))
        if requests and not isinstance(registry.apply(requests), Rejection):
            self._put(registry, self._changed)

    def destroy(self) -> None:
        """Destroy subscription and publisher; what has been taken from them is ignored."""
        self._is_destroyed = True
        self._subscription.destroy()
        self._node.destroy_publisher(self._current)

    def _receive(self, message: ObstacleArray) -> None:
        if self._is_destroyed:
            return  # with the topic, every obstacle is gone
        count, registry = len(message.obstacles), self._registry
        if registry is None:
            self._message_stats.add(_TOPIC, Rejection.NOT_READY, lambda: 'there is no model')
        elif count > self._most_requests:
            self._message_stats.add(
                _TOPIC,
                Drop.TOO_LARGE,
                lambda: f'{count} changes in one message, at most {self._most_requests}',
            )
        else:
            self._apply(message, registry)

    def _apply(self, message: ObstacleArray, registry: ObstacleRegistry) -> None:
        """Apply all entries of a message, or none and count the fault."""
        requests = []
        for entry in message.obstacles:
            request = self._request(entry)
            if isinstance(request, UnresolvedFrame):
                frame = entry.header.frame_id
                text = f'obstacle {entry.id!r}: {explain_frame(frame, request.text)}'
                self._message_stats.add(
                    _TOPIC, request.reason, functools.partial(str, text), frame=frame
                )
                return
            requests.append(request)
        result = registry.apply(requests)
        if isinstance(result, Rejection):
            self._message_stats.add(
                _TOPIC, result, lambda: self._first_fault(requests, registry.robot)
            )
            return
        self._message_stats.accepted(_TOPIC)
        self._put(registry, self._changed)

    def _request(self, entry: ObstacleMessage) -> ObstacleRequest | UnresolvedFrame:
        """Return the request of an entry; only additions have a pose."""
        if entry.operation != ObstacleOperation.ADD:
            return ObstacleRequest(entry.operation, entry.id)
        frame = self._transforms.find(entry.header.frame_id, entry.header.stamp)
        if isinstance(frame, UnresolvedFrame):
            return frame
        assert self._frames is not None  # there is a registry
        given = frame.moved_pose(np.array(pose_numbers(entry.pose)))
        link, fixed = self._frames.express(frame.link, given)
        pose = fixed.tolist()
        return ObstacleRequest(
            entry.operation, entry.id, entry.type, entry.dimensions, link, pose[:3], pose[3:]
        )

    def _first_fault(self, requests: list[ObstacleRequest], robot: ControlledRobot) -> str:
        """Return the first invalid request, and its fault."""
        scratch = ObstacleRegistry(robot, self._most)
        for request in requests:
            result = scratch.apply([request])
            if isinstance(result, Rejection):
                return f'obstacle {request.name!r}: {explain_obstacle(result, request)}'
        return f'at most {self._most} obstacles are permitted (barriers.max_obstacles)'

    def _carry_over(
        self, obstacle: Obstacle, before: ControlledRobot, registry: ObstacleRegistry
    ) -> None:
        """Repeat the request for an obstacle of the previous robot."""
        frame = before.model.body_label[obstacle.frame_link]
        result = registry.apply([_repeated(obstacle, frame, obstacle.pose)])
        log = self._node.get_logger().warning
        if isinstance(result, Rejection):
            self._message_stats.add(
                _TOPIC, result, lambda: f'{obstacle.name!r} of the previous robot'
            )
            log(f'obstacle {obstacle.name!r} is lost: the new robot has no link {frame!r}')
            return
        parts = rigid_parts(before.model)
        if parts[obstacle.frame_link] != parts[before.base_link]:
            log(
                f'obstacle {obstacle.name!r} was given in {frame!r}, which moves: it is placed '
                'by the current pose of that link; send it again if it is elsewhere'
            )

    def _put(self, registry: ObstacleRegistry, changed: Callable[[], None]) -> None:
        """Apply the current obstacles, report the change, and publish them."""
        obstacles, labels = registry.obstacles, registry.robot.model.body_label
        self._command.update(lambda command: command.with_changes(obstacles=obstacles))
        changed()
        before, self._entries = self._entries, {}
        for obstacle in obstacles:
            known = before.get(obstacle.name)
            if known is None or known[0] is not obstacle:
                known = obstacle, _addition(obstacle, labels[obstacle.frame_link])
            self._entries[obstacle.name] = known
        clear = ObstacleMessage(operation=ObstacleOperation.CLEAR)
        entries = [message for _, message in self._entries.values()]
        self._current.publish(ObstacleArray(obstacles=[clear, *entries]))


def _repeated(obstacle: Obstacle, frame: str, pose: np.ndarray) -> ObstacleRequest:
    """Return the request for an obstacle at a pose [7] in a frame."""
    return ObstacleRequest(
        ObstacleOperation.ADD,
        obstacle.name,
        ObstacleKind[obstacle.kind.upper()],
        obstacle.dimensions,
        frame,
        pose[:3].tolist(),
        pose[3:].tolist(),
    )


def _addition(obstacle: Obstacle, frame_id: str) -> ObstacleMessage:
    """Return the addition of an obstacle, in a frame, as a message."""
    message = ObstacleMessage(
        id=obstacle.name,
        operation=ObstacleOperation.ADD,
        type=ObstacleKind[obstacle.kind.upper()],
        dimensions=obstacle.dimensions,
    )
    message.header.frame_id = frame_id
    fill_pose(message.pose, obstacle.pose.tolist())
    return message
