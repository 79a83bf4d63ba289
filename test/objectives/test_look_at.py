# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The look-at objective: angles and axes from NumPy, Jacobians, the two singular directions."""

import numpy as np
from objectives import rig
import pytest
from support.long_forms import LONG
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.objectives import IKObjectiveLookAt

AXIS, OFFSET = np.array([1.0, -2.0, 0.5]), np.array([0.1, 0.0, -0.2])
WEIGHT = np.array([1.0, 2.0, 0.5])
PROBLEMS = [2, 0, 1, 1]


def sight(name, joint_q, relative):
    """Point and unit axis in the reference, for each configuration."""
    found = []
    for (p, R), (p_ref, R_ref) in rig.link_poses(name, joint_q):
        point, axis = p + R @ OFFSET, R @ AXIS / np.linalg.norm(AXIS)
        if relative:
            point, axis = R_ref.T @ (point - p_ref), R_ref.T @ axis
        found.append((point, axis))
    return found


def expected(name, joint_q, targets, problems, relative=False):
    """Angle between axis and direction, about their common normal."""
    rows = []
    for (point, axis), k in zip(sight(name, joint_q, relative), problems, strict=True):
        direction = (targets[k] - point) / np.linalg.norm(targets[k] - point)
        normal = np.cross(axis, direction)
        angle = np.arccos(np.clip(axis @ direction, -1, 1))
        rows.append(angle * normal / np.linalg.norm(normal))
    return WEIGHT * np.array(rows)


def made(link, targets, **options):
    return IKObjectiveLookAt(link, AXIS, targets, link_offset=OFFSET, weight=WEIGHT, **options)


@pytest.mark.parametrize('relative', [False, True])
@pytest.mark.parametrize('name', rig.ROBOTS)
def test_residuals_and_jacobians(name, relative):
    rng = np.random.default_rng(1)
    model, (link, other) = rig.robot(name), rig.links(name)
    joint_q, targets = model.random_joint_q(4, rng), rng.normal(size=(3, 3))
    objective = made(link, targets, reference_link_index=other if relative else -1)
    exact = expected(name, joint_q, targets, PROBLEMS, relative)
    got = rig.residuals(objective, model, joint_q, PROBLEMS)
    np.testing.assert_allclose(got, exact, atol=1e-10)
    single = rig.residuals(objective, model, joint_q, PROBLEMS, wp.float32)
    np.testing.assert_allclose(single, exact, atol=3e-5)
    # Targets may be near the point: derivatives grow with the inverse of the distance.
    rig.check_jacobians(objective, model, joint_q, PROBLEMS, scale=10.0, double_tape=LONG)


def at_angle(name, joint_q, angles, rng, distance=0.8):
    """Targets at a distance, seen at given angles from the axis."""
    targets = []
    for (point, axis), angle in zip(sight(name, joint_q, False), angles, strict=True):
        normal = np.cross(axis, rng.normal(size=3))
        normal /= np.linalg.norm(normal)
        targets.append(point + distance * (np.cos(angle) * axis + np.sin(angle) * normal))
    return np.array(targets)


def test_near_the_target():
    rng = np.random.default_rng(2)
    model, (link, _) = rig.robot('panda'), rig.links('panda')
    angles = np.array([0.0, 1e-9, 1e-6, 0.9e-4, 1.1e-4, 1e-2])
    joint_q = model.random_joint_q(len(angles), rng)
    objective = IKObjectiveLookAt(
        link, AXIS, at_angle('panda', joint_q, angles, rng), link_offset=OFFSET
    )
    norms = np.linalg.norm(rig.residuals(objective, model, joint_q), axis=1)
    np.testing.assert_allclose(norms, angles, atol=1e-12)
    rig.check_jacobians(objective, model, joint_q, double_tape=LONG)


def test_near_the_opposite_direction():
    """The derivative across the axis of turning grows as pi / sin, and the errors with it."""
    rng = np.random.default_rng(3)
    model, (link, _) = rig.robot('panda'), rig.links('panda')
    for gap in (1e-1, 1e-2):
        joint_q = model.random_joint_q(3, rng)
        targets = at_angle('panda', joint_q, np.full(3, np.pi - gap), rng)
        objective = IKObjectiveLookAt(link, AXIS, targets, link_offset=OFFSET)
        norms = np.linalg.norm(rig.residuals(objective, model, joint_q), axis=1)
        np.testing.assert_allclose(norms, np.pi - gap, atol=1e-12)
        rig.check_jacobians(objective, model, joint_q, scale=10 / gap**2, double_tape=LONG)


@pytest.mark.parametrize('scalar', [wp.float32, wp.float64])
def test_the_opposite_direction_is_no_solution_and_no_trap(scalar):
    rng = np.random.default_rng(4)
    model, (link, _) = rig.robot('panda'), rig.links('panda')
    joint_q = model.random_joint_q(4, rng)
    targets = at_angle('panda', joint_q, np.full(4, np.pi), rng)
    objective = IKObjectiveLookAt(link, AXIS, targets, link_offset=OFFSET)
    rows = rig.residuals(objective, model, joint_q, None, scalar)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), np.pi, atol=1e-3)
    jacobian = rig.analytic(objective, model, joint_q, None, scalar)
    assert np.all(np.isfinite(jacobian))
    gradient = np.einsum('nrd,nr->nd', jacobian, rows)
    assert np.linalg.norm(gradient, axis=1).min() > 0.1
    # A small step against the gradient turns the axis towards the target.
    step = -1e-2 * gradient / np.linalg.norm(gradient, axis=1, keepdims=True)
    after = rig.residuals(objective, model, joint_q + step, None, scalar)
    # The Jacobian is that of the residual along the one axis, and zero across it.
    normals = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    along = np.einsum('nr,nrd->nd', normals, jacobian)
    np.testing.assert_allclose(jacobian, normals[:, :, None] * along[:, None], atol=1e-3)
    # No solver records a tape in float64.
    if scalar is wp.float32 or LONG:
        tape = rig.autodiff(objective, model, joint_q, None, scalar)
        np.testing.assert_allclose(along, np.einsum('nr,nrd->nd', normals, tape), atol=1e-3)
    assert np.linalg.norm(after, axis=1).max() < np.pi - 1e-3


def test_a_target_at_the_point_itself_costs_nothing():
    model, (link, _) = rig.robot('ur5'), rig.links('ur5')
    joint_q = model.random_joint_q(1, np.random.default_rng(5))
    ((point, _),) = sight('ur5', joint_q, False)
    objective = IKObjectiveLookAt(link, AXIS, np.zeros(3), link_offset=np.zeros(3))
    body = rig.Batch(model, joint_q).body_q.numpy()[0, link, :3]
    objective.set_target_position(0, body)
    assert not np.any(rig.residuals(objective, model, joint_q))
    assert np.all(np.isfinite(rig.analytic(objective, model, joint_q)))


def test_targets_change():
    rng = np.random.default_rng(6)
    model, (link, _) = rig.robot('ur5'), rig.links('ur5')
    joint_q, targets = model.random_joint_q(4, rng), rng.normal(size=(3, 3))
    objective = made(link, np.ones((3, 3)))
    for k, target in enumerate(targets):
        objective.set_target_position(k, target)
    got = rig.residuals(objective, model, joint_q, PROBLEMS)
    np.testing.assert_allclose(got, expected('ur5', joint_q, targets, PROBLEMS), atol=1e-10)
    objective.set_target_positions(-targets)
    got = rig.residuals(objective, model, joint_q, PROBLEMS)
    np.testing.assert_allclose(got, expected('ur5', joint_q, -targets, PROBLEMS), atol=1e-10)


def test_bad_arguments():
    for axis, target, options, message in (
        (np.zeros(3), np.zeros(3), {}, 'link_axis'),
        (np.ones(2), np.zeros(3), {}, 'link_axis'),
        (AXIS, np.zeros(4), {}, 'target_positions'),
        (AXIS, (np.nan, 0, 0), {}, 'target_positions'),
        (AXIS, np.zeros(3), {'link_offset': (0, 0)}, 'link_offset'),
        (AXIS, np.zeros(3), {'weight': -1}, 'weight'),
        (AXIS, np.zeros(3), {'weight': np.nan}, 'weight'),
    ):
        with pytest.raises(ArgumentError, match=message):
            IKObjectiveLookAt(3, axis, target, **options)
    for link, reference in ((99, -1), (-1, -1), (3, 99)):
        objective = IKObjectiveLookAt(link, AXIS, np.zeros(3), reference_link_index=reference)
        with pytest.raises(ArgumentError, match='link_index'):
            rig.set_up(objective, rig.robot('ur5'), 1)
