# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Recognition of answers, and the tables that are made of them."""

import contextlib
import itertools

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='the benchmarks of the node need rclpy')

from geometry_msgs.msg import PoseStamped  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from trajectory_msgs.msg import JointTrajectory  # noqa: E402
from trajectory_msgs.msg import JointTrajectoryPoint  # noqa: E402

from benchmarks.node import idle  # noqa: E402
from benchmarks.node.__main__ import document  # noqa: E402
from benchmarks.node.client import Client  # noqa: E402
from benchmarks.node.client import node_process  # noqa: E402
from benchmarks.node.latency import _rows  # noqa: E402
from benchmarks.node.latency import ECHO  # noqa: E402
from benchmarks.node.latency import Timing  # noqa: E402
from benchmarks.node.latency import TurnDetector  # noqa: E402

PERIOD = 0.001


def _trajectory(position, k):
    message = JointTrajectory(points=[JointTrajectoryPoint(positions=[position])])
    message.header.stamp.sec, message.header.stamp.nanosec = 7, k * round(1e9 * PERIOD)
    return message


@pytest.mark.parametrize(('lost', 'answer'), [((), 120.0), ((16, 18), 121.0), ((19, 20), 123.0)])
def test_the_answer_is_the_trajectory_that_turns_back(lost, answer):
    detector = TurnDetector(PERIOD)
    # Speeding up at 1.6 rad/s^2, then turned round with 10 rad/s^2 from the 20th on.
    acceleration = np.where(np.arange(40) < 20, 1.6, -10.0)
    positions = np.cumsum(np.cumsum(acceleration)) * PERIOD**2
    for k, position in enumerate(positions):
        if k == 15:
            detector.expect(-1)
        if k not in lost:
            detector.on_trajectory(_trajectory(position, k), 100.0 + k)
    assert detector.answered == answer


def test_what_is_added_leaves_out_the_echo_and_the_wait_for_the_tick():
    figures = {
        'ticks': '9990', 'missed ticks': '10', 'tick p50 ms': '0.5', 'tick p99 ms': '0.9',
        'longest tick ms': '3.0',
    }  # fmt: skip
    ours = Timing(np.full(95, 0.0015), 100, figures, 1.2)
    rows = _rows(1000.0, '1,000 Hz, idle', ours, Timing(np.full(50, 0.0004), 50))
    latency, tick = rows
    assert latency['ours_added'] == pytest.approx(1.5 - 0.4 - 0.5)
    assert (latency['success_ours'], latency['success_peer']) == (0.95, 1.0)
    assert (tick['ours'], tick['ours_p99'], tick['ours_p999']) == (0.5, 0.9, 1.2)
    assert tick['success_ours'] == pytest.approx(0.999)
    text = document(rows)
    assert '| 1,000 Hz, idle |' in text and '| 0.600 |' in text and '99.90 %' in text


def test_a_node_that_answers_nothing_is_a_row_with_the_reason():
    rows = _rows(
        100.0, '100 Hz, one core busy', Timing(np.zeros(0), 5), Timing(np.full(5, 0.001), 5)
    )
    assert 'no pose was answered' in document(rows)
    assert 'no diagnostics' in document(rows)


@pytest.mark.parametrize('computing', [0.0, 0.2])
def test_loops_beside_the_node_report_every_turn(computing):
    found = idle.main(rate=200.0, duration=0.1, priority=0, computing=computing)
    assert found['ticks'] == 20 and found['missed'] >= 0
    assert 0.0 < found['p50'] <= found['p99'] <= found['p999'] <= found['longest']


def test_twice_the_time_takes_twice_the_terms(monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr(idle.time, 'perf_counter', lambda: 1e-4 * next(clock))
    once, twice = idle._terms(0.2, 1e4), idle._terms(0.4, 1e4)
    assert (once, twice) == (2000, 4000)


def test_the_robot_of_the_client_is_where_the_newest_trajectory_says():
    # A robot that stands still makes the loop wait for it, which is not what is measured.
    states = []
    with node_process(ECHO, {}) as process, contextlib.closing(Client(process, 'echo')) as client:
        client.node.create_subscription(
            JointState, 'joint_states', lambda message: states.append(message.position[3]), 10
        )
        client.wait_for(lambda: bool(states), 'joint states', 20.0)
        assert states[-1] < -1.0
        pose = PoseStamped()

        def moved():
            client.send_pose(pose)
            return states[-1] == 0.0

        client.wait_for(moved, 'joint states of the trajectory', 20.0)
