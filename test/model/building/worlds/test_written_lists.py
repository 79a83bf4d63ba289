# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Lists of a builder that were written to: finalize refuses invalid values."""
# A table of values, one line each.
# ruff: noqa: E501

import numpy as np
import pytest
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.model import ModelBuilder
from ros_ik.model.building.tables.columns import COLUMNS

NAN, INF = float('nan'), float('inf')
NO_TURN = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
DOUBLE_TURN = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0)
NAN_POSE = (NAN, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)

REAL = [name for name, column in COLUMNS.items() if column.grad or column.dtype == wp.float32]
INDICES = [name for name, column in COLUMNS.items() if column.references]


def an_arm():
    """Return a builder with joints j0 (revolute), j1 (revolute), j2 (sliding), j3 (ball)."""
    builder = ModelBuilder()
    builder.begin_world()
    links = [builder.add_link(name, mass=1.0, inertia=np.eye(3)) for name in 'abcd']
    limits = {'limit_lower': -1.0, 'limit_upper': 1.0}
    joints = [
        builder.add_joint_revolute(-1, links[0], axis='z', label='j0', **limits),
        builder.add_joint_revolute(links[0], links[1], axis='y', label='j1', **limits),
        builder.add_joint_prismatic(links[1], links[2], axis='x', label='j2', **limits),
        builder.add_joint_ball(links[2], links[3], label='j3'),
    ]
    builder.add_articulation(joints, 'arm')
    builder.add_shape_box(links[0], label='box')
    builder.add_constraint_mimic(joints[1], joints[0], label='follow')
    builder.end_world()
    return builder


# List, row, written value, and words of the error.
REFUSED = [
    ('body_mass', 1, -1.0, "body_mass of body 'b'.*>= 0"),
    ('body_mass', 1, 'heavy', "body_mass of body 'b'.*heavy"),
    ('body_inertia', 1, -np.eye(3), "body_inertia of body 'b'.*moments"),
    ('body_q', 2, NO_TURN, "body_q of body 'c'.*quaternion"),
    ('body_world', 2, 7, "body_world of body 'c'.*7"),
    ('body_world', 2, -1, "joint_world of joint 'j2' is 0.*body 'c'.*-1"),
    ('body_label', 2, None, r'body_label\[2\].*string'),
    ('body_lock_inertia', 2, 'no', "body_lock_inertia of body 'c'"),
    ('joint_type', 1, 99, "joint_type of joint 'j1'.*99"),
    ('joint_type', 1, 4, "joint_dof_dim of joint 'j1'.*FREE"),
    ('joint_child', 1, -1, "joint_child of joint 'j1'.*-1"),
    ('joint_child', 1, 1.5, "joint_child of joint 'j1'.*1.5"),
    ('joint_parent', 2, True, "joint_parent of joint 'j2'.*True"),
    ('joint_child', 1, np.True_, "joint_child of joint 'j1'.*True"),
    ('joint_dof_dim', 1, (0, True), "joint_dof_dim of joint 'j1'.*True"),
    ('body_mass', 1, True, "body_mass of body 'b'.*True"),
    ('joint_X_p', 1, NO_TURN, "joint_X_p of joint 'j1'.*quaternion"),
    ('joint_X_p', 1, DOUBLE_TURN, "joint_X_p of joint 'j1'.*quaternion"),
    ('joint_X_p', 1, wp.transform(wp.vec3(1, 0, 0), wp.quat(0, 0, 0, 0)), "joint_X_p of joint 'j1'"),
    ('joint_X_c', 1, NAN_POSE, "joint_X_c of joint 'j1'.*finite"),
    ('joint_X_c', 1, (0.0, 0.0, 1.0), r"joint_X_c of joint 'j1'.*\[7\]"),
    ('joint_dof_dim', 1, (5, 5), r"joint_dof_dim of joint 'j1': expected \(0, 1\)"),
    ('joint_dof_dim', 1, (-1, 2), r"joint_dof_dim of joint 'j1': expected \(0, 1\)"),
    ('joint_articulation', 1, -1, "joint_articulation of joint 'j1'.*imply 0"),
    ('joint_q_start', 1, 5, "joint_q_start of joint 'j1': expected 1"),
    ('joint_q_start', 1, 0, "joint_q_start of joint 'j1': expected 1"),
    ('joint_qd_start', 2, 5, "joint_qd_start of joint 'j2': expected 2"),
    ('joint_cts_start', 2, 1, "joint_cts_start of joint 'j2': expected 10"),
    ('joint_axis', 1, (0.0, 0.0, 0.0), r"joint_axis\[1\] of joint 'j1'.*length"),
    ('joint_limit_lower', 1, 2.0, r"joint_limit_lower\[1\] of joint 'j1'.*2.*1 leave nothing"),
    ('joint_limit_lower', 1, INF, r"joint_limit_lower\[1\] of joint 'j1'.*nothing"),
    ('joint_limit_upper', 1, -2.0, r"joint_limit_lower\[1\] of joint 'j1'.*-2 leave nothing"),
    ('joint_velocity_limit', 1, -1.0, r"joint_velocity_limit\[1\] of joint 'j1'.*-1"),
    ('joint_friction', 1, -1.0, r"joint_friction\[1\] of joint 'j1'.*-1"),
    ('joint_q', 6, 0.0, "joint_q of joint 'j3'.*quaternion"),
    ('shape_type', 0, 99, "shape_type of shape 'box'.*99"),
    ('shape_scale', 0, (-1.0, 1.0, 1.0), "shape_scale of shape 'box'.*negative"),
    ('shape_world', 0, -1, "shape_world of shape 'box' is -1"),
    ('articulation_start', 0, 1, "joint_articulation of joint 'j0'.*imply -1"),
    ('articulation_end', 0, 0, r"articulation_end of articulation 'arm'.*\[1, 4\]"),
    ('constraint_mimic_joint0', 0, 3, "constraint_mimic_joint0 of constraint_mimic 'follow'.*'j3'"),
    ('constraint_mimic_coef1', 0, 1e12, "constraint_mimic_coef1 of constraint_mimic 'follow'"),
]  # fmt: skip


@pytest.mark.parametrize('name, row, value, message', REFUSED)
def test_written_value_is_refused(name, row, value, message):
    builder = an_arm()
    getattr(builder, name)[row] = value
    with pytest.raises(ArgumentError, match=message):
        builder.finalize('cpu')


@pytest.mark.parametrize('name', REAL)
def test_nan_is_refused_in_every_list_of_numbers(name):
    builder = an_arm()
    values = getattr(builder, name)
    values[0] = np.full(np.shape(values[0]), NAN)
    with pytest.raises(ArgumentError, match=rf'^{name}(\[0\])? of .*nan'):
        builder.finalize('cpu')


@pytest.mark.parametrize('index', [99, -2])
@pytest.mark.parametrize('name', INDICES)
def test_index_of_nothing_is_refused_in_every_list_of_indices(name, index):
    builder = an_arm()
    getattr(builder, name)[0] = index
    with pytest.raises(ArgumentError, match=f'^{name} of .*{index}'):
        builder.finalize('cpu')


@pytest.mark.parametrize('name', COLUMNS)
def test_list_of_another_length_is_refused(name):
    longer, shorter = an_arm(), an_arm()
    getattr(longer, name).append(getattr(longer, name)[-1])
    getattr(shorter, name).pop()
    for builder in (longer, shorter):
        with pytest.raises(ArgumentError, match=f'^{name}: expected [0-9]+ entries'):
            builder.finalize('cpu')


def test_numbers_of_worlds_are_refused():
    for name, value in (
        ('joint_constraint_count', 1),
        ('gravity', (0, NAN, 0)),
        ('world_gravity', []),
        ('world_gravity', [(0, 0, INF)]),
        ('shape_collision_filter_pairs', [(0, 1, 2)]),
        ('shape_collision_filter_pairs', [(0, 9)]),
        ('shape_collision_filter_pairs', [(0, 0), (0, False)]),
        ('shape_collision_filter_pairs', {(0, 1.0)}),
    ):
        builder = an_arm()
        setattr(builder, name, value)
        with pytest.raises(ArgumentError, match=f'^{name}'):
            builder.finalize('cpu')


def test_written_values_are_cleaned_like_arguments():
    builder = an_arm()
    builder.joint_axis[1] = wp.vec3(0.0, 0.0, 2.0)
    builder.joint_X_p[1] = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.005)
    builder.joint_limit_upper[2] = 1e11
    builder.joint_velocity_limit[2] = 1e10
    builder.body_mass[0] = np.float32(2.0)
    model = builder.finalize('cpu')
    assert np.array_equal(model.joint_axis64[1], (0.0, 0.0, 1.0))
    assert np.array_equal(model.joint_X_p64[1], (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
    _, upper, velocity, _ = model.limits64()
    assert upper[2] == INF and velocity[2] == INF and upper[0] == 1.0
    assert model.body_mass64[0] == 2.0
    assert builder.joint_limit_upper[2] == 1e11  # the builder stays as it is


def test_distance_joint_may_have_no_upper_bound():
    builder = ModelBuilder()
    joint = builder.add_joint_distance(
        -1, builder.add_link('a'), min_distance=0.5, max_distance=-1.0
    )
    builder.finalize('cpu')
    builder.joint_limit_upper[builder.joint_qd_start[joint]] = 0.25
    with pytest.raises(ArgumentError, match='leave nothing'):
        builder.finalize('cpu')


def test_negative_moment_is_refused_when_a_link_is_added():
    builder = ModelBuilder()
    with pytest.raises(ArgumentError, match="link 'a' inertia: moments"):
        builder.add_link('a', inertia=np.diag([1.0, -1.0, 1.0]))
    builder.add_link('b', inertia=np.diag([1.0, -1e-19, 1.0]))
