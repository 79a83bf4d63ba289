# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motions of users: one that begins ends those that contradict it."""

import numpy as np
import pytest

pytest.importorskip('viser', reason='viser is not installed')

from support.rigs.viewer_rig import free_port

from ros_ik.viewer.gui import jog as jog_module
from ros_ik.viewer.gui.requests import Requests
from ros_ik.viewer.page import Page

POSE = np.array([0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0])


@pytest.fixture
def page(now):
    page = Page('127.0.0.1', free_port(), Requests(clock=lambda: now[0]))
    page.jog.update_controls(['left', 'right'], {'one': 0.0}, np.full(1, -1.0), np.ones(1))
    yield page
    page.close()


@pytest.fixture
def now():
    """Return the time of the clock of the requests, in a list."""
    return [0.0]


def motions(page):
    """Return the motions that would be published now, as words."""
    task, twist = page.requests.twist()
    found = {f'pose of {name}' for name in page.requests.held()}
    return found | ({'joints'} if page.jog.goal() else set()) | ({task} if task else set())


def test_a_gizmo_that_is_taken_ends_a_joint_target(page):
    page.jog.set_goal('one', 0.5, client=1)
    page.requests.hold('left', 1, POSE)
    assert motions(page) == {'pose of left'}


def test_a_slider_ends_poses_and_velocities(page):
    page.requests.hold('right', 2, POSE)
    page.jog.set_velocity(0, 1.0)
    page.jog.set_goal('one', 0.5, client=1)
    assert motions(page) == {'joints'}


def test_a_velocity_ends_a_joint_target_and_the_pose_of_its_task(page):
    page.jog.set_goal('one', 0.5, client=1)
    page.jog.set_velocity(0, 1.0)
    assert motions(page) == {'left'}
    page.requests.hold('left', 1, POSE)
    page.requests.hold('right', 2, POSE)
    assert motions(page) == {'pose of left', 'pose of right'}
    page.jog.set_velocity(0, 1.0)
    assert motions(page) == {'left', 'pose of right'}
    # The rest of the drag counts no more.
    page.requests.move('left', 1, POSE)
    assert motions(page) == {'left', 'pose of right'}


def test_a_gizmo_that_is_taken_withdraws_a_number_that_is_typed(page, monkeypatch):
    monkeypatch.setattr(jog_module, '_TYPING_TIME', np.inf)
    page.jog.slide('one', 0.9, client=1)
    page.requests.hold('left', 1, POSE)
    monkeypatch.setattr(jog_module, '_TYPING_TIME', -1.0)
    assert motions(page) == {'pose of left'}


def test_a_joint_target_ends_where_the_joints_rest_short_of_it(page, now):
    page.jog.set_goal('one', 1.0, client=1)
    # The node stops before the limit, and noise is no motion.
    for tick in range(40):
        now[0] = 0.25 * tick
        position = min(0.1 * now[0], 0.48) + 2e-4 * (-1) ** tick
        page.jog.show_measured({'one': position})
        assert motions(page) == {'joints'}
    now[0] = 10.1
    page.jog.show_measured({'one': 0.48})
    assert motions(page) == set()
    page.jog.set_goal('one', 0.5)
    assert motions(page) == {'joints'}


def test_a_joint_target_ends_with_the_messages_of_the_robot(page, now):
    page.jog.set_goal('one', 1.0, client=1)
    now[0] = 5.1
    assert motions(page) == set()


@pytest.mark.parametrize('kind', ['stop', 'pause', 'reset'])
def test_a_button_ends_every_motion(page, kind):
    page.requests.hold('right', 2, POSE)
    page.jog.set_velocity(0, 1.0)
    page.press(kind)
    page.jog.set_goal('one', 0.5, client=1)
    page.press(kind)
    assert motions(page) == set()
