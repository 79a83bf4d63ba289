# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Pauses between trajectories, requests of a flood, and their table."""

import types

import pytest

pytest.importorskip('rclpy', reason='the benchmarks of the node need rclpy')

from trajectory_msgs.msg import JointTrajectory  # noqa: E402

from benchmarks.node.__main__ import document  # noqa: E402
from benchmarks.node.load import _row  # noqa: E402
from benchmarks.node.load import Load  # noqa: E402
from benchmarks.node.load import PauseMeter  # noqa: E402
from benchmarks.node.load import PlannerFlood  # noqa: E402
from benchmarks.node.planner import request_of  # noqa: E402


def test_a_pause_is_between_the_stamps_whenever_they_are_heard():
    meter, message = PauseMeter(), JointTrajectory()
    for k in (0, 1, 2, 7, 8):
        message.header.stamp.sec, message.header.stamp.nanosec = 5, 2_000_000 * k
        meter.on_trajectory(message, 1000.0 * k)
    assert meter.longest == pytest.approx(0.01)


def test_deadlines_and_what_was_done_are_in_the_table():
    load = Load(ticks=900, missed=100, p50=0.5, p99=1.5, pause=12.5, done='7 requests')
    text = document([_row('set_parameters without a break', load)])
    assert 'The loop under floods' in text
    line = next(line for line in text.splitlines() if 'without a break' in line)
    assert [cell.strip() for cell in line.split('|')[2:-1]] == [
        '900', '0.500', '1.500', '12.500', '100', '90.00 %', '7 requests',
    ]  # fmt: skip


def test_a_planner_asks_again_once_it_is_answered_and_every_pose_counts():
    flood, asked = PlannerFlood.__new__(PlannerFlood), []
    flood._number, flood._asked = 3, 0
    flood._planner = types.SimpleNamespace(
        ask=lambda: asked.append(1), is_alive=lambda: True, reports=[]
    )
    flood.begin()
    flood.go_on()
    assert len(asked) == 1
    answered = {'asked': 10.0, 'answered': 12.5, 'solved': 3}
    flood._planner.reports.append(answered)
    flood.go_on()
    assert len(asked) == 2 and flood.done(0) == '2 of 3 poses, at most 2.5 s each'
    flood._planner.reports.append({**answered, 'solved': 2})
    with pytest.raises(RuntimeError, match='not every pose'):
        flood.go_on()


def test_a_request_has_as_many_poses_as_asked_for():
    request = request_of(1500)
    assert request.link == 'panda_hand_tcp' and len(request.poses) == 1500
    assert request.poses[0] == request.poses[1000] != request.poses[1]
