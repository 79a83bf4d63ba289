# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Bounds of IKSolver: limits, frozen degrees of freedom, mimic joints, quaternions."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from support.robots.robots import urdf_text
from support.solvers.ik_problems import newton_model
from support.solvers.ik_problems import newton_poses
from support.solvers.ik_problems import panda
from support.solvers.ik_problems import PoseProblems
from support.solvers.ik_problems import random_newton_q
from support.solvers.ik_problems import solve
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.model import Model
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers.batch_ik.optimizers.lm import IKOptimizerLM
from ros_ik.solvers.batch_ik.solver import IKSolver
from ros_ik.solvers.status import SolveStatus

N = 60
OPTIMIZERS = ('lm', 'lbfgs')


@pytest.fixture(scope='module')
def problems():
    model = panda()
    return PoseProblems(model, model.body_index('panda_hand'), N)


@pytest.fixture(autouse=True, params=[True, False], ids=['fused', 'modular'])
def use_fused(request):
    """Run every test with and without the fused kernel of built-in objectives."""
    return request.param


@pytest.mark.parametrize('optimizer', OPTIMIZERS)
def test_limits_hold_at_every_iteration_and_for_seeds_outside(problems, optimizer, use_fused):
    model = problems.model
    lower, upper = (limit.astype(np.float32) for limit in model.limits64()[:2])
    outside = problems.seeds * 4.0
    assert np.any((outside < lower) | (outside > upper), axis=1).mean() > 0.9
    solver = IKSolver(
        model,
        N,
        [problems.objective()],
        optimizer=optimizer,
        jacobian_mode='analytic',
        use_fused=use_fused,
    )
    for iterations in (0, 1, 2, 5, 20):
        for step_size in (1.0, 3.0):
            found = solve(solver, outside, iterations=iterations, step_size=step_size)
            assert np.all((found >= lower) & (found <= upper))


def test_respecting_limits_finds_more_solutions_inside_them(problems, use_fused):
    lower, upper = problems.model.limits64()[:2]
    rates = []
    for respect in (True, False):
        solver = IKSolver(
            problems.model, N, [problems.objective()], jacobian_mode='analytic',
            respect_limits=respect, use_fused=use_fused,
        )  # fmt: skip
        found = solve(solver, problems.seeds, iterations=50)
        inside = np.all((found >= lower - 1e-5) & (found <= upper + 1e-5), axis=1)
        rates.append(np.mean(inside & (solver.status.numpy() == SolveStatus.CONVERGED)))
    # Newton's way leaves the limits in most cases; measured 0.5 against 0.2.
    assert rates[0] > rates[1] + 0.1


@pytest.mark.parametrize('optimizer', OPTIMIZERS)
def test_the_step_is_the_constrained_optimum_not_a_clamped_one(optimizer, use_fused):
    """Two parallel sliders share a way; the first one's limit leaves the rest to the second."""
    model = Model.from_urdf(_sliders('<limit lower="-1" upper="0.1" velocity="1" effort="1"/>'))
    tip = model.body_index('tip')
    objective = IKObjectivePose(tip, [0.8, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    solver = IKSolver(
        model, 1, [objective], optimizer=optimizer, jacobian_mode='analytic', use_fused=use_fused
    )
    found = solve(solver, np.zeros((1, 2)), iterations=30)
    np.testing.assert_allclose(found, [[0.1, 0.7]], atol=2e-3)
    assert solver.status.numpy()[0] == SolveStatus.CONVERGED
    if optimizer == 'lm':
        # One step does it, but for the damping of 1e-5: a clamped step leaves 0.3.
        objective = IKObjectivePose(tip, [0.8, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
        optimizer = IKOptimizerLM(model, 1, [objective], 1e-5, 'analytic')
        found = solve(optimizer, np.zeros((1, 2)), iterations=1)
        np.testing.assert_allclose(found, [[0.1, 0.7]], atol=1e-4)


def test_a_joint_held_too_early_is_freed_again(problems):
    """The bounded step is the optimum of its model: against SciPy's bounded least squares."""
    rng = np.random.default_rng(11)
    model = problems.model
    q = problems.seeds[:20].copy()
    lower, upper = model.limits64()[:2]
    at = rng.random(q.shape) < 0.5
    q[at] = np.where(rng.random(q.shape) < 0.5, lower, upper).astype(np.float32)[at]
    optimizer = IKOptimizerLM(model, 20, [problems.objective(slice(0, 20))], 0.05, 'analytic')
    solve(optimizer, q, iterations=0)
    evaluation = optimizer._evaluation
    jacobian = evaluation.jacobian.numpy().astype(np.float64)
    residuals = evaluation.residuals.numpy().astype(np.float64)
    start = evaluation.joint_q.numpy().astype(np.float64)
    optimizer._clear()
    optimizer._launch_iteration()
    for row in range(20):
        damped = np.vstack([jacobian[row], np.sqrt(0.05) * np.eye(model.joint_dof_count)])
        wanted = np.concatenate([-residuals[row], np.zeros(model.joint_dof_count)])
        bounds = lower - start[row], upper - start[row]
        best = lsq_linear(damped, wanted, bounds, method='bvls', tol=1e-14).x
        step = optimizer._work.step.numpy()[row]
        # The model less its value at no step.
        objective = [
            0.5 * np.sum((damped @ d - wanted) ** 2) - 0.5 * wanted @ wanted for d in (step, best)
        ]
        # The solver has the limits in float32, 1e-7 beside those here.
        assert objective[0] <= objective[1] + 1e-6 * abs(objective[1])
        assert np.all(step >= lower - start[row] - 1e-6)
        assert np.all(step <= upper - start[row] + 1e-6)


@pytest.mark.parametrize('optimizer', OPTIMIZERS)
@pytest.mark.parametrize('sampler', ['none', 'gauss', 'uniform', 'roberts'])
def test_frozen_degrees_of_freedom_keep_their_bits(problems, optimizer, sampler, use_fused):
    model = problems.model
    frozen = np.array([1, 4])
    mask = np.ones(model.joint_dof_count, dtype=bool)
    mask[frozen] = False
    start = problems.seeds.copy()
    start[0, 1] = 9.0  # outside its limits: frozen all the same
    solver = IKSolver(
        model, N, [problems.objective()], optimizer=optimizer, jacobian_mode='analytic',
        joint_dof_mask=wp.array(mask, dtype=wp.bool, device='cpu'), sampler=sampler,
        n_seeds=1 if sampler == 'none' else 3, use_fused=use_fused,
    )  # fmt: skip
    found = solve(solver, start, iterations=10)
    np.testing.assert_array_equal(found[:, frozen], start[:, frozen])
    moved = np.delete(np.arange(found.shape[1]), frozen)
    assert np.all(np.any(found[1:, moved] != start[1:, moved], axis=1))


@pytest.mark.parametrize('optimizer', OPTIMIZERS)
@pytest.mark.parametrize('kind', ['ball', 'free'])
def test_joints_with_a_quaternion_freeze_as_a_whole(kind, optimizer, use_fused):
    model = newton_model(kind)
    rng = np.random.default_rng(2)
    start = random_newton_q(model, 8, rng)
    targets = newton_poses(model, random_newton_q(model, 8, rng), 3)
    first, last = model.joint_qd_start.numpy()[1:3]
    coords = slice(*model.joint_q_start.numpy()[1:3])
    mask = np.ones(model.joint_dof_count, dtype=bool)
    mask[first:last] = False
    solver = IKSolver(
        model, 8, [IKObjectivePose(3, targets)], optimizer=optimizer,
        joint_dof_mask=wp.array(mask, dtype=wp.bool, device='cpu'), use_fused=use_fused,
    )  # fmt: skip
    start[0, coords] *= 1.001  # not quite unit: left unchanged
    found = solve(solver, start, iterations=10)
    np.testing.assert_array_equal(found[:, coords], start[:, coords])
    assert np.all(found[:, 0] != start[:, 0])
    mask[first] = True
    with pytest.raises(ArgumentError, match='joint 1'):
        IKSolver(
            model, 8, [IKObjectivePose(3, targets)],
            joint_dof_mask=wp.array(mask, dtype=wp.bool, device='cpu'), use_fused=use_fused,
        )  # fmt: skip


def test_unusable_masks_are_named(problems, use_fused):
    for mask in (
        np.ones(3, dtype=bool),
        np.ones(9, dtype=int),
        [True] * 9,
        wp.ones(3, dtype=wp.bool, device='cpu'),
        wp.ones(problems.model.joint_dof_count, dtype=wp.int32, device='cpu'),
    ):
        with pytest.raises(ArgumentError, match='joint_dof_mask'):
            IKSolver(
                problems.model, N, [problems.objective()], joint_dof_mask=mask, use_fused=use_fused
            )


@pytest.mark.parametrize('optimizer', OPTIMIZERS)
@pytest.mark.parametrize('kind', ['ball', 'free'])
def test_quaternions_stay_unit_and_bad_ones_are_repaired(kind, optimizer, use_fused):
    model = newton_model(kind)
    rng = np.random.default_rng(4)
    start = random_newton_q(model, 8, rng)
    targets = newton_poses(model, random_newton_q(model, 8, rng), 3)
    end = model.joint_q_start.numpy()[2]
    start[0, end - 4 : end] = 0.0
    start[1, end - 4 : end] *= 50.0
    solver = IKSolver(
        model, 8, [IKObjectivePose(3, targets)], optimizer=optimizer, use_fused=use_fused
    )
    for iterations in (0, 15):
        found = solve(solver, start, iterations=iterations)
        np.testing.assert_allclose(np.linalg.norm(found[:, end - 4 : end], axis=1), 1.0, atol=1e-6)
    assert np.all(solver.costs.numpy() < np.inf)


@pytest.mark.parametrize('optimizer', OPTIMIZERS)
@pytest.mark.parametrize('mode', ['analytic', 'autodiff'])
def test_mimic_joints_follow_and_pull(optimizer, mode, use_fused):
    """Two sliders where the second follows -2 q + 0.1: the tip is at 0.1 - q."""
    model = Model.from_urdf(_sliders('', '<mimic joint="first" multiplier="-2" offset="0.1"/>'))
    tip = model.body_index('tip')
    targets = np.tile([0.6, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (3, 1))
    targets[:, 0] = 0.6, 0.1, -0.8
    solver = IKSolver(
        model,
        3,
        [IKObjectivePose(tip, targets)],
        optimizer=optimizer,
        jacobian_mode=mode,
        use_fused=use_fused,
    )
    found = solve(solver, np.full((3, 2), 0.3), iterations=40)
    np.testing.assert_array_equal(found[:, 1], np.float32(0.1) + np.float32(-2.0) * found[:, 0])
    # The first slider's own range is +-1, the second's +-0.9 leaves [-0.4, 0.5] of it.
    np.testing.assert_allclose(found[:, 0], [-0.4, 0.0, 0.5], atol=2e-3)
    statuses = solver.status.numpy().tolist()
    assert statuses == [SolveStatus.AT_LIMITS, SolveStatus.CONVERGED, SolveStatus.AT_LIMITS]


@pytest.mark.parametrize('mimic', [(-2.0, 5.0), (0.0, 2.0)])
def test_a_mimic_joint_follows_where_its_limits_exclude_every_position_of_its_driver(
    mimic, use_fused
):
    factor, offset = mimic
    tag = f'<mimic joint="first" multiplier="{factor}" offset="{offset}"/>'
    model = Model.from_urdf(_sliders('', tag))
    assert 'all outside its limits' in model.warnings[0]
    # The tip is at (1 + factor) q + offset, and q stays in [-1, 1].
    target = np.array([[(1.0 + factor) * 0.3 + offset, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
    objective = IKObjectivePose(model.body_index('tip'), target)
    solver = IKSolver(model, 1, [objective], jacobian_mode='analytic', use_fused=use_fused)
    found = solve(solver, np.zeros((1, 2)), iterations=20)
    assert solver.status.numpy()[0] == SolveStatus.CONVERGED
    np.testing.assert_allclose(found, [[0.3, factor * 0.3 + offset]], atol=2e-3)


def test_mimic_pairs_freeze_together(use_fused):
    model = Model.from_urdf(_sliders('', '<mimic joint="first" multiplier="-2" offset="0.1"/>'))
    start = np.array([[0.2, 0.7]], dtype=np.float32)
    for mask in ([True, False], [False, True]):
        objective = IKObjectivePose(model.body_index('tip'), [0.6, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
        solver = IKSolver(
            model, 1, [objective],
            joint_dof_mask=wp.array(np.array(mask), dtype=wp.bool, device=model.device),
            use_fused=use_fused,
        )  # fmt: skip
        np.testing.assert_array_equal(solve(solver, start, iterations=5), start)


def test_mimic_robot_reaches_joint_targets(use_fused):
    model = Model.from_urdf(urdf_text('panda'), device='cpu')
    rng = np.random.default_rng(8)
    goal = model.random_joint_q(4, rng)
    solver = IKSolver(
        model,
        4,
        [IKObjectiveJointPosition(model, goal)],
        jacobian_mode='analytic',
        use_fused=use_fused,
    )
    found = solve(solver, model.random_joint_q(4, rng), iterations=20)
    np.testing.assert_allclose(found, goal, atol=1e-3)
    np.testing.assert_allclose(found, model.apply_mimic(found), atol=1e-7)


def _sliders(first_limit, mimic=''):
    """Return a URDF of two sliders along x, one on the other."""
    first_limit = first_limit or '<limit lower="-1" upper="1" velocity="1" effort="1"/>'
    return f"""
    <robot name="sliders">
      <link name="base"/><link name="carriage"/><link name="tip"/>
      <joint name="first" type="prismatic">
        <parent link="base"/><child link="carriage"/><axis xyz="1 0 0"/>{first_limit}
      </joint>
      <joint name="second" type="prismatic">
        <parent link="carriage"/><child link="tip"/><axis xyz="1 0 0"/>{mimic}
        <limit lower="-0.9" upper="0.9" velocity="1" effort="1"/>
      </joint>
    </robot>"""
