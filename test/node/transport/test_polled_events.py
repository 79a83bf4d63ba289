# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Incompatible publishers are told of, and do not end a node that destroys its subscription."""

import os

import pytest
from support.processes.ros_processes import Processes
from support.processes.ros_processes import ROOT

from ros_ik.demo.mock_robot import MockRobot
from ros_ik.demo.robot_description_publisher import RobotDescriptionPublisher
from ros_ik.demo.scenario.client import DemoClient
from ros_ik.node.ik_node import IkNode
from ros_ik.node.transport.polled_events import PolledEventsMixin

LONG = 100.0
NODES = [IkNode, DemoClient, MockRobot, RobotDescriptionPublisher]


@pytest.mark.parametrize('node', NODES)
def test_every_node_of_the_events_executor_polls(node):
    assert issubclass(node, PolledEventsMixin)


def test_the_viewer_polls():
    pytest.importorskip('viser', reason='viser is not installed')
    from ros_ik.viewer.viewer_node import ViewerNode

    assert issubclass(ViewerNode, PolledEventsMixin)


@pytest.mark.dds
def test_an_incompatible_publisher_is_told_of_and_ends_no_node(tmp_path, monkeypatch):
    monkeypatch.setenv('PYTHONPATH', str(ROOT / 'test'), prepend=os.pathsep)
    processes = Processes(tmp_path, forks=False)
    processes.start('node', 'support.processes.destroying_node', arguments=())
    try:
        assert processes.wait('node', LONG) == 0, 'it ended by a signal if this is negative'
    finally:
        processes.end()
    text = (tmp_path / 'node.log').read_text()
    assert 'it lives' in text, text
    # As rclpy says it.
    assert text.count('offering incompatible QoS') == 1 and "'kept'" in text, text
