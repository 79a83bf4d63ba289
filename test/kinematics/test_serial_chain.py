# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The folded chain places the tool where the tree of the model does, on every robot."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.robots.random_pose import random_pose
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
from support.robots.robots import SOME_IDS
from support.robots.robots import SOME_URDFS

from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_fk
from ros_ik.kinematics.serial_chain import serial_chain
from ros_ik.model import Model
from ros_ik.model import ModelBuilder
from ros_ik.model.building.tables.joint_dof import DofData

# Products of a dozen float64 matrices with entries of order one.
TOLERANCE = 1e-12


def tool_matrix(chain, joint_q):
    """Return the homogeneous matrix of the tool."""
    result = chain.constants[0]
    for i, slides in enumerate(chain.slides):
        value = joint_q[chain.coordinates[chain.variables[i]]]
        value = chain.coef0[i] + chain.coef1[i] * value
        motion = np.eye(4)
        if slides:
            motion[2, 3] = value
        else:
            motion[:2, :2] = [[np.cos(value), -np.sin(value)], [np.sin(value), np.cos(value)]]
        result = result @ motion @ chain.constants[i + 1]
    return result


def moving_leaves(model):
    """Return the links without children that some joint of the model moves."""
    parents = set(model.joint_parent.numpy().tolist())
    for body, label in enumerate(model.body_label):
        if body not in parents:
            try:
                yield body, serial_chain(model, label)
            except ArgumentError:
                continue  # a sensor bolted to the base


@pytest.mark.parametrize('path', SOME_URDFS, ids=SOME_IDS)
def test_tool_is_where_the_tree_puts_it(path):
    model = load(path)
    joint_q = model.random_joint_q(2, np.random.default_rng(7))
    body_q = np.zeros((2, model.body_count, 7))
    eval_fk(model, joint_q, body_q)
    leaves = list(moving_leaves(model))
    assert leaves or model.joint_dof_count == 0
    for body, chain in leaves[:8]:
        for row in range(2):
            matrix = tool_matrix(chain, joint_q[row])
            pose = body_q[row, body]
            x, y, z, w = pose[3:]
            z_axis = [2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)]
            np.testing.assert_allclose(matrix[:3, 3], pose[:3], atol=TOLERANCE)
            np.testing.assert_allclose(matrix[:3, 2], z_axis, atol=TOLERANCE)


def test_limits_of_a_mimic_joint_bound_its_driver():
    model = Model.from_urdf(FINGER, device='cpu')
    chain = serial_chain(model, 'tip')
    assert chain.variables == (0, 0)
    np.testing.assert_allclose(chain.coef1, [1.0, -2.0])
    # The follower stays in [-1, 0.5]: q = 0.1 - 2 v, so v in [-0.2, 0.55].
    np.testing.assert_allclose([chain.lower[0], chain.upper[0]], [-0.2, 0.55])


def test_limits_of_a_mimic_joint_that_exclude_all_positions_of_its_driver_have_no_effect():
    # The follower stays in [-1, 0.5]: q = 9 - 2 v, so v in [4.25, 5], outside its own [-2, 2].
    model = Model.from_urdf(FINGER.replace('offset="0.1"', 'offset="9"'), device='cpu')
    assert 'all outside its limits' in model.warnings[0]
    chain = serial_chain(model, 'tip')
    np.testing.assert_allclose([chain.lower[0], chain.upper[0]], [-2.0, 2.0])


FINGER = """<robot name="finger">
  <link name="base"/><link name="middle"/><link name="tip"/>
  <joint name="first" type="revolute">
    <parent link="base"/><child link="middle"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" velocity="1" effort="1"/>
  </joint>
  <joint name="second" type="revolute">
    <parent link="middle"/><child link="tip"/><origin xyz="0.1 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="0.5" velocity="1" effort="1"/>
    <mimic joint="first" multiplier="-2" offset="0.1"/>
  </joint>
</robot>"""


def test_joints_outside_the_group_are_held():
    (path,) = (path for path in ALL_URDFS if path.stem == 'tiago')
    model = load(path)
    joint_q = model.random_joint_q(1, np.random.default_rng(3))[0]
    group = model.joint_group('torso_lift_link:arm_tool_link')
    chain = serial_chain(model, 'arm_tool_link', group=group, joint_q=joint_q)
    assert chain.n_variables == serial_chain(model, 'arm_tool_link').n_variables - 1
    body_q = np.zeros((1, model.body_count, 7))
    eval_fk(model, joint_q[None], body_q)
    tool = body_q[0, model.body_index('arm_tool_link'), :3]
    np.testing.assert_allclose(tool_matrix(chain, joint_q)[:3, 3], tool, atol=TOLERANCE)


def test_what_a_chain_cannot_hold_is_named():
    (path,) = (path for path in ALL_URDFS if path.stem == 'panda')
    with pytest.raises(ArgumentError, match='free joint'):
        serial_chain(load(path, floating=True), 'panda_hand')
    with pytest.raises(ArgumentError, match="no joint of the group moves link 'panda_link0'"):
        serial_chain(load(path), 'panda_link0')
    with pytest.raises(ArgumentError, match='panda_hnad'):
        serial_chain(load(path), 'panda_hnad')


def matrix_of(pose):
    """Return the homogeneous matrix of a pose."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = Rotation.from_quat(pose[3:]).as_matrix(), pose[:3]
    return matrix


@pytest.fixture(scope='module')
def motley():
    """Return a robot with joints of each kind, of which 'swing', 'table', 'slide', 'end' move."""
    rng, builder = np.random.default_rng(8), ModelBuilder()
    links = [builder.add_link('base', xform=random_pose(rng))]

    def dof(lower, upper):
        axis = rng.normal(size=3)
        return DofData(axis / np.linalg.norm(axis), lower, upper)

    def add(kind, label, *dofs, parent=None, **given):
        links.append(builder.add_link(f'of {label}'))
        poses = {'parent_xform': random_pose(rng), 'child_xform': random_pose(rng)}
        bodies = links[-2 if parent is None else parent], links[-1]
        given |= {'dof': dofs[0]} if dofs else {}
        return getattr(builder, f'add_joint_{kind}')(*bodies, label=label, **poses, **given)

    swing = add('revolute', 'swing', dof(-1.0, 2.0))
    add('d6', 'table', linear_axes=[dof(2.0, np.inf), dof(-np.inf, -3.0)],
        angular_axes=[dof(-np.inf, np.inf)])  # fmt: skip
    add('fixed', 'bolt')
    follower = add('prismatic', 'follower', dof(-0.3, 0.6))
    add('ball', 'ball')
    add('prismatic', 'slide', dof(-np.inf, np.inf))
    loose = add('revolute', 'loose follower', dof(-9.0, 9.0))
    add('prismatic', 'locked slide', dof(-1.0, 1.0))
    locked_follower = add('revolute', 'locked follower', dof(-9.0, 9.0))
    add('revolute', 'end', dof(-0.5, np.inf))
    side = add('revolute', 'side', dof(-0.3, 0.4), parent=1)
    geared = add('revolute', 'geared', dof(-9.0, 9.0), parent=0)
    equal = add('revolute', 'equal', dof(-9.0, 9.0), parent=0)
    builder.add_constraint_mimic(follower, swing, 0.1, -0.5)
    builder.add_constraint_mimic(loose, swing, 0.2, 3.0)
    builder.add_constraint_mimic(locked_follower, side, 0.7, -2.0)
    builder.add_constraint_mimic(geared, side, 0.0, -0.5)
    builder.add_constraint_mimic(equal, side, 0.1, 1.0)
    return builder.finalize('cpu')


def test_each_kind_of_joint_moves_or_locks_the_tool_as_in_the_tree(motley):
    rng = np.random.default_rng(2)
    offset = np.array(random_pose(rng))
    joint_q = motley.random_joint_q(3, rng)
    body_q = np.zeros((3, motley.body_count, 7))
    eval_fk(motley, joint_q, body_q)
    group = ['swing', 'table', 'slide', 'end']
    for row in range(3):
        chain = serial_chain(
            motley, 'of end', group=group, joint_q=joint_q[row], offset=offset
        )
        expected = matrix_of(body_q[row, motley.body_index('of end')]) @ matrix_of(offset)
        np.testing.assert_allclose(tool_matrix(chain, joint_q[row]), expected, atol=TOLERANCE)
    assert chain.slides == (False, True, True, False, True, True, False, False)
    assert chain.variables == (0, 1, 2, 3, 0, 4, 0, 5) and not chain.is_direct


def test_variables_have_the_limits_ranges_and_turns_of_their_joints(motley):
    chain = serial_chain(motley, 'of end', group=['swing', 'table', 'slide', 'end'])
    inf, pi = np.inf, np.pi
    # The follower is 0.1 - 0.5 v in [-0.3, 0.6].
    np.testing.assert_allclose(chain.lower, [-1.0, 2.0, -inf, -inf, -inf, -0.5])
    np.testing.assert_allclose(chain.upper, [0.8, inf, -3.0, inf, inf, inf])
    lower, upper = chain.sampling_range()
    # A range with one limit begins there; a slide is sampled over two metres.
    np.testing.assert_allclose(lower, [-1.0, 2.0, -5.0, -pi, -1.0, -0.5])
    np.testing.assert_allclose(upper, [0.8, 4.0, -3.0, pi, 1.0, 2.0 * pi - 0.5])
    np.testing.assert_allclose(chain.turn_lengths(), [inf, inf, inf, 2.0 * pi, inf, 2.0 * pi])


def test_a_joint_whose_driver_is_elsewhere_has_the_limits_and_turns_of_its_driver(motley):
    geared, equal = (serial_chain(motley, f'of {name}') for name in ('geared', 'equal'))
    for chain in (geared, equal):
        assert chain.variables == (0,) and not chain.is_direct
        np.testing.assert_allclose([chain.lower[0], chain.upper[0]], [-0.3, 0.4])
    np.testing.assert_allclose(geared.turn_lengths(), 4.0 * np.pi)
    np.testing.assert_allclose(equal.turn_lengths(), 2.0 * np.pi)
    assert serial_chain(motley, 'of side').is_direct


def test_joints_through_one_point_reach_1_m():
    text = FINGER.replace('xyz="0.1 0 0"', 'xyz="0 0 0"')
    assert serial_chain(Model.from_urdf(text, device='cpu'), 'tip').reach == 1.0
    assert serial_chain(Model.from_urdf(FINGER, device='cpu'), 'tip').reach == 0.1
