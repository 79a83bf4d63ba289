# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The pose objective in the world and in another link: residuals, both Jacobians, targets."""

import numpy as np
from objectives import rig
import pytest
from support.long_forms import LONG
from support.robots.random_pose import random_pose
from support.robots.robots import pin
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.objectives import IKObjectivePose

WEIGHTS = {'position_weight': (1.0, 2.0, 0.5), 'rotation_weight': (0.3, 1.0, 2.0)}
WEIGHT = np.array([1.0, 2.0, 0.5, 0.3, 1.0, 2.0])
PROBLEMS = [2, 0, 1, 1]
IDENTITY = np.array([0, 0, 0, 0, 0, 0, 1.0])


def se3(pose):
    return pin.XYZQUATToSE3(np.asarray(pose, dtype=float))


def expected(name, joint_q, targets, problems, offset, relative):
    """[w_p (p_t - p); w_r log(R_t R^T)] in the reference."""
    rows = []
    for poses, k in zip(rig.link_poses(name, joint_q), problems, strict=True):
        (p, R), (p_ref, R_ref) = poses
        frame = pin.SE3(R, p) * se3(offset)
        if relative:
            frame = pin.SE3(R_ref, p_ref).actInv(frame)
        target = se3(targets[k])
        rotation = pin.log3(target.rotation @ frame.rotation.T)
        rows.append(np.concatenate([target.translation - frame.translation, rotation]))
    return WEIGHT * np.array(rows)


@pytest.mark.parametrize('relative', [False, True])
@pytest.mark.parametrize('name', rig.ROBOTS)
def test_residuals_and_jacobians(name, relative):
    rng = np.random.default_rng(1)
    model, (link, other) = rig.robot(name), rig.links(name)
    joint_q = model.random_joint_q(4, rng)
    targets = np.array([random_pose(rng) for _ in range(3)])
    offset = random_pose(rng)
    objective = IKObjectivePose(
        link, targets, link_offset=offset, reference_link_index=other if relative else -1,
        **WEIGHTS,
    )  # fmt: skip
    exact = expected(name, joint_q, targets, PROBLEMS, offset, relative)
    got = rig.residuals(objective, model, joint_q, PROBLEMS)
    np.testing.assert_allclose(got, exact, atol=1e-10)
    single = rig.residuals(objective, model, joint_q, PROBLEMS, wp.float32)
    np.testing.assert_allclose(single, exact, atol=2e-5)
    rig.check_jacobians(objective, model, joint_q, PROBLEMS, double_tape=LONG)
    assert objective.residual_blocks() == (3, 3)


@pytest.mark.parametrize('name', rig.ROBOTS)
def test_geometric_jacobian(name):
    """Its linear part is exact; the angular one takes the logarithm for the identity."""
    rng = np.random.default_rng(2)
    model, (link, other) = rig.robot(name), rig.links(name)
    joint_q = model.random_joint_q(3, rng)
    targets = np.array([random_pose(rng) for _ in range(3)])
    made = [
        IKObjectivePose(link, targets, reference_link_index=other, exact_jacobian=exact)
        for exact in (True, False)
    ]
    exact, geometric = (rig.analytic(objective, model, joint_q) for objective in made)
    np.testing.assert_array_equal(exact[:, :3], geometric[:, :3])
    for rows, j_exact, j_geometric in zip(
        rig.residuals(made[0], model, joint_q), exact, geometric, strict=True
    ):
        inverse = pin.Jlog3(pin.exp3(rows[3:]))  # right Jacobian, inverse
        np.testing.assert_allclose(j_exact[3:], inverse @ j_geometric[3:], atol=1e-10)
        # Along the gradient of the angle both are one.
        np.testing.assert_allclose(rows[3:] @ j_exact[3:], rows[3:] @ j_geometric[3:], atol=1e-10)
        assert np.abs(j_exact - j_geometric).max() > 0.05


@pytest.mark.parametrize('angle', [0.0, 1e-9, 1e-3, np.pi - 1e-3])
def test_jacobians_near_the_target_and_near_half_a_turn(angle):
    rng = np.random.default_rng(3)
    model, (link, _) = rig.robot('ur5'), rig.links('ur5')
    joint_q = model.random_joint_q(1, rng)
    ((p, R), _) = rig.link_poses('ur5', joint_q)[0]
    axis = rng.normal(size=3)
    turn = pin.exp3(angle * axis / np.linalg.norm(axis))
    objective = IKObjectivePose(link, pin.SE3ToXYZQUAT(pin.SE3(turn @ R, p)))
    residual = rig.residuals(objective, model, joint_q)[0]
    np.testing.assert_allclose(np.linalg.norm(residual), angle, atol=1e-9)
    rig.check_jacobians(objective, model, joint_q, double_tape=LONG)


def test_targets_and_offset_change():
    rng = np.random.default_rng(4)
    model, (link, _) = rig.robot('panda'), rig.links('panda')
    joint_q = model.random_joint_q(4, rng)
    targets = np.array([random_pose(rng) for _ in range(3)])
    offset = random_pose(rng)
    exact = expected('panda', joint_q, targets, PROBLEMS, offset, False)
    objective = IKObjectivePose(link, np.tile(IDENTITY, (3, 1)), **WEIGHTS)
    objective.set_link_offset(offset)
    for k, target in enumerate(targets):
        objective.set_target_pose(k, target)
    got = rig.residuals(objective, model, joint_q, PROBLEMS)
    np.testing.assert_allclose(got, exact, atol=1e-10)
    np.testing.assert_array_equal(objective.target_poses(), targets)
    objective.set_target_poses(np.tile(IDENTITY, (3, 1)))
    objective.set_target_poses(wp.array(targets, dtype=wp.transformd, device='cpu'))
    got = rig.residuals(objective, model, joint_q, PROBLEMS)
    np.testing.assert_allclose(got, exact, atol=1e-10)
    array = wp.array(targets, dtype=wp.transformd, device='cpu')
    owned = IKObjectivePose(link, array, link_offset=offset, **WEIGHTS)
    np.testing.assert_allclose(rig.residuals(owned, model, joint_q, PROBLEMS), exact, atol=1e-10)


def test_a_target_that_is_not_finite_is_no_solution():
    model, (link, _) = rig.robot('panda'), rig.links('panda')
    joint_q = model.random_joint_q(1, np.random.default_rng(5))
    objective = IKObjectivePose(link, IDENTITY)
    objective.set_target_pose(0, np.full(7, np.nan))
    assert np.all(np.isnan(rig.residuals(objective, model, joint_q)))
    objective.set_target_pose(0, np.zeros(7))
    assert np.all(np.isnan(rig.residuals(objective, model, joint_q)[0, 3:]))


@pytest.mark.parametrize(
    ('target', 'options', 'message'),
    [
        (np.zeros(7), {}, 'target_poses'),
        (np.ones(6), {}, 'target_poses'),
        (np.ones((0, 7)), {}, 'target_poses'),
        (np.full(7, np.nan), {}, 'target_poses'),
        (IDENTITY, {'link_offset': np.zeros(7)}, 'link_offset'),
        (IDENTITY, {'link_offset': np.ones(3)}, 'link_offset'),
        (IDENTITY, {'position_weight': -1.0}, 'position_weight'),
        (IDENTITY, {'position_weight': (1, 1)}, 'position_weight'),
        (IDENTITY, {'rotation_weight': np.nan}, 'rotation_weight'),
    ],
)
def test_bad_arguments(target, options, message):
    with pytest.raises(ArgumentError, match=message):
        IKObjectivePose(3, target, **options)


@pytest.mark.parametrize('indices', [(99, -1), (-1, -1), (3, 99), (3, -2)])
def test_unknown_links(indices):
    objective = IKObjectivePose(indices[0], IDENTITY, reference_link_index=indices[1])
    with pytest.raises(ArgumentError, match='link_index'):
        rig.set_up(objective, rig.robot('panda'), 1)
