# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rows of results: what is in one, and the terminal table, JSON and documents made from them."""

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
    time = f'{number(entry["ours"])} {entry["unit"]}'.strip()
    peer = f'{number(entry["peer"])} {entry["unit"]}'.strip() if entry['peer'] else '-'
    return [
        entry['robot'],
        entry['problem'],
        f'{entry["n"]:,}' if entry['n'] else '',
        entry['tolerance'],
        time if entry['ours'] else '-',
        number(entry.get('ours_p99')),
        percent(entry['success_ours']),
        entry['peer_name'],
        peer,
        number(entry.get('peer_p99')),
        percent(entry['success_peer']),
        number(entry['ratio']),
    ]


HEADER = [
    'robot', 'problem', 'n', 'tolerance', 'ours', 'p99', 'success', 'peer', 'its', 'p99',
    'success', 'ratio',
]  # fmt: skip


def number(value: float | None) -> str:
    """Return a figure with three digits, or all before the point."""
    if value is None:
        return '-'
    return f'{value:,.0f}' if value >= 1000 else f'{value:.3g}'


def percent(value: float | None) -> str:
    """Return a part as a percentage."""
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


def write_document(
    rows: list[dict],
    path: Path,
    document_of: Callable[[list[dict]], str],
    marks: tuple[str, str],
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
