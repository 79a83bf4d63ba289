# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Poses from outside: unit quaternions, and real numbers that are finite and bounded."""

import math
import warnings

import numpy as np
import pytest

from ros_ik.model.conventions.poses import cross
from ros_ik.model.conventions.poses import perpendicular
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


@pytest.mark.parametrize('n', [1, 2, 40])
@pytest.mark.parametrize(
    ('column', 'value'),
    [
        (0, math.nan), (2, math.inf), (1, -math.inf), (0, 1.1e9), (2, -1.1e9), (4, math.nan),
        (6, math.inf), (6, 1.02), (6, 0.98), (6, 0.0), (3, -1.02),
    ],
)  # fmt: skip
def test_a_row_that_is_no_pose_is_found_wherever_it_is(n, column, value):
    rng = np.random.default_rng(0)
    good = np.concatenate([rng.normal(size=(n, 6)) * [1, 1, 1, 0, 0, 0], np.ones((n, 1))], axis=1)
    for row in {0, n // 2, n - 1}:
        rows = good.copy()
        rows[row, column] = value
        found = pose_rows(rows)
        assert np.isnan(found).any(axis=1).tolist() == [k == row for k in range(n)]
        np.testing.assert_array_equal(np.delete(found, row, 0), np.delete(good, row, 0))


@pytest.mark.parametrize('index', range(7))
@pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf, 1e10, 1e300, 1j, '1', None])
def test_a_number_that_is_none_gives_none_and_is_named(index, value):
    values = [0.0, 0.0, 0.0, *TURN]
    values[index] = value
    assert unit_pose(values) is None
    assert ('position.', 'orientation.')[index > 2] + 'xyzxyzw'[index] in pose_fault(values)


@pytest.mark.parametrize(
    'shapes', [((3,), (3,)), ((4, 3), (3,)), ((5, 1, 3), (4, 3)), ((0, 3), (0, 3))]
)
def test_cross_products_are_numpys(shapes):
    rng = np.random.default_rng(1)
    first, second = (rng.normal(size=shape) for shape in shapes)
    np.testing.assert_array_equal(cross(first, second), np.cross(first, second))


def test_a_perpendicular_vector_is_long_for_any_direction():
    directions = np.vstack([np.eye(3), -np.eye(3), np.random.default_rng(5).normal(size=(50, 3))])
    for direction in directions / np.linalg.norm(directions, axis=1, keepdims=True):
        found = perpendicular(direction)
        assert abs(found @ direction) < 1e-15
        assert np.linalg.norm(found) > 0.81  # sqrt(2/3) where all coordinates are equal
