# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Which rows the benchmarks make of what the solvers' processes return."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio, the judge, is not installed')

from benchmarks import batch_step  # noqa: E402
from benchmarks import sections  # noqa: E402
from benchmarks.measure import LOOSE  # noqa: E402
from benchmarks.measure import OURS  # noqa: E402
from benchmarks.process import Answer  # noqa: E402
from benchmarks.robots import BENCHMARK_ROBOTS  # noqa: E402
from benchmarks.table import Side  # noqa: E402


class CannedRunner:
    """Ours takes 2 us, a peer 10 us; newton fails."""

    def __init__(self):
        self.specs = []

    def run(self, module, specs, timeout):
        """Answer without running anything."""
        self.specs += [(module, spec) for spec in specs]
        if module.endswith('newton_lm'):
            return {spec: Side(None, error='no such kernel') for spec in specs}
        value = 2.0 if module == OURS else 10.0
        details = {'each': value, 'least': value}
        return {spec: Side(value, 1.0, {'n': spec.n, **details}) for spec in specs}


@pytest.mark.parametrize('quick', [True, False])
@pytest.mark.parametrize(
    'name', ['single', 'batch', 'trac_ik', 'chain_solvers', 'newton_interface']
)
def test_a_failing_peer_is_a_row_and_spoils_no_other(name, quick):
    rows = getattr(sections, name)(CannedRunner(), quick)
    newton = [entry for entry in rows if 'newton' in entry['peer_name']]
    others = [entry for entry in rows if entry not in newton]
    assert rows
    assert all('no such kernel' in entry['note'] and entry['ratio'] is None for entry in newton)
    assert all(entry['note'] == '' and entry['ratio'] > 0.0 for entry in others)


def test_single_runs_every_robot_tolerance_and_peer():
    rows = sections.single(CannedRunner(), quick=False)
    assert len(rows) == len(BENCHMARK_ROBOTS) * 2 * len(sections.SINGLE_PEERS)
    assert {entry['n'] for entry in rows} == {10_000}
    assert len({(e['robot'], e['tolerance'], e['peer_name']) for e in rows}) == len(rows)


def test_without_a_gpu_one_row_says_so(monkeypatch):
    monkeypatch.setattr(sections.wp, 'is_cuda_available', lambda: False)
    (entry,) = sections.gpu(CannedRunner(), quick=False)
    assert 'skipped' in entry['note']


def test_with_a_gpu_it_goes_to_a_million(monkeypatch):
    class Device(SimpleNamespace):
        __str__ = lambda self: 'cuda:0'  # noqa: E731

    runner, device = CannedRunner(), Device(name='a card')
    monkeypatch.setattr(sections.wp, 'is_cuda_available', lambda: True)
    monkeypatch.setattr(sections.wp, 'get_device', lambda name: device)
    rows = sections.gpu(runner, quick=False)
    largest = [e for e in rows if e['n'] == 1_000_000 and e['tolerance'] == str(LOOSE)]
    assert [(e['device'], e['ours']) for e in largest] == [('a card', 2.0)]
    assert {dict(spec.options)['device'] for _, spec in runner.specs} == {'cuda:0'}
    assert max(spec.n for module, spec in runner.specs if module != OURS) <= 65_536


def test_turns_are_one_answer_with_the_times_of_all():
    first, second = (
        Answer(np.zeros((1, 2)), np.array(times), {}) for times in ([1.0, 2.0], [4.0])
    )
    assert batch_step._together([first, second]).seconds.tolist() == [1.0, 2.0, 4.0]
    failed = Answer(None, None, {}, error='no')
    assert batch_step._together([first, failed]) is failed
