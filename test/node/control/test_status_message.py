# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The bytes of a status are those of a status made field by field, in every tick."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from rclpy.serialization import deserialize_message

from ros_ik.node.control.statistics import TickStatistics
from ros_ik.node.control.status_message import NodeState
from ros_ik.node.control.status_message import StatusMessage
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.servo import CenterReport
from ros_ik.servo import Rejection
from ros_ik.servo import ServoOutput
from ros_ik.servo import StatusCode
from ros_ik.servo import TaskReport
from ros_ik_interfaces.msg import IkStatus


@pytest.fixture
def message_stats():
    logger = SimpleNamespace(warning=lambda text: None)
    return MessageStats(SimpleNamespace(get_logger=lambda: logger))


def output(**fields):
    """Return the output of a tick of two tasks."""
    tasks = [TaskReport('ee', True, 0.25, 0.5), TaskReport('head')]
    values = dict(code=StatusCode.OK, text='tracking', publish=True, still=False, tasks=tasks)
    values.update(fields)
    return ServoOutput(joint_q=np.zeros(2), joint_qd=np.zeros(2), **values)


def told(message, output, state, statistics, tick_ms=0.5, nanoseconds=7_000_000_009):
    return deserialize_message(
        message.fill(output, state, statistics, tick_ms, nanoseconds), IkStatus
    )


def test_numbers_are_those_of_the_tick_and_of_no_tick_before(message_stats):
    message, state = StatusMessage(500.0, message_stats), NodeState((), 3, '', 'base')
    statistics = TickStatistics()
    rng = np.random.default_rng(1)
    for tick in range(5):
        statistics.ticks, statistics.missed = 2**40 + tick, tick
        statistics.p50, statistics.p99, took, near, *errors = rng.normal(size=8).tolist()
        tick_output = output(barrier_distance=near)
        tasks = tick_output.tasks
        tasks[0].linear_error, tasks[0].angular_error = errors[:2]
        tasks[1].linear_error, tasks[1].angular_error = errors[2:]
        status = told(message, tick_output, state, statistics, took, 1_000_000_000 + tick)
        assert (status.header.stamp.sec, status.header.stamp.nanosec) == (1, tick)
        assert (status.ticks, status.missed_ticks) == (2**40 + tick, tick)
        assert [status.barrier_value, status.tick_ms] == [near, took]
        assert [status.tick_ms_p50, status.tick_ms_p99] == [statistics.p50, statistics.p99]
        assert (status.control_rate, status.model_generation) == (500.0, 3)
        assert (status.header.frame_id, status.code, status.text) == ('base', 0, 'tracking')
        assert [task.name for task in status.tasks] == ['ee', 'head']
        assert [e for task in status.tasks for e in (task.linear, task.angular)] == errors
        assert [(task.active, task.reached) for task in status.tasks] == [
            (True, False),
            (False, False),
        ]


def test_every_changed_word_is_in_the_next_status(message_stats):
    message, statistics = StatusMessage(500.0, message_stats), TickStatistics()
    plain, state = output(), NodeState((), 1, '', 'base')
    first = told(message, plain, state, statistics)
    assert np.isnan(first.tick_ms_p50) and np.isnan(first.barrier_value)

    def change(**fields):
        told(message, plain, state, statistics)
        return told(message, dataclasses.replace(plain, **fields), state, statistics)

    halted = StatusCode.HALTED_BY_BARRIER
    assert change(code=halted).code == halted
    assert change(text='other').text == 'other'
    assert change(limiting_barrier='wall').limiting_barrier == 'wall'
    pair = change(limiting_pair=('hand', 'wall'))
    assert (pair.limiting_pair_a, pair.limiting_pair_b) == ('hand', 'wall')
    reached = change(tasks=[TaskReport('ee', True, 0.0, 0.0, True), TaskReport('head')])
    assert reached.tasks[0].reached and not first.tasks[0].reached
    for field, value, shown in (
        ('waiting_for', ('joint',), lambda status: tuple(status.waiting_for)),
        ('generation', 2, lambda status: status.model_generation),
        ('base_frame', 'foot', lambda status: status.header.frame_id),
    ):
        told(message, plain, state, statistics)
        other = dataclasses.replace(state, **{field: value})
        assert shown(told(message, plain, other, statistics)) == value
    noted = dataclasses.replace(state, notice='building')
    assert told(message, plain, noted, statistics).text == 'tracking (building)'
    assert told(message, plain, state, statistics).text == 'tracking'


def test_a_centre_of_mass_comes_and_goes(message_stats):
    message, statistics, state = StatusMessage(500.0, message_stats), TickStatistics(), NodeState()
    for error in (0.5, 0.25):
        center = CenterReport(True, error, False, np.zeros(3))
        status = told(message, output(center_of_mass=center), state, statistics)
        assert [task.name for task in status.tasks] == ['ee', 'head', 'com']
        assert (status.tasks[2].linear, status.tasks[2].active) == (error, True)
        assert (status.tasks[0].linear, status.tasks[0].angular) == (0.25, 0.5)
    assert len(told(message, output(), state, statistics).tasks) == 2


def test_what_is_dropped_is_counted(message_stats):
    message, statistics, state = StatusMessage(500.0, message_stats), TickStatistics(), NodeState()
    assert not told(message, output(), state, statistics).dropped_messages
    for count in (1, 2):
        message_stats.add('target_pose', Rejection.NON_FINITE, lambda: 'nan')
        status = told(message, output(), state, statistics)
        assert [(d.name, d.count) for d in status.dropped_messages] == [('non_finite', count)]
        assert 'dropped a message on target_pose: non_finite' in status.text
