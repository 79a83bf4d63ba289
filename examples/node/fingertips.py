#!/usr/bin/env python3
# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Move the four fingertips of a hand: they close towards the palm and open again.

With ROS:    ros2 launch ros_ik demo.launch.py robot:=allegro_right_hand \
                 params_file:=fingertips.yaml
             ros2 run ros_ik fingertips.py
Without ROS: tools/run python -m ros_ik.demo.session --robot allegro_right_hand \
                 --params-file config/examples/fingertips.yaml
             tools/run python examples/node/fingertips.py
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

RATE = 50.0  # Hz
PERIOD = 3.0  # s to close and open
TIPS = ('index', 'middle', 'ring', 'thumb')  # the tasks of fingertips.yaml
CENTER = (0.06, 0.0, 0.03)  # m, centre of the grasped object, in front of the palm
WAY = 0.3  # fraction of the distance from each tip to the centre


class Grasp(Node):
    """Publisher of a target for each tip; the node keeps the fingers apart."""

    def __init__(self) -> None:
        """Wait for the positions of the tips."""
        super().__init__('grasp')
        self._start: dict[str, PoseStamped] = {}
        self._ticks = 0
        self._targets = {
            tip: self.create_publisher(PoseStamped, f'ros_ik/{tip}/target_pose', 1)
            for tip in TIPS
        }
        for tip in TIPS:
            heard = functools.partial(self._on_pose, tip)
            self.create_subscription(PoseStamped, f'ros_ik/{tip}/current_pose', heard, 1)
        self.create_timer(1.0 / RATE, self._on_timer)

    def _on_pose(self, tip: str, message: PoseStamped) -> None:
        self._start.setdefault(tip, message)

    def _on_timer(self) -> None:
        if len(self._start) < len(TIPS):
            return
        self.get_logger().info('the fingers close and open', once=True)
        closed = WAY * 0.5 * (1.0 - math.cos(2.0 * math.pi * self._ticks / (RATE * PERIOD)))
        for tip, start in self._start.items():
            target = copy.deepcopy(start)
            target.header.stamp = self.get_clock().now().to_msg()
            for axis, center in zip('xyz', CENTER, strict=True):
                value = getattr(start.pose.position, axis)
                setattr(target.pose.position, axis, value + closed * (center - value))
            self._targets[tip].publish(target)
        self._ticks += 1


def main() -> None:
    """Close and open until interrupted."""
    # Ctrl-C sets a flag: rclpy's own handler ends the context in the middle of a callback.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    interrupted = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    node = Grasp()
    while not interrupted.is_set():
        rclpy.spin_once(node, timeout_sec=0.1)
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
