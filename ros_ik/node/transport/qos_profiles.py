# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Quality of service of topics and services."""

from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy

# A best-effort subscriber receives from reliable and from best-effort publishers.
LATEST_TARGET = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
# Several publishers may each send some of the joints, and none must overwrite another before the
# next tick. At 100 Hz this depth suffices for two thousand messages per second.
LATEST_STATES = QoSProfile(depth=20, reliability=ReliabilityPolicy.BEST_EFFORT)
# Published results, of which only the newest counts.
LATEST = QoSProfile(depth=1)
LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
# Messages that each change something, of several senders, may all come before the first is read:
# none replaces another.
CHANGES = QoSProfile(
    depth=1000, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
# Requests of a service that DDS keeps until its node takes them, and answers until they have left.
# With the default, 10, a burst pushes out the oldest before it is answered.
SERVICE = QoSProfile(depth=200)
