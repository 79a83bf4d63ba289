# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Poses on the host against rotation matrices, also near the identity and half a turn."""

import numpy as np
import pytest

from ros_ik.model.conventions import rotations
from ros_ik.servo.motion import pose_math


def matrix(q):
    """Return the rotation matrix of a quaternion."""
    return np.column_stack([pose_math.quat_rotate(q, axis) for axis in np.eye(3)])


def random_quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def test_products_and_inverses_are_those_of_the_matrices():
    rng = np.random.default_rng(1)
    for _ in range(50):
        a = np.concatenate([rng.normal(size=3), random_quaternion(rng)])
        b = np.concatenate([rng.normal(size=3), random_quaternion(rng)])
        np.testing.assert_allclose(
            matrix(pose_math.quat_multiply(a[3:], b[3:])),
            matrix(a[3:]) @ matrix(b[3:]),
            atol=1e-12,
        )
        ab = pose_math.pose_multiply(a, b)
        np.testing.assert_allclose(ab[:3], a[:3] + matrix(a[3:]) @ b[:3], atol=1e-12)
        back = pose_math.pose_multiply(pose_math.pose_inverse(a), ab)
        np.testing.assert_allclose(back[:3], b[:3], atol=1e-12)
        np.testing.assert_allclose(matrix(back[3:]), matrix(b[3:]), atol=1e-12)


@pytest.mark.parametrize('angle', [0.0, 1e-14, 1e-9, 1e-3, 1.0, np.pi - 1e-9, np.pi])
def test_logarithm_inverts_the_exponential(angle):
    axis = np.array([1.0, -2.0, 2.0]) / 3.0
    q = pose_math.rotation_exp(angle * axis)
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-12)
    for sign in (1.0, -1.0):
        log = pose_math.rotation_log(sign * q)
        np.testing.assert_allclose(matrix(pose_math.rotation_exp(log)), matrix(q), atol=1e-12)
        assert np.linalg.norm(log) <= np.pi + 1e-12


def test_roll_pitch_yaw_is_that_of_urdf():
    roll, pitch, yaw = 0.3, -0.7, 1.9
    about = pose_math.rotation_exp
    expected = (
        matrix(about((0, 0, yaw))) @ matrix(about((0, pitch, 0))) @ matrix(about((roll, 0, 0)))
    )
    np.testing.assert_allclose(
        matrix(rotations.quaternion_from_rpy(roll, pitch, yaw)), expected, atol=1e-12
    )


def test_matrix_is_that_of_the_model():
    rng = np.random.default_rng(3)
    for quaternion in [random_quaternion(rng) for _ in range(50)]:
        np.testing.assert_allclose(
            pose_math.rotation_matrix(quaternion.tolist()),
            rotations.matrix_from_quaternion(quaternion),
            atol=4e-15,  # rounding of a dozen operations on numbers below 1
        )


def test_difference_takes_a_pose_to_its_target():
    rng = np.random.default_rng(2)
    pose = np.concatenate([rng.normal(size=3), random_quaternion(rng)])
    target = np.concatenate([rng.normal(size=3), random_quaternion(rng)])
    linear, angular = pose_math.pose_difference(target, pose)
    np.testing.assert_allclose(pose[:3] + linear, target[:3], atol=1e-12)
    turned = pose_math.quat_multiply(pose_math.rotation_exp(angular), pose[3:])
    np.testing.assert_allclose(matrix(turned), matrix(target[3:]), atol=1e-12)
