# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Parts of ``make gpu``: runs, parsing of the answers, sections of the page."""

from dataclasses import replace
import json

import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio, the judge, is not installed')

from benchmarks.control_steps import batch_step  # noqa: E402
from benchmarks.gpu import card  # noqa: E402
from benchmarks.gpu import report  # noqa: E402
from benchmarks.gpu.compiled import Usage  # noqa: E402
from benchmarks.gpu.recorded import Recorded  # noqa: E402
from benchmarks.harness.measure import LOOSE  # noqa: E402
from benchmarks.harness.measure import OURS  # noqa: E402
from benchmarks.harness.process import Answer  # noqa: E402
from benchmarks.harness.process import ROOT  # noqa: E402
from benchmarks.harness.table import Side  # noqa: E402
from benchmarks.kinematics import closed_form  # noqa: E402

PAGE = (ROOT / 'docs' / 'benchmarks.md').read_text()
REPORT = """<testsuites><testsuite>
<testcase classname="test_a" name="passes"/>
<testcase classname="test_a" name="fails"><failure/></testcase>
<testcase classname="test_a" name="waits"><skipped/></testcase>
</testsuite></testsuites>"""


class CannedRunner:
    """Ours takes 2 us, a peer 10 us."""

    def __init__(self, folder):
        self.folder, self.specs = folder, []

    def run(self, module, specs, timeout):
        """Answer without running anything."""
        self.specs += [(module, spec, timeout) for spec in specs]
        value = 2.0 if module == OURS else 10.0
        return {spec: Side(value, 1.0, {'n': spec.n, 'each': value}) for spec in specs}


def test_poses_go_to_a_million_on_the_device_and_peers_to_what_fits(tmp_path):
    runner = CannedRunner(tmp_path)
    rows = card.pose_rows(runner, card.CARD, 'cuda:0', 'a card', lambda: 100.0)
    largest = [e for e in rows if e['n'] == 1_000_000 and e['tolerance'] == str(LOOSE)]
    assert [(e['device'], e['ours'], e['peer']) for e in largest] == [('a card', 2.0, None)]
    assert {dict(spec.options)['device'] for _, spec, _ in runner.specs} == {'cuda:0'}
    assert max(spec.n for module, spec, _ in runner.specs if module != OURS) == 65_536
    ratios = [e['ratio'] for e in rows if e['n'] == 65_536 and e['tolerance'] == str(LOOSE)]
    assert ratios == [5.0, 5.0]


def test_steps_run_on_the_device(tmp_path, monkeypatch):
    seen = []

    def run_jobs(module, jobs, folder, timeout, *, python=None):
        seen.append((module, python is not None, timeout, {j.options['device'] for j in jobs}))
        return {job.key: Answer(None, None, {}, error='no card') for job in jobs}

    monkeypatch.setattr(batch_step, 'run_jobs', run_jobs)
    rows = batch_step.step_rows(
        CannedRunner(tmp_path), (1, 2), 1, benchmark='gpu_step', device='cuda:0',
        device_name='a card', timeout=7.0,
    )  # fmt: skip
    assert {(e['benchmark'], e['device'], e['n']) for e in rows} == {
        ('gpu_step', 'a card', 1), ('gpu_step', 'a card', 2),
    }  # fmt: skip
    assert all('no card' in e['note'] for e in rows) and len(rows) == 2 * len(batch_step.TIPS)
    assert {(timeout, *devices) for _, _, timeout, devices in seen} == {(7.0, 'cuda:0')}
    # A peer has an environment of its own.
    assert all(module.startswith('benchmarks.peers.') == own for module, own, _, _ in seen)


def test_all_parts_end_within_8_minutes():
    # Ours and a peer, with arrays of the host and with arrays on the card.
    steps = 4 * len(batch_step.TIPS) * card.STEPS_TIME
    closed = (1 + len(card.CARD.closed_form)) * card.CLOSED_TIME
    assert card.TESTS_TIME + card.OURS_TIME + steps + closed < card.WHOLE_TIME < 480.0


@pytest.mark.parametrize('left', [300.0, 35.0, 20.0])
def test_the_last_peer_gets_the_time_that_is_left(tmp_path, left):
    runner = CannedRunner(tmp_path)
    card.pose_rows(runner, card.REHEARSAL, 'cuda:0', 'a card', lambda: left)
    given = {module.rsplit('.', 1)[1]: timeout for module, _, timeout in runner.specs}
    assert given == {
        'inverse': min(left, card.OURS_TIME), 'mink_warp_lm': min(left, card.MINK_TIME),
        'newton_lm': left,
    }  # fmt: skip


def test_arrays_stay_on_the_device(tmp_path, monkeypatch):
    seen = []

    def run_jobs(module, jobs, folder, timeout, *, python=None):
        seen.extend((module, job.n, dict(job.options)) for job in jobs)
        return {job.key: Answer(None, None, {}, error='no card') for job in jobs}

    for module in (batch_step, closed_form):
        monkeypatch.setattr(module, 'run_jobs', run_jobs)
    runner = CannedRunner(tmp_path)
    sizes = replace(card.REHEARSAL, resident=(1, 8), closed_form=(8,))
    rows = card.resident_rows(runner, sizes, 'cuda:0', 'a card')
    assert {e['benchmark'] for e in rows} == {
        'gpu_resident', 'gpu_resident_step', 'gpu_closed_form',
    }  # fmt: skip
    assert {e['device'] for e in rows} == {'a card'}
    assert all(dict(spec.options)['resident'] for _, spec, _ in runner.specs)
    there = [(module, n) for module, n, options in seen if options.get('resident')]
    modules = 'benchmarks.ours.batch_step', 'benchmarks.peers.step_mink_warp'
    assert there == [
        *((module, n) for _ in batch_step.TIPS for module in modules for n in (1, 8)),
        ('benchmarks.ours.closed_form', 8),
    ]


def test_an_end_before_the_last_part_loses_nothing(tmp_path, monkeypatch):
    tests = {'passed': 3, 'skipped': 0, 'failed': [], 'seconds': 5.0, 'error': ''}
    row = {'benchmark': 'gpu_resident', 'n': 1}

    def is_ended(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(card.sys, 'argv', ['card', '--device', 'cpu'])
    monkeypatch.setattr(card, 'RESULTS', tmp_path)
    monkeypatch.setattr(card, 'run_tests', lambda device: tests)
    monkeypatch.setattr(card, 'resident_rows', lambda *_: [row])
    monkeypatch.setattr(card.batch_step, 'step_rows', lambda *_, **__: [])
    monkeypatch.setattr(card, 'pose_rows', is_ended)
    with pytest.raises(KeyboardInterrupt):
        card.main()
    kept = json.loads((tmp_path / 'gpu_rehearsal.json').read_text())
    assert kept['tests'] == tests and kept['rows'] == [row]


def test_reads_what_the_tests_came_to(tmp_path):
    (tmp_path / 'report.xml').write_text(REPORT)
    assert card.read_report(tmp_path / 'report.xml') == {
        'passed': 1, 'skipped': 1, 'failed': ['test_a::fails'],
    }  # fmt: skip


def test_the_section_names_the_card_the_failed_tests_and_the_figures(tmp_path):
    rows = card.pose_rows(
        CannedRunner(tmp_path), card.REHEARSAL, 'cuda:0', 'a card', lambda: 100.0
    )
    tests = {'passed': 3, 'skipped': 0, 'failed': ['test_a::fails'], 'seconds': 5.0, 'error': ''}
    text = card.section(rows, tests, 'a card')
    assert 'On a card: 3 tests passed, 1 failed in 5 s.' in text
    assert '- failed: test_a::fails' in text and 'batch of 256' in text


@pytest.mark.parametrize('marks', [(card.BEGIN, card.END), (report.BEGIN, report.END)])
def test_the_page_has_a_place_for_each_section(marks):
    assert [PAGE.count(mark) for mark in marks] == [1, 1]


def test_the_table_of_kernels_shows_the_heavy_ones_the_most_stack_first():
    usage = {
        'light': Usage(40, 0, 0, 0), 'many registers': Usage(200, 0, 0, 0),
        'spills': Usage(255, 16, 4, 4), 'stack': Usage(130, 300, 0, 0),
    }  # fmt: skip
    text = report.section(Recorded({'ptxas': '1'}, usage, {'a': 1.5, 'b': 2.0}))
    assert text.index('| stack ') < text.index('| spills ')
    assert '| light' not in text and '| many registers' not in text
    assert np.all([words in text for words in ('All 2 variants', 'in 4 s', '4 entry points')])


def test_without_a_card_the_reason_names_the_driver(monkeypatch):
    monkeypatch.setattr(card.sys, 'argv', ['card'])
    monkeypatch.setattr(card.wp, 'is_cuda_available', lambda: False)
    with pytest.raises(SystemExit, match='no CUDA device .* driver older than R580'):
        card.main()
