# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Host rotations against Pinocchio; tf_transformations against transforms3d."""

import importlib

import numpy as np
import pytest
from support.robots.robots import pin

from ros_ik.model.conventions import rotations


def angles(count):
    rng = np.random.default_rng(0)
    yield from rng.uniform(-np.pi, np.pi, (count, 3))
    yield from ([0, 0, 0], [0, np.pi / 2, 0], [np.pi, 0, 0], [1e-9, -1e-9, 1e-9])


def same(a, b):
    """Two quaternions for the same rotation."""
    return min(np.abs(a - b).max(), np.abs(a + b).max()) < 1e-9


@pytest.mark.oracle
def test_equal_pinocchio():
    for rpy in angles(50):
        quaternion = rotations.quaternion_from_rpy(*rpy)
        matrix = pin.rpy.rpyToMatrix(*rpy)
        np.testing.assert_allclose(rotations.matrix_from_quaternion(quaternion), matrix, atol=1e-9)
        assert same(rotations.quaternion_from_matrix(matrix), quaternion)


def test_tf_transformations_gives_the_same_numbers(monkeypatch):
    pytest.importorskip('tf_transformations', reason='tf_transformations comes with ROS installs')
    with_tf = [rotations.quaternion_from_rpy(*rpy) for rpy in angles(20)]
    monkeypatch.setattr(importlib.util, 'find_spec', lambda name: None)
    plain = importlib.reload(rotations)
    assert not plain.HAS_TF_TRANSFORMATIONS
    for rpy, expected in zip(angles(20), with_tf, strict=True):
        assert same(plain.quaternion_from_rpy(*rpy), expected)
    monkeypatch.undo()
    importlib.reload(rotations)
