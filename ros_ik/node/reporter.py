# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""What the executor's thread says about the control thread: the log and /diagnostics."""

from __future__ import annotations

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.clock import Clock
from rclpy.clock import ClockType
from rclpy.node import Node

from ros_ik.node.control_loop import ControlLoop
from ros_ik.node.diagnostics import diagnostics
from ros_ik.node.publishing import LATEST
from ros_ik.servo import StatusCode
from ros_ik.settings import Settings

_STATISTICS_PERIOD = 0.5


class Reporter:
    """Logs changes of the status and publishes /diagnostics.

    Attributes:
        generation: Number of models taken over, 0 while none runs.
        problem: What is wrong with the parameters or the newest description, '' for nothing.
    """

    def __init__(
        self, node: Node, settings: Settings, loop: ControlLoop, dropped: dict[str, int]
    ) -> None:
        """Create publisher and timers.

        Args:
            node: The node.
            settings: Settings in force.
            loop: The control loop.
            dropped: Messages dropped, by reason.
        """
        self.generation = 0
        self.problem = ''
        self._node, self._settings, self._loop, self._dropped = node, settings, loop, dropped
        self._logged = ''
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', LATEST)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        node.create_timer(_STATISTICS_PERIOD, loop.statistics.update, clock=steady)
        self._timer = node.create_timer(settings.diagnostics_period, self._publish, clock=steady)

    def apply(self, settings: Settings) -> None:
        """Take over changed settings."""
        self._settings = settings
        self._timer.timer_period_ns = int(1e9 * settings.diagnostics_period)

    def log(self) -> None:
        """Log what the control thread reports, when it changes."""
        output = self._loop.output
        text = self._loop.fault or (output.text if self.generation else '')
        if text != self._logged and text:
            # rclpy remembers the severity of each place that logs, so there are two.
            if output.code <= StatusCode.OK:
                self._node.get_logger().info(text)
            else:
                self._node.get_logger().warning(f'{StatusCode(output.code).name}: {text}')
        self._logged, self._loop.fault = text, ''

    def _publish(self) -> None:
        message = diagnostics(
            self._node.get_name(),
            self._loop.output,
            self._loop.statistics,
            self._dropped,
            self._settings.control_rate,
            self.generation,
            self.problem,
        )
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)
