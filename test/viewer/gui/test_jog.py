# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Sliders of joint targets: a target holds every joint, so none may begin at a wrong position."""

import threading

import numpy as np
import pytest

pytest.importorskip('viser', reason='viser is not installed')

from support.rigs.viewer_rig import free_port

from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.viewer.gui import jog as jog_module
from ros_ik.viewer.gui.requests import Requests
from ros_ik.viewer.page import Page
from ros_ik.viewer.robot.robot_state import COMMANDED
from ros_ik.viewer.robot.robot_state import MEASURED
from ros_ik.viewer.robot.robot_state import RobotState


@pytest.fixture
def clock():
    """Return a time in a list, which tests advance [s]."""
    return [100.0]


@pytest.fixture
def jog(clock):
    page = Page('127.0.0.1', free_port(), Requests(lambda: clock[0]))
    yield page.jog
    page.close()


def test_joints_that_the_user_leaves_alone_stay_where_they_are_measured(jog):
    jog.update_controls(['ee'], {'one': 0.7, 'two': -0.2}, np.full(2, -1.0), np.ones(2))
    # At once, before anything is measured again.
    jog.set_goal('two', 0.4)
    assert jog.goal() == {'one': 0.7, 'two': 0.4}


def test_a_measured_position_beyond_its_limit_is_held_at_the_limit(jog):
    jog.update_controls(['ee'], {'one': 1.02, 'two': 0.0}, np.full(2, -1.0), np.ones(2))
    jog.set_goal('two', 0.4)
    assert jog.goal() == {'one': 1.0, 'two': 0.4}


def seconds_until_released(jog, clock, motion):
    """Return the time until there is no joint target while the joint moves, at most 60 s.

    Args:
        jog: The controls, with a target.
        clock: Its time, which is advanced.
        motion: Function that returns the position of the joint after so many seconds [rad].
    """
    for tick in range(300):
        clock[0] += 0.2
        jog.show_measured({'one': motion(0.2 * tick)})
        if not jog.goal():
            return 0.2 * tick
    return 60.0


@pytest.mark.parametrize(
    ('motion', 'earliest', 'latest'),
    [
        (lambda time: 0.01 * time, 39.0, 41.0),  # slowly to the target
        (lambda time: 0.0, 4.0, 6.0),  # at rest
        (lambda time: 0.2 * np.sin(3.0 * time), 4.0, 10.0),  # back and forth for another sender
        (lambda time: -0.01 * time, 4.0, 6.0),  # away
    ],
)
def test_a_target_ends_where_no_joint_comes_nearer(jog, clock, motion, earliest, latest):
    jog.update_controls(['ee'], {'one': 0.0}, -np.ones(1), np.ones(1))
    for _ in range(2):
        jog.set_goal('one', 0.4)
        assert earliest < seconds_until_released(jog, clock, motion) < latest


def test_a_joint_without_limits_stays_where_it_is_measured(jog):
    jog.update_controls(
        ['ee'], {'wheel': 5.0, 'elbow': 0.2}, np.array([-np.inf, -1.0]), np.array([np.inf, 1.0])
    )
    jog.set_goal('elbow', 0.25)
    assert jog.goal() == {'wheel': 5.0, 'elbow': 0.25}


@pytest.mark.parametrize('low, high', [
    (5.0, 2000.0), (-2000.0, -5.0), (5.0, np.inf), (-np.inf, -5.0), (-np.inf, np.inf),
    (-2000.0, 2000.0), (0.0, 0.0), (0.2, 0.2), (0.0, 5e-4), (-1.0, 1.0), (0.0, 900.0),
    (-600.0, 900.0),
])  # fmt: skip
def test_a_slider_reaches_the_joint_and_no_further_than_its_limits(jog, low, high):
    for position in (low, high, 0.5 * (low + high), 7.0):
        if np.isfinite(position):
            position = float(np.clip(position, low, high))
            jog.update_controls(['ee'], {}, np.zeros(0), np.zeros(0))
            jog.update_controls(['ee'], {'one': position}, np.array([low]), np.array([high]))
            jog.show_measured({'one': position})
            slider = jog._sliders['one']
            assert low <= slider.min <= position <= slider.max <= high
            assert slider.value == pytest.approx(position, abs=1e-9)
            assert slider.max - slider.min >= min(2.0, high - low)


def test_the_slider_of_a_wheel_follows_its_turns(jog):
    limits = np.full(1, -np.inf), np.full(1, np.inf)
    for angle in np.arange(0.0, 40.0, 0.5):
        jog.update_controls(['ee'], {'wheel': angle}, *limits)
        jog.show_measured({'wheel': angle})
        slider = jog._sliders['wheel']
        assert slider.value == pytest.approx(angle)
        assert slider.min <= angle <= slider.max
        assert jog.goal() == {}
    # While it moves towards a target, a slider that is dragged stays the same.
    jog.set_goal('wheel', 42.0)
    jog.show_measured({'wheel': 60.0})
    assert slider.max < 60.0


def test_joints_stay_where_they_were_measured_last(jog):
    jog.update_controls(['ee'], {'one': 0.7, 'two': 0.0}, np.full(2, -1.0), np.ones(2))
    # Less than the step in which sliders follow.
    jog.show_measured({'one': 0.7005, 'two': 0.0})
    jog.set_goal('two', 0.4)
    assert jog.goal() == {'one': 0.7005, 'two': 0.4}


def test_a_number_that_is_typed_moves_nothing_before_it_is_whole(jog, monkeypatch):
    names = {'one': -2.7, 'two': 0.0, 'three': 0.0}
    jog.update_controls(['ee'], names, np.full(3, -3.0), np.full(3, 3.0))
    monkeypatch.setattr(jog_module, '_TYPING_TIME', np.inf)
    for position in (-1.0, -1.4, -1.9, -1.95):
        assert jog.goal() == {}
        # Measured positions do not replace the digits.
        jog.show_measured(names)
        jog.slide('one', position)
    # The last change is that of a slider which is dragged, or a last digit.
    assert jog.goal() == {'one': -1.95, 'two': 0.0, 'three': 0.0}
    jog.slide('one', 2.0)
    assert jog.goal()['one'] == -1.95
    jog.slide('two', 9.0)
    assert jog.goal() == {'one': 2.0, 'two': 0.0, 'three': 0.0}
    monkeypatch.setattr(jog_module, '_TYPING_TIME', -1.0)
    assert jog.goal() == {'one': 2.0, 'two': 3.0, 'three': 0.0}


def test_a_negative_number_is_typed_into_the_text_of_a_joint(jog, monkeypatch):
    limits = np.full(2, -3.0), np.full(2, 3.0)
    jog.update_controls(['ee'], {'one': 0.2, 'two': 0.0}, *limits)
    number, slider = jog._numbers['one'], jog._sliders['one']
    assert number.value == '0.200'
    monkeypatch.setattr(jog_module, '_TYPING_TIME', np.inf)
    for text in ('-', '-0', '-0.', '-0.3'):
        number.value = text
        jog.type('one', text)
        # Measured positions do not replace the digits.
        jog.show_measured({'one': 0.5, 'two': 0.0})
        assert jog.goal() == {} and number.value == text
    monkeypatch.setattr(jog_module, '_TYPING_TIME', -1.0)
    assert jog.goal() == {'one': -0.3, 'two': 0.0}
    assert slider.value == -0.3 and number.value == '-0.3'
    # Beyond the limits, and the slider shows its number.
    number.value = '-7'
    jog.type('one', '-7')
    assert jog.goal()['one'] == -3.0 and number.value == '-3.000'
    jog.slide('one', -2.9)
    assert jog.goal()['one'] == -2.9 and number.value == '-2.900'


@pytest.mark.parametrize('text', ['', '-', 'nan', 'inf', '1e999', '0.3 rad'])
def test_a_text_that_is_no_number_moves_nothing_and_is_replaced(jog, monkeypatch, text):
    jog.update_controls(['ee'], {'one': 0.2}, np.full(1, -3.0), np.full(1, 3.0))
    monkeypatch.setattr(jog_module, '_TYPING_TIME', -1.0)
    # After another one that was a number, too.
    for typed in ('0.9', text):
        jog._numbers['one'].value = typed
        jog.type('one', typed)
    assert jog.goal() == {}
    monkeypatch.setattr(jog_module, '_EDITING_TIME', -1.0)
    assert jog.goal() == {}
    jog.show_measured({'one': 0.4})
    assert jog._numbers['one'].value == '0.400'


def test_a_number_that_is_typed_is_withdrawn(jog, monkeypatch):
    jog.update_controls(['ee'], {'one': -2.7}, np.full(1, -3.0), np.full(1, 3.0))
    monkeypatch.setattr(jog_module, '_TYPING_TIME', -1.0)
    jog.slide('one', 1.0, client=1)
    jog.withdraw(client=2)
    jog.withdraw(client=1)
    assert jog.goal() == {}
    jog.slide('one', 2.0, client=1)
    jog.withdraw()
    assert jog.goal() == {}


def test_joints_are_measured_once_each_publisher_was_heard():
    robot = RobotState(DemoRobot.load('six_axis').text, [], 0, threading.Event())
    names = [f'joint_{k}' for k in range(1, 7)]
    robot.set_joints(COMMANDED, names, [0.1] * 6)
    robot.set_joints(MEASURED, names[:3], [0.1] * 3)
    assert robot.is_known(MEASURED) and not robot.are_measured(names)
    robot.set_joints(MEASURED, names[3:], [0.1, 0.1, np.nan])
    assert not robot.are_measured(names)
    robot.set_joints(MEASURED, names[5:], [0.1])
    assert robot.are_measured(names)
