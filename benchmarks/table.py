# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rows of results: what is in one, and the terminal table, JSON and document made from them."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from importlib import metadata
import json
import math
import os
from pathlib import Path
import platform

import numpy as np

BEGIN = '<!-- made by `make bench`: begin -->'
END = '<!-- made by `make bench`: end -->'

# Title and remark of each benchmark, in the order of the document.
SECTIONS = {
    'single': (
        'One random pose a call',
        'Reachable poses from random starts; mean time of a call, failures too. A slow peer gets '
        'as many of the poses as it starts in 5 s, `peer_n` in the JSON.',
    ),
    'batch': (
        'Batches',
        'Microseconds per verified solution, one core.',
    ),
    'flatness': (
        'Batch sizes against each other',
        'Our own time per verified solution at each size against 2,048; flat is a ratio of 1.',
    ),
    'cores': (
        'Two cores against one',
        'Our own time per verified solution, the fastest of 25 batches; 2 is perfect.',
    ),
    'trac_ik': (
        'The protocol of TRAC-IK',
        'Full poses to 1e-5 in each component of the twist, started in the middle of the limits. '
        'Its figures are those it publishes (v1.5.1, its own machine, limit 5 ms).',
    ),
    'closed_form': (
        'Every solution of a pose',
        'Closed forms: poses of random configurations, no joint limits, every solution of each; '
        'microseconds of processor time, median call or fastest of 100 batches. Success is the '
        'share of all solutions that either side found. Ours are inside 1e-10, verified by a '
        'second forward kinematics and sorted; EAIK takes axes and matrices that are made before.',
    ),
    'chain_solvers': (
        'Chain solvers with the interface of motrixsim',
        'Default settings, one start; microseconds per problem.',
    ),
    'newton_interface': (
        'IKSolver with the interface of newton',
        'One seed, 24 iterations, analytic Jacobians, soft limits and clamped answers on both '
        'sides; microseconds per problem.',
    ),
    'control_step': (
        'One control step',
        'A frame on a circle of 5 cm with gain 0.2, a posture with weight 0.03, position and '
        'velocity limits, dt 10 ms, a box that the circle presses against; median. Ours moves a '
        'group of the whole robot, a peer the chain alone. All track alike (`behind_mm`).',
    ),
    'self_collision': (
        'Self-collision',
        'One control step of a Panda whose links come 2 cm close; 4 closest pairs in Oink. Ours '
        'replaces meshes by fitted capsules.',
    ),
    'worst_tick': (
        'The longest control step',
        'The steps of the section above, 100,000 of them made five times: the longest of the '
        'least times of each. Five times the median is wanted at most (`ours_over_median`); what '
        'an interrupted step took, and an interrupted wait of 10 us, stand in the JSON.',
    ),
    'batch_step': (
        'One control step of many robots',
        'Microseconds per robot: hands and feet to poses with gain 0.5, a posture with weight '
        '0.03, hard position limits, 2 rad/s, dt 10 ms. Ours uses every core.',
    ),
    'kinematics': (
        'Kinematics',
        'Ours per launch inside a captured graph, n configurations; its call from Python.',
    ),
}


@dataclass(frozen=True)
class Side:
    """One solver's share of a row.

    Attributes:
        value: The figure that is compared, in the row's unit; None where there is none.
        success: Share of verified answers; None where nothing is to be verified.
        details: Further figures such as median, p99 and n, and the setting.
        versions: Versions of the packages.
        error: Why there is no figure.
    """

    value: float | None
    success: float | None = None
    details: Mapping[str, object] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    error: str = ''


def row(
    benchmark: str,
    robot: str,
    problem: str,
    n: int,
    tolerance: str,
    ours: Side,
    peer_name: str,
    peer: Side,
    *,
    unit: str = 'us',
    device: str = 'cpu',
) -> dict:
    """Return one row of the results.

    ``ratio`` is peer over ours: above 1 we need less. It is None where a side has no figure.
    """
    comparable = ours.value is not None and peer.value is not None and ours.value > 0.0
    notes = [f'{name}: {side.error}' for name, side in (('ours', ours), ('peer', peer))
             if side.error]  # fmt: skip
    return {
        'benchmark': benchmark,
        'robot': robot,
        'problem': problem,
        'n': n,
        'tolerance': tolerance,
        'ours': _rounded(ours.value),
        'peer_name': peer_name,
        'peer': _rounded(peer.value),
        'unit': unit,
        'ratio': _rounded(peer.value / ours.value) if comparable else None,
        'success_ours': _rounded(ours.success, 6),
        'success_peer': _rounded(peer.success, 6),
        'device': device,
        'machine': machine(),
        'versions': {'python': platform.python_version(), **ours.versions, **peer.versions},
        **{f'ours_{key}': _rounded(value) for key, value in ours.details.items()},
        **{f'peer_{key}': _rounded(value) for key, value in peer.details.items()},
        'note': '; '.join(notes),
    }


def call_statistics(seconds: np.ndarray) -> dict:
    """Return mean, median and p99 of the times of calls [us]."""
    times = 1e6 * np.asarray(seconds)
    return {
        'mean': float(times.mean()),
        'median': float(np.median(times)),
        'p99': float(np.percentile(times, 99)),
    }


def machine() -> str:
    """Return the processor and the number of cores."""
    name = platform.processor() or platform.machine()
    try:
        for line in Path('/proc/cpuinfo').read_text().splitlines():
            if line.startswith('model name'):
                name = line.split(':', 1)[1].strip()
                break
    except OSError:
        pass
    return f'{name}, {os.cpu_count()} cores'


def our_versions() -> dict:
    """Return the versions of what our solvers run on."""
    return {name: metadata.version(name) for name in ('warp-lang', 'numpy')}


def _rounded(value, digits=4):
    if isinstance(value, bool) or not isinstance(value, (float, np.floating)):
        return value
    if not math.isfinite(value):
        return None
    return float(f'{value:.{digits}g}')


def write_json(rows: list[dict] | dict, path: Path) -> None:
    """Write rows, or what holds them, as JSON; a run that ends in between leaves the old file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix('.tmp')
    temporary.write_text(json.dumps(rows, indent=1, allow_nan=False) + '\n')
    temporary.replace(path)


def _cells(entry: Mapping) -> list[str]:
    time = f'{_number(entry["ours"])} {entry["unit"]}'.strip()
    peer = f'{_number(entry["peer"])} {entry["unit"]}'.strip() if entry['peer'] else '-'
    return [
        entry['robot'],
        entry['problem'],
        f'{entry["n"]:,}' if entry['n'] else '',
        entry['tolerance'],
        time if entry['ours'] else '-',
        _number(entry.get('ours_p99')),
        _percent(entry['success_ours']),
        entry['peer_name'],
        peer,
        _number(entry.get('peer_p99')),
        _percent(entry['success_peer']),
        _number(entry['ratio']),
    ]


HEADER = [
    'robot', 'problem', 'n', 'tolerance', 'ours', 'p99', 'success', 'peer', 'its', 'p99',
    'success', 'ratio',
]  # fmt: skip


def _number(value):
    if value is None:
        return '-'
    return f'{value:,.0f}' if value >= 1000 else f'{value:.3g}'


def _percent(value):
    # Not every answer is not 100 %, however close.
    if value is None:
        return '-'
    return '100 %' if value == 1.0 else f'{min(100.0 * value, 99.99):.2f} %'


def table_lines(
    rows: Iterable[Mapping],
    header: list[str] = HEADER,
    cells_of: Callable[[Mapping], list[str]] = _cells,
) -> list[str]:
    """Return the lines of a Markdown table with padded columns, good to read on a terminal.

    Args:
        rows: The rows.
        header: Heading of each column.
        cells_of: Returns the cells of a row.
    """
    cells = [header, *(cells_of(entry) for entry in rows)]
    widths = [max(len(line[k]) for line in cells) for k in range(len(header))]
    lines = ['| ' + ' | '.join(word.ljust(w) for word, w in zip(line, widths, strict=True)) + ' |'
             for line in cells]  # fmt: skip
    return [lines[0], '|' + '|'.join('-' * (w + 2) for w in widths) + '|', *lines[1:]]


def note_lines(rows: Iterable[Mapping]) -> list[str]:
    """Return why figures are missing, each reason once with where it applies."""
    places: dict[str, list[str]] = {}
    for entry in rows:
        if entry['note']:
            place = ' '.join(word for word in (entry['robot'], entry['peer_name']) if word)
            places.setdefault(entry['note'], []).append(place)
    return [f'{", ".join(dict.fromkeys(where))}: {note}' for note, where in places.items()]


def document(rows: list[dict]) -> str:
    """Return the generated part of the document."""
    parts = [_heading(rows)]
    for name, (title, remark) in SECTIONS.items():
        chosen = [entry for entry in rows if entry['benchmark'] == name]
        if not chosen:
            continue
        notes = note_lines(chosen)
        body = '\n'.join(table_lines(chosen))
        tail = '\n\n' + '\n'.join(f'- {note}' for note in notes) if notes else ''
        parts.append(f'## {title}\n\n{remark}\n\n{body}{tail}')
    return '\n\n'.join(parts)


def _heading(rows):
    machines = ' and '.join(sorted({entry['machine'] for entry in rows}))
    versions = {name: v for entry in rows for name, v in entry['versions'].items()}
    listed = ', '.join(f'{name} {versions[name]}' for name in sorted(versions))
    return (
        f'Measured on {machines}, each solver in a process of its own with one thread where\n'
        'nothing else is said. Every answer is checked by Pinocchio in float64: within the\n'
        'tolerance and inside the limits, or it does not count. Ratio is peer over ours. Every\n'
        'solver gets the same URDF: the chain from base to tip without other branches or shapes.\n'
        f'Versions: {listed}.'
    )


def write_document(
    rows: list[dict],
    path: Path,
    document_of: Callable[[list[dict]], str] = document,
    marks: tuple[str, str] = (BEGIN, END),
) -> None:
    """Replace the part of a document between two marks.

    Args:
        rows: The rows.
        path: The document.
        document_of: Returns the part.
        marks: Its begin and its end.

    Raises:
        ValueError: The document lacks a mark.
    """
    (begin, end), text = marks, path.read_text()
    if begin not in text or end not in text:
        raise ValueError(f'{path.name} lacks the marks {begin} and {end}')
    before, after = text.split(begin)[0], text.split(end)[1]
    path.write_text(f'{before}{begin}\n\n{document_of(rows)}\n\n{end}{after}')
