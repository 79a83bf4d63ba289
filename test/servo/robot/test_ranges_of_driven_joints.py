# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Ranges that mimic joints leave to the controlled joints: targets, margins, starts, sliders."""

import threading

import numpy as np
import pytest
from support.solvers.followers import Follower
from support.solvers.followers import with_followers

from ros_ik.demo.robots.demo_robot import home_configuration
from ros_ik.model import Model
from ros_ik.servo.robot.controlled_robot import resolve_robot
from ros_ik.servo.robot.touching_pairs import _at_limits
from ros_ik.servo.targets.secondary_motion import SecondaryMotion
from ros_ik.servo.targets.target_checks import TargetReader
from ros_ik.settings import read_settings
from ros_ik.viewer.robot.robot_state import RobotState

ARM = """<robot name="arm"><link name="l0"/><link name="l1"/><link name="l2"/>
<joint name="a" type="revolute"><parent link="l0"/><child link="l1"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
<joint name="b" type="revolute"><parent link="l1"/><child link="l2"/><origin xyz="0.5 0 0"/>
<axis xyz="0 0 1"/><limit lower="-3" upper="2" velocity="1" effort="1"/></joint></robot>"""
# q = 0.3 - 2 v inside [-1, 0.5], so that the joint a stays in [-0.1, 0.65].
TEXT = with_followers(ARM, [Follower('f', 'a', -2.0, 0.3, -1.0, 0.5)], 'l0')
LOWER, UPPER = [-0.1, -3.0], [0.65, 2.0]


@pytest.fixture
def robot():
    settings = read_settings({'ee.frame': 'l2', 'base_frame': 'l0'})
    return resolve_robot(Model.from_urdf(TEXT, device='cpu'), settings)


@pytest.mark.parametrize(('sign', 'ends'), [(-1.0, LOWER), (1.0, UPPER)])
def test_joint_targets_are_clipped_to_what_is_left(robot, sign, ends):
    target = TargetReader(robot).joints(['a', 'b'], [2.9 * sign, 3.5 * sign], 0.0)
    np.testing.assert_allclose(target.positions, ends)


def test_the_middle_of_the_limits_is_that_of_what_is_left(robot):
    motion = SecondaryMotion(robot, robot.settings)
    np.testing.assert_allclose(motion._middle, np.mean([LOWER, UPPER], axis=0))


def test_a_margin_is_at_most_half_of_what_is_left():
    text = with_followers(ARM, [Follower('f', 'a', -2.0, 0.3, 0.48, 0.5)], 'l0')
    settings = read_settings({'ee.frame': 'l2', 'base_frame': 'l0'})
    robot = resolve_robot(Model.from_urdf(text, device='cpu'), settings)
    # The joint a keeps [-0.1, -0.09].
    margin = robot.position_margin(settings)
    of = {name: margin[robot.model.joint_qd_start.numpy()[robot.model.joint_index(name)]]
          for name in 'abf'}  # fmt: skip
    assert of == pytest.approx({'a': 0.005, 'b': 0.02, 'f': 0.01})
    lower, upper = (limit[robot.group.variable_dof] for limit in robot.inner_driver_limits(margin))
    np.testing.assert_allclose([lower, upper], [[-0.095, -2.98], [-0.095, 1.98]])


def test_sliders_end_where_the_joints_do():
    state = RobotState(TEXT, (), 100, threading.Event())
    lower, upper, velocity = state.limits(['a', 'b'])
    np.testing.assert_allclose([lower, upper, velocity], [LOWER, UPPER, [1.0, 1.0]])


def test_the_demo_starts_in_the_middle_third_of_what_is_left(robot):
    joint_q = home_configuration(robot.model, robot.group, {})
    np.testing.assert_allclose(joint_q[robot.coords], [0.4, 1.0 / 3.0])


def test_samples_at_limits_are_configurations_that_the_robot_reaches(robot):
    joint_q = _at_limits(robot.model, np.random.default_rng(0))[:, robot.coords]
    ends = joint_q.min(axis=0), joint_q.max(axis=0)
    np.testing.assert_allclose(ends, [LOWER, UPPER])
