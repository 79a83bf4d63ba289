# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Messages that are too large or malformed are dropped by reason, with the name of their topic."""

from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='the package of the node needs rclpy')

from rclpy.serialization import serialize_message  # noqa: E402
from std_msgs.msg import String  # noqa: E402

from ros_ik.node.transport import size_limited_subscription  # noqa: E402
from ros_ik.node.transport.message_stats import Drop  # noqa: E402


class Drops(list):
    """Records of drops, by the two ways to count them."""

    def add(self, topic, reason, what):
        self.append((topic, reason, what()))

    def add_in_tick(self, topic, reason, what):
        self.append(('in tick', topic, reason, what()))


def test_a_message_may_have_the_largest_size():
    data, heard, drops = serialize_message(String(data='word')), [], Drops()
    for most in (len(data), len(data) - 1):
        receive = size_limited_subscription.message_receiver(
            String, '~/words', heard.append, drops, most
        )
        receive(data)
    assert heard == [String(data='word')]
    assert drops == [('words', Drop.TOO_LARGE, f'{len(data)} bytes, at most {most} are read')]


@pytest.mark.parametrize('error', [RuntimeError, ValueError, MemoryError])
def test_a_message_of_a_stream_that_cannot_be_read_is_dropped_in_its_tick(monkeypatch, error):
    heard, drops = [], Drops()

    def read(data):
        raise error('too short')

    # A stream that calls its reader for one message.
    monkeypatch.setattr(
        size_limited_subscription, 'Stream',
        lambda node, kind, topic, receive, qos: receive(b'bytes'),
    )  # fmt: skip
    size_limited_subscription.stream(
        SimpleNamespace(), String, 'words', heard.append, drops, most_bytes=10, read=read
    )
    assert heard == [] and drops == [('in tick', 'words', Drop.UNREADABLE, 'too short')]
