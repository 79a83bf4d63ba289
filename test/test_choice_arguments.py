# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays in the place of names: the error names the argument, and comes from no comparison."""

import numpy as np
import pytest
from support.robots.robots import urdf_text

import ros_ik as rk
from ros_ik.errors import ArgumentError

POSE = np.array([0.3, 0.2, 0.4, 0.0, 0.0, 0.0, 1.0])


@pytest.fixture(scope='module')
def ur5():
    return rk.Model.from_urdf(urdf_text('ur5_robot'), device='cpu')


@pytest.mark.parametrize('value', [np.zeros(0), np.zeros(2), np.array(['x', 'y'])])
@pytest.mark.parametrize(
    ('function', 'name'),
    [
        (rk.inverse_kinematics, 'method'), (rk.inverse_kinematics, 'tolerance_frame'),
        (rk.inverse_kinematics, 'preference'), (rk.all_solutions, 'order'),
        (rk.all_solutions, 'free_rotation'), (rk.solve_path, 'method'),
    ],
)  # fmt: skip
def test_an_array_is_no_choice(ur5, function, name, value):
    with pytest.raises(ArgumentError, match=f'^{name} must be'):
        function(ur5, 'tool0', POSE, **{name: value})


def test_arrays_of_names_are_lists_and_one_without_dimensions_is_a_name(ur5):
    names = np.array(['elbow_joint', 'wrist_1_joint'])
    assert ur5.joint_group(names).joint_names == tuple(names)
    with pytest.raises(ArgumentError, match="unknown joint group 'elbow_joint'"):
        ur5.joint_group(np.array('elbow_joint'))
    with pytest.raises(ArgumentError, match="links must be a list of links, got 'tool0'"):
        rk.fit_capsules(ur5, np.array('tool0'))


def test_a_matrix_is_no_seed(ur5):
    """NumPy 2.4 reads its rows without an end, until the stack is full."""
    with pytest.raises(ArgumentError, match='rng must be a generator or a seed'):
        ur5.random_joint_q(1, np.matrix([[1, 2], [3, 4]]))
