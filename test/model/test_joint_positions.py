# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Coordinates from positions of joints by name."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load

from ros_ik.demo.robots import find_robot
from ros_ik.errors import ArgumentError
from ros_ik.model import Model

PANDA = next(path for path in ALL_URDFS if path.stem == 'panda')


def test_joints_are_where_they_are_put_and_the_others_neutral():
    model = load(PANDA)
    neutral = model.neutral_joint_q()
    joint_q = model.neutral_joint_q(
        {'panda_joint4': -2.0, 'panda_finger_joint1': np.float32(0.03)}
    )
    expected = neutral.copy()
    expected[[3, 7, 8]] = -2.0, 0.03, 0.03  # the second finger follows
    np.testing.assert_allclose(joint_q, expected, atol=1e-8)
    np.testing.assert_array_equal(model.neutral_joint_q({}), neutral)
    np.testing.assert_array_equal(model.neutral_joint_q(None), neutral)


@pytest.mark.parametrize('name', ['panda', 'baxter', 'tiago', 'g1', 'allegro_right_hand'])
def test_the_homes_of_robots(name):
    robot = find_robot(name)
    model = Model.from_urdf(robot.urdf_path, device='cpu')
    joint_q, neutral = model.neutral_joint_q(robot.home), model.neutral_joint_q()
    start = model.joint_q_start.numpy()
    named = [start[model.joint_index(joint)] for joint in robot.home]
    np.testing.assert_array_equal(joint_q[named], list(robot.home.values()))
    np.testing.assert_array_equal(joint_q, model.apply_mimic(joint_q))
    followers = [start[joint] for joint in model.mimic_driver]
    others = np.setdiff1d(np.arange(len(joint_q)), [*named, *followers])
    np.testing.assert_array_equal(joint_q[others], neutral[others])


def test_a_group_state_of_the_srdf():
    robot = find_robot('panda')
    model = Model.from_urdf(robot.urdf_path, robot.srdf_path, device='cpu')
    joint_q = model.neutral_joint_q(model.semantic.states['arm_and_hand', 'default'])
    assert joint_q[3] == pytest.approx(-2.35619) and joint_q[8] == pytest.approx(0.001)


@pytest.mark.parametrize('name', ['borinot_flying_arm_2', 'hextilt_flying_arm_5'])
def test_states_of_the_srdf_may_name_fixed_joints(name):
    path = next(path for path in ALL_URDFS if path.stem == name)
    srdf = path.parents[1] / 'srdf' / f'{name}.srdf'
    model = Model.from_urdf(path, srdf, device='cpu')
    assert model.semantic.states
    for state in model.semantic.states.values():
        assert np.isfinite(model.neutral_joint_q(state)).all()


@pytest.mark.parametrize(
    ('positions', 'message'),
    [
        ({'panda_joint44': 0.0}, "no joint 'panda_joint44'.*closest: panda_joint4"),
        ({'panda_joint8': 0.0}, "joint 'panda_joint8' has 0 coordinates"),
        ({'root_joint': 0.0}, "joint 'root_joint' has 7 coordinates"),
        ({'panda_joint4': np.nan}, "joint 'panda_joint4' must be finite"),
        ({'panda_joint4': 'bent'}, "joint 'panda_joint4': expected a number"),
        ([0.0] * 9, 'positions must map names'),
    ],
)
def test_what_is_no_position_is_named(positions, message):
    with pytest.raises(ArgumentError, match=message):
        load(PANDA, floating=True).neutral_joint_q(positions)
