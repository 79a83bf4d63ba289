# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Arguments of the chain solvers, and the errors that name wrong ones."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load

from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_fk
from ros_ik.solvers import ChainIK
from ros_ik.solvers import ChainIKSettings
from ros_ik.solvers import inverse_kinematics
from ros_ik.solvers import solve_path
from ros_ik.solvers import SolveStatus

TIP = 'panda_hand_tcp'


def robot(name):
    (path,) = (path for path in ALL_URDFS if path.stem == name)
    return load(path)


@pytest.fixture(scope='module')
def poses():
    model = robot('panda')
    joint_q = model.random_joint_q(4, 0)
    body_q = np.zeros((4, model.body_count, 7))
    eval_fk(model, joint_q, body_q)
    return body_q[:, model.body_index(TIP)]


def solve(poses, **given):
    return inverse_kinematics(robot('panda'), given.pop('link', TIP), poses, **given)


@pytest.mark.parametrize(
    'given',
    [
        {'link': robot('panda').body_index(TIP)},
        {'link': np.int64(robot('panda').body_index(TIP))},
        {'joint_group': 'panda_link0:panda_hand'},
        {'joint_group': [f'panda_joint{k}' for k in range(1, 8)]},
        {'joint_group': robot('panda').joint_group('panda_link0:panda_hand')},
    ],
)
def test_links_and_groups_may_be_given_in_several_ways(poses, given):
    expected = solve(poses)
    result = solve(poses, **given)
    assert (result.status == SolveStatus.CONVERGED).all()
    np.testing.assert_array_equal(result.joint_q, expected.joint_q)


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        *(('position_tolerance', value) for value in ('a', None, [1, 2], -1.0, 0.0, np.nan)),
        *(('n_solutions', value) for value in (1.5, 'a', None, 0, -1)),
        *(('n_threads', value) for value in (0, -1, 'a')),
        ('joint_q', np.full(9, np.nan)),
        ('joint_q', np.zeros((2, 9))),
        ('offset', [0, 0, np.nan, 0, 0, 0, 1]),
        ('offset', [0] * 7),
        ('offset', [0, 0, 0.1]),
        ('settings', {}),
        ('link', 1000),
        ('link', 1.5),
        ('link', None),
        ('joint_group', robot('ur5_robot').joint_group('base_link:ee_link')),
    ],
)
def test_a_wrong_argument_is_named(poses, name, value):
    with pytest.raises(ArgumentError, match=name):
        solve(poses, **{name: value})


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('window', 0), ('window', -1), ('patient_window', 0), ('max_attempts', -1),
        ('max_iterations', 0), ('damping', -1.0), ('damping', np.nan), ('progress', -1.0),
        ('relative_length', -1.0), ('separation', 0.0), ('seed', -1), ('seed', 0.5),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_named(name, value):
    with pytest.raises(ArgumentError, match=name):
        ChainIKSettings(**{name: value})


@pytest.mark.parametrize('n', [10**9, 2**31, 1.5, 'a', 0, None])
def test_a_batch_of_impossible_size_is_named(n):
    with pytest.raises(ArgumentError, match='n_problems'):
        ChainIK(robot('panda'), TIP, n)


@pytest.mark.parametrize('count', [-1, 4, True, 1.0, 'a'])
def test_a_number_of_poses_that_the_batch_lacks_is_named(count):
    solver = ChainIK(robot('panda'), TIP, 3)
    for method in (solver.run, solver.download):
        with pytest.raises(ArgumentError, match='count must be an integer from 0 to 3, got'):
            method(count)


def test_a_model_without_names_is_sent_elsewhere(poses):
    with pytest.raises(ArgumentError, match='model must be a ros_ik Model.*IKSolver'):
        inverse_kinematics(None, TIP, poses)


def test_a_path_needs_branches(poses):
    with pytest.raises(ArgumentError, match='n_branches'):
        solve_path(robot('panda'), TIP, poses, n_branches=0)


def test_many_solutions_are_split_as_well(poses, monkeypatch):
    """A request is split by its number of solutions, in two batches, with the same answers."""
    whole = solve(poses, n_solutions=4)
    sizes = []
    make = ChainIK.__init__

    def spy(self, model, link, n_problems=1, **given):
        sizes.append(n_problems)
        make(self, model, link, n_problems, **given)

    monkeypatch.setattr('ros_ik.solvers.pose_batches.batch.MAX_BATCH', 8)
    monkeypatch.setattr(ChainIK, '__init__', spy)
    parts = solve(poses, n_solutions=4)
    assert sizes == [2]
    np.testing.assert_array_equal(parts.status, whole.status)
    assert parts.joint_q.shape == whole.joint_q.shape
