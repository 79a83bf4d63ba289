# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""No code uses Warp's current device, the first GPU of a machine, instead of that of its model.

A node on the CPU would allocate memory of the GPU, and fail once the GPU is lost.
"""

from gpu import test_planning
from gpu import test_queries
from gpu import test_solvers
from gpu import test_steps
from gpu.panda import configurations
from gpu.panda import panda
import pytest
import warp as wp


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


@pytest.mark.parametrize(
    ('kind', 'name'),
    [(kind, name) for kind, cases in (
        ('objective', test_steps.OBJECTIVES), ('limit', test_steps.LIMITS),
        ('barrier', test_steps.BARRIERS)) for name in cases],
)  # fmt: skip
def test_steps_of(kind, name):
    test_steps.steps.__wrapped__('cpu', kind, name)


@pytest.mark.parametrize('name', test_queries.QUERIES)
def test_query(name):
    test_queries.QUERIES[name](panda('cpu'), configurations(panda('cpu'), test_queries.N))


@pytest.mark.parametrize(
    'solve',
    [
        lambda: test_solvers.search('cpu', n_solutions=2),
        lambda: test_solvers.search('cpu', preference='manipulability', n_candidates=4),
        lambda: test_solvers.closed_form('cpu', seven=False),
        lambda: test_solvers.closed_form('cpu', seven=True),
        lambda: test_solvers.path('cpu'),
        lambda: test_solvers.chain('cpu', test_solvers.DlsSolver),
        lambda: test_solvers.batch('cpu'),
        lambda: test_solvers.batch('cpu', use_fused=False),
        lambda: test_solvers.batch('cpu', optimizer='lbfgs'),
        lambda: test_solvers.batch('cpu', sampler='roberts', n_seeds=4),
        lambda: test_solvers.quadratic_programs('cpu', 12),
        lambda: test_steps.checked_steps('cpu'),
        lambda: test_steps.steps_ahead('cpu'),
        lambda: test_planning.planner_answers('cpu'),
        lambda: test_planning.whole_motion('cpu', has_box=True),
    ],
    ids=[
        'search', 'preference', 'closed form', 'seven joints', 'path', 'chain', 'batch',
        'modular batch', 'lbfgs', 'sampler', 'programs', 'checks', 'rollout', 'planner',
        'optimal control',
    ],
)  # fmt: skip
def test_solver(solve):
    solve()
