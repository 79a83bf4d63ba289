# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objectives that several solvers hold; the oracle is a solver with objectives of its own."""

import gc
import os
import threading

import numpy as np
import pytest
from support.solvers.ik_problems import newton
from support.solvers.ik_problems import newton_model
from support.solvers.ik_problems import newton_poses
from support.solvers.ik_problems import panda
from support.solvers.ik_problems import PoseProblems
from support.solvers.ik_problems import random_newton_q
from support.solvers.ik_problems import solve
from support.solvers.ik_problems import to_warp
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_fk
from ros_ik.objectives import IKObjective
from ros_ik.objectives import IKObjectiveJointLimit
from ros_ik.objectives import IKObjectivePose
from ros_ik.objectives import IKObjectivePosition
from ros_ik.objectives import IKObjectiveRotation
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import Task
from ros_ik.solvers.batch_ik.solver import IKSolver
from ros_ik.solvers.differential_ik.tasks.single_precision_objective import (
    SinglePrecisionObjective,
)

N = 24
SOLVERS = [
    {'optimizer': optimizer, 'jacobian_mode': mode, 'use_fused': fused}
    for optimizer, mode, fused in (
        ('lm', 'analytic', True), ('lm', 'analytic', False), ('lm', 'autodiff', False),
        ('lbfgs', 'analytic', False), ('lbfgs', 'autodiff', False),
    )
]  # fmt: skip


@wp.kernel
def _height_kernel(
    body_q: wp.array2d(dtype=wp.transform),
    link: int,
    target: wp.array(dtype=float),  # [n_batch], a buffer per row
    start: int,
    residuals: wp.array2d(dtype=float),
):
    row = wp.tid()
    residuals[row, start] = target[row] - wp.transform_get_translation(body_q[row, link])[2]


class Height(IKObjective):
    """A user's objective with a buffer per row of the batch: the height of a link."""

    def __init__(self, link, height):
        super().__init__()
        self.link, self.height, self.set_ups = link, height, 0

    def residual_dim(self):
        return 1

    def init_buffers(self, model, jacobian_mode=None):
        if 'NO_MEMORY' in os.environ:
            raise RuntimeError('no memory')
        self.set_ups += 1
        heights = np.broadcast_to(self.height, self.n_batch).astype(np.float32)
        self.target = wp.array(heights, dtype=float, device=self.device)

    def compute_residuals(self, body_q, joint_q, model, residuals, start_idx, problem_idx=None):
        wp.launch(
            _height_kernel, dim=body_q.shape[0],
            inputs=[body_q, self.link, self.target, start_idx], outputs=[residuals],
            device=self.device,
        )  # fmt: skip


@pytest.fixture(scope='module')
def problems():
    model = panda()
    return PoseProblems(model, model.body_index('panda_hand'), N)


def builtins(problems):
    """Return objectives as a script for newton.ik makes them."""
    model, poses = problems.model, problems.poses
    return [
        IKObjectivePosition(problems.link, wp.vec3(0.0, 0.0, 0.1), to_warp(poses[:, :3], wp.vec3)),
        IKObjectiveRotation(problems.link, wp.quat_identity(), to_warp(poses[:, 3:], wp.vec4)),
        IKObjectiveJointLimit(model.joint_limit_lower, model.joint_limit_upper),
    ]


def own(problems, make, options, **solving):
    """Return the result of a solver with its own objectives."""
    return solve(IKSolver(problems.model, N, make(problems), **options), problems.seeds, **solving)


def test_built_in_objectives_serve_every_solver_of_a_model(problems):
    objectives = builtins(problems)
    options = [*SOLVERS, {'sampler': 'roberts', 'n_seeds': 3}]
    solvers = [IKSolver(problems.model, N, objectives, **each) for each in options]
    gc.collect()
    for _ in range(2):
        for solver, each in zip(solvers, options, strict=True):
            expected = own(problems, builtins, each)
            np.testing.assert_array_equal(solve(solver, problems.seeds), expected)
    # None of them had to be recorded again.
    for solver in solvers[1:-1]:
        assert solver._backend._evaluation.is_current


def test_targets_that_change_reach_every_solver(problems):
    poses = np.roll(problems.poses, 1, axis=0)
    objective = IKObjectivePose(problems.link, problems.poses)
    solvers = [IKSolver(problems.model, N, [objective], **each) for each in SOLVERS]
    objective.set_target_poses(poses)
    for solver, each in zip(solvers, SOLVERS, strict=True):
        alone = IKSolver(problems.model, N, [IKObjectivePose(problems.link, poses)], **each)
        np.testing.assert_array_equal(solve(solver, problems.seeds), solve(alone, problems.seeds))


@pytest.mark.parametrize('use_graph', [True, False])
def test_an_objective_with_buffers_per_row_goes_from_solver_to_solver(problems, use_graph):
    """Twice as many rows in turns: buffers of the one are too short for the other."""

    def make(problems):
        return [problems.objective(), Height(problems.link, 0.4)]

    objectives = make(problems)
    options = [
        {'jacobian_mode': mode, 'use_graph': use_graph, 'sampler': 'roberts', 'n_seeds': n_seeds}
        for mode, n_seeds in (('autodiff', 5), ('mixed', 2), ('autodiff', 3))
    ]
    expected = [own(problems, make, each, iterations=8) for each in options]
    solvers = [IKSolver(problems.model, N, objectives, **each) for each in options]
    for which in (0, 1, 2, 2, 1, 0):
        found = solve(solvers[which], problems.seeds, iterations=8)
        np.testing.assert_array_equal(found, expected[which])
        assert solvers[which]._backend._evaluation.is_current
    # Three when they were made, one for each change of hands: 2 to 0, 0 to 1, and so on.
    assert objectives[1].set_ups == 3 + 5


@wp.kernel
def _height_of_problem_kernel(
    body_q: wp.array2d(dtype=wp.transform),
    link: int,
    target: wp.array(dtype=float),  # [n_problems]
    problem: wp.array(dtype=wp.int32),
    start: int,
    residuals: wp.array2d(dtype=float),
):
    row = wp.tid()
    height = wp.transform_get_translation(body_q[row, link])[2]
    residuals[row, start] = target[problem[row]] - height


class HeightOfProblem(Height):
    """The same, with a height for each problem."""

    def compute_residuals(self, body_q, joint_q, model, residuals, start_idx, problem_idx=None):
        wp.launch(
            _height_of_problem_kernel, dim=body_q.shape[0],
            inputs=[body_q, self.link, self.target, problem_idx, start_idx], outputs=[residuals],
            device=self.device,
        )  # fmt: skip


@pytest.mark.parametrize('use_graph', [True, False])
@pytest.mark.parametrize('optimizer', ['lm', 'lbfgs'])
def test_rows_of_an_objective_are_those_of_the_batch_in_a_line_search_too(
    problems, optimizer, use_graph
):
    heights = np.random.default_rng(3).uniform(0.2, 0.7, N).astype(np.float32)
    found = []
    for kind in (Height, HeightOfProblem):
        objective = kind(problems.link, heights)
        options = {'optimizer': optimizer, 'use_graph': use_graph}
        found.append(solve(IKSolver(problems.model, N, [objective], **options), problems.seeds))
    np.testing.assert_array_equal(*found)
    links = np.zeros((N, problems.model.body_count, 7), dtype=np.float32)
    eval_fk(problems.model, found[0], links)
    np.testing.assert_allclose(links[:, problems.link, 2], heights, atol=2e-3)


def test_an_objective_is_set_up_once_for_solvers_that_need_the_same(problems):
    objective = Height(problems.link, 0.4)
    solvers = [
        IKSolver(problems.model, N, [objective], optimizer=optimizer)
        for optimizer in ('lm', 'lbfgs')
    ]
    found = [solve(solver, problems.seeds) for solver in solvers * 2]
    assert objective.set_ups == 1
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_array_equal(found[1], found[3])


@pytest.mark.oracle
def test_newtons_objectives_are_shared_and_survive_newtons_solver(problems):
    def make(problems):
        return [
            newton.ik.IKObjectivePosition(
                problems.link, wp.vec3(), to_warp(problems.poses[:, :3], wp.vec3)
            ),
            newton.ik.IKObjectiveRotation(
                problems.link, wp.quat_identity(), to_warp(problems.poses[:, 3:], wp.vec4)
            ),
            # As many residuals as in test_newton_compatibility.py: Newton has a kernel of each.
            newton.ik.IKObjectiveJointLimit(
                problems.model.joint_limit_lower, problems.model.joint_limit_upper
            ),
        ]

    objectives = make(problems)
    options = [{'jacobian_mode': 'analytic'}, {'sampler': 'gauss', 'n_seeds': 4}]
    solvers = [IKSolver(problems.model, N, objectives, **each) for each in options]
    theirs = newton.ik.IKSolver(problems.model, N, objectives)
    solve(theirs, problems.seeds, iterations=2)
    for which in (0, 1, 0):
        found = solve(solvers[which], problems.seeds)
        np.testing.assert_array_equal(found, own(problems, make, options[which]))


def test_a_model_of_another_kind_takes_an_objective_and_gives_it_back():
    models = [newton_model(kind) for kind in ('revolute', 'ball')]
    rng = np.random.default_rng(4)
    starts = [random_newton_q(model, N, rng) for model in models]
    target = newton_poses(models[0], starts[0][:1], 3)[0]
    for options in SOLVERS:
        objective = IKObjectivePose(3, target)
        solvers = [IKSolver(model, N, [objective], **options) for model in models]
        for which in (0, 1, 0):
            alone = IKSolver(models[which], N, [IKObjectivePose(3, target)], **options)
            np.testing.assert_array_equal(
                solve(solvers[which], starts[which]), solve(alone, starts[which])
            )


def test_a_control_step_shares_built_in_objectives_and_keeps_others(problems):
    model, link = problems.model, problems.link
    group = model.joint_group('panda_link0:panda_hand')
    shared, kept = IKObjectivePose(link, problems.poses[:1]), Height(link, 0.4)
    batch = IKSolver(model, N, [shared], jacobian_mode='autodiff')
    expected = solve(batch, problems.seeds)
    step = DifferentialIK(model, group)
    joint_q, dq = model.neutral_joint_q(), np.zeros(group.n_variables)
    tasks = [Task(shared), Task(SinglePrecisionObjective(kept))]
    step.solve_ik(joint_q, tasks, delta_q=dq)
    np.testing.assert_array_equal(solve(batch, problems.seeds), expected)
    again = np.zeros_like(dq)
    step.solve_ik(joint_q, tasks, delta_q=again)
    np.testing.assert_array_equal(again, dq)
    with pytest.raises(ArgumentError, match='Height already belongs to another solver'):
        IKSolver(model, N, [kept])
    del step, tasks
    batch = IKSolver(model, N, [kept])  # without a call of the collector
    solve(batch, problems.seeds)
    # A step could not give it back.
    with pytest.raises(ArgumentError, match='Height already belongs to another solver'):
        DifferentialIK(model, group).solve_ik(
            joint_q, [Task(SinglePrecisionObjective(kept))], delta_q=dq
        )


@pytest.mark.parametrize('use_graph', [True, False])
def test_every_solve_is_refused_while_another_solver_keeps_an_objective(problems, use_graph):
    """The second solve would continue with arrays that the objective no longer uses."""
    first, kept = Height(problems.link, 0.5), Height(problems.link, 0.5)
    solver = IKSolver(problems.model, N, [first, kept], use_graph=use_graph)
    expected = solve(solver, problems.seeds)
    other = IKSolver(problems.model, 2 * N, [first, kept])
    del other
    gc.collect()

    class Step:
        """A solver that cannot set objectives up again."""

        model, device = problems.model, wp.get_device('cpu')

    step = Step()
    kept.claim(step)
    for _ in range(3):
        with pytest.raises(ArgumentError, match='Height already belongs to another solver'):
            solve(solver, problems.seeds)
    del step
    np.testing.assert_array_equal(solve(solver, problems.seeds), expected)


def test_a_set_up_that_raises_is_repeated(problems, monkeypatch):
    """An objective whose arrays are missing or old is not taken for one that is set up."""
    objective = Height(problems.link, 0.4)
    solver = IKSolver(problems.model, N, [objective])
    expected = solve(solver, problems.seeds)
    IKSolver(problems.model, 2 * N, [objective])
    # No attribute of the objective tells that its arrays are missing.
    with monkeypatch.context() as patch:
        patch.setenv('NO_MEMORY', '1')
        for _ in range(3):
            with pytest.raises(RuntimeError, match='no memory'):
                solve(solver, problems.seeds)
    np.testing.assert_array_equal(solve(solver, problems.seeds), expected)


def test_nothing_is_recorded_inside_a_capture_of_the_caller(problems):
    objective = Height(problems.link, 0.4)
    first = IKSolver(problems.model, N, [objective])
    IKSolver(problems.model, 2 * N, [objective])
    q = to_warp(problems.seeds)
    with wp.ScopedCapture(device='cpu') as capture:
        with pytest.raises(ArgumentError, match='call step\\(\\) once before the capture'):
            first.step(q, q)
    assert capture.graph is not None
    first.step(q, q)


def test_an_objective_changes_hands_while_another_thread_solves(problems):
    """Taking it back needs the lock alone; the other solver replays graphs all the while."""
    busy = IKSolver(problems.model, N, [problems.objective()], jacobian_mode='autodiff')
    expected = solve(busy, problems.seeds)
    objective = Height(problems.link, 0.4)
    solvers = [IKSolver(problems.model, n, [objective]) for n in (N, 2 * N)]
    seeds = [problems.seeds, np.tile(problems.seeds, (2, 1))]
    done = threading.Event()

    def change_hands():
        for k in range(6):
            solve(solvers[k % 2], seeds[k % 2])
        done.set()

    thread = threading.Thread(target=change_hands)
    thread.start()
    while not done.is_set():
        np.testing.assert_array_equal(solve(busy, problems.seeds), expected)
    thread.join(timeout=60.0)
    assert not thread.is_alive()


@pytest.mark.parametrize('count', [0, -1, 1.5, True, None])
@pytest.mark.parametrize('optimizer', ['lm', 'lbfgs'])
def test_a_residual_count_that_is_none_is_refused(problems, count, optimizer):
    """A kernel of an objective with no rows would write beyond the residuals."""
    objective = Height(problems.link, 0.4)
    objective.residual_dim = lambda: count
    with pytest.raises(ArgumentError, match=r'Height\.residual_dim\(\) must be an integer'):
        IKSolver(problems.model, N, [problems.objective(), objective], optimizer=optimizer)
