# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The robot behind the mock robot: lag, mimic joints, counters, without ROS."""

import numpy as np
import pytest

from ros_ik.demo.controller.simulated_robot import SimulatedRobot
from ros_ik.demo.controller.trajectory_rules import Trajectory
from ros_ik.demo.controller.trajectory_rules import TrajectoryPoint
from ros_ik.demo.robots import find_robot
from ros_ik.errors import ArgumentError
from ros_ik.model import Model

SECOND = 1_000_000_000
START = 7 * SECOND
FINGER = 'panda_finger_joint1'


@pytest.fixture(scope='module')
def panda():
    return Model.from_urdf(find_robot('panda').urdf_path.read_text(), device='cpu')


def to(position, seconds=1.0):
    """Return a trajectory of the finger to a position."""
    return Trajectory((FINGER,), (TrajectoryPoint(round(seconds * SECOND), (position,)),))


def value(robot, name):
    position, velocity = robot.state()
    return position[robot.names.index(name)], velocity[robot.names.index(name)]


def test_stands_where_it_is_told(panda):
    robot = SimulatedRobot(panda, START, initial={'panda_joint4': -1.5, FINGER: 0.01})
    robot.update(START + SECOND)
    assert value(robot, 'panda_joint4') == (-1.5, 0.0)
    assert value(robot, 'panda_finger_joint2') == (0.01, 0.0)
    assert len(robot.names) == 9 and len(robot.controlled) == 8


def test_follows_a_ramp_with_the_lag(panda):
    """Behind a ramp of slope v the steady error of a first-order lag is v * lag."""
    lag = 0.02
    robot = SimulatedRobot(panda, START, controlled=[FINGER], lag=lag)
    assert robot.command(to(0.04), START) is None
    for now in range(START, START + SECOND // 2 + 1, SECOND // 1000):
        robot.update(now)
    position, velocity = value(robot, FINGER)
    assert position == pytest.approx(0.02 - 0.04 * lag, abs=0.04 * 0.0011)
    assert velocity == pytest.approx(0.04, rel=0.06)
    assert value(robot, 'panda_finger_joint2') == pytest.approx((position, velocity))


def test_without_lag_it_is_at_the_desired_state(panda):
    robot = SimulatedRobot(panda, START, controlled=[FINGER], lag=0.0)
    robot.command(to(0.04), START)
    robot.update(START + SECOND // 4)
    assert value(robot, FINGER) == pytest.approx((0.01, 0.04))


def test_never_leaves_the_range_of_its_commands(panda):
    robot = SimulatedRobot(panda, START, controlled=[FINGER], lag=0.02)
    rng = np.random.default_rng(3)
    now = START
    for _ in range(200):
        robot.command(to(rng.uniform(0.0, 0.04), 0.03), now)
        for _ in range(5):
            now += SECOND // 200
            robot.update(now)
            assert 0.0 <= value(robot, FINGER)[0] <= 0.04
    assert robot.accepted == 200 and robot.rejected == 0


def test_refusal_is_counted_and_leaves_the_motion_alone(panda):
    robot = SimulatedRobot(panda, START, controlled=[FINGER], lag=0.0)
    robot.command(to(0.04), START)
    assert 'nan in positions' in robot.command(to(float('nan')), START)
    robot.update(START + SECOND)
    assert value(robot, FINGER)[0] == 0.04
    assert (robot.accepted, robot.rejected) == (1, 1)
    assert 'nan in positions' in robot.last_reason


def test_without_a_controller_a_trajectory_may_name_some_joints(panda):
    robot = SimulatedRobot(panda, START, initial={'panda_joint1': 0.3}, lag=0.0)
    assert robot.command(to(0.04), START) is None
    robot.update(START + SECOND)
    assert value(robot, FINGER)[0] == 0.04 and value(robot, 'panda_joint1')[0] == 0.3
    strict = SimulatedRobot(panda, START, controlled=[FINGER, 'panda_joint1'])
    assert 'missing' in strict.command(to(0.04), START)


def test_each_joint_follows_the_controller_that_named_it_last(panda):
    robot = SimulatedRobot(panda, START, lag=0.0, controllers=2)
    arm = Trajectory(('panda_joint1',), (TrajectoryPoint(SECOND, (0.8,)),))
    # A controller does not stop what another one moves.
    assert robot.command(arm, START, 0) is None
    assert robot.command(to(0.04), START + SECOND // 4, 1) is None
    robot.update(START + SECOND // 2)
    assert value(robot, 'panda_joint1') == pytest.approx((0.4, 0.8))
    assert value(robot, FINGER) == pytest.approx((0.01, 0.04))
    # A joint that another controller takes in motion continues from its position.
    assert robot.command(to(0.0, 0.5), START + SECOND // 2, 0) is None
    robot.update(START + 3 * SECOND // 4)
    assert value(robot, FINGER)[0] == pytest.approx(0.005)
    robot.update(START + 2 * SECOND)
    assert value(robot, FINGER)[0] == 0.0
    assert (robot.accepted, robot.rejected) == (3, 0)


@pytest.mark.parametrize('lag', (-0.1, float('nan'), float('inf')))
def test_unusable_lag_is_refused(panda, lag):
    with pytest.raises(ArgumentError, match='lag'):
        SimulatedRobot(panda, START, lag=lag)


def test_unknown_joints_are_refused(panda):
    with pytest.raises(ArgumentError, match="'elbow'"):
        SimulatedRobot(panda, START, controlled=['elbow'])
    with pytest.raises(ArgumentError, match="'knee'"):
        SimulatedRobot(panda, START, initial={'knee': 0.0})
