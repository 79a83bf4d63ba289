# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Other nodes with the name of a node, on a clock of the test; once as the graph lists them."""

import time

import pytest

rclpy = pytest.importorskip('rclpy', reason='the package of the node needs rclpy')

from rclpy.context import Context  # noqa: E402
from support.processes.ros_processes import reserved_domain  # noqa: E402
from support.rigs.ros_rig import PATIENCE  # noqa: E402

from ros_ik.node.reports.same_name import SameName  # noqa: E402

OWN = ('ros_ik', '/left')
SENTENCE = (
    '2 nodes are called /left/ros_ik: end the others, or give each its own name or namespace'
)


class Rig:
    """A node that is its own logger, on a graph that the test chooses."""

    def __init__(self):
        self.names, self.lines = [OWN], []
        self.same_name = SameName(self)

    def get_name(self):
        return OWN[0]

    def get_namespace(self):
        return OWN[1]

    def get_fully_qualified_name(self):
        return '/left/ros_ik'

    def get_node_names_and_namespaces(self):
        return self.names

    def get_logger(self):
        return self

    def warning(self, text):
        self.lines.append(text)

    def tell(self, now, *others):
        """Return the sentence of a time at which there are other nodes."""
        self.names = [OWN, *others]
        return self.same_name.sentence(now)


def test_a_second_node_is_told_of_once_it_has_been_listed_for_longer_than_a_killed_one():
    rig = Rig()
    assert rig.tell(0.0) == ''
    assert [rig.tell(1.0 + now, OWN) for now in (0.0, 10.0, 29.0)] == [''] * 3
    assert rig.lines == []
    assert [rig.tell(now, OWN) for now in (31.0, 32.0)] == [SENTENCE] * 2
    assert rig.tell(33.0) == ''
    assert [rig.tell(34.0 + now, OWN) for now in (0.0, 31.0)] == ['', SENTENCE]
    assert rig.lines == [SENTENCE]  # once


def test_nodes_of_another_name_or_namespace_do_not_count():
    rig = Rig()
    others = [('ros_ik', '/right'), ('ros_ik_planning', '/left'), ('ros_ik', '/')]
    assert [rig.tell(now, *others) for now in (0.0, 100.0)] == [''] * 2


@pytest.mark.dds
def test_the_graph_lists_each_node_of_a_name():
    with reserved_domain() as domain:
        context = Context()
        rclpy.init(context=context, domain_id=domain)
        nodes = [rclpy.create_node('ros_ik', context=context, namespace='left')]
        try:
            assert SameName(nodes[0]).sentence(0.0) == ''
            nodes.append(rclpy.create_node('ros_ik', context=context, namespace='left'))
            same_name, give_up = SameName(nodes[0]), time.monotonic() + PATIENCE
            now = 0.0
            while same_name.sentence(now) != SENTENCE:
                assert time.monotonic() < give_up
                time.sleep(0.01)
                now += 31.0
        finally:
            for node in nodes:
                node.destroy_node()
            rclpy.try_shutdown(context=context)
