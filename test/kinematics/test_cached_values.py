# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Cached trees, masses and inertias of a model: made once, and again after a change."""

import copy

import numpy as np
import pytest
from support.robots.robots import urdf_text
import warp as wp

from ros_ik.kinematics import cached_values
from ros_ik.kinematics import eval_bias_force
from ros_ik.kinematics import eval_com
from ros_ik.kinematics import eval_fk
from ros_ik.kinematics import eval_jacobian
from ros_ik.kinematics import eval_mass_matrix
from ros_ik.kinematics.dynamics import evaluate_dynamics
from ros_ik.model import Model

N = 3


@pytest.fixture
def panda():
    return Model.from_urdf(urdf_text('panda'), device='cpu')


def evaluate(model):
    """Return the results of every function, in float64."""
    rng, dofs = np.random.default_rng(3), model.joint_dof_count
    joint_q = model.random_joint_q(N, rng)
    joint_qd = rng.normal(size=(N, dofs))
    out = {
        'body_q': np.zeros((N, model.body_count, 7)), 'jacobian': np.zeros((N, 6, dofs)),
        'com': np.zeros((N, 3)), 'inertia': np.zeros((N, dofs, dofs)), 'bias': np.zeros((N, dofs)),
    }  # fmt: skip
    eval_fk(model, joint_q, out['body_q'])
    eval_jacobian(model, joint_q, model.body_count - 1, out['jacobian'])
    eval_com(model, joint_q, out['com'])
    eval_mass_matrix(model, joint_q, out['inertia'])
    eval_bias_force(model, joint_q, joint_qd, out['bias'])
    return out


def test_the_second_call_makes_nothing(panda, monkeypatch):
    first, made = evaluate(panda), []
    for module, name in (
        (cached_values, 'kinematic_tree'), (cached_values, 'link_dofs'),
        (evaluate_dynamics, 'mass_distribution'), (evaluate_dynamics, 'body_inertias'),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, lambda *arguments: made.append(arguments))
    second = evaluate(panda)
    assert made == []
    for name, values in first.items():
        np.testing.assert_array_equal(second[name], values)


def test_an_array_that_an_equal_one_replaces_is_read_from_then_on(panda, monkeypatch):
    evaluate(panda)
    panda.joint_X_p64 = panda.joint_X_p64.copy()
    first, made = evaluate(panda), []
    monkeypatch.setattr(
        cached_values, 'ContentReader', lambda *given, **options: made.append(given)
    )
    evaluate(panda)
    assert made == []
    monkeypatch.undo()
    panda.joint_X_p64[2, :3] += 0.1
    assert np.abs(evaluate(panda)['body_q'] - first['body_q']).max() > 0.05


def shift_joint(model):
    model.joint_X_p64[2, :3] += 0.1


def turn_axis(model):
    model.joint_axis64[1] *= -1.0


def loosen_base(model):
    parts = model.joint_articulation.numpy()
    parts[0] = -1  # no joint of the tree places the base any more: its pose is that of body_q
    model.joint_articulation = wp.array(parts, dtype=wp.int32, device=model.device)
    poses = model.body_q.numpy()
    poses[0, 2] += 0.5
    model.body_q.assign(poses)


def add_mass(model):
    model.body_mass64[4] += 2.0


def spread_inertia(model):
    model.body_inertia64[5] *= 3.0


def turn_gravity(model):
    model.set_gravity([0.0, 9.81, 0.0])


@pytest.mark.parametrize(
    ('change', 'seen'),
    [
        (shift_joint, {'body_q', 'jacobian', 'com', 'inertia', 'bias'}),
        (turn_axis, {'body_q', 'jacobian', 'com', 'inertia', 'bias'}),
        (loosen_base, {'body_q', 'com'}),
        (add_mass, {'com', 'inertia', 'bias'}),
        (spread_inertia, {'inertia', 'bias'}),
        (turn_gravity, {'bias'}),
    ],
)
def test_a_change_of_the_model_is_seen(panda, change, seen):
    before = evaluate(panda)
    change(panda)
    after, fresh = evaluate(panda), evaluate(copy.copy(panda))
    for name, values in after.items():
        np.testing.assert_array_equal(values, fresh[name], err_msg=name)
        same = np.allclose(values, before[name], rtol=0.0, atol=1e-9)
        assert same == (name not in seen), name


def test_precisions_do_not_mix(panda):
    single = np.zeros((1, panda.body_count, 7), dtype=np.float32)
    joint_q = panda.random_joint_q(1, np.random.default_rng(0))
    eval_fk(panda, joint_q.astype(np.float32), single)
    double = single.astype(np.float64)
    eval_fk(panda, joint_q, double)
    np.testing.assert_allclose(single, double, atol=1e-5)
    assert not np.array_equal(single, double)
