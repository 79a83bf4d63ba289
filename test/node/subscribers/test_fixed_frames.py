# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Poses in moving links, expressed in a link that is fixed, for any base frame."""

import numpy as np
import pytest
from support.rigs import ball_arms
from support.robots.ball_robot import place_of_ball
from support.robots.ball_robot import URDF

pytest.importorskip('rclpy', reason='the package of the node needs rclpy')

from ros_ik import Model  # noqa: E402
from ros_ik.node.subscribers.fixed_frames import FixedFrames  # noqa: E402
from ros_ik.servo import Measurement  # noqa: E402
from ros_ik.servo.robot.controlled_robot import resolve_robot  # noqa: E402
from ros_ik.settings import read_settings  # noqa: E402

POSITIONS = [0.7, -1.1, 0.2]
# The ball at its own origin, and its orientation about z as half an angle.
ORIGIN = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
HALF = 0.5 * (POSITIONS[0] + POSITIONS[1])


def frames_of(base='', *, known=True):
    settings = read_settings({'ee.frame': 'ball', 'base_frame': base})
    robot = resolve_robot(Model.from_urdf(URDF, device='cpu'), settings)
    joint_q = robot.model.neutral_joint_q()
    joint_q[-3:] = POSITIONS
    received = np.full(len(joint_q), 1.0 if known else -np.inf)
    return FixedFrames(robot, lambda: Measurement(joint_q, received))


@pytest.mark.parametrize('base', ['', 'base', 'upper'])
def test_a_pose_in_a_moving_link_is_expressed_in_the_root(base):
    link, pose = frames_of(base).express('ball', ORIGIN)
    assert link == 'base'
    expected = [*place_of_ball(POSITIONS), 0.0, 0.0, np.sin(HALF), np.cos(HALF)]
    np.testing.assert_allclose(pose, expected, atol=1e-9)


def test_a_base_that_moves_is_a_moving_link():
    link, pose = frames_of('lower').express('', ORIGIN)
    assert link == 'base'
    np.testing.assert_allclose(pose[:3], [*0.5 * np.array([np.cos(0.7), np.sin(0.7)]), 0.0])


def test_other_poses_stay_as_they_are():
    for link in ('', 'base'):
        assert frames_of().express(link, ORIGIN) == (link, pytest.approx(ORIGIN))
    # No joint has a state.
    assert frames_of(known=False).express('ball', ORIGIN)[0] == 'ball'


def test_a_pose_stays_where_it_is_known():
    """The lift carries the base, and the first joint of arm b its upper link."""
    settings = read_settings({'ee.frame': 'a_ball', 'base_frame': 'torso'})
    robot = resolve_robot(Model.from_urdf(ball_arms.URDF, device='cpu'), settings)
    joint_q = robot.model.neutral_joint_q()
    joint_q[robot.coord_of['b1']] = 0.5 * np.pi
    received = np.full(len(joint_q), -np.inf)
    frames = FixedFrames(robot, lambda: Measurement(joint_q, received.copy()))
    assert frames.have_states_changed() and not frames.have_states_changed()
    pose = np.array([0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    for names, of_torso, of_upper in (
        (ball_arms.A, '', 'b_upper'), (['b1'], '', 'torso'), (['lift'], 'base', 'base'),
    ):  # fmt: skip
        received[[robot.coord_of[name] for name in names]] = 1.0
        assert frames.have_states_changed() and not frames.have_states_changed()
        assert frames.express('', pose)[0] == of_torso
        link, found = frames.express('b_upper', pose)
        assert link == of_upper
        expected = pose[:3] if link == 'b_upper' else [ball_arms.APART, 0.3, 0.0]
        np.testing.assert_allclose(found[:3], expected, atol=1e-9)
