# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Arguments of IKSolver and its optimizers, and the errors that name wrong ones."""

import numpy as np
import pytest
from support.solvers.ik_problems import panda
from support.solvers.ik_problems import PoseProblems
from support.solvers.ik_problems import to_warp
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers.batch_ik.optimizers.lbfgs import IKOptimizerLBFGS
from ros_ik.solvers.batch_ik.optimizers.lm import IKOptimizerLM
from ros_ik.solvers.batch_ik.solver import IKSolver

N = 60
# With and without the fused kernel of built-in objectives.
BOTH_WAYS = pytest.mark.parametrize('use_fused', [True, False])


@pytest.fixture(scope='module')
def problems():
    model = panda()
    return PoseProblems(model, model.body_index('panda_hand'), N)


def make(problems, objective, **options):
    options = {'jacobian_mode': 'analytic', **options}
    return IKSolver(problems.model, N, [objective], **options)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'optimizer': 'newton'}, 'optimizer'),
        ({'jacobian_mode': 'forward'}, 'jacobian_mode'),
        ({'sampler': 'sobol'}, 'sampler'),
        ({'n_seeds': 0}, 'n_seeds'),
        ({'n_seeds': 2}, 'n_seeds'),
        ({'sampler': 'gauss', 'noise_std': -1.0}, 'noise_std'),
        ({'rng_seed': 0.5}, 'rng_seed'),
        ({'rho_min': 'a'}, 'rho_min'),
        ({'lambda_max': 'a'}, 'lambda_max'),
        ({'lambda_factor': 1.0}, 'lambda_factor'),
        ({'lambda_min': 0.0}, 'lambda_min'),
        ({'lambda_initial': np.nan}, 'lambda_initial'),
        ({'cost_tolerance': -1.0}, 'cost_tolerance'),
        ({'gradient_tolerance': np.nan}, 'gradient_tolerance'),
        ({'optimizer': 'lbfgs', 'history_len': 0}, 'history_len'),
        ({'optimizer': 'lbfgs', 'line_search_alphas': []}, 'line_search_alphas'),
        ({'optimizer': 'lbfgs', 'line_search_alphas': [1.0, -1.0]}, 'line_search_alphas'),
        ({'optimizer': 'lbfgs', 'h0_scale': 0.0}, 'h0_scale'),
        ({'optimizer': 'lbfgs', 'wolfe_c1': 0.95}, 'wolfe_c1'),
    ],
)
@BOTH_WAYS
def test_unusable_options_are_named(problems, options, message, use_fused):
    objective = problems.objective()
    with pytest.raises(ArgumentError, match=message):
        make(problems, objective, use_fused=use_fused, **options)
    # The objective is still free for a solver that can be made.
    make(problems, objective, use_fused=use_fused)


@BOTH_WAYS
def test_unusable_arrays_are_named(problems, use_fused):
    solver = make(problems, problems.objective(), use_fused=use_fused)
    q = to_warp(problems.seeds)
    for name, arrays in (
        ('joint_q_in', (to_warp(problems.seeds[:-1]), q)),
        ('joint_q_out', (q, to_warp(problems.seeds[:, :-1]))),
        ('joint_q_in', (wp.zeros(q.shape, dtype=wp.int32, device='cpu'), q)),
        ('joint_q_in', (np.zeros(q.shape, dtype=int), q)),
        ('joint_q_out', (q, np.zeros(q.shape, dtype=int))),
        ('joint_q_in', (problems.seeds.tolist(), q)),
    ):
        with pytest.raises(ValueError, match=name):
            solver.step(*arrays)
    for iterations in (-1, 1.5, True, None):
        with pytest.raises(ArgumentError, match='iterations'):
            solver.step(q, q, iterations=iterations)
    for step_size in (0.0, np.nan, 'a'):
        with pytest.raises(ArgumentError, match='step_size'):
            solver.step(q, q, step_size=step_size)
    for n_problems in (0, 2.0, None):
        with pytest.raises(ArgumentError, match='n_problems'):
            IKSolver(problems.model, n_problems, [problems.objective()])
    for objectives, name in (([], 'objectives'), ([None], r'objectives\[0\]'), (3, 'objectives')):
        with pytest.raises(ArgumentError, match=name):
            IKSolver(problems.model, N, objectives)
    for model in (None, 'panda.urdf'):
        with pytest.raises(ArgumentError, match='model must be a Model'):
            IKSolver(model, N, [problems.objective()])
    with pytest.raises(ArgumentError, match='60 targets for 7 problems'):
        IKSolver(problems.model, 7, [problems.objective()])
    with pytest.raises(ArgumentError, match='n_batch'):
        IKOptimizerLM(problems.model, 0, [problems.objective()])
    with pytest.raises(ArgumentError, match='problem_idx'):
        IKOptimizerLM(problems.model, N, [problems.objective()], problem_idx=to_warp([0.0]))
    with pytest.raises(ArgumentError, match='problem_idx must be a Warp or NumPy array'):
        IKOptimizerLM(problems.model, N, [problems.objective()], problem_idx=range(N))


@pytest.mark.parametrize('optimizer', ['lm', 'lbfgs'])
@pytest.mark.parametrize('n_problems', [10**9, 2**31, 10**10])
def test_a_batch_larger_than_the_memory_is_refused_before_anything_is_made(
    problems, n_problems, optimizer
):
    # A billion rows of the Panda's joints, links and normal equations are some 5000 GB.
    objective = IKObjectivePose(problems.link, problems.poses[0])
    with pytest.raises(ArgumentError, match=r'n_problems \* n_seeds (makes|must make)'):
        IKSolver(problems.model, n_problems, [objective], optimizer=optimizer)
    for optimizer_type in (IKOptimizerLM, IKOptimizerLBFGS):
        with pytest.raises(ArgumentError, match='n_batch (makes|must make)'):
            optimizer_type(problems.model, n_problems, [objective])
