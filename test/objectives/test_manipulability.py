# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The manipulability objective: the measure from Pinocchio's Jacobian, and its derivatives."""

import numpy as np
from objectives import rig
import pytest
from support.long_forms import LONG
from support.robots.random_pose import random_pose
from support.robots.robots import pin
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_jacobian
from ros_ik.objectives import IKObjectiveManipulability

ALL = (0, 1, 2, 3, 4, 5)
OFFSET = np.array([0.1, -0.2, 0.15])
# Robot, link, reference link or None for the world, axes.
CASES = [
    ('panda', 'panda_hand_tcp', None, ALL),
    ('panda', 'panda_hand_tcp', None, (0, 1, 2)),
    ('panda', 'panda_hand_tcp', 'panda_link2', (3, 4)),
    ('ur5', 'ee_link', None, ALL),
    ('ur5', 'ee_link', None, (3, 4, 5)),
    ('ur5', 'ee_link', None, (0,)),
    ('talos floating', 'gripper_right_base_link', 'torso_2_link', ALL),
    ('talos floating', 'gripper_right_base_link', 'torso_2_link', (2, 0)),
    ('built', 'single', 'd6', (0, 2, 4)),
]


def index(model, label):
    return -1 if label is None else model.body_index(label)


def measures(name, link, reference, axes, joint_q):
    """Return sqrt(det(J J^T)) from the Jacobian of the link's origin, [n]."""
    model = rig.robot(name)
    jacobian = np.zeros((len(joint_q), 6, model.joint_dof_count))
    eval_jacobian(model, joint_q, model.body_index(link), jacobian)
    batch = rig.Batch(model, joint_q)
    chain = np.any(np.abs(jacobian[0]) > 0, axis=0)
    if reference is not None:
        other = np.zeros_like(jacobian)
        eval_jacobian(model, joint_q, model.body_index(reference), other)
        chain &= ~np.any(np.abs(other[0]) > 0, axis=0)
    values = []
    for k, J in enumerate(jacobian):
        poses = batch.body_q.numpy()[k]
        R = pin.XYZQUATToSE3(poses[model.body_index(link)]).rotation
        J = J.copy()
        J[:3] -= pin.skew(R @ OFFSET) @ J[3:]
        if reference is not None:
            R_ref = pin.XYZQUATToSE3(poses[model.body_index(reference)]).rotation
            J = np.concatenate([R_ref.T @ J[:3], R_ref.T @ J[3:]])
        J = J[np.array(axes)][:, chain]
        values.append(np.prod(np.linalg.svd(J, compute_uv=False)))
    return np.array(values)


@pytest.mark.parametrize(('name', 'link', 'reference', 'axes'), CASES)
def test_residual_and_jacobian(name, link, reference, axes):
    rng = np.random.default_rng(1)
    model = rig.robot(name)
    joint_q = model.random_joint_q(4, rng)
    exact = measures(name, link, reference, axes, joint_q)
    threshold = 1.5 * exact.max()

    def made(least):
        return IKObjectiveManipulability(
            model.body_index(link), least, link_offset=OFFSET,
            reference_link_index=index(model, reference), axes=axes, weight=2.0,
        )  # fmt: skip

    objective = made(threshold)
    got = rig.residuals(objective, model, joint_q)[:, 0]
    np.testing.assert_allclose(got, 2.0 * (1 - exact / threshold), atol=1e-12)
    single = rig.residuals(objective, model, joint_q, None, wp.float32)[:, 0]
    np.testing.assert_allclose(single, got, atol=1e-5)
    rig.check_jacobians(objective, model, joint_q, scale=5.0, double_tape=LONG)
    # Above the threshold nothing is left to gain.
    loose = made(0.5 * exact.min())
    assert not np.any(rig.residuals(loose, model, joint_q))
    assert not np.any(rig.analytic(loose, model, joint_q))


def test_against_the_jacobian_of_pinocchio():
    rng = np.random.default_rng(2)
    model, oracle = rig.robot('ur5'), rig.pinocchio_robot('ur5')
    joint_q = model.random_joint_q(3, rng)
    objective = IKObjectiveManipulability(model.body_index('ee_link'), 10.0)
    got = rig.residuals(objective, model, joint_q)[:, 0]
    exact = [abs(np.linalg.det(oracle.jacobian(q, 'ee_link'))) for q in joint_q]
    np.testing.assert_allclose(got, 1 - np.array(exact) / 10.0, atol=1e-12)


def test_the_base_of_a_floating_robot_does_not_matter():
    rng = np.random.default_rng(3)
    model = rig.robot('talos floating')
    joint_q = np.repeat(model.random_joint_q(1, rng), 2, axis=0)
    joint_q[1, :7] = random_pose(rng)
    objective = IKObjectiveManipulability(
        model.body_index('gripper_right_base_link'), 1.0, axes=(0, 2),
        reference_link_index=model.body_index('torso_2_link'),
    )  # fmt: skip
    here, there = rig.residuals(objective, model, joint_q)
    np.testing.assert_allclose(here, there, atol=1e-12)
    assert not np.any(rig.analytic(objective, model, joint_q)[:, 0, :6])


def test_a_singular_configuration_has_the_full_cost_and_finite_derivatives():
    model = rig.robot('ur5')
    straight = np.zeros((1, 6))  # the elbow stretched
    for scalar in (wp.float32, wp.float64):
        objective = IKObjectiveManipulability(model.body_index('ee_link'), 0.1, weight=3.0)
        got = rig.residuals(objective, model, straight, None, scalar)
        np.testing.assert_allclose(got, 3.0, atol=1e-3)
        assert np.all(np.isfinite(rig.analytic(objective, model, straight, None, scalar)))
    bent = straight + [[0, 0, 1e-3, 0, 1e-3, 0]]
    assert np.abs(rig.analytic(objective, model, bent)).max() > 1e-3


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'threshold': 0.0}, 'threshold'),
        ({'threshold': np.nan}, 'threshold'),
        ({'axes': ()}, 'axes'),
        ({'axes': (0, 0)}, 'axes'),
        ({'axes': (6,)}, 'axes'),
        ({'link_offset': (0, 0)}, 'link_offset'),
        ({'weight': -1.0}, 'weight'),
        ({'weight': np.nan}, 'weight'),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ArgumentError, match=message):
        IKObjectiveManipulability(3, **{'threshold': 0.1, **options})


@pytest.mark.parametrize(
    ('name', 'link', 'reference', 'message'),
    [
        ('panda', 99, -1, 'link_index'),
        ('panda', -1, -1, 'link_index'),
        ('panda', 3, 99, 'reference_link_index'),
        ('panda', 3, 5, 'reference_link_index'),
        ('panda', 3, -1, 'axes'),
        ('talos floating', 20, -1, 'free joint'),
        ('built', 3, -1, 'd6 joint'),
    ],
)
def test_links_and_joints_that_do_not_fit(name, link, reference, message):
    objective = IKObjectiveManipulability(link, 0.1, reference_link_index=reference)
    with pytest.raises(ArgumentError, match=message):
        rig.set_up(objective, rig.robot(name), 1)
