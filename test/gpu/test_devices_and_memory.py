# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Host code of the cases of a GPU, on the CPU: named devices, and arrays that graphs keep.

No code uses Warp's current device, the first GPU of a machine, instead of that of its model. A
node on the CPU would allocate memory of the GPU, and fail once the GPU is lost.

Arrays of recorded launches live as long as their graph. A graph of a GPU has the addresses of its
arrays and does not keep them alive. One of the CPU does, unless its references are dropped, as
here.
"""

import functools
import gc
import weakref

from gpu import test_planning
from gpu import test_queries
from gpu import test_solvers
from gpu import test_steps
from gpu.panda import configurations
from gpu.panda import panda
import numpy as np
import pytest
from support.rigs.servo_rig import Rig
import warp as wp

from benchmarks.motion.joint_targets import jerk_limits
from benchmarks.motion.joint_targets import ROBOT
from ros_ik.solvers.graph import Graph


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


class Recorded:
    """Arrays of the launches and copies of one capture."""

    def __init__(self):
        self.bases = {}

    def add(self, value, user):
        """Note the memory of an array, or of those in a struct, and what uses it."""
        if isinstance(value, wp.array):
            while isinstance(value._ref, wp.array):
                value = value._ref
            self.bases[id(value)] = weakref.ref(value), user
        elif isinstance(value, wp._src.codegen.StructInstance):
            for name in value._cls.vars:
                self.add(getattr(value, name), f'{user}, {name}')

    def lost(self):
        """Return what uses arrays that are no more."""
        return [user for base, user in self.bases.values() if base() is None]


@pytest.fixture(autouse=True)
def graphs(monkeypatch):
    """Let graphs hold no array, and fail where one that they use is lost; return their number."""
    # Collections in the test need only look at what it makes.
    gc.collect()
    gc.freeze()
    captures, checked = [], []
    launch, copy, begin, record = wp.launch, wp.copy, wp.ScopedCapture.__enter__, Graph._record

    def noted_launch(kernel, dim, inputs=(), outputs=(), *args, **kwargs):
        for value in (*inputs, *outputs):
            if captures:
                captures[-1].add(value, kernel.key)
        return launch(kernel, dim, inputs, outputs, *args, **kwargs)

    def noted_copy(dest, src, *args, **kwargs):
        if captures:
            captures[-1].add(dest, 'copy to')
            captures[-1].add(src, 'copy from')
        return copy(dest, src, *args, **kwargs)

    def begin_noting(self):
        captures.append(Recorded())
        return begin(self)

    def checked_record(self, function, parts):
        record(self, function, parts)
        del function, parts
        if not captures:
            return
        used, replay = captures.pop(), self._replay
        replay.args[0]._apic_capture._regions.clear()

        def checked_replay():
            if self not in checked:
                gc.collect()
                checked.append(self)
            assert not used.lost(), f'lost arrays of {used.lost()}'
            replay()

        self._replay = checked_replay

    monkeypatch.setattr(wp, 'launch', noted_launch)
    monkeypatch.setattr(wp, 'copy', noted_copy)
    monkeypatch.setattr(wp.ScopedCapture, '__enter__', begin_noting)
    monkeypatch.setattr(Graph, '_record', checked_record)
    return checked


def test_an_array_that_only_a_cycle_holds_is_noticed():
    kept = wp.zeros(1, device='cpu')
    holder = {'lost': [wp.zeros(1, device='cpu')]}
    holder['lost'].append(holder['lost'])
    graph = Graph(lambda: wp.copy(holder['lost'][0], kept), 'cpu')
    holder.clear()
    with pytest.raises(AssertionError, match='lost arrays of ..copy to'):
        graph.launch()


def test_a_lost_array_is_noticed(graphs):
    kept = wp.zeros(1, device='cpu')
    lost = [wp.zeros(1, device='cpu')]
    graph = Graph(lambda: wp.copy(lost[0], kept), 'cpu')
    graph.launch()
    lost.clear()
    with pytest.raises(AssertionError, match='lost arrays of ..copy to'):
        graph.launch()
    assert graphs == [graph]


@pytest.mark.parametrize(('kind', 'name'), STEPS)
def test_steps_of(kind, name, graphs):
    test_steps.steps.__wrapped__('cpu', kind, name)
    assert graphs


@pytest.mark.parametrize('name', QUERIES)
def test_query(name):
    QUERIES[name]()


@pytest.mark.parametrize('solve', SOLVERS.values(), ids=SOLVERS)
def test_solver(solve):
    solve()


@pytest.mark.parametrize('jerk', ['soft', 'strict'])
def test_servo(jerk, graphs):
    rig = Rig(ROBOT, **jerk_limits(30, jerk))
    rig.aim(rig.moved((0.0, 0.1, -0.1)))
    rig.tick(60)
    assert np.abs(rig.speeds()).max() > 0.05
    assert len(graphs) > 5
