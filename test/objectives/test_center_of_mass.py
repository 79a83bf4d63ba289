# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The centre of mass objective against Pinocchio and against a sum over the links."""

import numpy as np
from objectives import rig
import pytest
from support.long_forms import LONG
from support.robots.robots import pin
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_fk
from ros_ik.objectives import IKObjectiveCenterOfMass

WEIGHT = np.array([1.0, 2.0, 0.5])
PROBLEMS = [2, 0, 1, 1]


def center(model, joint_q, bodies):
    """Mean of the centres of mass of some links, weighted by mass."""
    poses = np.zeros((len(joint_q), model.body_count, 7))
    eval_fk(model, joint_q, poses)
    mass = model.body_mass64[bodies]
    centers = []
    for pose in poses:
        points = [pin.XYZQUATToSE3(pose[b]).act(model.body_com64[b]) for b in bodies]
        centers.append(mass @ np.array(points) / mass.sum())
    return np.array(centers)


@pytest.mark.parametrize('name', [name for name in rig.ROBOTS if name != 'built'])
def test_whole_robots_against_pinocchio(name):
    rng = np.random.default_rng(1)
    model, oracle = rig.robot(name), rig.pinocchio_robot(name)
    joint_q, targets = model.random_joint_q(4, rng), rng.normal(size=(3, 3))
    objective = IKObjectiveCenterOfMass(targets, weight=WEIGHT)
    centers = []
    for q in joint_q:
        oracle.poses(q)
        com = pin.centerOfMass(oracle.pin, oracle.data, oracle.configuration(q))
        # Pinocchio keeps what hangs on the world by fixed joints in its universe, apart.
        fixed = oracle.pin.inertias[0]
        total = fixed.mass + oracle.data.mass[0]
        centers.append((fixed.mass * fixed.lever + oracle.data.mass[0] * com) / total)
    exact = WEIGHT * (targets[PROBLEMS] - np.array(centers))
    got = rig.residuals(objective, model, joint_q, PROBLEMS)
    np.testing.assert_allclose(got, exact, atol=1e-10)
    single = rig.residuals(objective, model, joint_q, PROBLEMS, wp.float32)
    np.testing.assert_allclose(single, exact, atol=1e-5)


@pytest.mark.parametrize('some', [False, True])
@pytest.mark.parametrize('name', rig.ROBOTS)
def test_residuals_and_jacobians(name, some):
    rng = np.random.default_rng(2)
    model = rig.robot(name)
    joint_q, targets = model.random_joint_q(4, rng), rng.normal(size=(3, 3))
    bodies = np.flatnonzero(model.body_mass64 > 0)
    bodies = bodies[len(bodies) // 2 :] if some else np.arange(model.body_count)
    objective = IKObjectiveCenterOfMass(
        targets, weight=WEIGHT, bodies=bodies.tolist() if some else None
    )
    exact = WEIGHT * (targets[PROBLEMS] - center(model, joint_q, bodies))
    got = rig.residuals(objective, model, joint_q, PROBLEMS)
    np.testing.assert_allclose(got, exact, atol=1e-10)
    rig.check_jacobians(objective, model, joint_q, PROBLEMS, double_tape=LONG)


@pytest.mark.parametrize('name', rig.ROBOTS)
def test_targets_in_a_link(name):
    rng = np.random.default_rng(5)
    model = rig.robot(name)
    joint_q, targets = model.random_joint_q(4, rng), rng.normal(size=(3, 3))
    last, whole = model.body_count - 1, np.arange(model.body_count)
    massive = np.flatnonzero(model.body_mass64 > 0)
    # In the last case some joints move the link and no mass.
    cases = (0, whole), (last // 2, whole), (last, whole), (rig.links(name)[0], massive[:2])
    for link, bodies in cases:
        objective = IKObjectiveCenterOfMass(
            targets, weight=WEIGHT, reference_link_index=link,
            bodies=None if bodies is whole else bodies.tolist(),
        )  # fmt: skip
        poses = np.zeros((4, model.body_count, 7))
        eval_fk(model, joint_q, poses)
        centers = center(model, joint_q, bodies)
        seen = [
            pin.XYZQUATToSE3(pose[link]).actInv(point)
            for pose, point in zip(poses, centers, strict=True)
        ]
        exact = WEIGHT * (targets[PROBLEMS] - np.array(seen))
        got = rig.residuals(objective, model, joint_q, PROBLEMS)
        np.testing.assert_allclose(got, exact, atol=1e-10)
        rig.check_jacobians(objective, model, joint_q, PROBLEMS, double_tape=LONG)


def test_targets_change():
    rng = np.random.default_rng(3)
    model = rig.robot('ur5')
    joint_q, targets = model.random_joint_q(4, rng), rng.normal(size=(3, 3))
    exact = targets[PROBLEMS] - center(model, joint_q, np.arange(model.body_count))
    objective = IKObjectiveCenterOfMass(np.zeros((3, 3)))
    for k, target in enumerate(targets):
        objective.set_target_position(k, target)
    got = rig.residuals(objective, model, joint_q, PROBLEMS)
    np.testing.assert_allclose(got, exact, atol=1e-10)
    objective.set_target_positions(targets + 1.0)
    got = rig.residuals(objective, model, joint_q, PROBLEMS)
    np.testing.assert_allclose(got, exact + 1.0, atol=1e-10)


def test_bad_arguments():
    for targets, options, message in (
        (np.zeros(2), {}, 'target_positions'),
        (np.full(3, np.nan), {}, 'target_positions'),
        (np.zeros(3), {'weight': (1, -1, 0)}, 'weight'),
        (np.zeros(3), {'weight': np.nan}, 'weight'),
    ):
        with pytest.raises(ArgumentError, match=message):
            IKObjectiveCenterOfMass(targets, **options)
    with pytest.raises(ArgumentError, match='an index in bodies must be the integer'):
        IKObjectiveCenterOfMass(np.zeros(3), bodies=[1.5])
    with pytest.raises(ArgumentError, match='reference_link_index'):
        IKObjectiveCenterOfMass(np.zeros(3), reference_link_index=1.5)
    massless = int(np.flatnonzero(rig.robot('ur5').body_mass64 == 0)[0])
    for bodies in ([99], [-1], [massless]):
        objective = IKObjectiveCenterOfMass(np.zeros(3), bodies=bodies)
        with pytest.raises(ArgumentError, match='bodies'):
            rig.set_up(objective, rig.robot('ur5'), 1)
