#!/usr/bin/env python3
# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Read ~/status and react: say what changes, and stop a robot that does not follow its commands.

With ROS:    ros2 launch ros_ik demo.launch.py tour:=false
             ros2 run ros_ik watch_status.py
Without ROS: tools/run python -m ros_ik.demo.session
             tools/run python examples/node/watch_status.py

Run stream_poses.py beside it, then let the mock robot stand still, as a blocked one does:
    ros2 service call /mock_robot/freeze std_srvs/srv/SetBool '{data: true}'
"""

import signal
import threading

import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from std_srvs.srv import Trigger

from ros_ik_interfaces.msg import IkStatus

PATIENCE = 0.5  # s for which a robot may fail to follow
# Codes that call for a person; the others are part of normal work.
SERIOUS = (
    IkStatus.STOPPED,
    IkStatus.FOLLOWING_ERROR,
    IkStatus.SOLVER_FAILED,
    IkStatus.NON_FINITE_BLOCKED,
)


class Supervisor(Node):
    """Listens to the node and stops it where the robot does not follow."""

    def __init__(self) -> None:
        """Subscribe to the status and connect to ~/stop."""
        super().__init__('supervisor')
        self._code: int | None = None
        self._since = self.get_clock().now()
        self._stopping = False
        self._stop = self.create_client(Trigger, 'ros_ik/stop')
        self.create_subscription(IkStatus, 'ros_ik/status', self._on_status, 10)

    def _on_status(self, status: IkStatus) -> None:
        now = self.get_clock().now()
        if status.code != self._code:
            self._code, self._since = status.code, now
            # The two are apart: rclpy wants each line of a program to log at one level.
            if status.code in SERIOUS:
                self.get_logger().warning(status.text)
            else:
                self.get_logger().info(status.text)
            if status.limiting_pair_a:
                pair = f'{status.limiting_pair_a} and {status.limiting_pair_b}'
                self.get_logger().info(f'{1000.0 * status.barrier_value:.0f} mm between {pair}')
        blocked = status.code == IkStatus.FOLLOWING_ERROR
        if blocked and (now - self._since).nanoseconds > 1e9 * PATIENCE and not self._stopping:
            self._stopping = True
            self._stop.call_async(Trigger.Request()).add_done_callback(self._on_stopped)

    def _on_stopped(self, answer: rclpy.task.Future) -> None:
        self._stopping = False
        self.get_logger().warning(f'the robot does not follow: {answer.result().message}')


def main() -> None:
    """Watch until interrupted."""
    # Ctrl-C sets a flag: rclpy's own handler ends the context in the middle of a callback.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    interrupted = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    node = Supervisor()
    while not interrupted.is_set():
        rclpy.spin_once(node, timeout_sec=0.1)
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
