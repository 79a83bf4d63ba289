# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Gradients of a tape through link poses, centres of mass and Jacobians."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
from support.robots.robots import pin
from support.robots.robots import PinocchioRobot
import warp as wp

from ros_ik import eval_com
from ros_ik import eval_fk
from ros_ik import eval_jacobian
from ros_ik import ModelBuilder
from ros_ik.kinematics.chain import link_dofs
from ros_ik.model.builder import DofData

STEP = 1e-6
ROBOTS = {
    'panda': (False,), 'ur5_robot': (True,), 'tiago': (False,), 'talos_reduced': (True,),
}  # fmt: skip


def of_description(name, floating=False):
    (path,) = (path for path in ALL_URDFS if path.stem == name)
    return load(path, floating)


def d6_and_ball():
    """Return a model with a ball joint and two joints of several axes, with masses."""
    rng = np.random.default_rng(4)
    builder = ModelBuilder()

    def pose():
        quaternion = rng.normal(size=4)
        return np.concatenate([rng.uniform(-0.5, 0.5, 3), quaternion / np.linalg.norm(quaternion)])

    def axes(count):
        found = rng.normal(size=(count, 3))
        return [DofData(tuple(axis / np.linalg.norm(axis))) for axis in found]

    links = [builder.add_link(f'link{k}', mass=1.0 + k) for k in range(3)]
    builder.add_joint_ball(-1, links[0], parent_xform=pose(), child_xform=pose())
    for k, (linear, angular) in enumerate(((2, 3), (3, 2))):
        builder.add_joint_d6(
            links[k], links[k + 1], linear_axes=axes(linear), angular_axes=axes(angular),
            parent_xform=pose(), child_xform=pose(),
        )  # fmt: skip
    return builder.finalize('cpu')


MODELS = {name: lambda name=name: of_description(name, *ROBOTS[name]) for name in ROBOTS}
MODELS['d6_and_ball'] = d6_and_ball


def outputs(model):
    """Return functions that write into an array, and the shape of its rows."""
    dofs = model.joint_dof_count
    link = max(range(model.body_count), key=lambda body: len(link_dofs(model, body)))
    return {
        'eval_fk': (eval_fk, (model.body_count, 7)),
        'eval_com': (eval_com, (3,)),
        'eval_com jacobian': (lambda m, q, out: eval_com(m, q, jacobian=out), (3, dofs)),
        'eval_jacobian': (lambda m, q, out: eval_jacobian(m, q, link, out), (6, dofs)),
    }


def gradient(model, function, joint_q, weights):
    """Return d (weights . output) / d joint_q by a tape, [n, joint_coord_count]."""
    q = wp.array(joint_q, dtype=wp.float64, device='cpu', requires_grad=True)
    out = wp.zeros(weights.shape, dtype=wp.float64, device='cpu', requires_grad=True)
    with wp.Tape() as tape:
        function(model, q, out)
    tape.backward(grads={out: wp.array(weights, dtype=wp.float64, device='cpu')})
    return q.grad.numpy()


def differences(model, function, joint_q, weights):
    """Return the same by central differences."""
    found = np.zeros_like(joint_q)
    for k in range(joint_q.shape[1]):
        ends = []
        for sign in (1.0, -1.0):
            moved = joint_q.copy()
            moved[:, k] += sign * STEP
            out = np.zeros(weights.shape)
            function(model, moved, out)
            ends.append(np.sum((weights * out).reshape(len(joint_q), -1), axis=1))
        found[:, k] = (ends[0] - ends[1]) / (2.0 * STEP)
    return found


@pytest.mark.parametrize('name', MODELS)
def test_gradients_equal_differences(name):
    model, rng = MODELS[name](), np.random.default_rng(0)
    joint_q = model.random_joint_q(2, rng)
    for label, (function, shape) in outputs(model).items():
        weights = rng.normal(size=(2, *shape))
        exact = gradient(model, function, joint_q, weights)
        assert np.abs(exact).max() > 0.01
        expected = differences(model, function, joint_q, weights)
        # Rounding of sums of up to some hundred terms, over the step.
        np.testing.assert_allclose(exact, expected, atol=1e-7, err_msg=label)


@pytest.mark.parametrize('name', ['panda', 'tiago'])
def test_gradients_equal_the_jacobians_of_pinocchio(name):
    model, rng = MODELS[name](), np.random.default_rng(1)
    (path,) = (path for path in ALL_URDFS if path.stem == name)
    oracle = PinocchioRobot(path.read_text(), model)
    joint_q = model.random_joint_q(1, rng)
    for link in (model.body_count - 1, model.body_count // 2):
        weights = np.zeros((1, model.body_count, 7))
        weights[0, link, :3] = rng.normal(size=3)
        found = gradient(model, eval_fk, joint_q, weights)[0]
        label = model.body_label[link]
        expected = oracle.jacobian(joint_q[0], label)[:3].T @ weights[0, link, :3]
        np.testing.assert_allclose(found, expected, atol=1e-12)
    # Pinocchio leaves out links that no joint moves.
    moved = [body for body in range(model.body_count) if len(link_dofs(model, body))]
    q = oracle.configuration(joint_q[0])
    weights = rng.normal(size=(1, 3))
    theirs = pin.jacobianCenterOfMass(oracle.pin, oracle.data, q)
    expected = np.zeros(model.joint_dof_count)
    for joint, k in oracle.joint_pairs():
        dof = model.joint_qd_start.numpy()[k]
        expected[dof] = theirs[:, joint.idx_v] @ weights[0]
    found = gradient(model, lambda m, q, out: eval_com(m, q, out, bodies=moved), joint_q, weights)
    np.testing.assert_allclose(found[0], expected, atol=1e-12)


def test_gradients_pass_through_every_type_of_array():
    model = MODELS['panda']()
    joint_q, n = model.random_joint_q(2, 0), model.body_count
    weights = np.random.default_rng(2).normal(size=(2, n, 7))
    expected = gradient(model, eval_fk, joint_q, weights)
    for scalar, kind, near in (
        (wp.float32, wp.transform, 1e-4), (wp.float64, wp.transformd, 1e-12),
    ):  # fmt: skip
        q = wp.array(joint_q, dtype=scalar, device='cpu', requires_grad=True)
        body_q = wp.zeros((2, n), dtype=kind, device='cpu', requires_grad=True)
        with wp.Tape() as tape:
            eval_fk(model, q, body_q)
        tape.backward(grads={body_q: wp.array(weights, dtype=kind, device='cpu')})
        np.testing.assert_allclose(q.grad.numpy(), expected, atol=near * np.abs(expected).max())


def test_gradients_pass_through_arrays_with_gaps():
    model, rng = MODELS['panda'](), np.random.default_rng(2)
    joint_q = model.random_joint_q(2, rng)
    for label, (function, shape) in outputs(model).items():
        weights = rng.normal(size=(2, *shape))
        expected = gradient(model, function, joint_q, weights)
        for axis in range(weights.ndim):
            places = tuple(slice(None, None, 1 + (k == axis)) for k in range(weights.ndim))
            wide = rng.normal(
                size=[size * (1 + (k == axis)) for k, size in enumerate((2, *shape))]
            )
            wide[places] = weights
            q = wp.array(joint_q, dtype=wp.float64, device='cpu', requires_grad=True)
            every = wp.zeros(wide.shape, dtype=wp.float64, device='cpu', requires_grad=True)
            with wp.Tape() as tape:
                function(model, q, every[places])
            for _ in range(2):
                tape.backward(grads={every: wp.array(wide, dtype=wp.float64, device='cpu')})
                np.testing.assert_allclose(
                    q.grad.numpy(), expected, atol=1e-12, err_msg=f'{label} {axis}'
                )
                tape.zero()


def test_what_requires_no_gradient_is_not_recorded_with_one():
    model = MODELS['panda']()
    q = wp.array(model.random_joint_q(2, 0), dtype=wp.float64, device='cpu')
    out = wp.zeros((2, model.body_count), dtype=wp.transformd, device='cpu', requires_grad=True)
    with wp.Tape() as tape:
        eval_fk(model, q, out)
    assert not any(launch[0].options.get('enable_backward') for launch in tape.launches)
