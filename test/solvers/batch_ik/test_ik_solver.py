# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""IKSolver: results, statuses, refusals, threads."""

import threading

import numpy as np
import pytest
from support.long_forms import in_pairs
from support.solvers.ik_problems import panda
from support.solvers.ik_problems import PoseProblems
from support.solvers.ik_problems import solve
from support.solvers.ik_problems import to_warp
import warp as wp

from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers.batch_ik.solver import IKSolver
from ros_ik.solvers.status import SolveStatus

N = 60


@pytest.fixture(scope='module')
def problems():
    model = panda()
    return PoseProblems(model, model.body_index('panda_hand'), N)


@pytest.fixture(autouse=True, params=['fused', 'modular'])
def path(request):
    """Run every test with and without the fused kernel of built-in objectives."""
    PATH['use_fused'] = request.param == 'fused'
    return request.param


PATH = {}


def make(problems, objective=None, **options):
    options = {'jacobian_mode': 'analytic', **PATH, **options}
    objective = objective or problems.objective()
    return IKSolver(problems.model, N, [objective], **options)


@pytest.mark.parametrize('optimizer', ['lm', 'lbfgs'])
def test_converged_means_that_the_pose_is_reached_inside_the_limits(problems, optimizer):
    solver = make(problems, optimizer=optimizer, sampler='roberts', n_seeds=16)
    found = solve(solver, problems.seeds, iterations=50)
    converged = solver.status.numpy() == SolveStatus.CONVERGED
    # With 16 seeds hardly a reachable pose is missed.
    assert np.mean(converged) >= 0.95
    position, rotation = problems.errors(found)
    # Squared residual 1e-6 at weight 1; float32 adds 1e-6 of angle to acos near 1: 2e-3.
    assert np.all(position[converged] < 1.01e-3)
    assert np.all(rotation[converged] < 2e-3)
    lower, upper = (limit.astype(np.float32) for limit in problems.model.limits64()[:2])
    assert np.all((found >= lower) & (found <= upper))


def test_the_best_seed_is_returned_with_its_cost_and_status(problems):
    solver = make(problems, sampler='uniform', n_seeds=5)
    found = solve(solver, problems.seeds, iterations=8)
    costs = solver.costs.numpy().reshape(N, 5)
    best = np.argmin(costs, axis=1)
    np.testing.assert_array_equal(solver.best_indices.numpy(), best)
    seeds = solver.joint_q.numpy().reshape(N, 5, -1)
    np.testing.assert_array_equal(found, seeds[np.arange(N), best])
    statuses = solver.seed_status.numpy().reshape(N, 5)
    np.testing.assert_array_equal(solver.status.numpy(), statuses[np.arange(N), best])
    assert len(set(best.tolist())) > 1


def test_input_and_output_may_be_the_same_array(problems):
    apart = solve(make(problems), problems.seeds, iterations=10)
    both = to_warp(problems.seeds)
    make(problems).step(both, both, iterations=10)
    np.testing.assert_array_equal(both.numpy(), apart)
    assert not np.array_equal(apart, problems.seeds)


@pytest.mark.parametrize('optimizer', ['lm', 'lbfgs'])
def test_launches_one_by_one_give_what_the_graph_gives(problems, optimizer):
    for mode in ('analytic', 'autodiff'):
        found = [
            solve(
                make(problems, optimizer=optimizer, jacobian_mode=mode, use_graph=use_graph),
                problems.seeds, iterations=6,
            )
            for use_graph in (True, False)
        ]  # fmt: skip
        np.testing.assert_array_equal(*found)


def test_a_solve_becomes_part_of_the_callers_capture(problems):
    expected = solve(make(problems), problems.seeds, iterations=5)
    solver = make(problems)
    start, out = to_warp(problems.seeds), to_warp(np.zeros_like(problems.seeds))
    with wp.ScopedCapture(device='cpu', force_module_load=False) as capture:
        solver.step(start, out, iterations=5)
    assert not np.any(out.numpy())
    wp.capture_launch(capture.graph)
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.parametrize('optimizer', ['lm', 'lbfgs'])
def test_unreachable_targets_and_short_solves_have_their_statuses(problems, optimizer):
    poses = problems.poses.copy()
    poses[:, :3] *= 2.0 / np.linalg.norm(poses[:, :3], axis=1, keepdims=True)
    objective = IKObjectivePose(problems.link, poses, rotation_weight=0.0)
    solver = make(problems, objective, optimizer=optimizer)
    found = solve(solver, problems.seeds, iterations=400)
    status = solver.status.numpy()
    assert not np.any(status == SolveStatus.CONVERGED)
    stuck = np.isin(status, (SolveStatus.UNREACHABLE, SolveStatus.AT_LIMITS))
    assert np.mean(stuck) > 0.9
    assert np.any(status == SolveStatus.AT_LIMITS)
    # A stationary row stays where it is when it is solved again.
    again = solve(solver, found, iterations=20)
    assert np.max(np.abs(again - found)[stuck]) < 0.05

    solver = make(problems, optimizer=optimizer)
    solve(solver, problems.seeds, iterations=1)
    assert np.mean(solver.status.numpy() == SolveStatus.ITERATION_LIMIT) > 0.9


@pytest.mark.parametrize('use_fused', [True, False])
def test_a_target_five_metres_away_is_no_iteration_limit(problems, use_fused):
    poses = problems.poses.copy()
    poses[:, :3] *= 5.0 / np.linalg.norm(poses[:, :3], axis=1, keepdims=True)
    solver = make(problems, IKObjectivePose(problems.link, poses), use_fused=use_fused)
    solve(solver, problems.seeds, iterations=100)
    stuck = np.isin(solver.status.numpy(), (SolveStatus.UNREACHABLE, SolveStatus.AT_LIMITS))
    assert np.mean(stuck) >= 0.85


def test_tolerances_decide(problems):
    solver = make(problems, cost_tolerance=1e3)
    solve(solver, problems.seeds, iterations=1)
    assert np.all(solver.status.numpy() == SolveStatus.CONVERGED)
    solver = make(problems, cost_tolerance=0.0, gradient_tolerance=1.0)
    solve(solver, problems.seeds, iterations=1)
    assert np.all(np.isin(solver.status.numpy(), (SolveStatus.UNREACHABLE, SolveStatus.AT_LIMITS)))


@pytest.mark.parametrize(
    ('optimizer', 'mode', 'seeds'),
    in_pairs(
        ['lm', 'lbfgs'], ['analytic', 'autodiff'], [{}, {'sampler': 'roberts', 'n_seeds': 3}]
    ),
)
def test_what_is_not_finite_is_refused_and_leaves_its_neighbours_alone(
    problems, optimizer, mode, seeds
):
    options = {'optimizer': optimizer, 'jacobian_mode': mode, **seeds}
    reference = make(problems, **options)
    expected = solve(reference, problems.seeds, iterations=8)
    objective = problems.objective()
    solver = make(problems, objective, **options)
    start = problems.seeds.copy()
    start[3, 2] = np.nan
    start[4, 0] = -np.inf
    targets = problems.poses.copy()
    targets[7, 0] = np.nan
    targets[8, 4] = np.inf
    objective.set_target_poses(targets)
    found = solve(solver, start, iterations=8)

    bad = [3, 4, 7, 8]
    good = np.setdiff1d(np.arange(N), bad)
    np.testing.assert_array_equal(found[good], expected[good])
    np.testing.assert_array_equal(solver.status.numpy()[good], reference.status.numpy()[good])
    assert np.all(solver.status.numpy()[bad] == SolveStatus.NON_FINITE_INPUT)
    costs = solver.costs.numpy().reshape(N, -1)
    assert np.all(np.isposinf(costs[bad])) and np.all(np.isfinite(costs[good]))
    # Seeds inside the limits come back to the bit; otherwise the neutral pose does.
    np.testing.assert_array_equal(found[[7, 8]], start[[7, 8]])
    neutral = problems.model.neutral_joint_q().astype(np.float32)
    np.testing.assert_array_equal(found[[3, 4]], [neutral, neutral])

    # It has no effect on the next solve.
    objective.set_target_poses(problems.poses)
    solver.reset()
    np.testing.assert_array_equal(solve(solver, problems.seeds, iterations=8), expected)


def test_an_exact_seed_stays(problems):
    solver = make(problems, sampler='roberts', n_seeds=16)
    exact = solve(solver, problems.seeds, iterations=80)
    single = make(problems)
    found = solve(single, exact, iterations=30)
    assert np.mean(single.status.numpy() == SolveStatus.CONVERGED) > 0.95
    # Steps at the optimum are rounding of float32.
    reached = solver.costs.numpy().reshape(N, -1).min(axis=1) < 1e-9
    assert np.max(np.abs(found - exact)[reached]) < 2e-3


def test_one_target_serves_every_problem(problems):
    objective = IKObjectivePose(problems.link, problems.poses[0])
    solver = make(problems, objective)
    found = solve(solver, problems.seeds, iterations=50)
    alone = PoseProblems(problems.model, problems.link, N)
    alone.poses[:] = problems.poses[0]
    position, _ = alone.errors(found)
    converged = solver.status.numpy() == SolveStatus.CONVERGED
    assert converged.sum() > 10 and np.all(position[converged] < 1.01e-3)


def test_solvers_in_several_threads_do_not_disturb_each_other(problems):
    """Solvers are made in all threads at once, then solve; the last one replays no graph."""
    modes = ('analytic', 'autodiff', 'autodiff')
    graphs = (True, True, False)
    expected = [solve(make(problems, jacobian_mode=mode), problems.seeds) for mode in modes]
    objectives = [[problems.objective() for _ in range(4)] for _ in modes]
    found = [[] for _ in modes]
    made = threading.Barrier(len(modes), timeout=60.0)

    def work(mode, use_graph, own, results):
        solvers = [
            make(problems, objective, jacobian_mode=mode, use_graph=use_graph) for objective in own
        ]
        made.wait()
        results.extend(solve(solver, problems.seeds) for solver in solvers)

    threads = [
        threading.Thread(target=work, args=arguments)
        for arguments in zip(modes, graphs, objectives, found, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for results, reference in zip(found, expected, strict=True):
        assert len(results) == 4
        for result in results:
            np.testing.assert_array_equal(result, reference)


def test_a_solver_is_made_while_another_one_solves(problems):
    """Recording waits for solves and blocks them: the lock, seen from outside."""
    solver = make(problems, jacobian_mode='autodiff')
    expected = solve(solver, problems.seeds, iterations=20)
    start, out = to_warp(problems.seeds), to_warp(problems.seeds)
    objectives = [problems.objective() for _ in range(8)]
    done = threading.Event()

    def build():
        for objective in objectives:
            make(problems, objective, jacobian_mode='autodiff')
        done.set()

    thread = threading.Thread(target=build)
    thread.start()
    while not done.is_set():
        solver.step(start, out, iterations=20)
        np.testing.assert_array_equal(out.numpy(), expected)
    thread.join()
