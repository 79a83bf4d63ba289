# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""What a tick publishes. Messages are made once and filled anew: the tick allocates little.

Commands, which go out at every tick, are filled into their bytes: see ``serialized``.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
import numpy as np
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState

from ros_ik.node.drops import Drops
from ros_ik.node.outputs import fill_all
from ros_ik.node.outputs import LATEST
from ros_ik.node.outputs import NANOSECONDS
from ros_ik.node.outputs import output_message
from ros_ik.node.outputs import output_publisher
from ros_ik.node.pose_messages import fill_pose
from ros_ik.node.serialized import Marks
from ros_ik.node.serialized import SerializedMessage
from ros_ik.node.statistics import TickStatistics
from ros_ik.servo import CenterReport
from ros_ik.servo import Servo
from ros_ik.servo import ServoOutput
from ros_ik.servo import StatusCode
from ros_ik.servo import TaskReport
from ros_ik.servo import trajectory_layout
from ros_ik.settings import Settings
from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.msg import NamedCount
from ros_ik_interfaces.msg import TaskError


class CommandPublishers:
    """Publishes commands, the command state and the current poses of one configuration."""

    def __init__(self, node: Node, settings: Settings) -> None:
        """Create the publishers; :meth:`templates` has the messages of one robot."""
        self._node, self._settings = node, settings
        self._commands = [output_publisher(node, output) for output in settings.outputs]
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
        """Publish the command for each controller, and the command state.

        Where one of them would get a number that is not finite, nobody gets anything, and the
        output says so.
        """
        if not fill_all(templates.commands, output, stamp):
            output.code = StatusCode.NON_FINITE_BLOCKED
            output.text = 'a command that is not finite was not published'
            return
        for publisher, template in zip(self._commands, templates.commands, strict=True):
            publisher.publish(template.serialized.to_bytes())
        templates.fill_state(output, stamp)
        self._state.publish(templates.state.to_bytes())

    def publish_poses(self, output: ServoOutput, templates: CommandTemplates, stamp: Time) -> None:
        """Publish the measured pose of each frame task."""
        for publisher, message, task in zip(
            self._poses, templates.poses, output.tasks, strict=True
        ):
            if task.current_pose is not None:
                message.header.stamp = stamp
                fill_pose(message.pose, task.current_pose.tolist())
                publisher.publish(message)

    def destroy(self) -> None:
        """Remove the publishers from the node."""
        for publisher in (*self._commands, *self._poses, self._state):
            self._node.destroy_publisher(publisher)


class CommandTemplates:
    """Messages of one servo with all that stays the same filled in.

    Attributes:
        commands: One message per output.
        state: What was commanded.
        poses: One message per frame task.
        base_frame: Name of the link in which poses without a frame are given.
    """

    def __init__(self, servo: Servo, settings: Settings) -> None:
        """Make the messages."""
        robot = servo.robot
        labels = robot.model.body_label
        self.commands = [
            output_message(output, trajectory_layout(robot, index, output, settings.period))
            for index, output in enumerate(settings.outputs)
        ]
        self._coords, self._dofs = robot.coords, robot.group.variable_dof
        count = len(robot.group.joint_names)
        marks = Marks()
        position, velocity = marks.take(count), marks.take(count)
        self.state = SerializedMessage(
            JointState(name=list(robot.group.joint_names), position=position, velocity=velocity)
        )
        self._position = self.state.numbers(position)
        self._velocity = self.state.numbers(velocity)
        self.poses = [PoseStamped() for _ in settings.tasks]
        for message, reference in zip(self.poses, robot.task_references, strict=True):
            message.header.frame_id = labels[reference]
        self.base_frame = labels[robot.base_link]

    def fill_state(self, output: ServoOutput, stamp: Time) -> None:
        """Fill the command state."""
        self.state.set_stamp(stamp)
        output.joint_q.take(self._coords, out=self._position, mode='clip')
        output.joint_qd.take(self._dofs, out=self._velocity, mode='clip')


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

    def __init__(self, node: Node, control_rate: float, drops: Drops) -> None:
        """Create the publisher.

        Args:
            node: The node.
            control_rate: Rate to report [Hz].
            drops: What was dropped, written by another thread.
        """
        self._publisher: Publisher = node.create_publisher(IkStatus, '~/status', 10)
        self._drops, self._reported_drops = drops, 0
        self._message = IkStatus(control_rate=control_rate)
        self._tasks: list[TaskError] = []

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
        code, text = self._drops.shown(output.code, output.text)
        message.code = int(code)
        message.text = f'{text} ({state.notice})' if state.notice else text
        message.waiting_for = list(state.waiting_for)
        message.model_generation = state.generation
        self._fill_tasks(output.tasks, output.center_of_mass)
        message.limiting_barrier = output.limiting_barrier
        message.limiting_pair_a, message.limiting_pair_b = output.limiting_pair
        message.barrier_value = output.barrier_distance
        message.tick_ms, message.tick_ms_p50, message.tick_ms_p99 = (
            tick_ms,
            statistics.p50,
            statistics.p99,
        )
        message.ticks, message.missed_ticks = statistics.ticks, statistics.missed
        self._fill_drops()
        self._publisher.publish(message)

    def _fill_tasks(self, reports: Sequence[TaskReport], center: CenterReport | None) -> None:
        """Fill one entry per frame task, and one for the centre of mass while it has a target."""
        if len(self._tasks) != len(reports) + (center is not None):
            self._tasks = [TaskError(name=report.name) for report in reports]
            if center is not None:
                self._tasks.append(TaskError(name='com'))
            self._message.tasks = self._tasks
        for entry, report in zip(self._tasks, reports, strict=False):
            entry.active, entry.reached = report.active, report.reached
            entry.linear, entry.angular = report.linear_error, report.angular_error
        if center is not None:
            entry = self._tasks[-1]
            entry.active, entry.reached = center.active, center.reached
            entry.linear = center.linear_error

    def _fill_drops(self) -> None:
        """Fill the counters, where one has changed."""
        total = self._drops.total
        if total != self._reported_drops:
            self._reported_drops = total
            self._message.dropped_messages = [
                NamedCount(name=name, count=count)
                for name, count in list(self._drops.counts.items())
            ]


def stamp_of(nanoseconds: int) -> Time:
    """Return a time message."""
    return Time(sec=nanoseconds // NANOSECONDS, nanosec=nanoseconds % NANOSECONDS)


def empty_output(task_names: Sequence[str]) -> ServoOutput:
    """Return the output of a tick without a servo."""
    return ServoOutput(
        StatusCode.WAITING_FOR_MODEL, '', np.zeros(0), np.zeros(0), publish=False, still=True,
        tasks=[TaskReport(name) for name in task_names],
    )  # fmt: skip
