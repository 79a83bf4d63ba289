# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Seeds of IKSolver: coordinates told from degrees of freedom, limits, repeatability."""

import numpy as np
import pytest
from support.solvers.ik_problems import newton_model
from support.solvers.ik_problems import panda
from support.solvers.ik_problems import solve

from ros_ik.model import Model
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers.batch_ik.solver import IKSolver

_HINGE_ON_A_FREE_BODY = """
<robot name="r">
  <link name="base"/><link name="tip"/><link name="wheel"/>
  <joint name="hinge" type="revolute">
    <parent link="base"/><child link="tip"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="0.5" velocity="1" effort="1"/>
  </joint>
  <joint name="turn" type="continuous">
    <parent link="tip"/><child link="wheel"/><axis xyz="0 0 1"/>
    <limit velocity="1" effort="1"/>
  </joint>
</robot>"""


def seeds_of(model, joint_q_in, n_seeds, sampler, **options):
    """Return the seeds, [n_problems, n_seeds, coords]; the solver does not move them."""
    n = len(joint_q_in)
    link = model.body_count - 1
    objective = IKObjectivePose(link, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    solver = IKSolver(
        model,
        n,
        [objective],
        sampler=sampler,
        n_seeds=n_seeds,
        jacobian_mode='analytic',
        **options,
    )
    solve(solver, joint_q_in, iterations=0)
    return solver.joint_q.numpy().reshape(n, n_seeds, -1).copy(), solver


@pytest.mark.parametrize('sampler', ['uniform', 'roberts'])
def test_a_free_body_with_a_hinge(sampler):
    """Newton samples quaternion w from the hinge's limits and never the hinge."""
    model = Model.from_urdf(_HINGE_ON_A_FREE_BODY, device='cpu', floating=True)
    start = np.zeros((1, model.joint_coord_count))
    start[0, :7] = 10.0, -4.0, 2.0, 0.0, 0.0, 0.0, 1.0
    seeds = seeds_of(model, start, 2000, sampler)[0][0]
    # Position: 1 m to either side of the input; three numbers spread evenly.
    offset = seeds[:, :3] - start[0, :3]
    assert np.all(np.abs(offset) <= 1.0 + 1e-5)
    np.testing.assert_allclose(offset.mean(axis=0), 0.0, atol=0.06)  # 4 sigma of 2000 draws
    quaternion = seeds[:, 3:7]
    np.testing.assert_allclose(np.linalg.norm(quaternion, axis=1), 1.0, atol=1e-6)
    # Uniform rotations: zero mean, covariance I / 4.
    np.testing.assert_allclose(quaternion.T @ quaternion / 2000, np.eye(4) / 4, atol=0.03)
    hinge, wheel = seeds[:, 7], seeds[:, 8]
    assert hinge.min() >= -1.0 and hinge.max() <= 0.5
    histogram = np.histogram(hinge, bins=10, range=(-1.0, 0.5))[0]
    assert np.all(np.abs(histogram - 200) < 60)  # 4 sigma of a bin of 200
    assert np.all(np.abs(wheel) <= np.pi + 1e-5) and np.ptp(wheel) > 6.0


@pytest.mark.parametrize('kind', ['ball', 'd6', 'prismatic'])
@pytest.mark.parametrize('sampler', ['uniform', 'roberts', 'gauss'])
def test_every_joint_kind_of_newton_is_inside_its_limits(kind, sampler):
    model = newton_model(kind)
    start = np.zeros((1, model.joint_coord_count))
    q_start, qd_start = model.joint_q_start.numpy(), model.joint_qd_start.numpy()
    if kind == 'ball':
        start[0, q_start[2] - 1] = 1.0
    # Here the sampler, not the solver, keeps the limits.
    options = {'noise_std': 2.0, 'respect_limits': False}
    seeds = seeds_of(model, start, 400, sampler, **options)[0][0]
    lower, upper = model.joint_limit_lower.numpy(), model.joint_limit_upper.numpy()
    for joint in range(model.joint_count):
        coords = np.arange(q_start[joint], q_start[joint + 1])
        dofs = np.arange(qd_start[joint], qd_start[joint + 1])
        if len(coords) != len(dofs):
            np.testing.assert_allclose(np.linalg.norm(seeds[:, coords], axis=1), 1.0, atol=1e-6)
            assert np.all(seeds[:, coords].std(axis=0) > 0.3)
            continue
        for coord, dof in zip(coords, dofs, strict=True):
            assert seeds[:, coord].min() >= lower[dof] and seeds[:, coord].max() <= upper[dof]
            assert np.ptp(seeds[:, coord]) > 0.9 * (upper[dof] - lower[dof])


def test_gauss_keeps_the_input_first_and_has_the_spread_asked_for():
    model = panda()
    start = np.tile(model.neutral_joint_q(), (2, 1)).astype(np.float32)
    lower, upper = model.limits64()[:2]
    start[:] = ((lower + upper) / 2).astype(np.float32)
    seeds, _ = seeds_of(model, start, 3000, 'gauss', noise_std=0.05)
    free = np.flatnonzero(upper - lower > 1.0)
    np.testing.assert_array_equal(seeds[:, 0, free], start[:, free])
    spread = (seeds[:, 1:] - start[:, None])[:, :, free]
    np.testing.assert_allclose(spread.std(axis=1), 0.05, rtol=0.06)  # 4 sigma of 3000 draws
    assert not np.array_equal(spread[0], spread[1])


def test_roberts_is_the_sequence_and_the_same_for_every_problem():
    model = panda()
    n_dofs = 7
    start = np.tile(model.neutral_joint_q(), (3, 1))
    seeds, _ = seeds_of(model, start, 50, 'roberts')
    np.testing.assert_array_equal(seeds[0], seeds[2])
    lower, upper = model.limits64()[:2]
    # Seven joints and one finger: the other finger follows it.
    d = n_dofs + 1
    roots = np.roots([1.0] + [0.0] * (d - 1) + [-1.0, -1.0])
    root = max(roots[np.abs(roots.imag) < 1e-9].real)
    steps = root ** -np.arange(1.0, d + 1.0)
    expected = (0.5 + np.arange(50)[:, None] * steps) % 1.0
    expected = lower[:d] + expected * (upper[:d] - lower[:d])
    # The product k * step in float32 loses 1e-6 of a turn of 50.
    np.testing.assert_allclose(seeds[0][:, :d], expected, atol=5e-5)
    np.testing.assert_array_equal(seeds[0][:, 8], seeds[0][:, 7])


@pytest.mark.parametrize('sampler', ['uniform', 'gauss'])
def test_random_seeds_differ_from_call_to_call_and_repeat_after_a_reset(sampler):
    model = panda()
    start = np.tile(model.neutral_joint_q(), (2, 1))
    first, solver = seeds_of(model, start, 4, sampler, rng_seed=7)
    solve(solver, start, iterations=0)
    second = solver.joint_q.numpy().reshape(first.shape).copy()
    assert not np.array_equal(first, second)
    solver.reset()
    solve(solver, start, iterations=0)
    np.testing.assert_array_equal(solver.joint_q.numpy().reshape(first.shape), first)
    np.testing.assert_array_equal(seeds_of(model, start, 4, sampler, rng_seed=7)[0], first)
    assert not np.array_equal(seeds_of(model, start, 4, sampler, rng_seed=8)[0], first)


def test_gauss_turns_a_ball_joint_by_the_noise_asked_for():
    model = newton_model('ball')
    end = model.joint_q_start.numpy()[2]
    start = np.zeros((1, model.joint_coord_count))
    start[0, end - 4 : end] = 0.5, 0.5, -0.5, 0.5
    seeds, _ = seeds_of(model, start, 3000, 'gauss', noise_std=0.1)
    q, p = seeds[0, 1:, end - 4 : end], start[0, end - 4 : end]
    # The vector part of q p^-1 is half the turn, to 1e-3 of it.
    turn = 2.0 * (p[3] * q[:, :3] - q[:, 3:] * p[:3] - np.cross(q[:, :3], p[:3]))
    np.testing.assert_allclose(turn.std(axis=0), 0.1, rtol=0.06)  # 4 sigma of 3000 draws
