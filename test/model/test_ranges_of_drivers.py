# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Neutral and random configurations keep the limits of mimic joints, too."""

import numpy as np
import pytest
from support.solvers.followers import Follower
from support.solvers.followers import is_inside
from support.solvers.followers import own_limits
from support.solvers.followers import positions_by_name
from support.solvers.followers import random_followers
from support.solvers.followers import with_followers

from ros_ik.model import Model
from ros_ik.model import ModelBuilder
from ros_ik.model.limit_override import with_position_limits
from ros_ik.model.robot_joints import RobotJoints

JOINT = """<link name="{child}"/><joint name="{name}" type="{kind}">
  <parent link="{parent}"/><child link="{child}"/><origin xyz="0.3 0 0.1"/><axis xyz="0 0 1"/>
  <limit lower="{lower}" upper="{upper}" velocity="1" effort="1"/></joint>"""


def arm(*joints):
    """Return a chain of joints, each a name, kind, lower and upper limit, from link ``l0``."""
    text = '<robot name="arm"><link name="l0"/>'
    for k, (name, kind, lower, upper) in enumerate(joints):
        text += JOINT.format(
            name=name, kind=kind, lower=lower, upper=upper, parent=f'l{k}', child=f'l{k + 1}'
        )
    return text + '</robot>'


ARM = arm(
    ('j0', 'revolute', -3, 3), ('j1', 'continuous', 0, 0), ('j2', 'revolute', 0.5, 2),
    ('j3', 'revolute', -2, 2),
)  # fmt: skip


def test_neutral_of_a_driver_is_moved_inside_the_limits_of_its_mimic_joint():
    # q = 0.9 - 2 v inside [-1, 0.5], so v in [0.2, 0.95].
    text = with_followers(ARM, [Follower('f', 'j0', -2.0, 0.9, -1.0, 0.5)], 'l0')
    model = Model.from_urdf(text, device='cpu')
    at = positions_by_name(model, model.neutral_joint_q())
    assert at['j0'] == pytest.approx(0.2, abs=1e-15)
    assert at['f'] == pytest.approx(0.5, abs=1e-15)
    assert at['j2'] == 0.5
    random = positions_by_name(model, model.random_joint_q(2000, 0))
    assert 0.2 <= random['j0'].min() < 0.21 and 0.94 < random['j0'].max() <= 0.95
    assert random['j3'].min() < -1.95 and random['j3'].max() > 1.95
    np.testing.assert_array_equal(model.joint_q.numpy(), np.float32(model.neutral_joint_q()))


@pytest.mark.parametrize('seed', range(20))
def test_configurations_of_random_robots_are_inside_all_limits(seed):
    rng = np.random.default_rng(seed)
    text = with_followers(ARM, random_followers(rng, ARM, ['j0', 'j1', 'j2', 'j3']), 'l1')
    model = Model.from_urdf(text, device='cpu')
    joint_q = np.vstack([model.neutral_joint_q(), model.random_joint_q(500, rng)])
    assert is_inside(text, positions_by_name(model, joint_q)).all()
    # Nothing else is left out: configurations of a sieve lie in the box of the random ones.
    drivers = [f'j{k}' for k in range(4)]
    lower, upper = np.clip([own_limits(ARM)[name] for name in drivers], -7.0, 7.0).T
    starts = [model.joint_q_start.numpy()[model.joint_index(name)] for name in drivers]
    tried = np.zeros((20000, model.joint_coord_count))
    tried[:, starts] = rng.uniform(lower, upper, (20000, 4))
    tried = model.apply_mimic(tried)
    sieved = tried[is_inside(text, positions_by_name(model, tried))][:, starts]
    random = joint_q[1:, starts]
    limited = np.ptp(random, axis=0) < 6.2
    room = 0.05 * np.ptp(random, axis=0)
    inside = (sieved > random.min(axis=0) - room) & (sieved < random.max(axis=0) + room)
    assert len(sieved) > 20 and inside[:, limited].all()


def test_limits_that_exclude_every_position_have_no_effect():
    followers = [
        Follower('f', 'j0', 1.0, 9.0, -1.0, 1.0),
        Follower('g', 'j0', 1.0, 0.5, 0.7, 1.0),
        Follower('h', 'j3', 0.0, 3.0, -1.0, 1.0),
    ]
    text = with_followers(ARM, followers, 'l1')
    model = Model.from_urdf(text, device='cpu')
    joint_q = np.vstack([model.neutral_joint_q(), model.random_joint_q(500, 1)])
    at = positions_by_name(model, joint_q)
    assert is_inside(text, at, exempt=('f', 'h')).all()
    assert at['j0'][0] == pytest.approx(0.2) and np.ptp(at['j3']) > 3.8


def by_hand(lower):
    """Return a builder of two turns; the second follows the first, which is in [-1, 1]."""
    builder = ModelBuilder()
    first, second = builder.add_link('first'), builder.add_link('second')
    joints = [
        builder.add_joint_revolute(-1, first, limit_lower=-1.0, limit_upper=1.0, label='lead'),
        builder.add_joint_revolute(
            first, second, limit_lower=lower, limit_upper=3.0, label='follow'
        ),
    ]
    builder.add_articulation(joints)
    builder.add_constraint_mimic(joints[1], joints[0], 0.0, 1.0)
    return builder


def test_models_built_by_hand_warn_of_limits_without_effect():
    assert not by_hand(-2.0).finalize('cpu').warnings
    text = (
        "joint 'follow' mimic: positions of joint 'lead' lead it from -1 to 1, "
        'all outside its limits, 2 to 3'
    )
    assert by_hand(2.0).finalize('cpu').warnings == (text,)
    several = ModelBuilder()
    several.replicate(by_hand(2.0), 3)
    assert several.finalize('cpu').warnings == (text,)
    named = ModelBuilder()
    named.add_builder(by_hand(2.0), label_prefix='left')
    (warning,) = named.finalize('cpu').warnings
    assert warning.startswith("joint 'left/follow' mimic")


def test_stricter_limits_of_a_mimic_joint_move_its_driver():
    text = with_followers(ARM, [Follower('f', 'j0', -2.0, 0.9, -1.0, 2.0)], 'l0')
    model = Model.from_urdf(text, device='cpu')
    lower, upper, _, _ = model.limits64()
    dof = model.joint_qd_start.numpy()[model.joint_index('f')]
    upper[dof] = 0.5
    assert positions_by_name(model, model.neutral_joint_q())['j0'] == 0.0
    stricter = with_position_limits(model, lower, upper)
    assert positions_by_name(stricter, stricter.neutral_joint_q())['j0'] == pytest.approx(0.2)


def test_a_hinge_starts_in_the_middle_of_what_its_mimic_joint_leaves():
    text = with_followers(ARM, [Follower('f', 'j0', -2.0, 0.9, -1.0, 0.5)], 'l0')
    model = Model.from_urdf(text, device='cpu')
    at = positions_by_name(model, RobotJoints(model).configuration({}))
    assert at['j0'] == pytest.approx(0.575) and at['j2'] == 1.25 and at['j3'] == 0.0


@pytest.mark.parametrize('factor', [-1.0, 1.0])
def test_a_mimic_joint_without_range_holds_its_driver(factor):
    text = with_followers(ARM, [Follower('f', 'j0', factor, 0.0, 0.0, -0.0)], 'l0')
    model = Model.from_urdf(text, device='cpu')
    at = positions_by_name(model, model.random_joint_q(5, 0))
    np.testing.assert_array_equal(at['j0'], np.zeros(5))


def test_limits_of_both_zeros_are_a_range():
    model = Model.from_urdf(arm(('j0', 'revolute', '0', '-0')), device='cpu')
    np.testing.assert_array_equal(model.random_joint_q(5, 0), np.zeros((5, 1)))
