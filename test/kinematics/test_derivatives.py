# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Jacobians against central finite differences of forward kinematics over q (+) dq."""

import numpy as np
import pytest
from support.long_forms import either
from support.robots.random_pose import random_pose
from support.robots.robots import ALL_URDFS
from support.robots.robots import IDS
from support.robots.robots import load
from support.robots.robots import pin
from support.robots.robots import SOME_IDS
from support.robots.robots import SOME_URDFS
import warp as wp

from ros_ik.kinematics import eval_fk
from ros_ik.kinematics import eval_jacobian
from ros_ik.kinematics import link_dofs
from ros_ik.kinematics.integrate import launch_integrate
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.model import JointType
from ros_ik.model import Model
from ros_ik.model import ModelBuilder
from ros_ik.model.builder import DofData

N = either(1, 2)
STEP = 1e-6


def integrate(model, joint_q, steps):
    """Return q (+) dq for rows of both."""
    out = wp.zeros(joint_q.shape, dtype=wp.float64, device='cpu')
    launch_integrate(
        kinematic_tree(model, wp.float64),
        wp.array(joint_q, dtype=wp.float64, device='cpu'),
        wp.array(steps, dtype=wp.float64, device='cpu'),
        out,
    )
    return out.numpy()


def finite_difference_jacobian(model, joint_q, link):
    """Jacobian of a link at one configuration by central differences, [6, dofs]."""
    dofs = model.joint_dof_count
    steps = np.concatenate([np.eye(dofs), -np.eye(dofs)]) * STEP
    rows = integrate(model, np.tile(joint_q, (2 * dofs, 1)), steps)
    body_q = np.zeros((2 * dofs, model.body_count, 7))
    eval_fk(model, rows, body_q)
    ahead, behind = body_q[:dofs, link], body_q[dofs:, link]
    jacobian = np.zeros((6, dofs))
    jacobian[:3] = (ahead[:, :3] - behind[:, :3]).T / (2 * STEP)
    for dof in range(dofs):
        turn = pin.Quaternion(ahead[dof, 3:]) * pin.Quaternion(behind[dof, 3:]).inverse()
        jacobian[3:, dof] = pin.log3(turn.normalized().toRotationMatrix()) / (2 * STEP)
    return jacobian


def check(model, rng):
    joint_q = model.random_joint_q(N, rng)
    for link in {model.body_count - 1, model.body_count // 2}:
        jacobian = np.zeros((N, 6, model.joint_dof_count))
        eval_jacobian(model, joint_q, link, jacobian)
        for q, exact in zip(joint_q, jacobian, strict=True):
            found = finite_difference_jacobian(model, q, link)
            # Central differences: truncation 1e-12, rounding 1e-16 / 1e-6 times a few operations.
            assert np.abs(found - exact).max(initial=0) < 1e-8
            # One component of a unit axis is at least 0.57.
            moved = np.flatnonzero(np.abs(found).max(axis=0, initial=0) > 0.5)
            np.testing.assert_array_equal(link_dofs(model, link), moved)


@pytest.mark.parametrize(
    ('path', 'floating'),
    [(path, False) for path in ALL_URDFS] + [(path, True) for path in SOME_URDFS],
    ids=[*IDS, *(f'{name} floating' for name in SOME_IDS)],
)
def test_every_robot(path, floating):
    check(load(path, floating), np.random.default_rng(3))


def unit_axes(rng, count):
    axes = rng.normal(size=(count, 3))
    return [DofData(tuple(axis / np.linalg.norm(axis))) for axis in axes]


@pytest.mark.parametrize('linear', range(4))
@pytest.mark.parametrize('angular', range(4))
def test_d6_joints(linear, angular):
    rng = np.random.default_rng(10 * linear + angular)
    builder = ModelBuilder()
    base, tip = builder.add_link('base'), builder.add_link('tip')
    builder.add_joint_ball(-1, base, parent_xform=random_pose(rng), child_xform=random_pose(rng))
    builder.add_joint_d6(
        base, tip, linear_axes=unit_axes(rng, linear), angular_axes=unit_axes(rng, angular),
        parent_xform=random_pose(rng), child_xform=random_pose(rng),
    )  # fmt: skip
    check(builder.finalize('cpu'), rng)


@pytest.mark.oracle
def test_ball_free_and_d6_joints_equal_newton():
    newton = pytest.importorskip('newton', reason='newton is not installed')
    rng = np.random.default_rng(5)
    ours, theirs = ModelBuilder(), newton.ModelBuilder()
    poses = [(random_pose(rng), random_pose(rng)) for _ in range(3)]
    axes = unit_axes(rng, 5)
    links = [(ours.add_link(f'l{k}'), theirs.add_link()) for k in range(3)]
    joints = [
        theirs.add_joint_free(
            child=links[0][1], parent_xform=poses[0][0], child_xform=poses[0][1],
        ),
        theirs.add_joint_ball(
            links[0][1], links[1][1], parent_xform=poses[1][0], child_xform=poses[1][1],
        ),
        theirs.add_joint_d6(
            links[1][1], links[2][1], parent_xform=poses[2][0], child_xform=poses[2][1],
            linear_axes=[newton.ModelBuilder.JointDofConfig(axis=dof.axis) for dof in axes[:2]],
            angular_axes=[newton.ModelBuilder.JointDofConfig(axis=dof.axis) for dof in axes[2:]],
        ),
    ]  # fmt: skip
    theirs.add_articulation(joints)
    kinds = (JointType.FREE, JointType.BALL, JointType.D6)
    for k, kind in enumerate(kinds):
        dofs = axes if kind == JointType.D6 else ()
        ours.add_joint(
            kind, k - 1, k, parent_xform=poses[k][0], child_xform=poses[k][1], dofs=dofs,
            linear=2 if dofs else 0,
        )  # fmt: skip
    model, reference = ours.finalize('cpu'), theirs.finalize(device='cpu')
    joint_q = model.random_joint_q(1, rng)
    state = reference.state()
    state.joint_q.assign(joint_q[0].astype(np.float32))
    newton.eval_fk(reference, state.joint_q, state.joint_qd, state)
    body_q = np.zeros((1, 3, 7))
    eval_fk(model, joint_q, body_q)
    np.testing.assert_allclose(body_q[0], state.body_q.numpy(), atol=2e-6)


def test_integration_keeps_quaternions_unit_and_adds_coordinates():
    model = Model.from_urdf(ALL_URDFS[0].read_text(), device='cpu', floating=True)
    rng = np.random.default_rng(2)
    joint_q = model.random_joint_q(20, rng)
    steps = rng.normal(size=(20, model.joint_dof_count))
    after = integrate(model, joint_q, steps)
    np.testing.assert_allclose(np.linalg.norm(after[:, 3:7], axis=1), 1.0, atol=1e-14)
    np.testing.assert_allclose(after[:, 7:], joint_q[:, 7:] + steps[:, 6:], atol=1e-14)
    np.testing.assert_array_equal(integrate(model, joint_q, 0 * steps)[:, 7:], joint_q[:, 7:])
