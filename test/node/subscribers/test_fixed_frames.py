# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Poses in moving links, expressed in a link that is fixed, for any base frame."""

import numpy as np
import pytest
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
