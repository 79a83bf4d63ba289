# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""No code uses Warp's current device, the first GPU of a machine, instead of that of its model.

A node on the CPU would allocate memory of the GPU, and fail once the GPU is lost.
"""

import functools

from gpu import test_planning
from gpu import test_queries
from gpu import test_solvers
from gpu import test_steps
from gpu.panda import configurations
from gpu.panda import panda
import pytest
import warp as wp


def _ask(query):
    return query(panda('cpu'), configurations(panda('cpu'), test_queries.N))


# What is computed on a device: steps of each objective, limit and barrier, queries and solvers.
STEPS = [
    (kind, name)
    for kind, cases in (
        ('objective', test_steps.OBJECTIVES), ('limit', test_steps.LIMITS),
        ('barrier', test_steps.BARRIERS),
    )
    for name in cases
]  # fmt: skip
QUERIES = {
    name: functools.partial(_ask, query) for name, query in test_queries.QUERIES.items()
}
SOLVERS = {
    'search': lambda: test_solvers.search('cpu', n_solutions=2),
    'preference': lambda: test_solvers.search(
        'cpu', preference='manipulability', n_candidates=4
    ),
    'closed form': lambda: test_solvers.closed_form('cpu', seven=False),
    'seven joints': lambda: test_solvers.closed_form('cpu', seven=True),
    'path': lambda: test_solvers.path('cpu'),
    'chain': lambda: test_solvers.chain('cpu', test_solvers.DlsSolver),
    'batch': lambda: test_solvers.batch('cpu'),
    'modular batch': lambda: test_solvers.batch('cpu', use_fused=False),
    'lbfgs': lambda: test_solvers.batch('cpu', optimizer='lbfgs'),
    'sampler': lambda: test_solvers.batch('cpu', sampler='roberts', n_seeds=4),
    'programs': lambda: test_solvers.quadratic_programs('cpu', 12),
    'checks': lambda: test_steps.checked_steps('cpu'),
    'rollout': lambda: test_steps.steps_ahead('cpu'),
    'planner': lambda: test_planning.planner_answers('cpu'),
    'optimal control': lambda: test_planning.whole_motion('cpu', has_box=True),
}


@pytest.fixture(autouse=True)
def explicit(monkeypatch):
    """Let everything fail that asks for the current device."""
    runtime = wp._src.context.runtime
    get_device = runtime.get_device

    def named(device=None):
        assert device is not None, 'the current device'
        return get_device(device)

    monkeypatch.setattr(runtime, 'get_device', named)


def test_the_current_device_is_noticed():
    with pytest.raises(AssertionError, match='the current device'):
        wp.zeros(1)


@pytest.mark.parametrize(('kind', 'name'), STEPS)
def test_steps_of(kind, name):
    test_steps.steps.__wrapped__('cpu', kind, name)


@pytest.mark.parametrize('name', QUERIES)
def test_query(name):
    QUERIES[name]()


@pytest.mark.parametrize('solve', SOLVERS.values(), ids=SOLVERS)
def test_solver(solve):
    solve()
