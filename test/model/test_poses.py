# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Poses from outside: quaternions of any length but none, and no number that is not finite."""

import math

import numpy as np
import pytest

from ros_ik.model.poses import unit_pose

TURN = np.array([0.5, -0.1, 0.7, 0.2]) / np.linalg.norm([0.5, -0.1, 0.7, 0.2])


@pytest.mark.parametrize('length', [2e-6, 0.999, 1.0, 1e3, 1e200])
def test_the_quaternion_gets_length_one_and_keeps_its_direction(length):
    given = np.array([1.0, -2.0, 1e4, *(TURN * length)])
    kept = given.copy()
    pose = unit_pose(given)
    np.testing.assert_allclose(pose, [1.0, -2.0, 1e4, *TURN], rtol=1e-14)
    np.testing.assert_array_equal(given, kept)


@pytest.mark.parametrize('length', [0.0, 1e-7, 1e-300])
def test_a_quaternion_without_a_direction_gives_none(length):
    assert unit_pose([0.0, 0.0, 0.0, *(TURN * length)]) is None


@pytest.mark.parametrize('index', range(7))
@pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_gives_none(index, value):
    values = [0.0, 0.0, 0.0, *TURN]
    values[index] = value
    assert unit_pose(values) is None
