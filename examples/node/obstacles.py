#!/usr/bin/env python3
# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Publish obstacles: a fixed table, and a ball that swings past the tool.

With ROS:    ros2 launch ros_ik demo.launch.py tour:=false
             ros2 run ros_ik obstacles.py
Without ROS: tools/run python -m ros_ik.demo.session
             tools/run python examples/node/obstacles.py

Run stream_poses.py beside it: the tool leaves its circle while the ball is near.
"""

import math
import signal
import threading

from geometry_msgs.msg import Point
import rclpy
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions

from ros_ik_interfaces.msg import Obstacle
from ros_ik_interfaces.msg import ObstacleArray

RATE = 20.0  # Hz
PERIOD = 8.0  # s of one swing
# Each message contains all obstacles, because a node that starts later receives the last one only.
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Scene(Node):
    """Publisher of the obstacles in the base frame of the robot."""

    def __init__(self) -> None:
        """Start the ball."""
        super().__init__('scene')
        self._ticks = 0
        self._publisher = self.create_publisher(ObstacleArray, 'ros_ik/obstacles', LATCHED)
        self.create_timer(1.0 / RATE, self._on_timer)
        self.get_logger().info('a table, and a ball that swings past the tool')

    def _on_timer(self) -> None:
        angle = 2.0 * math.pi * self._ticks / (RATE * PERIOD)
        table = Obstacle(id='table', type=Obstacle.BOX, dimensions=[0.6, 1.2, 0.04])
        table.pose.position = Point(x=0.7, y=0.0, z=0.1)
        ball = Obstacle(id='ball', type=Obstacle.SPHERE, dimensions=[0.08])
        ball.pose.position = Point(x=0.45, y=0.4 * math.cos(angle), z=0.5)
        everything = [Obstacle(operation=Obstacle.CLEAR), table, ball]
        for obstacle in everything:
            obstacle.header.stamp = self.get_clock().now().to_msg()
        self._publisher.publish(ObstacleArray(obstacles=everything))
        self._ticks += 1

    def clear(self) -> None:
        """Remove the obstacles, and wait until the node has received that."""
        nothing = [Obstacle(operation=Obstacle.CLEAR)]
        self._publisher.publish(ObstacleArray(obstacles=nothing))
        self._publisher.wait_for_all_acked(Duration(seconds=2))


def main() -> None:
    """Publish until interrupted."""
    # Ctrl-C sets a flag: rclpy's own handler ends the context, and nothing more could be sent.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    interrupted = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    scene = Scene()
    while not interrupted.is_set():
        rclpy.spin_once(scene, timeout_sec=0.1)
    scene.clear()
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
