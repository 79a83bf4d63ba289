# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Poses from outside: unit quaternions, and real numbers that are finite and bounded."""

import math
import warnings

import numpy as np
import pytest

from ros_ik.model.conventions.poses import pose_fault
from ros_ik.model.conventions.poses import pose_rows
from ros_ik.model.conventions.poses import unit_pose

TURN = np.array([0.5, -0.1, 0.7, 0.2]) / np.linalg.norm([0.5, -0.1, 0.7, 0.2])


@pytest.mark.parametrize('length', [0.99, 0.999, 1.0, 1.01])
def test_the_quaternion_gets_length_one_and_keeps_its_direction(length):
    given = np.array([1.0, -2.0, 1e4, *(TURN * length)])
    kept = given.copy()
    pose = unit_pose(given)
    np.testing.assert_allclose(pose, [1.0, -2.0, 1e4, *TURN], rtol=1e-14)
    np.testing.assert_array_equal(given, kept)
    assert not pose_fault(given)


@pytest.mark.parametrize('length', [0.0, 1e-7, 1e-300, 0.9899, 1.0101, math.sqrt(2.0), 1e9])
def test_a_quaternion_that_is_not_unit_gives_none_and_says_so(length):
    values = [0.0, 0.0, 0.0, *(TURN * length)]
    assert unit_pose(values) is None
    assert 'norm of the quaternion' in pose_fault(values)


def test_rows_that_are_no_poses_are_nan():
    rows = np.zeros((6, 7))
    rows[:, 6] = [1.0, math.sqrt(2.0), 0.0, 1.005, 1.0, 1.0]
    rows[4, 0], rows[5, 1] = 1e300, math.nan
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        found = pose_rows(rows)
    assert np.isnan(found).any(axis=1).tolist() == [False, True, True, False, True, True]
    np.testing.assert_allclose(found[[0, 3], 6], 1.0)


@pytest.mark.parametrize('index', range(7))
@pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf, 1e10, 1e300, 1j, '1', None])
def test_a_number_that_is_none_gives_none_and_is_named(index, value):
    values = [0.0, 0.0, 0.0, *TURN]
    values[index] = value
    assert unit_pose(values) is None
    assert ('position.', 'orientation.')[index > 2] + 'xyzxyzw'[index] in pose_fault(values)
