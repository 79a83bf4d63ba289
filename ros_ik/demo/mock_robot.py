# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The node ``mock_robot``: a simulated robot with its controllers.

It replaces joint_state_broadcaster and joint_trajectory_controller. It reads its joints from
``robot_description``, publishes ``joint_states``, rejects trajectories by the controller's rules
with a reason in the log, and follows the accepted ones with a small lag. After the service
``~/freeze`` it stands still and continues to publish, like a driver in a protective stop.
"""

from __future__ import annotations

from collections.abc import Sequence
import functools
import math
import sys
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from diagnostic_msgs.msg import DiagnosticStatus
from diagnostic_msgs.msg import KeyValue
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory

from ros_ik.demo.controller.simulated_robot import SimulatedRobot
from ros_ik.demo.controller.simulated_robot import STATUS_SUFFIX
from ros_ik.demo.controller.trajectory_rules import NANOSECONDS
from ros_ik.demo.controller.trajectory_rules import Trajectory
from ros_ik.demo.controller.trajectory_rules import TrajectoryPoint
from ros_ik.errors import ArgumentError
from ros_ik.errors import ModelError
from ros_ik.model import Model
from ros_ik.node.execution.guard import GuardedNode
from ros_ik.node.execution.program import check_topic
from ros_ik.node.execution.program import describe
from ros_ik.node.execution.program import Refuse
from ros_ik.node.execution.program import run_node
from ros_ik.node.execution.warp_programs import prepare_warp
from ros_ik.node.transport.polled_events import PolledEventsMixin
from ros_ik.node.transport.qos_profiles import LATCHED
from ros_ik.settings.parameter import MAX_RATE

DIAGNOSTICS_PERIOD = 1.0  # s, the convention for /diagnostics
LOG_PERIOD = 5.0  # s between two logs of one reason

# An empty list has no type in a parameter file, so a list with one empty name is used instead.
PARAMETERS = (
    (
        'publish_rate',
        200.0,
        Parameter.Type.DOUBLE,
        f'rate of joint_states, Hz, in (0, {MAX_RATE:g}]',
    ),
    ('tracking_lag', 0.02, Parameter.Type.DOUBLE, 'time constant of tracking, s, >= 0'),
    (
        'command_topic',
        'joint_trajectory_controller/joint_trajectory',
        Parameter.Type.STRING,
        'topic of trajectory_msgs/JointTrajectory',
    ),
    (
        'more_command_topics',
        [''],
        Parameter.Type.STRING_ARRAY,
        "topics of more controllers, for the joints that their trajectories name; [''] for none",
    ),
    (
        'controller_joints',
        [''],
        Parameter.Type.STRING_ARRAY,
        "joints that each trajectory must name; [''] for all joints, with partial trajectories",
    ),
    (
        'publish_all_joints',
        True,
        Parameter.Type.BOOL,
        "false: joint_states has only the controller's joints, as from one of several drivers",
    ),
    (
        'initial_positions.names',
        [''],
        Parameter.Type.STRING_ARRAY,
        'joints with a given start; others start at zero, revolute ones mid-range if zero is near '
        'a limit',
    ),
    ('initial_positions.values', [0.0], Parameter.Type.DOUBLE_ARRAY, 'their start, rad or m'),
)


class MockRobot(GuardedNode, PolledEventsMixin):
    """A simulated robot that follows trajectories with a small lag; parameters are read-only."""

    def __init__(self, refuse: Refuse) -> None:
        """Wait for ``robot_description``.

        Args:
            refuse: Ends the program if parameters do not fit the robot.

        Raises:
            ArgumentError: A parameter out of its range.
        """
        super().__init__('mock_robot')
        for name, value, kind, description in PARAMETERS:
            self.declare_parameter(name, value, describe(kind, description))
        self._refuse = refuse
        rate, lag = self._value('publish_rate'), self._value('tracking_lag')
        if not 0.0 < rate <= MAX_RATE:
            raise ArgumentError(f'publish_rate must be in (0, {MAX_RATE:g}] Hz, got {rate}')
        if not 0.0 <= lag < math.inf:
            raise ArgumentError(f'tracking_lag must be a time >= 0 s, got {lag}')
        more = [topic for topic in self._value('more_command_topics') if topic]
        self._topics = [self._value('command_topic'), *more]
        check_topic(self, 'command_topic', self._topics[0])
        for topic in more:
            check_topic(self, 'more_command_topics', topic)
        names = [name for name in self._value('initial_positions.names') if name]
        values = self._value('initial_positions.values')[: None if names else 0]
        if len(names) != len(values):
            raise ArgumentError(
                f'initial_positions must have one value per name, got {len(names)} names and '
                f'{len(values)} values'
            )
        if not all(map(math.isfinite, values)):
            raise ArgumentError(f'initial_positions.values must be finite, got {list(values)}')
        self._initial = dict(zip(names, values, strict=True))
        self._robot: SimulatedRobot | None = None
        self._published: list[int] = []
        self._logged = '', 0.0
        self._diagnostics = self.create_publisher(DiagnosticArray, '/diagnostics', 10)
        # A reliable publisher reaches best-effort and reliable subscribers.
        self._joint_states = self.create_publisher(JointState, 'joint_states', 1)
        self.create_subscription(String, 'robot_description', self._on_description, LATCHED)
        self.get_logger().info('waiting for robot_description')

    def _value(self, name: str) -> Any:
        return self.get_parameter(name).value

    def _now(self) -> int:
        return self.get_clock().now().nanoseconds

    def _on_description(self, message: String) -> None:
        """Create the robot, its controllers and its topics from the first usable description."""
        if self._robot is not None:
            self.get_logger().warning('ignored another robot_description')
            return
        try:
            model = Model.from_urdf(message.data, device='cpu')
        except ModelError as error:
            self.get_logger().error(f'robot_description is unusable: {error}')
            return
        topics = self._topics
        try:
            robot = SimulatedRobot(
                model,
                self._now(),
                controlled=[name for name in self._value('controller_joints') if name],
                initial=self._initial,
                lag=self._value('tracking_lag'),
                controllers=len(topics),
            )
        except ArgumentError as error:
            self._refuse(error)
            return
        everything = self._value('publish_all_joints')
        self._published = [
            index
            for index, name in enumerate(robot.names)
            if everything or name in robot.controlled
        ]
        for controller, topic in enumerate(topics):
            take = functools.partial(self._on_trajectory, robot, controller)
            self.create_subscription(JointTrajectory, topic, take, 10)
        period = 1.0 / self._value('publish_rate')
        self.create_timer(period, functools.partial(self._update, robot))
        self.create_timer(DIAGNOSTICS_PERIOD, functools.partial(self._publish_diagnostics, robot))
        self.create_service(SetBool, '~/freeze', functools.partial(self._on_freeze, robot))
        self._robot = robot
        self.get_logger().info(
            f'{len(robot.names)} joints, {len(robot.controlled)} controlled by {", ".join(topics)}'
        )

    def _on_trajectory(
        self, robot: SimulatedRobot, controller: int, message: JointTrajectory
    ) -> None:
        reason = robot.command(trajectory_from_message(message), self._now(), controller)
        if reason is not None:
            self._log_refusal(robot, reason)
            self._publish_diagnostics(robot)

    def _log_refusal(self, robot: SimulatedRobot, reason: str) -> None:
        """Log a new reason at once, then every few seconds."""
        now = time.monotonic()
        if reason == self._logged[0] and now - self._logged[1] < LOG_PERIOD:
            return
        self._logged = reason, now
        self.get_logger().error(f'trajectory rejected: {reason} ({robot.rejected} so far)')

    def _on_freeze(
        self, robot: SimulatedRobot, request: SetBool.Request, response: SetBool.Response
    ) -> SetBool.Response:
        robot.frozen, response.success = request.data, True
        return response

    def _update(self, robot: SimulatedRobot) -> None:
        stamp = self.get_clock().now()
        robot.update(stamp.nanoseconds)
        position, velocity = robot.state()
        message = JointState(
            name=[robot.names[index] for index in self._published],
            position=position[self._published],
            velocity=velocity[self._published],
        )
        message.header.stamp = stamp.to_msg()
        self._joint_states.publish(message)

    def _publish_diagnostics(self, robot: SimulatedRobot) -> None:
        rejected = robot.rejected
        status = DiagnosticStatus(
            level=DiagnosticStatus.ERROR if rejected else DiagnosticStatus.OK,
            name=self.get_name() + STATUS_SUFFIX,
            message=robot.last_reason or 'none rejected',
            values=[
                KeyValue(key='accepted', value=str(robot.accepted)),
                KeyValue(key='rejected', value=str(rejected)),
            ],
        )
        message = DiagnosticArray(status=[status])
        message.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(message)


def trajectory_from_message(message: JointTrajectory) -> Trajectory:
    """Convert a trajectory_msgs/JointTrajectory for the rules and the sampler."""
    points = [
        TrajectoryPoint(
            time_from_start=nanoseconds(point.time_from_start),
            positions=point.positions,
            velocities=point.velocities,
            accelerations=point.accelerations,
            effort=point.effort,
        )
        for point in message.points
    ]
    return Trajectory(message.joint_names, points, nanoseconds(message.header.stamp))


def nanoseconds(time: Any) -> int:
    """Return a builtin_interfaces Time or Duration in ns."""
    return time.sec * NANOSECONDS + time.nanosec


def main(args: Sequence[str] | None = None) -> int:
    """Run until interrupted; return the exit code."""
    prepare_warp()
    return run_node(MockRobot, args)


if __name__ == '__main__':
    sys.exit(main())
