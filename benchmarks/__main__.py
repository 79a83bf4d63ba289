# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks: ``make bench``, or ``make bench BENCH_ARGS='--quick --only single'``."""

import argparse
import json
import os
from pathlib import Path
import sys
import tempfile
import time
import traceback

from benchmarks.control_steps import batch_step
from benchmarks.control_steps import control_step
from benchmarks.control_steps import self_collision
from benchmarks.control_steps import worst_tick
from benchmarks.harness.document import document
from benchmarks.harness.document import MARKS
from benchmarks.harness.document import merged
from benchmarks.harness.document import section_lines
from benchmarks.harness.document import SECTIONS
from benchmarks.harness.measure import Runner
from benchmarks.harness.process import ROOT
from benchmarks.harness.table import note_lines
from benchmarks.harness.table import row
from benchmarks.harness.table import Side
from benchmarks.harness.table import write_document
from benchmarks.harness.table import write_json
from benchmarks.kinematics import closed_form
from benchmarks.kinematics import forward
from benchmarks.kinematics import inverse
from benchmarks.motion import joint_targets
from benchmarks.motion import quality

BENCHMARKS = {
    'single': inverse.single,
    'batch': inverse.batch,
    'trac_ik': inverse.trac_ik,
    'chain_solvers': inverse.chain_solvers,
    'newton_interface': inverse.newton_interface,
    'control_step': control_step.measure,
    'self_collision': self_collision.measure,
    'worst_tick': worst_tick.measure,
    'batch_step': batch_step.measure,
    'closed_form': closed_form.measure,
    'motion_quality': quality.measure,
    'joint_targets': joint_targets.measure,
    'kinematics': forward.measure,
}
# Load average above which figures are not worth keeping.
BUSY = 0.5
RESULTS = ROOT / 'benchmarks' / 'results'


def main():
    """Run what the command line asks for, print the table, write the files."""
    options = _parse()
    chosen = options.only or list(BENCHMARKS)
    whole = not options.quick and not options.only
    record = options.output is None and (whole or options.record)
    rows, begin = [], time.perf_counter()
    if os.getloadavg()[0] > BUSY:
        print('other programs are running: the figures will be off', file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix='ros_ik_bench_') as folder:
        runner = Runner(Path(folder), ROOT / 'docs' / 'images' if record else RESULTS)
        for name in chosen:
            print(f'{name} ...', file=sys.stderr, flush=True)
            rows += _rows(name, runner, options.quick)
    _print(rows)
    output = options.output or RESULTS / ('latest.json' if record else 'partial.json')
    kept = rows if whole or not record else merged(rows, json.loads(output.read_text()))
    write_json(kept, output)
    if record:
        write_document(kept, ROOT / 'docs' / 'benchmarks.md', document, MARKS)
    minutes = (time.perf_counter() - begin) / 60.0
    print(f'\n{len(rows)} rows in {minutes:.1f} minutes, written to {output.name}')


def _rows(name, runner, quick):
    try:
        return BENCHMARKS[name](runner, quick)
    except Exception as error:
        # The other benchmarks are worth having; this one says why it is missing.
        traceback.print_exc()
        side = Side(None, error=f'{type(error).__name__}: {error}')
        return [row(name, '', '', 0, '', side, '', Side(None))]


def _parse():
    parser = argparse.ArgumentParser(prog='python -m benchmarks', description=__doc__)
    parser.add_argument('--quick', action='store_true', help='fewer problems, a few minutes')
    parser.add_argument(
        '--only', type=_names, help=f'some of {", ".join(BENCHMARKS)}, separated by commas'
    )
    parser.add_argument('--output', type=Path, help='JSON file to write instead of the usual one')
    parser.add_argument(
        '--record', action='store_true', help='with --only: replace its rows among the recorded'
    )
    options = parser.parse_args()
    if options.record and options.quick:
        parser.error('--record: figures of a quick run are not for the page')
    return options


def _names(text):
    names = text.split(',')
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        raise argparse.ArgumentTypeError(f'unknown: {", ".join(unknown)}')
    return names


def _print(rows):
    for name, (title, _) in SECTIONS.items():
        chosen = [entry for entry in rows if entry['benchmark'] == name]
        if chosen:
            print(f'\n{title}')
            print('\n'.join(section_lines(name, chosen)))
            print('\n'.join(f'  {line}' for line in note_lines(chosen)))


if __name__ == '__main__':
    main()
