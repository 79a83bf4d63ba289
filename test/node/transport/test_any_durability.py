# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Messages of latched and of volatile publishers: each is passed on once, in its order."""

import random
import time

import pytest
import rclpy
from rclpy.context import Context
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from std_msgs.msg import String
from support.processes.ros_processes import reserved_domain
from support.rigs.ros_rig import PATIENCE

from ros_ik.node.execution.executor import make_executor
from ros_ik.node.execution.guard import GuardedNode
from ros_ik.node.execution.missed_events import take_message
from ros_ik.node.transport.any_durability import AnyDurabilitySubscription
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.node.transport.qos_profiles import CHANGES

pytestmark = pytest.mark.dds
LATCHED = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
VOLATILE = QoSProfile(depth=100)


class Reader(GuardedNode):
    """A node as the product's, which wraps callbacks."""

    def on_fault(self, where, error):
        raise error


class Topic:
    """A subscription, what it has passed on, and publishers."""

    def __init__(self, context):
        self.node, self.heard = Reader('reader', context=context), []
        self.executor = make_executor(context)
        self.executor.add_node(self.node)

    def listen(self):
        self.subscription = AnyDurabilitySubscription(
            self.node, String, 'words', lambda message: self.heard.append(message.data),
            MessageStats(self.node), most_bytes=100, qos=CHANGES,
        )  # fmt: skip

    def publisher(self, qos):
        return self.node.create_publisher(String, 'words', qos)

    def wait_until(self, holds):
        end = time.monotonic() + PATIENCE
        while not holds() and time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.05)
        assert holds(), self.heard

    def spin(self, duration):
        end = time.monotonic() + duration
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.01)


@pytest.fixture
def topic():
    with reserved_domain() as domain:
        context = Context()
        rclpy.init(context=context, domain_id=domain)
        topic = Topic(context)
        try:
            yield topic
        finally:
            topic.executor.shutdown()
            topic.node.destroy_node()
            rclpy.try_shutdown(context=context)


def test_messages_that_come_one_by_one_are_passed_on_once(topic):
    topic.listen()
    latched, volatile = topic.publisher(LATCHED), topic.publisher(VOLATILE)
    topic.wait_until(lambda: latched.get_subscription_count() == 2)
    topic.wait_until(lambda: volatile.get_subscription_count() == 1)
    sent = []
    for publisher, word in (
        (latched, 'a'), (latched, 'a'), (volatile, 'b'), (volatile, 'b'), (latched, 'b'),
        (volatile, 'a'),
    ):  # fmt: skip
        publisher.publish(String(data=word))
        sent.append(word)
        topic.wait_until(lambda: len(topic.heard) >= len(sent))
        topic.spin(0.05)
        assert topic.heard == sent


@pytest.mark.parametrize(('qos', 'readers'), [(LATCHED, 2), (VOLATILE, 1)])
def test_every_message_of_a_burst_is_passed_on_once(topic, qos, readers):
    topic.listen()
    publisher = topic.publisher(qos)
    topic.wait_until(lambda: publisher.get_subscription_count() == readers)
    chance = random.Random(5)
    for _ in range(20):
        # Few words, so that many follow equal ones.
        sent = [chance.choice('ab') for _ in range(50)] + ['end']
        topic.heard.clear()
        for word in sent:
            publisher.publish(String(data=word))
        topic.wait_until(lambda: 'end' in topic.heard)
        topic.spin(0.05)
        assert topic.heard == sent


@pytest.mark.parametrize('late', [0, 1])
def test_a_late_copy_does_not_repeat_what_others_have_changed(topic, late):
    """A copy that is sent again over a bad network comes after seconds."""
    topic.listen()
    latched, volatile = topic.publisher(LATCHED), topic.publisher(VOLATILE)
    topic.wait_until(lambda: latched.get_subscription_count() == 2)
    topic.wait_until(lambda: volatile.get_subscription_count() == 1)

    def take(reader):
        end = time.monotonic() + PATIENCE
        while not take_message(topic.subscription._subscriptions[reader]):
            assert time.monotonic() < end
            time.sleep(0.01)

    sent = [(latched, 'a'), (volatile, 'b'), (latched, 'a'), (latched, 'c')]
    if late:
        # The reader that hears both is late.
        sent = [entry for entry in sent if entry[0] is latched]
    for publisher, word in sent:
        publisher.publish(String(data=word))
        take(1 - late)
        time.sleep(0.15)
    for publisher, _ in sent:
        if publisher is latched:
            take(late)
    topic.spin(0.05)
    assert topic.heard == [word for _, word in sent]


def test_kept_messages_come_in_their_order(topic):
    publisher = topic.publisher(LATCHED)
    sent = [f'word {k}' for k in range(30)]
    for word in sent:
        publisher.publish(String(data=word))
    topic.listen()
    topic.wait_until(lambda: len(topic.heard) >= len(sent))
    assert topic.heard == sent
