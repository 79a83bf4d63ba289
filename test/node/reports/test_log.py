# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The log: a missing robot description, refusals that repeat and that differ."""

import time

import pytest
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from std_msgs.msg import String
from support.processes.ros_processes import reserved_domain
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import PATIENCE
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node

from ros_ik.node.reports.reporter import Reminder
from ros_ik.node.transport.message_stats import Drop
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.servo import StatusCode

pytestmark = pytest.mark.dds

WAITING = StatusCode.WAITING_FOR_MODEL


@pytest.fixture
def node():
    with reserved_domain() as domain:
        context = Context()
        rclpy.init(context=context, domain_id=domain)
        node = Node('speaker', context=context)
        yield node
        node.destroy_node()
        rclpy.try_shutdown(context=context)


def lines(capfd, text):
    """Return the lines with a text that were logged since the last call."""
    return [line for line in capfd.readouterr().err.splitlines() if text in line]


def test_a_node_without_a_description_says_so_and_what_to_do(tmp_path):
    with ros_rig(tmp_path) as client:
        start_node(client)
        client.wait_for(
            lambda: 'waiting for robot_description: no message' in client.processes.text('node'),
            'a reminder',
            LONG,
        )
        # The client has a publisher, but has published nothing. It may be discovered after the
        # first reminder.
        client.wait_for(
            lambda: 'Publishers there: 1; they must be transient' in client.processes.text('node'),
            'a reminder that tells of the publisher',
        )


def test_the_reminder_comes_after_two_seconds_and_then_every_ten(node, capfd):
    reminder = Reminder(node)
    told = []
    for tenth in range(400):
        reminder.remind(WAITING, 100.0 + 0.1 * tenth)
        if lines(capfd, 'waiting for robot_description'):
            told.append(tenth)
    assert told == [20, 120, 220, 320]
    reminder.remind(WAITING, 1000.0)
    assert len(lines(capfd, 'start robot_state_publisher, or remap')) == 1


def test_the_reminder_ends_with_a_description_and_restarts_without_one(node, capfd):
    reminder = Reminder(node)
    for second in range(8):
        reminder.remind(WAITING if second in (0, 1, 4, 5) else StatusCode.OK, float(second))
    assert not lines(capfd, 'waiting for robot_description')
    reminder.remind(WAITING, 100.0)
    reminder.remind(WAITING, 102.5)
    assert len(lines(capfd, 'for 2 s')) == 1


def test_publishers_of_another_durability_are_told_apart(node, capfd):
    publisher = node.create_publisher(String, 'robot_description', 1)
    give_up = time.monotonic() + PATIENCE
    while node.count_publishers('robot_description') == 0:
        assert time.monotonic() < give_up, 'the publisher is not found'
    reminder = Reminder(node)
    for now in (0.0, 2.0):
        reminder.remind(WAITING, now)
    assert len(lines(capfd, 'must be transient local')) == 1
    node.destroy_publisher(publisher)


def test_the_same_refusal_is_logged_once_and_each_other_one_too(node, capfd):
    message_stats = MessageStats(node)
    for _ in range(30):
        message_stats.add('target_pose', Drop.UNREADABLE, lambda: 'too short')
    message_stats.add('target_pose', Drop.TOO_OLD, lambda: 'older than the last')
    message_stats.add('target_twist', Drop.UNREADABLE, lambda: 'too short')
    message_stats.add('move_to_pose', Drop.INVALID_GOAL, lambda: "there is no task 'leg'")
    message_stats.add('move_to_pose', Drop.INVALID_GOAL, lambda: 'timeout must be finite')
    logged = lines(capfd, 'dropped a message')
    assert len(logged) == 5
    for text in ('too short', 'older than the last', "task 'leg'", 'timeout must'):
        assert any(text in line for line in logged)
    assert message_stats.counts == {'unreadable': 31, 'too_old': 1, 'invalid_goal': 2}


def test_many_different_refusals_of_one_topic_do_not_flood_the_log(node, capfd):
    message_stats, made = MessageStats(node), []
    for k in range(500):
        message_stats.add(
            'target_pose', Drop.UNREADABLE, lambda k=k: made.append(k) or f'message {k}'
        )
    assert len(lines(capfd, 'dropped a message')) == len(made) == 20
    assert message_stats.total == 500


def test_the_status_says_why_however_many_messages_are_dropped(node, capfd):
    message_stats = MessageStats(node)

    def drop(frame):
        message_stats.add_in_tick(
            'target_pose', Drop.TF_UNAVAILABLE, lambda: f"no frame '{frame}'", frame=frame
        )

    for _ in range(5):
        # More than are composed, and a new one after each that is logged.
        for _ in range(30):
            drop('moon')
        message_stats.log()
        drop('moon')
        code, text = message_stats.shown(StatusCode.OK, 'tracking')
        assert code is StatusCode.TF_UNAVAILABLE
        assert text.endswith("tf_unavailable: no frame 'moon'")
        assert message_stats.missing_frames() == ('moon',)
    message_stats.accepted('target_pose')
    assert message_stats.missing_frames() == ()
    assert message_stats.shown(StatusCode.OK, 'tracking') == (StatusCode.OK, 'tracking')
