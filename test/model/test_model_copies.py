# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Copies of models and of their builders."""

import copy
import pickle

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS

from ros_ik.model import ModelBuilder

(UR5,) = (path for path in ALL_URDFS if path.stem == 'ur5_robot')


def builder():
    """Return the builder of a UR5."""
    made = ModelBuilder()
    made.add_urdf(source=UR5)
    return made


@pytest.mark.parametrize('duplicate', [pickle.dumps, copy.deepcopy])
def test_the_error_names_the_way_to_other_processes(duplicate):
    model = builder().finalize('cpu')
    model.solver_cache['solver'] = 1
    with pytest.raises(TypeError, match=r'pickle its ModelBuilder and call finalize\(\)'):
        duplicate(model)


def test_a_copy_shares_the_arrays_and_no_solvers():
    model = builder().finalize('cpu')
    model.solver_cache['solver'] = 1
    other = copy.copy(model)
    assert other.joint_X_p is model.joint_X_p and not other.solver_cache
    assert other.body_index('tool0') == model.body_index('tool0')


def test_a_builder_can_be_pickled():
    made = builder()
    model, other = made.finalize('cpu'), pickle.loads(pickle.dumps(made)).finalize('cpu')
    assert other.joint_label == model.joint_label and other.shape_label == model.shape_label
    np.testing.assert_array_equal(other.limits64(), model.limits64())
    np.testing.assert_array_equal(other.joint_X_p64, model.joint_X_p64)
