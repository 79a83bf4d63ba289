# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The script of the demo: the same for the same seed, reachable inside limits and box."""

import numpy as np
import pytest
from support.long_forms import either

from ros_ik.demo.robots import robot_data_path
from ros_ik.demo.robots import robot_names
from ros_ik.demo.robots.chain import choose_chain
from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.demo.scenario.phase import Requirement
from ros_ik.demo.scenario.scenario import make_scenario
from ros_ik.errors import ArgumentError
from ros_ik.model import Model

# Arms of six and seven joints, a finger, a prismatic joint, a humanoid; one without an SRDF.
SOME = ['panda', 'ur5', 'allegro_right_hand', 'tiago', 'g1', 'six_axis']


@pytest.mark.parametrize('name', either(SOME, robot_names()))
def test_every_named_robot_has_a_script(name):
    robot = DemoRobot.load(name)
    scenario = make_scenario(robot, seed=0)
    names = [phase.name for phase in scenario.phases]
    for needed in ('circle', 'box', 'joint limit', 'NaN', 'blocked', 'out of reach'):
        assert needed in names
    # Only an SRDF says which links touch by design.
    assert ('ball' in names) == ('fold up' in names) == (robot.files.srdf_path is not None)
    assert sum(phase.requirement is Requirement.REACH for phase in scenario.phases) >= 7
    for phase in scenario.phases:
        assert (phase.poses is None) != (phase.joints is None)
        if phase.requirement is Requirement.REACH and phase.poses is not None:
            places = phase.poses[:, :3]
            assert np.all(places > scenario.box_min) and np.all(places < scenario.box_max)
        if phase.name in ('box', 'out of reach'):
            place = phase.poses[-1, :3]
            assert np.any(place < scenario.box_min) or np.any(place > scenario.box_max)
    lower, upper, _, _ = robot.model.limits64()
    home, dofs = robot.home[robot.coords], robot.group.variable_dof
    assert np.all(home > lower[dofs]) and np.all(home < upper[dofs])
    (limit,) = (phase for phase in scenario.phases if phase.name == 'joint limit')
    ((joint, target),) = limit.joints.items()
    dof = dofs[robot.group.joint_names.index(joint)]
    assert not lower[dof] <= target <= upper[dof]


def test_the_seed_decides():
    robot = DemoRobot.load('six_axis')
    first, same, other = (make_scenario(robot, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.phases[0].poses, same.phases[0].poses)
    assert np.abs(first.phases[0].poses - other.phases[0].poses).max() > 1e-3


@pytest.mark.parametrize(
    ('path', 'base', 'tip'),
    [
        ('panda_description/urdf/panda.urdf', 'panda_link0', None),
        ('ur_description/urdf/ur5_robot.urdf', 'base_link', None),
        ('z1_description/urdf/z1.urdf', None, None),
        ('kinova_description/robots/kinova.urdf', None, None),
    ],
)
def test_a_robot_given_by_its_path_gets_a_chain(path, base, tip):
    robot = DemoRobot.load(str(robot_data_path() / path))
    assert robot.group.n_variables >= 5
    assert base is None or robot.chain.startswith(f'{base}:')
    make_scenario(robot, seed=0)


def test_a_robot_without_joints_is_refused():
    model = Model.from_urdf('<robot name="r"><link name="a"/></robot>', device='cpu')
    with pytest.raises(ArgumentError, match='no movable joint'):
        choose_chain(model)
