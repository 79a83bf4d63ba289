# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rows, ratios, JSON and the document of the benchmarks."""

import json

import numpy as np
import pytest

from benchmarks.harness.document import document
from benchmarks.harness.document import MARKS
from benchmarks.harness.document import merged
from benchmarks.harness.document import section_lines
from benchmarks.harness.table import call_statistics
from benchmarks.harness.table import row
from benchmarks.harness.table import Side
from benchmarks.harness.table import table_lines
from benchmarks.harness.table import write_document
from benchmarks.harness.table import write_json

KEYS = {
    'benchmark', 'robot', 'problem', 'n', 'tolerance', 'ours', 'peer_name', 'peer', 'unit',
    'ratio', 'success_ours', 'success_peer', 'device', 'machine', 'versions',
}  # fmt: skip


def make_row(ours, peer):
    """Return a row of one benchmark."""
    return row('single', 'panda', 'random pose', 10_000, '0.001 m', ours, 'their solver', peer)


def test_a_row_has_the_promised_keys_and_peer_over_ours():
    entry = make_row(Side(20.0, 1.0, versions={'a': '1'}), Side(500.0, 0.5, versions={'b': '2'}))
    assert entry.keys() >= KEYS
    assert entry['ratio'] == 25.0
    assert (entry['success_ours'], entry['success_peer']) == (1.0, 0.5)
    assert entry['versions'].keys() >= {'python', 'a', 'b'}
    assert entry['note'] == ''


@pytest.mark.parametrize(
    'ours, peer',
    [
        (Side(None, error='broke'), Side(500.0)),
        (Side(20.0), Side(None, error='broke')),
        (Side(20.0), Side(float('inf'), error='broke')),
        (Side(0.0, error='broke'), Side(500.0)),
    ],
)
def test_without_a_figure_there_is_no_ratio_but_the_reason(ours, peer):
    entry = make_row(ours, peer)
    assert entry['ratio'] is None
    assert 'broke' in entry['note']
    assert 'broke' in document([entry])


def test_json_is_a_list_of_rows_without_nan(tmp_path):
    details = {'mean': float('nan'), 'p99': np.float64(3.14159265), 'n': 7}
    rows = [make_row(Side(20.0, 1.0, details), Side(500.0, 2 / 3)), make_row(Side(1.0), Side(2.0))]
    path = tmp_path / 'results' / 'latest.json'
    write_json(rows, path)
    read = json.loads(path.read_text())
    assert read == rows
    assert (read[0]['ours_mean'], read[0]['ours_p99'], read[0]['ours_n']) == (None, 3.142, 7)
    assert read[0]['success_peer'] == 0.666667
    assert [file.name for file in path.parent.iterdir()] == ['latest.json']


def test_a_failed_write_leaves_the_old_results(tmp_path):
    path = tmp_path / 'latest.json'
    write_json([make_row(Side(1.0), Side(2.0))], path)
    before = path.read_text()
    with pytest.raises(ValueError):
        write_json([{'ours': float('nan')}], path)
    assert path.read_text() == before


def test_a_miss_in_a_million_is_not_100_percent():
    (cells,) = table_lines([make_row(Side(1.0, 0.999999), Side(2.0, 1.0))])[2:]
    assert '99.99 %' in cells
    assert cells.count('100 %') == 1


def test_columns_of_the_table_line_up():
    lines = table_lines([make_row(Side(1.0, 1.0), Side(None)), make_row(Side(1e5), Side(2.0))])
    assert len({len(line) for line in lines}) == 1
    assert len({line.count('|') for line in lines}) == 1


def test_the_document_keeps_what_is_outside_the_marks(tmp_path):
    path = tmp_path / 'benchmarks.md'
    begin, end = MARKS
    path.write_text(f'head\n{begin}\nold figures\n{end}\ntail\n')
    for _ in range(2):
        write_document([make_row(Side(20.0, 1.0), Side(500.0, 0.5))], path, document, MARKS)
        text = path.read_text()
        assert text.startswith('head\n') and text.endswith('tail\n')
        assert 'old figures' not in text
        assert text.count('their solver') == 1
    path.write_text('no marks')
    with pytest.raises(ValueError, match='marks'):
        write_document([], path, document, MARKS)


def motion_row(problem, name, jerk):
    """Return a row of a section with a line for each solver; ours has a jerk of 5."""
    ours, peer = (Side(value, 1.0, {'jerk': value, 'lag_ms': -value}) for value in (5.0, jerk))
    return row('motion_quality', 'panda', problem, 30, '', ours, name, peer)


def test_a_line_for_each_solver_and_ours_once_a_problem():
    rows = [motion_row('a', 'pink', 70.0), motion_row('a', 'mink', 80.0)]
    rows += [motion_row('b', 'pink', 90.0)]
    lines = [
        [cell.strip() for cell in line.strip('| ').split('|')]
        for line in section_lines('motion_quality', rows)
    ]
    header, _, *body = lines
    assert header[2:6] == ['solver', 'jerk, rad/s^3', 'sign changes, 1/s', 'lag, ms']
    assert [line[1:6] for line in body] == [
        ['a', 'ros_ik, defaults', '5', '-', '-5'], ['a', 'pink', '70', '-', '-70'],
        ['a', 'mink', '80', '-', '-80'], ['b', 'ros_ik, defaults', '5', '-', '-5'],
        ['b', 'pink', '90', '-', '-90'],
    ]  # fmt: skip
    assert '| ros_ik, defaults |' in document(rows)


def test_new_rows_replace_those_of_their_benchmark_alone():
    old = [motion_row('a', 'pink', 70.0), motion_row('b', 'pink', 90.0)]
    single, new = make_row(Side(1.0), Side(2.0)), motion_row('c', 'mink', 60.0)
    kinematics = {**single, 'benchmark': 'kinematics'}
    assert merged([new], [kinematics, *old, single]) == [single, new, kinematics]


def test_statistics_are_in_microseconds():
    statistics = call_statistics(np.r_[np.full(99, 1e-6), 1e-3])
    assert statistics['median'] == pytest.approx(1.0)
    assert statistics['mean'] == pytest.approx(10.99)
    assert 1.0 < statistics['p99'] < 1000.0
