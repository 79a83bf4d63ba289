# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Control loop of a node, on the clock that the node uses."""

from __future__ import annotations

import time

from rclpy.node import Node

from ros_ik.node.control.control_loop import ControlLoop
from ros_ik.node.control.inbox import Inbox
from ros_ik.node.control.publishing import StatusPublisher
from ros_ik.node.execution.schedule import RosTimeSchedule
from ros_ik.node.execution.schedule import SteadySchedule
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.settings import Settings


def make_control_loop(
    node: Node, inbox: Inbox, settings: Settings, message_stats: MessageStats
) -> ControlLoop:
    """Return the loop of a node; it does not run yet.

    Args:
        node: The node.
        inbox: Inputs of the loop.
        settings: Settings in force.
        message_stats: Counter of dropped messages.
    """
    clock = node.get_clock()
    is_simulated = node.get_parameter('use_sim_time').value
    schedule: SteadySchedule | RosTimeSchedule
    if is_simulated:
        schedule = RosTimeSchedule(settings.period, lambda: 1e-9 * clock.now().nanoseconds)
    else:
        schedule = SteadySchedule(settings.period)
    return ControlLoop(
        inbox,
        StatusPublisher(node, settings.control_rate, message_stats),
        schedule,
        # Without simulated time, the system clock gives the same time and needs no lock.
        (lambda: clock.now().nanoseconds) if is_simulated else time.time_ns,
        tuple(task.name for task in settings.tasks),
    )
