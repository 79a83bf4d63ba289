# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A node that destroys a subscription while an incompatible publisher comes."""

import time

import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from std_msgs.msg import String

from ros_ik.node.execution.executor import make_executor
from ros_ik.node.transport.polled_events import PolledEventsMixin

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
VOLATILE = QoSProfile(depth=1)
# Time for the discovery of an entity, and for all of it [s].
DISCOVERY, DURATION = 1.0, 4.0


class _Node(PolledEventsMixin, Node):
    """A node as those of ros_ik are."""


def main():
    """Spin a node whose callback destroys, in the company of another node."""
    other_context = rclpy.Context()
    rclpy.init()
    rclpy.init(context=other_context)
    node, other = _Node('destroying'), Node('other', context=other_context)
    executor = make_executor()
    executor.add_node(node)
    kept = node.create_subscription(String, 'kept', print, LATCHED)
    subscription = node.create_subscription(String, 'destroyed', print, LATCHED)
    publishers = [other.create_publisher(String, 'kept', VOLATILE)]

    def destroy():
        timer.cancel()
        node.destroy_subscription(subscription)
        publishers.append(other.create_publisher(String, 'destroyed', VOLATILE))
        time.sleep(DISCOVERY)

    timer = node.create_timer(DISCOVERY, destroy)
    give_up = time.monotonic() + DURATION
    while time.monotonic() < give_up:
        executor.spin_once(timeout_sec=0.1)
    assert [*node.subscriptions] == [kept]
    print('it lives', flush=True)
    executor.shutdown()


if __name__ == '__main__':
    main()
