#!/usr/bin/env python3
# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Move base and arm together: the tool reaches a point two metres away.

With ROS:    ros2 launch ros_ik demo.launch.py robot:=mobile_manipulator.urdf.xacro \
                 params_file:=mobile_manipulator.yaml
             ros2 run ros_ik mobile_manipulator.py
Without ROS: tools/run python -m ros_ik.demo.session \
                 --robot config/examples/mobile_manipulator.urdf.xacro \
                 --params-file config/examples/mobile_manipulator.yaml
             tools/run python examples/node/mobile_manipulator.py

On a real robot this node implements the three joints of the base: odometry becomes joint states,
and the commanded velocities become cmd_vel. The mock robot simulates these joints, so there is no
odometry.
"""

import math
import signal
import threading

from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
import rclpy
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from ros_ik_interfaces.msg import IkStatus

TARGET = (2.0, 0.5, 0.7)  # m in odom
BASE = ('base_x', 'base_y', 'base_yaw')


class MobileManipulator(Node):
    """Publishes the target, and represents the base as joints of the model."""

    def __init__(self) -> None:
        """Connect to the node and to the base."""
        super().__init__('mobile_manipulator')
        self._yaw = 0.0
        self._target = self.create_publisher(PoseStamped, 'ros_ik/target_pose', 1)
        self._states = self.create_publisher(JointState, 'joint_states', 1)
        self._cmd_vel = self.create_publisher(Twist, 'cmd_vel', 1)
        self.create_subscription(Odometry, 'odom', self._on_odometry, qos_profile_sensor_data)
        self.create_subscription(JointState, 'ros_ik/command_state', self._on_command, 1)
        self.create_subscription(IkStatus, 'ros_ik/status', self._on_status, 1)
        self.create_timer(0.05, self._on_timer)

    def _on_timer(self) -> None:
        target = PoseStamped()
        place = target.pose.position
        place.x, place.y, place.z = TARGET
        self._target.publish(target)

    def _on_odometry(self, odometry: Odometry) -> None:
        place, turn = odometry.pose.pose.position, odometry.pose.pose.orientation
        yaw = 2.0 * math.atan2(turn.z, turn.w)
        # The joint counts turns, which a quaternion and its negative do not.
        self._yaw = yaw + 2.0 * math.pi * round((self._yaw - yaw) / (2.0 * math.pi))
        state = JointState(name=BASE, position=[place.x, place.y, self._yaw])
        state.header.stamp = odometry.header.stamp
        self._states.publish(state)

    def _on_command(self, command: JointState) -> None:
        position = dict(zip(command.name, command.position, strict=True))
        velocity = dict(zip(command.name, command.velocity, strict=True))
        # From odom into the frame of the base.
        c, s = math.cos(position['base_yaw']), math.sin(position['base_yaw'])
        twist = Twist()
        twist.linear.x = c * velocity['base_x'] + s * velocity['base_y']
        twist.linear.y = c * velocity['base_y'] - s * velocity['base_x']
        twist.angular.z = velocity['base_yaw']
        self._cmd_vel.publish(twist)

    def _on_status(self, status: IkStatus) -> None:
        if status.tasks and status.tasks[0].active and status.tasks[0].reached:
            self.get_logger().info('reached', once=True)


def main() -> None:
    """Drive until interrupted."""
    # Ctrl-C sets a flag: rclpy's own handler ends the context in the middle of a callback.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    interrupted = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    node = MobileManipulator()
    while not interrupted.is_set():
        rclpy.spin_once(node, timeout_sec=0.1)
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
