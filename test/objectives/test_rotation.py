# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The rotation objective: residuals from Pinocchio's logarithm, exact Jacobians, targets."""

import numpy as np
from objectives import rig
import pytest
from support.long_forms import LONG
from support.robots.robots import pin
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.objectives import IKObjectiveRotation

OFFSET = np.array([0.1, -0.5, 0.3, 0.8])
WEIGHT = np.array([1.0, 2.0, 0.5])
PROBLEMS = [2, 0, 1, 1]


def matrix(quaternion):
    """Rotation matrix of x y z w of any length."""
    return pin.Quaternion(np.asarray(quaternion, dtype=float)).normalized().toRotationMatrix()


def orientations(name, joint_q):
    """Orientation of the frame on the link in the world, from independent poses."""
    return [R @ matrix(OFFSET) for (_, R), _ in rig.link_poses(name, joint_q)]


def expected(name, joint_q, targets, problems):
    """w log(R R_t^T)."""
    frames = orientations(name, joint_q)
    errors = [R @ matrix(targets[k]).T for R, k in zip(frames, problems, strict=True)]
    return WEIGHT * np.array([pin.log3(error) for error in errors])


@pytest.mark.parametrize('name', rig.ROBOTS)
def test_residuals_and_jacobians(name):
    rng = np.random.default_rng(1)
    model, (link, _) = rig.robot(name), rig.links(name)
    joint_q = model.random_joint_q(4, rng)
    targets = rng.normal(size=(3, 4))
    objective = IKObjectiveRotation(link, OFFSET, targets, weight=WEIGHT)
    exact = expected(name, joint_q, targets, PROBLEMS)
    np.testing.assert_allclose(
        rig.residuals(objective, model, joint_q, PROBLEMS), exact, atol=1e-10
    )
    single = rig.residuals(objective, model, joint_q, PROBLEMS, wp.float32)
    np.testing.assert_allclose(single, exact, atol=1e-5)
    rig.check_jacobians(objective, model, joint_q, PROBLEMS, double_tape=LONG)


def errors_of(name, joint_q, angles, rng):
    """Targets that leave rotation errors of given angles about random axes."""
    targets = []
    for R, angle in zip(orientations(name, joint_q), angles, strict=True):
        axis = rng.normal(size=3)
        error = pin.exp3(angle * axis / np.linalg.norm(axis))
        targets.append(pin.Quaternion(error.T @ R).coeffs())
    return np.array(targets)


@pytest.mark.parametrize('canonicalize', [True, False])
def test_jacobians_at_and_near_the_identity(canonicalize):
    rng = np.random.default_rng(2)
    model, (link, _) = rig.robot('panda'), rig.links('panda')
    angles = np.array([0.0, 1e-9, 1e-6, 1e-3, 1.9e-3, 2.1e-3, 0.1])
    joint_q = model.random_joint_q(len(angles), rng)
    targets = errors_of('panda', joint_q, angles, rng)
    # The sign for which the quaternion of the error is near +1, not -1.
    body_q = rig.Batch(model, joint_q).body_q.numpy()[:, link, 3:]
    now = np.array([(pin.Quaternion(q) * pin.Quaternion(OFFSET)).coeffs() for q in body_q])
    targets *= np.sign(np.sum(targets * now, axis=1))[:, None]
    objective = IKObjectiveRotation(link, OFFSET, targets, canonicalize)
    norms = np.linalg.norm(rig.residuals(objective, model, joint_q), axis=1)
    np.testing.assert_allclose(norms, angles, atol=1e-8)
    rig.check_jacobians(objective, model, joint_q, double_tape=LONG)


def test_jacobians_near_half_a_turn():
    rng = np.random.default_rng(3)
    model, (link, _) = rig.robot('ur5'), rig.links('ur5')
    angles = np.pi - np.array([1e-2, 1e-3, 1e-4])
    joint_q = model.random_joint_q(len(angles), rng)
    targets = errors_of('ur5', joint_q, angles, rng)
    objective = IKObjectiveRotation(link, OFFSET, targets)
    norms = np.linalg.norm(rig.residuals(objective, model, joint_q), axis=1)
    np.testing.assert_allclose(norms, angles, atol=1e-9)
    rig.check_jacobians(objective, model, joint_q, double_tape=LONG)


def test_jacobian_at_half_a_turn_is_finite():
    rng = np.random.default_rng(4)
    model, (link, _) = rig.robot('ur5'), rig.links('ur5')
    joint_q = model.random_joint_q(5, rng)
    targets = errors_of('ur5', joint_q, np.full(5, np.pi), rng)
    objective = IKObjectiveRotation(link, OFFSET, targets)
    for scalar in (wp.float32, wp.float64):
        jacobian = rig.analytic(objective, model, joint_q, None, scalar)
        # |J_l^-1| is (pi/2) / sin(pi/2) across the axis; the axes of the robot are unit.
        assert 0.5 < np.linalg.norm(jacobian, axis=1).max() < 1.01 * np.pi / 2


def test_the_longer_way_round_on_request():
    rng = np.random.default_rng(5)
    model, (link, _) = rig.robot('talos'), rig.links('talos')
    joint_q = model.random_joint_q(1, rng)
    target = rng.normal(size=4)
    shorter = rig.residuals(IKObjectiveRotation(link, OFFSET, target), model, joint_q)
    seen = []
    for sign in (1, -1):
        objective = IKObjectiveRotation(link, OFFSET, sign * target, False)
        seen.append(rig.residuals(objective, model, joint_q))
        rig.check_jacobians(objective, model, joint_q, scale=5.0, double_tape=LONG)
    lengths = [np.linalg.norm(residual) for residual in seen]
    np.testing.assert_allclose(sum(lengths), 2 * np.pi, atol=1e-9)
    np.testing.assert_allclose(seen[int(np.argmin(lengths))], shorter, atol=1e-9)


def test_targets_change_one_by_one_and_together():
    rng = np.random.default_rng(6)
    model, (link, _) = rig.robot('panda'), rig.links('panda')
    joint_q = model.random_joint_q(4, rng)
    targets = rng.normal(size=(3, 4))
    exact = expected('panda', joint_q, targets, PROBLEMS)
    objective = IKObjectiveRotation(link, OFFSET, np.ones((3, 4)), weight=WEIGHT)
    for k, target in enumerate(targets):
        objective.set_target_rotation(k, target)
    got = rig.residuals(objective, model, joint_q, PROBLEMS)
    np.testing.assert_allclose(got, exact, atol=1e-10)
    objective.set_target_rotations(np.ones((3, 4)))
    assert np.abs(rig.residuals(objective, model, joint_q, PROBLEMS) - exact).max() > 0.1
    for dtype in (wp.vec4d, wp.quatd):
        array = wp.array(targets, dtype=dtype, device='cpu')
        objective.set_target_rotations(array)
        got = rig.residuals(objective, model, joint_q, PROBLEMS)
        np.testing.assert_allclose(got, exact, atol=1e-10)
        owned = IKObjectiveRotation(link, OFFSET, array, weight=WEIGHT)
        np.testing.assert_allclose(
            rig.residuals(owned, model, joint_q, PROBLEMS), exact, atol=1e-10
        )
        array.assign(np.roll(targets, 1, axis=0))
        rolled = expected('panda', joint_q, np.roll(targets, 1, axis=0), PROBLEMS)
        got = rig.residuals(owned, model, joint_q, PROBLEMS)
        np.testing.assert_allclose(got, rolled, atol=1e-10)


def test_a_zero_quaternion_set_later_is_no_solution():
    model, (link, _) = rig.robot('panda'), rig.links('panda')
    joint_q = model.random_joint_q(1, np.random.default_rng(7))
    objective = IKObjectiveRotation(link, OFFSET, (0, 0, 0, 1))
    objective.set_target_rotation(0, np.zeros(4))
    assert np.all(np.isnan(rig.residuals(objective, model, joint_q)))


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ((3, np.zeros(4), (0, 0, 0, 1)), 'link_offset_rotation'),
        ((3, np.zeros(3), (0, 0, 0, 1)), 'link_offset_rotation'),
        ((3, OFFSET, np.zeros(4)), 'target_rotations'),
        ((3, OFFSET, np.ones(3)), 'target_rotations'),
        ((3, OFFSET, (0, 0, np.nan, 1)), 'target_rotations'),
        ((3, OFFSET, wp.ones(1, dtype=wp.vec3, device='cpu')), 'target_rotations'),
        ((3, OFFSET, np.ones(4), True, -1.0), 'weight'),
        ((3, OFFSET, np.ones(4), True, np.inf), 'weight'),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        IKObjectiveRotation(*arguments)


def test_unknown_link():
    objective = IKObjectiveRotation(99, OFFSET, (0, 0, 0, 1))
    with pytest.raises(ArgumentError, match='link_index'):
        rig.set_up(objective, rig.robot('panda'), 1)


def test_device_targets_may_be_written_after_the_constructor():
    targets = wp.zeros(1, dtype=wp.vec4, device='cpu')
    objective = IKObjectiveRotation(3, OFFSET, targets)
    targets.assign([[0.0, 0.0, 0.0, 1.0]])
    np.testing.assert_array_equal(objective.target_rotations.numpy(), [[0.0, 0.0, 0.0, 1.0]])
