# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Simulated time while the thread of the executor waits.

rclpy reads /clock in that thread, so simulated time would stand still until the wait ends.
"""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

from rclpy.node import Node
from rosgraph_msgs.msg import Clock

# Time between two readings [s].
_PERIOD = 0.002


def wait_in_executor(node: Node, condition: Callable[[], bool], timeout: float) -> None:
    """Wait for a condition in a callback of the executor, while simulated time goes on.

    Args:
        node: The node whose clock is read.
        condition: Function that returns True at the end of the wait.
        timeout: Longest wait, in steady time [s].
    """
    clocks: list[Any] = [each for each in node.subscriptions if each.msg_type is Clock]
    give_up = time.monotonic() + timeout
    while not condition() and time.monotonic() < give_up:
        for clock in clocks:
            with clock.handle:
                taken = clock.handle.take_message(Clock, False)
            if taken is not None:
                clock.callback(taken[0])
        time.sleep(_PERIOD)
