#!/usr/bin/env python3
# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Stream pose targets at 30 Hz: the tool follows a circle until Ctrl-C.

With ROS:    ros2 launch ros_ik demo.launch.py tour:=false
             ros2 run ros_ik stream_poses.py
Without ROS: tools/run python -m ros_ik.demo.session
             tools/run python examples/node/stream_poses.py

The loop makes three ticks per message, and the node predicts the target between messages. To see
the jerks without prediction:
    ros2 param set /ros_ik ee.target_prediction off
"""

import copy
import math
import signal
import threading

from geometry_msgs.msg import PoseStamped
import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

RATE = 30.0  # Hz; at least 1 / command_timeout, which is 5 Hz by default
RADIUS = 0.05  # m
TURN = 4.0  # s


class CircleStreamer(Node):
    """Publishes targets on a circle around the current pose of the tool."""

    def __init__(self) -> None:
        """Wait for the first measured pose."""
        super().__init__('circle_streamer')
        self._start: PoseStamped | None = None
        self._ticks = 0
        self._publisher = self.create_publisher(PoseStamped, 'ros_ik/target_pose', 1)
        self.create_subscription(PoseStamped, 'ros_ik/ee/current_pose', self._on_pose, 1)
        self.create_timer(1.0 / RATE, self._on_timer)

    def _on_pose(self, message: PoseStamped) -> None:
        if self._start is None:
            self._start = message
            self.get_logger().info(f'a circle of {RADIUS} m in {message.header.frame_id}')

    def _on_timer(self) -> None:
        if self._start is None:
            return
        angle = 2.0 * math.pi * self._ticks / (RATE * TURN)
        target = copy.deepcopy(self._start)
        target.header.stamp = self.get_clock().now().to_msg()
        target.pose.position.y += RADIUS * math.sin(angle)
        target.pose.position.z += RADIUS * (math.cos(angle) - 1.0)
        self._publisher.publish(target)
        self._ticks += 1


def main() -> None:
    """Publish until interrupted; the robot then comes to rest by itself."""
    # Ctrl-C sets a flag: rclpy's own handler ends the context in the middle of a callback.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    interrupted = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    node = CircleStreamer()
    while not interrupted.is_set():
        rclpy.spin_once(node, timeout_sec=0.1)
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
