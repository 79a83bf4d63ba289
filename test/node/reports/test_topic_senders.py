# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Publishers of joint states and commands, counted while the robot does not follow."""

from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='the package of the node needs rclpy')

from ros_ik.node.reports.topic_senders import TopicSenders  # noqa: E402
from ros_ik.node.transport.mailbox import Mailbox  # noqa: E402
from ros_ik.servo import StatusCode  # noqa: E402

FOLLOWING = StatusCode.FOLLOWING_ERROR


class Rig:
    """A node in a namespace, with publishers that the test chooses by topic."""

    def __init__(self):
        self.publishers, self.counts, self.sentence = {}, 0, Mailbox('')
        self.senders = TopicSenders(self, ['arm/joint_trajectory'], self.sentence)

    def resolve_topic_name(self, name):
        return f'/left/{name}'

    def get_publishers_info_by_topic(self, topic):
        self.counts += topic == '/left/joint_states'
        return [
            SimpleNamespace(node_namespace=namespace, node_name=name)
            for namespace, name in self.publishers.get(topic, ())
        ]

    def count(self, now, code=FOLLOWING):
        """Return the sentence of a time."""
        self.senders.count(code, now)
        return self.sentence.get()


def test_several_publishers_are_named_with_a_question_of_their_topic():
    rig = Rig()
    rig.publishers = {
        '/left/joint_states': [('/left', 'b'), ('/', 'a')],
        '/left/arm/joint_trajectory': [('/left', 'ros_ik')],
    }
    states = '; 2 publishers on /left/joint_states (/a, /left/b): do they disagree about a joint?'
    assert rig.count(10.0) == states
    rig.publishers['/left/arm/joint_trajectory'].append(('/left', 'other'))
    assert rig.count(20.0) == states + (
        '; 2 publishers on /left/arm/joint_trajectory (/left/other, /left/ros_ik): does another '
        'program command the robot?'
    )
    rig.publishers = {}
    assert rig.count(30.0) == ''


def test_publishers_are_counted_every_two_seconds_and_only_if_the_robot_does_not_follow():
    rig = Rig()
    for code in StatusCode:
        if code != FOLLOWING:
            rig.count(0.0, code)
    assert rig.counts == 0
    counts = []
    for tenth in range(50):
        rig.count(0.1 * tenth)
        counts.append(rig.counts)
    assert [counts.index(number) for number in (1, 2, 3)] == [0, 20, 40] and max(counts) == 3


def test_a_count_is_forgotten_after_two_seconds():
    """A fault that begins later is not reported with publishers that have left."""
    rig = Rig()
    rig.publishers = {'/left/joint_states': [('/left', 'b'), ('/', 'a')]}
    found = rig.count(10.0)
    assert '2 publishers' in found
    assert rig.count(11.9, StatusCode.OK) == found
    assert rig.count(12.0, StatusCode.OK) == ''
    rig.publishers = {}
    assert rig.count(12.1) == '' and rig.counts == 2
