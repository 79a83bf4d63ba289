# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Lists of obstacles of nodes that follow each other."""

import time

import pytest
import rclpy
from rclpy.context import Context
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from support.processes.ros_processes import reserved_domain
from support.rigs.ros_rig import PATIENCE

from ros_ik.node.transport.polled_subscription import Stream
from ros_ik.node.transport.polled_subscription import StreamNode
from ros_ik.viewer.client.inputs import Inputs
from ros_ik_interfaces.msg import ObstacleArray

pytestmark = pytest.mark.dds
KEPT = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture
def node():
    """Yield a node on a domain of its own."""
    context = Context()
    with reserved_domain() as domain:
        rclpy.init(context=context, domain_id=domain)
        node = StreamNode('viewer', context=context)
        yield node
        node.destroy_node()
        rclpy.try_shutdown(context=context)


def next_publisher(inputs):
    """Return the publisher of the next list."""
    give_up, lists = time.monotonic() + PATIENCE, []
    while not lists and time.monotonic() < give_up:
        inputs.read()
        lists = inputs.take_obstacles()
        time.sleep(0.01)
    ((_, publisher),) = lists
    assert inputs.take_obstacles() == []
    return publisher


@pytest.mark.parametrize('are_named', [True, False], ids=['named', 'numbered'])
def test_lists_of_another_node_are_told_from_those_of_the_last(node, monkeypatch, are_named):
    if not are_named:
        # As before ROS 2 Kilted, with a graph that has not discovered a node yet.
        monkeypatch.setattr(Stream, 'publisher', None)
        monkeypatch.setattr(node, 'get_publishers_info_by_topic', lambda topic: [])
    inputs, heard = Inputs(node, 'ros_ik'), []
    for _ in range(3):
        sender = node.create_publisher(ObstacleArray, 'ros_ik/current_obstacles', KEPT)
        lists = []
        for _ in range(3):
            sender.publish(ObstacleArray())
            lists.append(next_publisher(inputs))
        assert len(set(lists)) == 1
        heard.append(lists[0])
        node.destroy_publisher(sender)
    assert len(set(heard)) == 3
