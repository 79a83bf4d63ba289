# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of the running node: ``make bench-node``, ``make bench-node BENCH_ARGS=--quick``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Mapping
import dataclasses
import os
from pathlib import Path
import sys
import time

from benchmarks.harness.process import ROOT
from benchmarks.harness.table import machine
from benchmarks.harness.table import note_lines
from benchmarks.harness.table import table_lines
from benchmarks.harness.table import write_document
from benchmarks.harness.table import write_json
from benchmarks.node import latency
from benchmarks.node import load
from benchmarks.node import start
from benchmarks.node import viewer

MARKS = ('<!-- made by `make bench-node`: begin -->', '<!-- made by `make bench-node`: end -->')
DOCUMENT = ROOT / 'docs' / 'benchmarks_node.md'
RESULTS = ROOT / 'benchmarks' / 'results'
# Load average above which figures are not worth keeping.
_BUSY = 0.5


@dataclasses.dataclass(frozen=True)
class Section:
    """One table.

    Attributes:
        title: Its heading.
        remark: What stands below the heading.
        columns: Key of a row by heading; ``part`` of it is shown as a percentage.
    """

    title: str
    remark: str
    columns: Mapping[str, str]

    def cells(self, entry: Mapping) -> list[str]:
        """Return the cells of a row."""
        return [_cell(key, entry.get(key)) for key in self.columns.values()]

    def lines(self, rows: list[dict]) -> list[str]:
        """Return the table."""
        return table_lines(rows, list(self.columns), self.cells)


SECTIONS = {
    'node_latency': Section(
        'From a pose to its trajectory',
        'From publishing a pose in one process to receiving the trajectory that answers it, in '
        'ms. A pose waits for its tick, half a period on average. The echo node republishes a '
        'message of the same size at once. `added` is the part that ros_ik adds to rclpy and '
        'DDS: the median less that wait and less the median of the echo node. Joint states come '
        'at 200 Hz. Rows with `real-time` have rt.priority 50.',
        {
            'poses and ticks': 'problem', 'n': 'n', 'p50': 'ours', 'p99': 'ours_p99',
            'p99.9': 'ours_p999', 'answered': 'success_ours', 'echo p50': 'peer',
            'echo p99': 'peer_p99', 'echo p99.9': 'peer_p999', 'added': 'ours_added',
        },
    ),
    'node_tick': Section(
        'The tick',
        'From the beginning of a tick to its end with everything published, in ms. Median and '
        'p99 are of the last 10,000 ticks, p99.9 of the worst 10,000. The rest is since an '
        'activation, after the services for planners have come up. `in time` is the part of the '
        'deadlines that were met. `only sleeping` is an idle loop on the same schedule without '
        'ROS; it shows how late the machine wakes a thread. `only computing` is a loop that adds '
        'up numbers for as long as the median tick takes; it shows how constant the speed of the '
        'machine is. `stolen` is the time in ms that the hypervisor gave to other machines '
        'meanwhile, summed over the processors.',
        {
            'rate': 'problem', 'ticks': 'n', 'p50': 'ours', 'p99': 'ours_p99',
            'p99.9': 'ours_p999', 'longest': 'ours_longest', 'missed': 'ours_missed',
            'in time': 'success_ours', 'stolen': 'ours_stolen',
        },
    ),
    'node_load': Section(
        'The loop under floods',
        'A node at 500 Hz follows poses back and forth, 100 per second, under the load named in '
        'the first column. Ticks in ms; `pause` is the longest time between two trajectories. '
        'Another process answers planners, so a flood only costs a share of the cores. The '
        'client, the planner and that process use the same ones as the loop.',
        {
            'besides': 'problem', 'ticks': 'n', 'p50': 'ours', 'p99': 'ours_p99',
            'pause': 'ours_pause', 'missed': 'ours_missed', 'in time': 'success_ours',
            'meanwhile': 'ours_done',
        },
    ),
    'node_viewer': Section(
        'The loop beside the viewer',
        'A node at 500 Hz moves a mock robot to and fro. The browser is on the same machine and '
        'draws with the graphics card, or with the processors where there is none. Rows with '
        '`real-time` have rt.priority 50. Columns as above.',
        {
            'robot and what is beside': 'problem', 'ticks': 'n', 'p50': 'ours', 'p99': 'ours_p99',
            'pause': 'ours_pause', 'missed': 'ours_missed', 'in time': 'success_ours',
            'meanwhile': 'ours_done',
        },
    ),
    'node_start': Section(
        'Start and end',
        'Time in s from the start of the process to the first trajectory, with a robot that is '
        'already running. The end is timed from SIGTERM in motion to the end of the process.',
        {
            'what': 'problem', 'n': 'n', 'median': 'ours', 'longest': 'ours_longest',
            'in order': 'success_ours', 'the model': 'ours_built',
        },
    ),
}  # fmt: skip
# One function may fill two tables.
BENCHMARKS: dict[str, Callable[[bool], list[dict]]] = {
    'latency': latency.measure,
    'load': load.measure,
    'start': start.measure,
    'viewer': viewer.measure,
}


def main() -> int:
    """Run what the command line asks for, print the tables, write the files."""
    options = _parse()
    rows: list[dict] = []
    begin = time.perf_counter()
    if os.getloadavg()[0] > _BUSY:
        print('other programs are running: the figures will be off', file=sys.stderr)
    for name in options.only or BENCHMARKS:
        print(f'{name} ...', file=sys.stderr, flush=True)
        rows += BENCHMARKS[name](options.quick)
    print(document(rows))
    whole = not options.quick and not options.only
    output = options.output or RESULTS / ('node.json' if whole else 'node_partial.json')
    write_json(rows, output)
    if whole and options.output is None:
        write_document(rows, DOCUMENT, document, MARKS)
    minutes = (time.perf_counter() - begin) / 60.0
    print(f'\n{len(rows)} rows in {minutes:.1f} minutes, written to {output.name}')
    return 0


def document(rows: list[dict]) -> str:
    """Return the generated part of the document."""
    versions = {name: v for entry in rows for name, v in entry['versions'].items()}
    listed = ', '.join(f'{name} {versions[name]}' for name in sorted(versions))
    parts = [f'Measured on {machine()}. Versions: {listed}.']
    for name, section in SECTIONS.items():
        chosen = [entry for entry in rows if entry['benchmark'] == name]
        if chosen:
            lines = [f'## {section.title}', '', section.remark, '', *section.lines(chosen)]
            notes = [f'- {note}' for note in note_lines(chosen)]
            parts.append('\n'.join([*lines, *([''] if notes else []), *notes]))
    return '\n\n'.join(parts)


def _cell(key: str, value: object) -> str:
    if value is None:
        return '-'
    if key.startswith('success'):
        # Not every one is not 100 %, however close.
        return '100 %' if value == 1.0 else f'{min(100.0 * float(value), 99.99):.2f} %'  # type: ignore[arg-type]
    if isinstance(value, float):
        return f'{value:.3f}'
    return f'{value:,}' if isinstance(value, int) else str(value)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog='python -m benchmarks.node', description=__doc__)
    parser.add_argument('--quick', action='store_true', help='less than a minute')
    parser.add_argument('--only', nargs='+', choices=BENCHMARKS, help='some of them')
    parser.add_argument('--output', type=Path, help='JSON file to write instead of the usual one')
    return parser.parse_args()


if __name__ == '__main__':
    sys.exit(main())
