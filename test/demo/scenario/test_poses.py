# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rotation vectors against transforms3d."""

import numpy as np
import pytest

from ros_ik.demo.scenario.poses import pose_errors
from ros_ik.demo.scenario.poses import rotation_vector

quaternions = pytest.importorskip('transforms3d.quaternions')


def random_quaternion(rng: np.random.Generator) -> np.ndarray:
    quaternion = rng.normal(size=4)
    return quaternion / np.linalg.norm(quaternion)


def matrix(quaternion: np.ndarray) -> np.ndarray:
    return quaternions.quat2mat(np.roll(quaternion, 1))


@pytest.mark.parametrize('seed', range(20))
def test_rotation_vector_takes_start_to_end(seed):
    rng = np.random.default_rng(seed)
    start, end = random_quaternion(rng), random_quaternion(rng)
    vector = rotation_vector(start, end)
    angle = np.linalg.norm(vector)
    rotation = quaternions.quat2mat(quaternions.axangle2quat(vector, angle))
    np.testing.assert_allclose(rotation @ matrix(start), matrix(end), atol=1e-12)
    assert angle <= np.pi + 1e-12
    np.testing.assert_allclose(rotation_vector(start, -end), vector, atol=1e-12)


def test_small_and_no_rotation():
    rng = np.random.default_rng(0)
    start = random_quaternion(rng)
    np.testing.assert_array_equal(rotation_vector(start, start), np.zeros(3))
    for angle in (1e-14, 1e-9, 1e-5):
        turn = np.array([0.0, 0.0, np.sin(angle / 2.0), np.cos(angle / 2.0)])
        vector = rotation_vector([0.0, 0.0, 0.0, 1.0], turn)
        np.testing.assert_allclose(vector, [0.0, 0.0, angle], rtol=1e-9, atol=0.0)


def test_errors_of_many_poses():
    poses = np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]] * 2)
    targets = np.array([[3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]])
    distance, angle = pose_errors(poses, targets)
    np.testing.assert_allclose(distance, [5.0, 0.0])
    np.testing.assert_allclose(angle, [0.0, np.pi])
