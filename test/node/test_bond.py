# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The bond with Nav2's lifecycle manager.

The package bond has no wheels. If it is installed, a test plays the manager over DDS; the rules
are tested everywhere, on messages with the fields of its Status.msg.
"""

import functools
import signal
from types import SimpleNamespace

from lifecycle_msgs.msg import Transition
import pytest
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import start_robot

from ros_ik.node import bond
from ros_ik.node.bond import HEARTBEAT_TIMEOUT
from ros_ik.node.bond import ManagerBond
from ros_ik.node.bond import missing_bond
from ros_ik.settings import read_settings

NAME = 'ros_ik'
needs_bond = pytest.mark.skipif(bond.Status is None, reason='bond is not installed')


class RecordingNode:
    """The part of a node that a bond uses, without a graph."""

    def __init__(self):
        self.said, self.lines, self.beat, self.hear = [], [], None, None
        self.destroyed, self.acknowledged = [], 0

    def create_publisher(self, kind, topic, depth):
        assert topic == 'bond'
        return SimpleNamespace(publish=self.said.append, wait_for_all_acked=self.wait)

    def wait(self, timeout):
        self.acknowledged = len(self.said)

    def create_subscription(self, kind, topic, callback, depth):
        assert topic == 'bond'
        self.hear = callback
        return 'subscription'

    def create_timer(self, period, callback, clock):
        self.period, self.beat = period, callback
        stop, go = (functools.partial(setattr, self, 'beats', beats) for beats in (False, True))
        return SimpleNamespace(cancel=stop, reset=go)

    def get_name(self):
        return NAME

    def get_clock(self):
        return SimpleNamespace(now=lambda: SimpleNamespace(to_msg=lambda: None))

    def get_logger(self):
        return SimpleNamespace(warning=self.lines.append)

    def destroy_timer(self, timer):
        self.destroyed.append('timer')

    def destroy_subscription(self, subscription):
        self.destroyed.append('subscription')

    def destroy_publisher(self, publisher):
        assert self.acknowledged == len(self.said), 'the last message may be lost'
        self.destroyed.append('publisher')


@pytest.fixture
def side(monkeypatch):
    """Return a recording node with its bond, and a clock that the test moves."""
    monkeypatch.setattr(bond, 'Status', lambda: SimpleNamespace(header=SimpleNamespace()))
    node, clock = RecordingNode(), SimpleNamespace(now=100.0)
    made = ManagerBond(node, 0.1, lambda: clock.now)
    assert not node.said and not node.beats
    made.begin()
    return node, made, clock


def manager(active=True, name=NAME, instance='manager'):
    return SimpleNamespace(id=name, instance_id=instance, active=active)


def test_heartbeats_name_the_node_and_one_instance(side):
    node, _, _ = side
    for _ in range(3):
        node.beat()
    assert [(message.id, message.active) for message in node.said] == [(NAME, True)] * 4
    assert len({message.instance_id for message in node.said}) == 1
    assert {message.heartbeat_timeout for message in node.said} == {HEARTBEAT_TIMEOUT}
    assert node.period == 0.1 == node.said[0].heartbeat_period


def test_an_end_in_order_is_told_once_and_the_topic_stays_until_it_is_received(side):
    node, made, _ = side
    made.end()
    made.end()
    node.hear(manager())
    node.hear(manager(active=False))
    assert [message.active for message in node.said] == [True, False]
    assert not node.beats and not node.destroyed
    made.close()
    assert [message.active for message in node.said] == [True, False]
    # Another thread may serve them meanwhile.
    assert node.acknowledged == 2 and not node.destroyed


def test_each_activation_begins_a_bond_of_its_own(side):
    node, made, clock = side
    node.hear(manager())
    made.end()
    # The manager was silent before the new bond: that is no loss.
    clock.now += 2.0 * HEARTBEAT_TIMEOUT
    made.begin()
    node.beat()
    assert node.beats and [message.active for message in node.said] == [True, False, True, True]
    first, end, second, beat = (message.instance_id for message in node.said)
    assert first == end != second == beat and not node.lines
    made.close()
    assert not node.said[-1].active and node.said[-1].instance_id == second


def test_a_manager_that_breaks_the_bond_gets_its_answer(side):
    node, _, clock = side
    node.hear(manager())
    said = len(node.said)
    node.hear(manager(active=False, name='controller_server'))
    node.hear(manager(active=False, instance=node.said[0].instance_id))
    assert len(node.said) == said, 'bonds of others, or its own words, are answered'
    node.hear(manager(active=False))
    assert [message.active for message in node.said[said:]] == [False]
    # Its silence is none to report.
    clock.now += 2.0 * HEARTBEAT_TIMEOUT
    node.beat()
    assert not node.lines


def test_a_manager_that_falls_silent_is_said_once(side):
    node, _, clock = side
    node.hear(manager())
    clock.now += HEARTBEAT_TIMEOUT - 0.1
    node.beat()
    assert not node.lines
    clock.now += 0.2
    node.beat()
    node.beat()
    assert len(node.lines) == 1 and 'lifecycle manager' in node.lines[0]
    assert node.said[-1].active, 'the node lives on'


@pytest.mark.skipif(bond.Status is not None, reason='bond is installed')
@pytest.mark.dds
def test_without_the_package_the_node_says_what_it_lacks(tmp_path):
    assert missing_bond(read_settings({'ee.frame': 'x'})) == ''
    with ros_rig(tmp_path) as client:
        start_node(client, bond_heartbeat_period=0.1, autostart=False)
        client.describe(panda_urdf())
        client.wait_for_text('a model is ready', timeout=LONG)
        assert not client.transition(Transition.TRANSITION_CONFIGURE)
        client.wait_for_text('bond_heartbeat_period')


@needs_bond
@pytest.mark.dds
def test_the_manager_hears_the_node_while_it_is_active(tmp_path):
    with ros_rig(tmp_path) as client:
        heard = []
        client.node.create_subscription(bond.Status, 'bond', lambda m: heard.append(m), 10)
        start_node(client, bond_heartbeat_period=0.1)
        start_robot(client)
        client.describe(panda_urdf())
        client.wait_for(lambda: len(heard) > 5, 'heartbeats', LONG)
        assert {message.id for message in heard} == {NAME} and all(m.active for m in heard)
        assert client.transition(Transition.TRANSITION_DEACTIVATE)
        client.wait_for(lambda: not heard[-1].active, 'the end of the bond')


@pytest.mark.dds
def test_a_bond_of_the_package_forms_with_the_node_and_breaks_when_it_dies(tmp_path):
    bondpy = pytest.importorskip('bondpy.bondpy', reason='bondpy is not installed')
    with ros_rig(tmp_path) as client:
        # As nav2_lifecycle_manager makes its own.
        broken = []
        made = bondpy.Bond(client.node, 'bond', NAME, on_broken=lambda: broken.append(True))
        made.connect_timeout = LONG
        made.heartbeat_period = 0.1
        made.start()
        start_node(client, bond_heartbeat_period=0.1)
        start_robot(client)
        client.describe(panda_urdf())
        client.wait_for(lambda: made.sister_instance_id is not None, 'a bond', LONG)
        client.spin(HEARTBEAT_TIMEOUT + 1.0)
        assert not broken, 'heartbeats keep it'
        client.processes.signal('node', signal.SIGKILL)
        client.wait_for(lambda: broken, 'the end of the bond')
        made.shutdown()


@pytest.mark.dds
def test_a_bond_forms_and_ends_in_the_order_of_a_manager(tmp_path):
    bondpy = pytest.importorskip('bondpy.bondpy', reason='bondpy is not installed')
    with ros_rig(tmp_path) as client:
        start_node(client, bond_heartbeat_period=0.1, autostart=False)
        start_robot(client)
        client.describe(panda_urdf())
        client.wait_for_text('a model is ready', timeout=LONG)
        for number in range(2):
            # nav2_lifecycle_manager activates, then waits for the bond; when it brings the node
            # down it deactivates, then ends the bond.
            if number == 0:
                assert client.transition(Transition.TRANSITION_CONFIGURE)
            assert client.transition(Transition.TRANSITION_ACTIVATE)
            made = bondpy.Bond(client.node, 'bond', NAME)
            made.connect_timeout, made.heartbeat_timeout = LONG, HEARTBEAT_TIMEOUT
            made.start()
            client.wait_for(lambda made=made: made.sister_instance_id is not None, 'a bond')
            assert not made.is_broken()
            assert client.transition(Transition.TRANSITION_DEACTIVATE)
            client.wait_for(made.is_broken, 'the end of the bond')
            assert made.sister_died_first, 'the end is told, not found out'
            made.shutdown()
        assert 'no heartbeat' not in client.processes.text('node')
