# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rows that the benchmarks make of the answers of the solvers' processes."""

import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio, the judge, is not installed')

from benchmarks.control_steps import batch_step  # noqa: E402
from benchmarks.harness.measure import OURS  # noqa: E402
from benchmarks.harness.process import Answer  # noqa: E402
from benchmarks.harness.robots import BENCHMARK_ROBOTS  # noqa: E402
from benchmarks.harness.table import Side  # noqa: E402
from benchmarks.kinematics import inverse  # noqa: E402


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
    rows = getattr(inverse, name)(CannedRunner(), quick)
    newton = [entry for entry in rows if 'newton' in entry['peer_name']]
    others = [entry for entry in rows if entry not in newton]
    assert rows
    assert all('no such kernel' in entry['note'] and entry['ratio'] is None for entry in newton)
    assert all(entry['note'] == '' and entry['ratio'] > 0.0 for entry in others)


def test_single_runs_every_robot_tolerance_and_peer():
    rows = inverse.single(CannedRunner(), quick=False)
    assert len(rows) == len(BENCHMARK_ROBOTS) * 2 * len(inverse.SINGLE_PEERS)
    assert {entry['n'] for entry in rows} == {10_000}
    assert len({(e['robot'], e['tolerance'], e['peer_name']) for e in rows}) == len(rows)


def test_turns_are_one_answer_with_the_times_of_all():
    first, second = (
        Answer(np.zeros((1, 2)), np.array(times), {}) for times in ([1.0, 2.0], [4.0])
    )
    assert batch_step._together([first, second]).seconds.tolist() == [1.0, 2.0, 4.0]
    failed = Answer(None, None, {}, error='no')
    assert batch_step._together([first, failed]) is failed
