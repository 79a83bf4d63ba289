#!/usr/bin/env python3
# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Move two arms that share a torso: both hands carry a tray up, forward and round.

With ROS:    ros2 launch ros_ik demo.launch.py robot:=g1 params_file:=two_arms.yaml
             ros2 run ros_ik two_arms.py
Without ROS: tools/run python -m ros_ik.demo.session --robot g1 \
                 --params-file config/examples/two_arms.yaml
             tools/run python examples/node/two_arms.py
"""

import copy
import functools
import math
import signal
import threading

from geometry_msgs.msg import PoseStamped
import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

RATE = 30.0  # Hz
TURN = 6.0  # s
HANDS = ('left_hand', 'right_hand')  # the tasks of two_arms.yaml
REACH = 0.12  # m, more than the arms do without bending the waist


class Tray(Node):
    """Publishes a target for each hand; what lies between them keeps its size."""

    def __init__(self) -> None:
        """Wait for the poses of both hands."""
        super().__init__('tray')
        self._start: dict[str, PoseStamped] = {}
        self._ticks = 0
        self._targets = {
            hand: self.create_publisher(PoseStamped, f'ros_ik/{hand}/target_pose', 1)
            for hand in HANDS
        }
        for hand in HANDS:
            heard = functools.partial(self._on_pose, hand)
            self.create_subscription(PoseStamped, f'ros_ik/{hand}/current_pose', heard, 1)
        self.create_timer(1.0 / RATE, self._on_timer)

    def _on_pose(self, hand: str, message: PoseStamped) -> None:
        self._start.setdefault(hand, message)

    def _on_timer(self) -> None:
        if len(self._start) < len(HANDS):
            return
        self.get_logger().info('both hands carry a tray', once=True)
        angle = 2.0 * math.pi * self._ticks / (RATE * TURN)
        for hand, start in self._start.items():
            target = copy.deepcopy(start)
            target.header.stamp = self.get_clock().now().to_msg()
            target.pose.position.x += REACH * (1.0 - math.cos(angle)) / 2.0
            target.pose.position.y += REACH * math.sin(angle)
            target.pose.position.z += REACH * (1.0 - math.cos(angle)) / 2.0
            self._targets[hand].publish(target)
        self._ticks += 1


def main() -> None:
    """Carry until interrupted."""
    # Ctrl-C sets a flag: rclpy's own handler ends the context in the middle of a callback.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    interrupted = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    node = Tray()
    while not interrupted.is_set():
        rclpy.spin_once(node, timeout_sec=0.1)
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
