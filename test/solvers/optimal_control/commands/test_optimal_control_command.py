# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The builder of optimal-control commands: names, defaults and checks of rby1's."""

import dataclasses
import inspect

import numpy as np
import pytest
from support.robots.robots import load
from support.robots.robots import pin
from support.robots.robots import urdf_text

from ros_ik.errors import ArgumentError
from ros_ik.model import Model
from ros_ik.solvers.optimal_control.commands.command import CommandHeaderBuilder
from ros_ik.solvers.optimal_control.commands.command import OptimalControlCommandBuilder

I4 = np.eye(4)


def builder():
    return OptimalControlCommandBuilder()


def parameters(method):
    """Names of the arguments of a method of the builder."""
    return list(inspect.signature(getattr(OptimalControlCommandBuilder, method)).parameters)[1:]


# Copied from the document of rby1_sdk.OptimalControlCommandBuilder.
DOCUMENTED = {
    'add_cartesian_target': [
        'ref_link_name', 'link_name', 'T', 'translation_weight', 'rotation_weight'
    ],
    'add_joint_position_target': ['joint_name', 'target_position', 'weight'],
    'set_acceleration_limit_scaling': ['acceleration_limit_scaling'],
    'set_center_of_mass_target': ['ref_link_name', 'pose', 'weight'],
    'set_command_header': ['command_header_builder'],
    'set_error_scaling': ['error_scaling'],
    'set_min_delta_cost': ['min_delta_cost'],
    'set_patience': ['patience'],
    'set_stop_cost': ['stop_cost'],
    'set_velocity_limit_scaling': ['velocity_limit_scaling'],
}  # fmt: skip


@pytest.mark.parametrize('method', DOCUMENTED)
def test_arguments_are_the_documented_ones(method):
    assert parameters(method) == DOCUMENTED[method]


def test_every_method_returns_the_builder_and_is_kept():
    T = np.array([[0.0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]])
    made = builder()
    header = CommandHeaderBuilder().set_control_hold_time(2.5)
    for returned in (
        made.add_cartesian_target('a', 'b', T, translation_weight=2.0, rotation_weight=0.5),
        made.add_cartesian_target('', 'c', I4),
        made.add_joint_position_target('j', 0.4, weight=0.2),
        made.set_center_of_mass_target('a', np.array([[1.0], [2.0], [3.0]]), 3.0),
        made.set_velocity_limit_scaling(0.8),
        made.set_acceleration_limit_scaling(1.6),
        made.set_error_scaling(1.5),
        made.set_stop_cost(2e-3),
        made.set_min_delta_cost(1e-3),
        made.set_patience(7),
        made.set_command_header(header),
    ):
        assert returned is made
    command = made.build()
    first, second = command.cartesian_targets
    assert (first.ref_link_name, first.link_name) == ('a', 'b')
    assert np.array_equal(first.T, T)
    assert (first.translation_weight, first.rotation_weight) == (2.0, 0.5)
    assert (second.translation_weight, second.rotation_weight) == (1.0, 1.0)
    (joint,) = command.joint_position_targets
    assert (joint.joint_name, joint.target_position, joint.weight) == ('j', 0.4, 0.2)
    center = command.center_of_mass_target
    assert (center.ref_link_name, center.position.tolist(), center.weight) == ('a', [1, 2, 3], 3)
    assert command.velocity_limit_scaling == 0.8
    assert command.acceleration_limit_scaling == 1.6
    assert command.error_scaling == 1.5
    assert (command.stop_cost, command.min_delta_cost, command.patience) == (2e-3, 1e-3, 7)
    assert command.header.control_hold_time == 2.5


def test_a_target_may_be_a_pose_of_seven_numbers():
    rng = np.random.default_rng(4)
    for _ in range(20):
        quaternion = rng.normal(size=4)
        quaternion /= np.linalg.norm(quaternion)
        pose = [*rng.normal(size=3), *rng.uniform(0.991, 1.009) * quaternion]
        expected = pin.XYZQUATToSE3([*pose[:3], *quaternion])
        made = builder().add_cartesian_target('', 'b', pose).build().cartesian_targets[0]
        np.testing.assert_allclose(made.T, expected.homogeneous, atol=1e-14)
        assert made.T.shape == (4, 4) and not made.T.flags.writeable
    longer = [0, 0, 0, 0, 0, 0, 1.02]
    for bad in ([0.0] * 7, longer, [np.nan] * 7, [0.0] * 6, [0, 0, 0, 0, 0, 0, 'w']):
        with pytest.raises(ArgumentError, match=r'\bT(:| must)'):
            builder().add_cartesian_target('', 'b', bad)


def test_defaults():
    command = builder().set_center_of_mass_target('', [0, 0, 0]).build()
    assert command.center_of_mass_target.weight == 1.0
    assert command.velocity_limit_scaling == 1.0
    assert command.acceleration_limit_scaling == 1.0
    assert command.error_scaling == 1.0
    assert (command.stop_cost, command.min_delta_cost, command.patience) == (None, None, None)
    assert command.header.control_hold_time == 0.0


def test_a_command_stays_as_it_was_built():
    T, position = np.eye(4), np.zeros(3)
    made = builder().add_cartesian_target('', 'b', T).set_center_of_mass_target('', position)
    command = made.build()
    T[0, 3], position[0] = 9.0, 9.0
    made.add_joint_position_target('j', 1.0)
    assert command.cartesian_targets[0].T[0, 3] == 0.0
    assert command.center_of_mass_target.position[0] == 0.0
    assert not command.joint_position_targets
    for frozen in (command.cartesian_targets[0].T, command.center_of_mass_target.position):
        with pytest.raises(ValueError, match='read-only'):
            frozen[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        command.patience = 3


SHEARED, MIRRORED, LAST_ROW = np.eye(4), np.diag([1.0, 1.0, -1.0, 1.0]), np.eye(4)
SHEARED[0, 1], LAST_ROW[3, 0] = 0.1, 0.1
NAN4 = np.full((4, 4), np.nan)

BAD = [
    ('T', lambda b: b.add_cartesian_target('', 'b', SHEARED)),
    ('T', lambda b: b.add_cartesian_target('', 'b', MIRRORED)),
    ('T', lambda b: b.add_cartesian_target('', 'b', LAST_ROW)),
    ('T', lambda b: b.add_cartesian_target('', 'b', NAN4)),
    ('T', lambda b: b.add_cartesian_target('', 'b', np.eye(3))),
    ('T', lambda b: b.add_cartesian_target('', 'b', 'pose')),
    ('link_name', lambda b: b.add_cartesian_target('', '', I4)),
    ('link_name', lambda b: b.add_cartesian_target('b', 'b', I4)),
    ('ref_link_name', lambda b: b.add_cartesian_target(3, 'b', I4)),
    ('translation_weight', lambda b: b.add_cartesian_target('', 'b', I4, -1.0, 1.0)),
    ('rotation_weight', lambda b: b.add_cartesian_target('', 'b', I4, 1.0, np.nan)),
    ('joint_name', lambda b: b.add_joint_position_target('', 0.0)),
    ('target_position', lambda b: b.add_joint_position_target('j', np.nan)),
    ('weight', lambda b: b.add_joint_position_target('j', 0.0, -0.1)),
    ('pose', lambda b: b.set_center_of_mass_target('', [0.0, 1.0])),
    ('pose', lambda b: b.set_center_of_mass_target('', [0.0, 1.0, np.inf])),
    ('weight', lambda b: b.set_center_of_mass_target('', [0, 0, 0], -1)),
    ('velocity_limit_scaling', lambda b: b.set_velocity_limit_scaling(0.0)),
    ('velocity_limit_scaling', lambda b: b.set_velocity_limit_scaling(1.01)),
    ('acceleration_limit_scaling', lambda b: b.set_acceleration_limit_scaling(0.0)),
    ('acceleration_limit_scaling', lambda b: b.set_acceleration_limit_scaling(np.inf)),
    ('error_scaling', lambda b: b.set_error_scaling(-1.0)),
    ('stop_cost', lambda b: b.set_stop_cost(-1e-9)),
    ('min_delta_cost', lambda b: b.set_min_delta_cost(np.nan)),
    ('patience', lambda b: b.set_patience(0)),
    ('patience', lambda b: b.set_patience(2.5)),
    ('command_header_builder', lambda b: b.set_command_header(None)),
    ('control_hold_time', lambda b: CommandHeaderBuilder().set_control_hold_time(-1.0)),
]


@pytest.mark.parametrize(('argument', 'call'), BAD, ids=range(len(BAD)))
def test_bad_arguments_are_named_at_once(argument, call):
    with pytest.raises(ArgumentError, match=f'^{argument} must'):
        call(builder())


def test_scalings_reach_their_ends():
    made = builder().add_joint_position_target('j', 0.0)
    command = made.set_velocity_limit_scaling(1.0).set_acceleration_limit_scaling(50.0).build()
    assert command.acceleration_limit_scaling == 50.0


def test_a_command_needs_a_target():
    with pytest.raises(ArgumentError, match='no target'):
        builder().build()


def test_names_are_checked_against_a_model():
    model = Model.from_urdf(urdf_text('panda'), device='cpu')
    good = builder().add_cartesian_target('panda_link0', 'panda_hand', I4)
    good.add_joint_position_target('panda_joint1', 0.1).set_center_of_mass_target('', [0, 0, 0])
    assert good.build(model).cartesian_targets
    for bad, name in (
        (builder().add_cartesian_target('panda_link0', 'panda_paw', I4), 'panda_paw'),
        (builder().add_cartesian_target('panda_linko', 'panda_hand', I4), 'panda_linko'),
        (builder().set_center_of_mass_target('foot', [0, 0, 0]), 'foot'),
        (builder().add_joint_position_target('panda_joint9', 0.0), 'panda_joint9'),
        (builder().add_joint_position_target('panda_joint8', 0.0), '0 degrees of freedom'),
    ):
        with pytest.raises(ArgumentError, match=name):
            bad.build(model)


def test_a_free_joint_has_no_position_target():
    path = next(path for path in _urdf_paths() if path.stem == 'panda')
    model = load(path, floating=True)
    with pytest.raises(ArgumentError, match='6 degrees of freedom'):
        builder().add_joint_position_target(model.joint_label[0], 0.0).build(model)


def _urdf_paths():
    from support.robots.robots import ALL_URDFS

    return ALL_URDFS
