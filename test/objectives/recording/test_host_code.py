# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objectives that declare themselves recordable, with host code that a recording would miss.

The oracle is a solver that replays nothing (``use_graph=False``), and the count of calls.
"""

import functools
import math
import random
import time
import types
from unittest.mock import Mock
import warnings

import numpy as np
import pytest
from support.solvers.ik_problems import panda
from support.solvers.ik_problems import to_warp
import warp as wp

from ros_ik import DifferentialIK
from ros_ik import IKObjective
from ros_ik import IKSolver
from ros_ik import Task
from ros_ik.errors import ArgumentError

N = 3
CLOCK = types.SimpleNamespace(now=0.0)
GENERATOR = np.random.default_rng(5)


@wp.kernel
def spread(
    joint_q: wp.array2d(dtype=float), factor: float, targets: wp.array(dtype=float), start: int,
    residuals: wp.array2d(dtype=float),
):  # fmt: skip
    row, k = wp.tid()
    residuals[row, start + k] = factor * (joint_q[row, k] - targets[k])


class Pull(IKObjective):
    """An objective of targets for the first three joints, with a factor of its own."""

    is_recordable = True

    def __init__(self):
        super().__init__()
        self.targets, self.gains, self.calls = to_warp([0.3, 0.2, 0.1]), to_warp([0.5]), 0
        self.rng, self.seen, self.random = np.random.default_rng(3), [], random.Random(2)

    def residual_dim(self):
        return 3

    def factor(self, body_q, joint_q):
        return 1.0

    def compute_residuals(self, body_q, joint_q, model, residuals, start_idx, problem_idx=None):
        wp.launch(
            spread, dim=(len(joint_q), 3),
            inputs=[joint_q, self.factor(body_q, joint_q), self.targets, start_idx],
            outputs=[residuals], device=joint_q.device,
        )  # fmt: skip


def named(function):
    """Return a class of objectives whose factor is the given function."""
    return type(function.__name__, (Pull,), {'factor': function, '__module__': __name__})


def counts(self, body_q, joint_q):
    self.calls += 1
    return 1.0 / self.calls


def appends(self, body_q, joint_q):
    self.seen.append(1.0)
    return 1.0 / len(self.seen)


def counts_in_class(self, body_q, joint_q):
    Pull.total = getattr(Pull, 'total', 0) + 1
    return 1.0 / Pull.total


def reads_coordinates(self, body_q, joint_q):
    return 1.0 + float(np.abs(joint_q.numpy()).max())


def reads_through_numpy(self, body_q, joint_q):
    return 1.0 + float(np.linalg.norm(joint_q))


def reads_list(self, body_q, joint_q):
    return 1.0 + abs(joint_q.list()[0])


def reads_its_array(self, body_q, joint_q):
    return float(self.gains.numpy()[0])


def reads_clock(self, body_q, joint_q):
    return 1.0 + 0.1 * math.sin(1e3 * time.perf_counter())


def draws(self, body_q, joint_q):
    return 1.0 + self.random.random()


def draws_of_numpy(self, body_q, joint_q):
    return 1.0 + self.rng.random()


def draws_of_module(self, body_q, joint_q):
    return 1.0 + np.random.rand()


def draws_of_global(self, body_q, joint_q):
    return 1.0 + GENERATOR.random()


def prints(self, body_q, joint_q):
    print('evaluated')
    return 1.0


def helper(joint_q):
    return float(joint_q.numpy()[0, 0])


def reads_in_a_helper(self, body_q, joint_q):
    return 1.0 + abs(helper(joint_q))


def makes_an_array(self, body_q, joint_q):
    self.targets.assign(np.full(3, 0.2 * math.cos(CLOCK.now), dtype=np.float32))
    return 1.0


HOST = {
    counts: 'changes calls',
    appends: 'changes seen',
    counts_in_class: 'changes total',
    reads_coordinates: r'reads an array on the host .* in reads_coordinates',
    reads_through_numpy: 'reads an array on the host',
    reads_list: 'reads an array on the host',
    reads_its_array: 'reads an array on the host',
    reads_clock: r'calls time.perf_counter\(\) in reads_clock',
    draws: r'calls random.*Random.random\(\)',
    draws_of_numpy: 'draws random numbers',
    draws_of_module: 'draws random numbers',
    draws_of_global: 'draws random numbers',
    prints: r'calls print\(\)',
    reads_in_a_helper: 'reads an array on the host .* in helper',
    makes_an_array: 'makes an array of numbers on the host',
}


def pure(self, body_q, joint_q):
    weights = [float(g) for g in (0.5, 0.25)]
    reduced = functools.reduce(max, weights)
    return math.sqrt(reduced) * float(np.clip(len(joint_q), 0, 1)) * wp.length(wp.vec3(1.0))


@pytest.fixture(scope='module')
def rig():
    model = panda()
    rng = np.random.default_rng(4)
    start = model.neutral_joint_q() + 0.1 * rng.normal(size=(N, model.joint_coord_count))
    return model, start


@pytest.fixture(autouse=True)
def restored():
    yield
    Pull.total = 0


OPTIONS = {'lm': {}, 'analytic': {'jacobian_mode': 'mixed'}, 'lbfgs': {'optimizer': 'lbfgs'}}


@pytest.mark.parametrize('function', HOST, ids=lambda f: f.__name__)
def test_it_is_found_and_runs_each_time(rig, function):
    model, start = rig
    objective = named(function)()
    with pytest.warns(RuntimeWarning, match=HOST[function]):
        solver = IKSolver(model, N, [objective])
    assert not solver._backend.is_replayed
    times = []
    residuals = type(objective).compute_residuals

    def counted(self, *args, **kwargs):
        times.append(None)
        return residuals(self, *args, **kwargs)

    type(objective).compute_residuals = counted
    q = to_warp(start)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', RuntimeWarning)
        solver.step(q, q, iterations=3)  # records again: the class has changed
        times.clear()
        solver.step(q, q, iterations=3)
    assert len(times) >= 4


@pytest.mark.parametrize('options', OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize(
    'function', (counts, reads_coordinates, reads_its_array), ids=lambda f: f.__name__
)
@pytest.mark.filterwarnings('ignore:launches are made one by one')
def test_answers_are_those_without_graphs(rig, function, options):
    model, start = rig
    found = []
    for use_graph in (True, False):
        objective = named(function)()
        solver = IKSolver(model, N, [objective], use_graph=use_graph, **options)
        answers = []
        for gain in (0.5, 0.05):
            objective.calls = 0
            objective.gains.assign([gain])
            q = to_warp(start)
            solver.step(q, q, iterations=2)
            answers += [q.numpy(), solver.costs.numpy().copy()]
            objective.calls = 0
            answers.append(solver.compute_costs(to_warp(start)).numpy().copy())
        found.append(answers)
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    if function is reads_its_array:
        np.testing.assert_allclose(found[0][2], 100.0 * found[0][5], rtol=1e-5)


@pytest.mark.filterwarnings('ignore:launches are made one by one')
def test_what_it_changes_in_itself_asks_for_no_new_set_up(rig):
    model, start = rig
    for use_graph in (True, False):
        objective = named(counts)()
        objective.init_buffers = Mock()  # of the library: its counter is not data of the objective
        solver = IKSolver(model, N, [objective], use_graph=use_graph)
        q = to_warp(start)
        solver.step(q, q, iterations=2)
        objective.init_buffers.reset_mock()
        for _ in range(3):
            solver.step(q, q, iterations=2)
        objective.init_buffers.assert_not_called()


@pytest.mark.parametrize(
    'function', (counts, reads_its_array, draws_of_numpy), ids=lambda f: f.__name__
)
def test_steps_see_it(rig, function):
    model, start = rig
    objective = named(function)()
    solver, task = DifferentialIK(model, n_robots=N), Task(objective)
    steps, out = [], np.zeros((N, model.joint_dof_count))
    with pytest.warns(RuntimeWarning, match=HOST[function]):
        for gain in (0.5, 0.05):
            objective.gains.assign([gain])
            solver.solve_ik(start, [task], (), (), out, 1e-2)
            steps.append(out.copy())
    assert np.max(np.abs(steps[0] - steps[1])) > 1e-6
    problem = solver._problems.last
    solver.solve_ik(start, [task], (), (), out, 1e-2)
    assert solver._problems.last is problem
    with pytest.warns(RuntimeWarning, match=HOST[function]):
        first = solver.task_errors(start, [task])[0]
    objective.gains.assign([0.5])
    assert np.max(np.abs(solver.task_errors(start, [task])[0] - first)) > 1e-6


@pytest.mark.parametrize('function', (Pull.factor, pure), ids=('constant', 'pure'))
def test_pure_functions_are_recorded(rig, function):
    model, start = rig
    objective = named(function)() if function is pure else Pull()
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        solver = IKSolver(model, N, [objective])
        step = DifferentialIK(model, n_robots=N)
        step.solve_ik(start, [Task(objective)], (), (), np.zeros((N, model.joint_dof_count)))
    assert solver._backend.is_replayed


class OnTheHost(Pull):
    """An objective whose residuals are written on the host, invisible to a tape."""

    def compute_residuals(self, body_q, joint_q, model, residuals, start_idx, problem_idx=None):
        rows = residuals.numpy()
        rows[:, start_idx : start_idx + 3] = joint_q.numpy()[:, :3] - self.targets.numpy()
        residuals.assign(rows)


@pytest.mark.filterwarnings('ignore:launches are made one by one')
@pytest.mark.parametrize('optimizer', ['lm', 'lbfgs'])
def test_residuals_of_the_host_need_a_jacobian_of_the_caller(optimizer):
    model = panda()
    named = 'OnTheHost.compute_residuals launches no kernel'
    joint_q = wp.zeros((N, model.joint_coord_count), dtype=float)
    with pytest.raises(ArgumentError, match=named):
        solver = IKSolver(model, n_problems=N, objectives=[OnTheHost()], optimizer=optimizer,
                          jacobian_mode='mixed')  # fmt: skip
        solver.step(joint_q, joint_q, iterations=5)
    step = np.zeros(model.joint_dof_count)
    with pytest.raises(ArgumentError, match=named):
        DifferentialIK(model, '').solve_ik(
            np.zeros(model.joint_coord_count), [Task(OnTheHost(), gain=0.5)], [], [], step
        )
