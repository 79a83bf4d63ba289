# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Names, limits and mimic joints read from arrays with Newton's field names alone."""

from types import SimpleNamespace

import numpy as np
import pytest
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.newton.named_model import named_model
from ros_ik.kinematics.newton.newton_model import dof_limits
from ros_ik.kinematics.newton.newton_model import mimic_constraints
from ros_ik.kinematics.newton.newton_model import moved_bodies
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.model import ModelBuilder


def array(values, dtype=wp.float32):
    return wp.array(values, dtype=dtype, device='cpu')


def hand(**fields):
    """Return the arrays of a palm with two fingers of two hinges each; the fields replace some."""
    builder = ModelBuilder()
    palm = builder.add_link(label='hand/palm')
    joints = [builder.add_joint_revolute(-1, palm, axis=(0, 0, 1))]
    for finger in ('left', 'right'):
        parent = palm
        for part in ('near', 'far'):
            link = builder.add_link(label=f'{finger}/{part}')
            joints.append(builder.add_joint_revolute(parent, link, axis=(0, 1, 0)))
            parent = link
    builder.add_articulation(joints)
    model = builder.finalize('cpu')
    names = [
        'body_count', 'joint_count', 'joint_coord_count', 'joint_dof_count', 'joint_type',
        'joint_parent', 'joint_child', 'joint_q_start', 'joint_qd_start', 'joint_dof_dim',
        'joint_axis', 'joint_X_p', 'joint_X_c', 'joint_limit_lower', 'joint_limit_upper',
        'articulation_start', 'body_q', 'device',
    ]  # fmt: skip
    return SimpleNamespace(**{name: getattr(model, name) for name in names} | fields), model


def test_a_model_of_ours_is_not_wrapped():
    _, model = hand()
    assert named_model(model) is model


def test_limits_that_exclude_each_other_or_are_huge_are_none():
    arrays, _ = hand(
        joint_limit_lower=array([-1.0, 1.0, -1e10, -2.0, np.nan]),
        joint_limit_upper=array([1.5, -1.0, 0.5, 1e10, 2.0]),
    )
    lower, upper = dof_limits(arrays)
    np.testing.assert_array_equal(lower, np.float32([-1.0, -np.inf, -np.inf, -2.0, -np.inf]))
    np.testing.assert_array_equal(upper, np.float32([1.5, np.inf, 0.5, np.inf, 2.0]))
    wrapped = named_model(arrays)
    for found, expected in zip(wrapped.limits64(), (lower, upper, np.inf, np.inf), strict=True):
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, np.broadcast_to(expected, 5))


def test_links_are_named_by_label_its_last_part_or_index():
    labels = ['hand/palm', 'left/near', 'left/far', 'right/near', 'right/far']
    wrapped = named_model(hand(body_label=labels)[0])
    assert wrapped.body_index('palm') == wrapped.body_index('hand/palm') == 0
    assert wrapped.body_index('right/far') == 4
    with pytest.raises(ArgumentError, match="several links are called 'far': 'left/far', 'right"):
        wrapped.body_index('far')
    with pytest.raises(ArgumentError, match='palm'):
        wrapped.body_index('plam')
    assert named_model(hand()[0]).body_index('body_3') == 3


def test_a_joint_moves_the_bodies_behind_it():
    _, model = hand()
    start, bodies = moved_bodies(model, kinematic_tree(model, wp.float64))
    behind = [sorted(bodies[a:b].tolist()) for a, b in zip(start[:-1], start[1:], strict=True)]
    assert behind == [[0, 1, 2, 3, 4], [1, 2], [2], [3, 4], [4]]


MIMIC = {
    'constraint_mimic_joint0': array([2, 4], wp.int32),
    'constraint_mimic_joint1': array([1, 3], wp.int32),
    'constraint_mimic_coef0': array([0.5, 0.0]),
    'constraint_mimic_coef1': array([2.0, 1.0]),
    'constraint_mimic_enabled': array([True, False], wp.bool),
}


def test_mimic_joints_come_from_enabled_constraints_and_from_arrays_of_joints():
    arrays, _ = hand(
        **MIMIC,
        joint_mimic_joint=array([-1, -1, 3, -1, 3], wp.int32),
        joint_mimic_coeffs=array([[0, 1], [0, 1], [9, 9], [0, 1], [0.25, -1]], wp.vec2),
    )
    found = [(one.joint0, one.joint1, one.coef0, one.coef1) for one in mimic_constraints(arrays)]
    # The constraint on a joint has precedence over its entry in the arrays of joints.
    assert found == [(2, 1, 0.5, 2.0), (4, 3, 0.25, -1.0)]
    joint_q = named_model(arrays).apply_mimic(np.array([0.1, 0.2, 0.0, 0.4, 0.0]))
    np.testing.assert_allclose(joint_q, [0.1, 0.2, 0.9, 0.4, -0.15])


def test_a_model_without_such_arrays_has_no_mimic_joints():
    assert mimic_constraints(hand()[0]) == []


def test_a_mimic_joint_with_several_coordinates_is_refused():
    starts = array([0, 1, 2, 5, 6, 7], wp.int32)
    arrays, _ = hand(**MIMIC, joint_qd_start=starts)
    with pytest.raises(ArgumentError, match='one coordinate; joint 2 follows 1'):
        mimic_constraints(arrays)
