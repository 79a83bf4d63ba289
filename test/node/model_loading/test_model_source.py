# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Descriptions as the node receives them: real latched messages over DDS."""

import time

import pytest
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from std_msgs.msg import String
from support.processes.ros_processes import reserved_domain
from support.rigs.ros_rig import LATCHED
from support.rigs.ros_rig import PATIENCE

from ros_ik.node.execution.executor import make_executor
from ros_ik.node.model_loading.model_source import ModelSource
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.node.transport.polled_events import PolledEventsMixin
from ros_ik.settings import read_settings

pytestmark = pytest.mark.dds


class _ListenerNode(PolledEventsMixin, Node):
    pass


def test_a_latched_description_that_was_lost_comes_with_another_subscription():
    with reserved_domain() as domain:
        context = Context()
        rclpy.init(context=context, domain_id=domain)
        node = _ListenerNode('listener', context=context)
        node.create_publisher(String, 'robot_description', LATCHED).publish(String(data='<robot'))
        settings = read_settings({'ee.frame': 'tool'})
        source = ModelSource(
            node, lambda: settings, lambda: True, lambda: True, lambda text: None,
            MessageStats(node),
        )  # fmt: skip
        executor = make_executor(context)
        try:
            give_up = time.monotonic() + PATIENCE
            lost = None
            while lost is None and time.monotonic() < give_up:
                for subscription in node.subscriptions:
                    if subscription.topic_name == '/robot_description':
                        with subscription.handle:
                            lost = subscription.handle.take_message(String, True)
            assert lost is not None
            executor.add_node(node)
            for _ in range(50):
                executor.spin_once(timeout_sec=0.01)
            assert not source.has_description
            source.listen_again()
            while not source.has_description and time.monotonic() < give_up:
                executor.spin_once(timeout_sec=0.01)
            assert source.has_description
        finally:
            source.end(PATIENCE)
            executor.shutdown()
            node.destroy_node()
            rclpy.try_shutdown(context=context)
