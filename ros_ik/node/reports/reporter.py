# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Reports on the control thread, made by the executor's thread: the log and /diagnostics."""

from __future__ import annotations

import time

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.clock import Clock
from rclpy.clock import ClockType
from rclpy.node import Node

from ros_ik.node.control.control_loop import ControlLoop
from ros_ik.node.reports.diagnostics import diagnostics
from ros_ik.node.reports.diagnostics import Snapshot
from ros_ik.node.reports.same_name import SameName
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.node.transport.qos_profiles import LATEST
from ros_ik.servo import StatusCode
from ros_ik.settings import Settings

# Minimum time between two log lines for one code [s].
_LOG_PERIOD = 2.0
# Time until the log first reports a missing description, and period of repetitions [s].
_FIRST_REMINDER, _REMINDER_PERIOD = 2.0, 10.0


class Reminder:
    """Log lines about a missing robot description and its remedy."""

    def __init__(self, node: Node) -> None:
        """Start without a line."""
        self._node = node
        self._since: float | None = None
        self._next = 0.0

    def remind(self, code: StatusCode, now: float) -> bool:
        """Write the line if it is due.

        Args:
            code: Status code of the node without a servo.
            now: Steady clock [s].

        Returns:
            True if it was due.
        """
        if code != StatusCode.WAITING_FOR_MODEL:
            self._since = None
            return False
        if self._since is None:
            self._since, self._next = now, now + _FIRST_REMINDER
        if now < self._next:
            return False
        self._next = now + _REMINDER_PERIOD
        topic = self._node.resolve_topic_name('robot_description')
        count = self._node.count_publishers(topic)
        self._node.get_logger().warning(
            f'waiting for robot_description: no message on {topic} for '
            f'{now - self._since:.0f} s. '
            + (
                f'Publishers there: {count}; they must be transient local and reliable, or '
                'publish again'
                if count
                else 'The topic has no publisher: start robot_state_publisher, or remap the topic '
                'if it has another name or namespace'
            )
        )
        return True


class Reporter:
    """Logs changes of the status and publishes /diagnostics.

    Attributes:
        problem: Fault of the parameters or the newest description, or ''.
        unknown_joints: Joints on which distances depend and whose state is unknown.
    """

    def __init__(
        self,
        node: Node,
        settings: Settings,
        loop: ControlLoop,
        message_stats: MessageStats,
    ) -> None:
        """Create publisher and timer.

        Args:
            node: The node.
            settings: Settings in force.
            loop: The control loop.
            message_stats: Counters of used and dropped messages.
        """
        self.problem = ''
        self.unknown_joints: tuple[str, ...] = ()
        self._node, self._settings, self._loop = node, settings, loop
        self._message_stats = message_stats
        self._same_name = SameName(node)
        self._logged = ''
        # Number of the last error of a tick that was logged.
        self._fault_number = 0
        self._logged_at: dict[StatusCode, float] = {}
        self._counted: dict[str, int] = {}
        self._counted_at = time.monotonic()
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', LATEST)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(settings.diagnostics_period, self._publish, clock=steady)

    def apply(self, settings: Settings) -> None:
        """Apply changed settings."""
        self._settings = settings
        self._timer.timer_period_ns = int(1e9 * settings.diagnostics_period)

    def log(self) -> None:
        """Log the status when it changes, and new errors of ticks."""
        output, fault, now = self._loop.output, self._loop.faults.latest, time.monotonic()
        has_servo = self._loop.inbox.controlled.get() is not None
        is_new = fault.number != self._fault_number
        self._fault_number = fault.number
        code, text = StatusCode(output.code), output.text if has_servo else ''
        if is_new:
            # A later tick may have succeeded.
            code, text = StatusCode.SOLVER_FAILED if has_servo else code, fault.text
        # Texts contain numbers and names that may change in every tick.
        since = now - self._logged_at.get(code, -_LOG_PERIOD)
        if text == self._logged or (since < _LOG_PERIOD and not is_new):
            return
        if text:
            self._logged_at[code] = now
            # Two calls, because rclpy stores the severity of each call site.
            if code == StatusCode.OK:
                self._node.get_logger().info(text)
            else:
                self._node.get_logger().warning(f'{code.name}: {text}')
        self._logged = text

    def _publish(self) -> None:
        """Publish /diagnostics, between two ticks."""
        loop = self._loop
        loop.tick_gap.wait()
        output, inbox = loop.output, loop.inbox
        code, text = self._message_stats.shown(output.code, output.text)
        message = diagnostics(
            Snapshot(
                node_name=self._node.get_name(),
                hardware_id=self._node.get_fully_qualified_name(),
                code=code,
                text=text,
                output=output,
                statistics=loop.statistics,
                control_rate=self._settings.control_rate,
                command=inbox.command.get(),
                controlled=inbox.controlled.get(),
                now=loop.now(),
                rates=self._rates(),
                # Other threads count while the message is made.
                dropped=dict(self._message_stats.counts),
                notice=self.problem,
                unknown_joints=self.unknown_joints,
                same_name=self._same_name.sentence(time.monotonic()),
            )
        )
        message.header.stamp = self._node.get_clock().now().to_msg()
        # Converting about fifty strings to C blocks the interpreter.
        loop.tick_gap.wait()
        self._publisher.publish(message)

    def _rates(self) -> dict[str, float]:
        """Return the rate of used messages of each topic since the last call [Hz]."""
        counts, now = dict(self._message_stats.used), time.monotonic()
        elapsed = max(now - self._counted_at, 1e-3)
        rates = {
            topic: (count - self._counted.get(topic, 0)) / elapsed
            for topic, count in counts.items()
        }
        self._counted, self._counted_at = counts, now
        return rates
