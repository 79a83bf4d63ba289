# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""What a tick publishes. Messages are made once and filled anew: the tick allocates little."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
import dataclasses

from builtin_interfaces.msg import Duration
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
import numpy as np
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory
from trajectory_msgs.msg import JointTrajectoryPoint

from ros_ik.node.statistics import TickStatistics
from ros_ik.servo import Servo
from ros_ik.servo import ServoOutput
from ros_ik.servo import StatusCode
from ros_ik.servo import TaskReport
from ros_ik.servo import trajectory_layout
from ros_ik.servo import TrajectoryLayout
from ros_ik.settings import Settings
from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.msg import NamedCount
from ros_ik_interfaces.msg import TaskError

NANOSECONDS = 1_000_000_000
LATEST = QoSProfile(depth=1)


class CommandPublishers:
    """Publishes trajectories, the command state and the current poses of one configuration."""

    def __init__(self, node: Node, settings: Settings) -> None:
        """Create the publishers; :meth:`take_over` gives them their joints."""
        self._node, self._settings = node, settings
        self._trajectories = [
            node.create_publisher(JointTrajectory, output.topic, LATEST)
            for output in settings.outputs
        ]
        self._poses = [
            node.create_publisher(PoseStamped, f'~/{task.name}/current_pose', LATEST)
            for task in settings.tasks
        ]
        self._state = node.create_publisher(JointState, '~/command_state', LATEST)

    def templates(self, servo: Servo) -> CommandTemplates:
        """Return the messages of one servo."""
        return CommandTemplates(servo, self._settings)

    def publish_command(
        self, output: ServoOutput, templates: CommandTemplates, stamp: Time
    ) -> None:
        """Publish the trajectory of each output, and the command state."""
        for publisher, layout, message in zip(
            self._trajectories, templates.layouts, templates.trajectories, strict=True
        ):
            _fill_trajectory(message, layout, output, stamp)
            publisher.publish(message)
        state = templates.state
        state.header.stamp = stamp
        state.position = array('d', output.joint_q[templates.coords].tobytes())
        state.velocity = array('d', output.joint_qd[templates.dofs].tobytes())
        self._state.publish(state)

    def publish_poses(self, output: ServoOutput, templates: CommandTemplates, stamp: Time) -> None:
        """Publish the measured pose of each frame task."""
        for publisher, message, task in zip(
            self._poses, templates.poses, output.tasks, strict=True
        ):
            if task.current_pose is not None:
                message.header.stamp = stamp
                _fill_pose(message, task.current_pose.tolist())
                publisher.publish(message)

    def destroy(self) -> None:
        """Remove the publishers from the node."""
        for publisher in (*self._trajectories, *self._poses, self._state):
            self._node.destroy_publisher(publisher)


class CommandTemplates:
    """Messages of one servo with all that stays the same filled in."""

    def __init__(self, servo: Servo, settings: Settings) -> None:
        """Make the messages."""
        robot = servo.robot
        labels = robot.model.body_label
        self.layouts = [
            trajectory_layout(robot, index, output, settings.period)
            for index, output in enumerate(settings.outputs)
        ]
        self.trajectories = [_trajectory_template(layout) for layout in self.layouts]
        self.coords, self.dofs = robot.coords, robot.group.variable_dof
        self.state = JointState(name=list(robot.group.joint_names))
        self.poses = [PoseStamped() for _ in settings.tasks]
        for message, reference in zip(self.poses, robot.task_references, strict=True):
            message.header.frame_id = labels[reference]
        self.base_frame = labels[robot.base_link]


@dataclasses.dataclass(frozen=True)
class NodeState:
    """What a status says beside the output of the servo.

    Attributes:
        waiting_for: Names of what is waited for.
        generation: Number of models taken over since the start.
        notice: Sentence to add to the text, '' for none.
    """

    waiting_for: Sequence[str] = ()
    generation: int = 0
    notice: str = ''


class StatusPublisher:
    """Publishes ~/status."""

    def __init__(self, node: Node, control_rate: float, dropped: dict[str, int]) -> None:
        """Create the publisher.

        Args:
            node: The node.
            control_rate: Rate to report [Hz].
            dropped: Counters by reason, written by another thread.
        """
        self._publisher: Publisher = node.create_publisher(IkStatus, '~/status', 10)
        self._dropped = dropped
        self._message = IkStatus(control_rate=control_rate)

    def publish(
        self,
        output: ServoOutput,
        state: NodeState,
        statistics: TickStatistics,
        tick_ms: float,
        stamp: Time,
        base_frame: str,
    ) -> None:
        """Publish the status of one tick."""
        message = self._message
        message.header.stamp, message.header.frame_id = stamp, base_frame
        message.code = int(output.code)
        message.text = f'{output.text} ({state.notice})' if state.notice else output.text
        message.waiting_for = list(state.waiting_for)
        message.model_generation = state.generation
        message.tasks = [
            TaskError(
                name=task.name, active=task.active, linear=task.linear_error,
                angular=task.angular_error, reached=task.reached,
            )
            for task in output.tasks
        ]  # fmt: skip
        message.limiting_barrier = output.limiting_barrier
        message.barrier_value = output.barrier_distance
        message.tick_ms, message.tick_ms_p50, message.tick_ms_p99 = (
            tick_ms,
            statistics.p50,
            statistics.p99,
        )
        message.ticks, message.missed_ticks = statistics.ticks, statistics.missed
        message.dropped_messages = [
            NamedCount(name=name, count=count) for name, count in list(self._dropped.items())
        ]
        self._publisher.publish(message)


def duration(seconds: float) -> Duration:
    """Return a duration message."""
    nanoseconds = round(seconds * NANOSECONDS)
    return Duration(sec=nanoseconds // NANOSECONDS, nanosec=nanoseconds % NANOSECONDS)


def _trajectory_template(layout: TrajectoryLayout) -> JointTrajectory:
    points = [JointTrajectoryPoint(time_from_start=duration(time)) for time in layout.times]
    if layout.publish_velocities:
        points[-1].velocities = array('d', [0.0] * len(layout.joint_names))
    return JointTrajectory(joint_names=list(layout.joint_names), points=points)


def _fill_trajectory(
    message: JointTrajectory, layout: TrajectoryLayout, output: ServoOutput, stamp: Time
) -> None:
    positions, velocities = layout.points(output.joint_q, output.joint_qd)
    if layout.stamp_now:
        message.header.stamp = stamp
    for point in message.points:
        point.positions = array('d', positions)
    if layout.publish_velocities:
        message.points[0].velocities = array('d', velocities)


def _fill_pose(message: PoseStamped, pose: Sequence[float]) -> None:
    position, orientation = message.pose.position, message.pose.orientation
    position.x, position.y, position.z = pose[:3]
    orientation.x, orientation.y, orientation.z, orientation.w = pose[3:]


def stamp_of(nanoseconds: int) -> Time:
    """Return a time message."""
    return Time(sec=nanoseconds // NANOSECONDS, nanosec=nanoseconds % NANOSECONDS)


def empty_output(task_names: Sequence[str]) -> ServoOutput:
    """Return the output of a tick without a servo."""
    return ServoOutput(
        StatusCode.WAITING_FOR_MODEL, '', np.zeros(0), np.zeros(0), publish=False, still=True,
        tasks=[TaskReport(name) for name in task_names],
    )  # fmt: skip
