#!/usr/bin/env python3
# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Keep a humanoid in balance: the hand reaches out while the centre of mass stays over the foot.

With ROS:    ros2 launch ros_ik demo.launch.py robot:=g1 params_file:=humanoid.yaml
             ros2 run ros_ik humanoid.py
Without ROS: tools/run python -m ros_ik.demo.session --robot g1 \
                 --params-file config/examples/humanoid.yaml
             tools/run python examples/node/humanoid.py
"""

import copy
import functools
import math
import signal
import threading

from geometry_msgs.msg import PointStamped
from geometry_msgs.msg import PoseStamped
import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from ros_ik_interfaces.msg import IkStatus

RATE = 30.0  # Hz
TURN = 8.0  # s
REACH = 0.15  # m
TASKS = ('right_foot', 'left_hand', 'right_hand')  # of humanoid.yaml
# Between both feet and slightly forward, in the frame of the left one [m].
CENTER_OF_MASS = (0.03, -0.1, 0.63)


class Balance(Node):
    """Publisher of targets of the feet, the hands and the centre of mass, in the left foot."""

    def __init__(self) -> None:
        """Wait for the measured poses."""
        super().__init__('balance')
        self._start: dict[str, PoseStamped] = {}
        self._ticks = 0
        self._is_foot_held = False
        self._center = self.create_publisher(PointStamped, 'ros_ik/target_com', 1)
        self._targets = {
            task: self.create_publisher(PoseStamped, f'ros_ik/{task}/target_pose', 1)
            for task in TASKS
        }
        for task in TASKS:
            heard = functools.partial(self._on_pose, task)
            self.create_subscription(PoseStamped, f'ros_ik/{task}/current_pose', heard, 1)
        self.create_subscription(IkStatus, 'ros_ik/status', self._on_status, 1)
        self.create_timer(1.0 / RATE, self._on_timer)

    def _on_pose(self, task: str, message: PoseStamped) -> None:
        self._start.setdefault(task, message)

    def _on_status(self, status: IkStatus) -> None:
        for task in status.tasks:
            if task.name == 'right_foot' and task.active:
                self._is_foot_held = True
            if task.name == 'com':
                text = f'centre of mass {1000.0 * task.linear:.0f} mm from where it should be'
                self.get_logger().info(text, throttle_duration_sec=1.0)

    def _on_timer(self) -> None:
        if len(self._start) < len(TASKS):
            return
        # Each target has its own stamp: the node predicts it between its messages.
        for start in self._start.values():
            start.header.stamp = self.get_clock().now().to_msg()
        self._targets['right_foot'].publish(self._start['right_foot'])
        # What moves before the foot has a target moves the foot too.
        if not self._is_foot_held:
            return
        angle = 2.0 * math.pi * self._ticks / (RATE * TURN)
        center = PointStamped()
        center.point.x, center.point.y, center.point.z = CENTER_OF_MASS
        self._center.publish(center)
        self._targets['right_hand'].publish(self._start['right_hand'])
        target = copy.deepcopy(self._start['left_hand'])
        target.pose.position.x += REACH * (1.0 - math.cos(angle))
        self._targets['left_hand'].publish(target)
        self._ticks += 1


def main() -> None:
    """Balance until interrupted."""
    # Ctrl-C sets a flag: rclpy's own handler ends the context in the middle of a callback.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    interrupted = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    node = Balance()
    while not interrupted.is_set():
        rclpy.spin_once(node, timeout_sec=0.1)
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
