# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Quality of service of topics: the newest target, the newest states, the last message for all."""

from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy

# A best-effort subscriber hears reliable and best-effort publishers alike.
LATEST_TARGET = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
# Several publishers may share the joints among them: none may be overwritten by another before
# the next tick. A hundred ticks a second keep up with two thousand messages.
LATEST_STATES = QoSProfile(depth=20, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
