# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Newton's objectives and ours on the same arrays, and each in the machinery of the other."""

import numpy as np
from objectives import rig
import pytest
from support.long_forms import either
import warp as wp

from ros_ik import objectives as ours

ik = pytest.importorskip('newton.ik', reason='newton is not installed')
pytestmark = pytest.mark.oracle

WEIGHT = 1.7
PROBLEMS = [2, 0, 1, 1]


def made(library, kind, model, link, rng):
    """Make one objective of a library, with its own copy of the same targets."""
    if kind == 'position':
        targets = wp.array(rng.normal(size=(3, 3)), dtype=wp.vec3, device='cpu')
        return library.IKObjectivePosition(link, wp.vec3(0.1, 0.2, 0.3), targets, WEIGHT)
    if kind == 'limit':
        dofs = model.joint_dof_count
        lower = wp.array(rng.uniform(-0.5, 0.0, dofs), dtype=wp.float32, device='cpu')
        upper = wp.array(rng.uniform(0.0, 0.5, dofs), dtype=wp.float32, device='cpu')
        return library.IKObjectiveJointLimit(lower, upper, WEIGHT)
    quaternions = rng.normal(size=(3, 4))
    quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
    targets = wp.array(quaternions, dtype=wp.vec4, device='cpu')
    offset = wp.normalize(wp.quat(0.1, 0.2, 0.3, 0.4))
    shorter = kind == 'rotation'
    return library.IKObjectiveRotation(link, offset, targets, shorter, WEIGHT)


def both(kind, model, link, seed):
    return [
        made(library, kind, model, link, np.random.default_rng(seed)) for library in (ours, ik)
    ]


# Newton's limits take the quaternion of a joint for coordinates with limits.
CASES = [
    (name, kind)
    for name in rig.ROBOTS
    for kind in ('position', 'rotation', 'longer rotation', 'limit')
    if kind != 'limit' or name in ('panda', 'ur5', 'talos')
]


@pytest.mark.parametrize(('name', 'kind'), CASES)
def test_residuals_are_equal(name, kind):
    rng = np.random.default_rng(1)
    model, (link, _) = rig.robot(name), rig.links(name)
    joint_q = model.random_joint_q(4, rng)
    batch = rig.Batch(model, joint_q, wp.float32)
    values = []
    for objective in both(kind, model, link, 2):
        total = rig.set_up(objective, model, batch.n)
        out = wp.zeros((batch.n, total), dtype=wp.float32, device='cpu')
        objective.compute_residuals(
            batch.body_q, batch.joint_q, model, out, rig.START,
            problem_idx=wp.array(PROBLEMS, dtype=wp.int32, device='cpu'),
        )  # fmt: skip
        values.append(out.numpy())
    assert np.abs(values[1]).max() > 0.1
    # float32, a logarithm of a rotation up to a full turn.
    np.testing.assert_allclose(values[0], values[1], atol=2e-5)


@pytest.mark.parametrize(('name', 'kind'), CASES)
def test_jacobians_from_our_tape_are_equal(name, kind):
    rng = np.random.default_rng(3)
    model, (link, _) = rig.robot(name), rig.links(name)
    joint_q = model.random_joint_q(4, rng)
    mine, theirs = both(kind, model, link, 4)
    expected = rig.autodiff(theirs, model, joint_q, PROBLEMS)
    got = rig.autodiff(mine, model, joint_q, PROBLEMS)
    assert np.abs(expected).max() > 0.1
    # float32; the logarithm of the longer way has steep derivatives.
    np.testing.assert_allclose(got, expected, rtol=1e-3, atol=2e-4)


def solved(model, objectives, mode, start):
    """Run Newton's Levenberg-Marquardt solver, and return configurations and costs."""
    solver = ik.IKSolver(model, len(start), objectives, jacobian_mode=mode)
    joint_q = wp.array(start, dtype=wp.float32, ndim=2, device='cpu')
    solver.step(joint_q, joint_q, iterations=30)
    return joint_q.numpy(), solver.costs.numpy()


@pytest.mark.parametrize('mode', list(ik.IKJacobianType))
@pytest.mark.parametrize('name', either(['panda'], ['panda', 'talos floating']))
def test_our_objectives_in_newtons_solver(name, mode):
    rng = np.random.default_rng(5)
    model, (link, _) = rig.robot(name), rig.links(name)
    start = model.random_joint_q(3, rng)
    goal = model.random_joint_q(3, rng)
    poses = rig.Batch(model, goal).body_q.numpy()[:, link]
    lower, upper = model.joint_limit_lower, model.joint_limit_upper
    objectives = [
        ours.IKObjectivePosition(link, np.zeros(3), poses[:, :3]),
        ours.IKObjectiveRotation(link, (0, 0, 0, 1), poses[:, 3:], weight=0.5),
        ours.IKObjectiveJointLimit(lower, upper, 0.05),
        ours.IKObjectiveCenterOfMass(np.zeros(3), weight=1e-3),
    ]
    joint_q, costs = solved(model, objectives, mode, start)
    reached = rig.Batch(model, joint_q).body_q.numpy()[:, link]
    near = np.linalg.norm(reached[:, :3] - poses[:, :3], axis=1) < 5e-3
    # One of three random starts may end in a local minimum.
    assert np.sum(near) >= 2 and np.all(np.isfinite(costs))


@pytest.mark.parametrize('mode', list(ik.IKJacobianType))
def test_position_objectives_solve_alike_in_newtons_solver(mode):
    """With the same residuals and Jacobians the iterates are the same."""
    rng = np.random.default_rng(6)
    model, (link, _) = rig.robot('panda'), rig.links('panda')
    start = model.random_joint_q(3, rng)
    results = [solved(model, [objective], mode, start) for objective in both(
        'position', model, link, 7,
    )]  # fmt: skip
    # 30 iterations of float32 amplify rounding a little.
    np.testing.assert_allclose(results[0][0], results[1][0], atol=1e-3)


def test_modes_of_newton_are_ours():
    for theirs in ik.IKJacobianType:
        assert ours.IKJacobianType[theirs.name] == theirs
        assert theirs.value == ours.IKJacobianType[theirs.name]
