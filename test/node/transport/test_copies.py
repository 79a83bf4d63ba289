# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Copies of messages that two readers of a topic hear, with a node that only records readers."""

from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='the package of the node needs rclpy')

from rclpy.qos import DurabilityPolicy  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from std_msgs.msg import String  # noqa: E402

from ros_ik.node.transport.any_durability import AnyDurabilitySubscription  # noqa: E402
from ros_ik.node.transport.qos_profiles import CHANGES  # noqa: E402

KEPT, ANY = 0, 1


class Topic:
    """A subscription, what it has passed on, and its two readers."""

    def __init__(self):
        self.heard, self.readers, self.now = [], [], 0.0

        def create(kind, topic, callback, qos, *, raw, event_callbacks=None):
            assert raw
            self.readers.append((callback, qos))

        self.subscription = AnyDurabilitySubscription(
            SimpleNamespace(create_subscription=create), String, 'words',
            lambda message: self.heard.append(message.data), SimpleNamespace(add=None),
            most_bytes=100, qos=CHANGES,
        )  # fmt: skip

    def hear(self, reader, word, published=0):
        """Give a reader a message; return True if it was passed on."""
        count, info = len(self.heard), {'source_timestamp': published}
        self.readers[reader][0](serialize_message(String(data=word)), info)
        return len(self.heard) > count


@pytest.fixture
def topic(monkeypatch):
    topic = Topic()
    clock = SimpleNamespace(monotonic=lambda: topic.now)
    monkeypatch.setattr('ros_ik.node.transport.any_durability.time', clock)
    return topic


def test_readers_differ_in_what_they_ask_to_be_kept(topic):
    kept, volatile = (qos for _, qos in topic.readers)
    assert kept == CHANGES and volatile.durability == DurabilityPolicy.VOLATILE
    assert (volatile.depth, volatile.reliability) == (CHANGES.depth, CHANGES.reliability)


@pytest.mark.parametrize('first', [KEPT, ANY])
def test_without_a_time_of_publication_a_copy_comes_soon(topic, first):
    second = 1 - first
    assert topic.hear(first, 'a') and topic.hear(first, 'a')
    topic.now = 0.09
    assert topic.hear(second, 'b') and not topic.hear(second, 'a')
    topic.now = 1.0
    assert topic.hear(first, 'a')
    topic.now = 1.11
    assert topic.hear(second, 'a')


def test_with_a_time_of_publication_a_copy_may_be_late(topic):
    assert topic.hear(ANY, 'a', 7) and topic.hear(ANY, 'a', 8)
    topic.now = 100.0
    assert not topic.hear(KEPT, 'a', 7) and topic.hear(KEPT, 'b', 8)
    assert not topic.hear(KEPT, 'a', 8)


def test_of_messages_without_a_copy_the_newest_are_remembered(topic):
    for published in range(1, 4199):
        topic.hear(ANY, 'a', published)
    assert len(topic.subscription._single) == 4096
    assert topic.hear(KEPT, 'a', 1) and not topic.hear(KEPT, 'a', 4198)
    assert not topic.hear(KEPT, 'a', 200)
