# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The part of docs/benchmarks.md that ``make bench`` makes: its sections and their tables."""

from collections.abc import Iterable
from collections.abc import Mapping
import itertools

from benchmarks.harness.table import note_lines
from benchmarks.harness.table import number
from benchmarks.harness.table import percent
from benchmarks.harness.table import table_lines

MARKS = '<!-- made by `make bench`: begin -->', '<!-- made by `make bench`: end -->'

# Title and remark of each benchmark, in the order of the document.
SECTIONS = {
    'single': (
        'One random pose a call',
        'Reachable poses from random starts; mean time of a call, including failures. A slow '
        'peer solves only the poses that it starts within 5 s, `peer_n` in the JSON.',
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
        "TRAC-IK's figures are its published ones (v1.5.1, its own machine, limit 5 ms).",
    ),
    'closed_form': (
        'Every solution of a pose',
        'Closed forms: poses of random configurations, no joint limits, every solution of each; '
        'microseconds of processor time, median call or fastest of 100 batches. Success is the '
        'share of all solutions that either library found. Ours are inside 1e-10, verified by a '
        'second forward kinematics and sorted. Both get prepared poses; EAIK gets prepared axes, '
        'too.',
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
        'A frame on a circle of 5 cm with gain 0.2, dt 10 ms; median. The step also has a '
        'posture with weight 0.03, position and velocity limits, and a box that the circle '
        'presses against. Ours moves a group of the whole robot, a peer only the chain. All '
        'track equally well (`behind_mm`).',
    ),
    'self_collision': (
        'Self-collision',
        'One control step of a Panda whose links come 2 cm close; 4 closest pairs in Oink. Ours '
        'replaces meshes by fitted capsules.',
    ),
    'worst_tick': (
        'The longest control step',
        '100,000 steps of the section above, each repeated five times: the longest of the '
        'shortest times of each. The goal is at most five times the median (`ours_over_median`). '
        'The JSON also has the times of an interrupted step and of an interrupted wait of 10 us.',
    ),
    'batch_step': (
        'One control step of many robots',
        'Microseconds per robot: hands and feet to poses with gain 0.5, a posture with weight '
        '0.03, hard position limits, 2 rad/s, dt 10 ms. Ours uses every core.',
    ),
    'motion_quality': (
        'Motion quality',
        'A tool follows poses that arrive at 10 to 100 Hz, in a loop of 100 or 1,000 Hz. A '
        'figure of eight of 0.2 x 0.1 m at up to 0.28 m/s gives the RMS jerk of the joints. It '
        'counts the changes of sign of their acceleration, per joint and second. It also gives '
        'the mean distance to the target, and the largest distance to the path. A line at 0.25 '
        'm/s gives the mean lag, and the overshoot at the end, where the target stops abruptly. A '
        'negative lag means that the tool is ahead, because a command is the place at the end of '
        'its tick. Ours is the servo of the node with its defaults, then with '
        '`target_prediction: off`. pink and mink (daqp) hold the last pose between two messages. '
        'They track it with gain 1 and limits of position and velocity, directly or through a '
        'first-order low-pass. 50 ms is a smoothing factor of 0.3 at 60 Hz, usual in programs '
        'for teleoperation. It lags about as much as ours at 30 Hz without prediction. pink and '
        'mink solve the same program; they follow a pose that arrives in each tick exactly.\n\n'
        'The first joint of the Panda, poses at 30 Hz in a loop of 100 Hz:\n\n'
        '![Position, velocity, acceleration and jerk: smooth with the defaults, a saw without '
        'prediction and with the low-pass](images/motion_quality.png)',
    ),
    'joint_targets': (
        'Motion quality: joint targets',
        'Time to a joint target with limits of velocity, acceleration (5 rad/s^2) and jerk '
        '(rad/s^3) that hold throughout, `limits.jerk: strict`. Ruckig has the shortest possible '
        'time, with synchronised joints. Success is the share of ticks inside the limits, judged '
        'by differences of the positions. By this measure a motion in ticks may be up to two '
        'ticks shorter than one in continuous time.',
    ),
    'kinematics': (
        'Kinematics',
        'Ours per launch inside a captured graph, n configurations; its call from Python.',
    ),
}


# Sections whose tables have a line for each solver, ours first, instead of one for each pair:
# heading of each column and the name of the figure among a side's details.
FIGURES = {
    'motion_quality': {
        'jerk, rad/s^3': 'jerk', 'sign changes, 1/s': 'sign_changes', 'lag, ms': 'lag_ms',
        'distance, mm': 'distance_mm', 'off the path, mm': 'path_error_mm',
        'beyond a stop, mm': 'overshoot_mm',
    },
}  # fmt: skip


def section_lines(name: str, rows: list[dict]) -> list[str]:
    """Return the lines of the table of a section.

    Args:
        name: Name of the benchmark.
        rows: Its rows.
    """
    if name not in FIGURES:
        return table_lines(rows)
    columns = FIGURES[name]
    header = ['robot', 'problem', 'solver', *columns, 'success']

    def cells(line: Mapping) -> list[str]:
        entry, side = line['entry'], line['side']
        name = entry['peer_name'] if side == 'peer' else 'ros_ik, defaults'
        figures = [number(entry.get(f'{side}_{key}')) for key in columns.values()]
        success = percent(entry[f'success_{side}'])
        return [entry['robot'], entry['problem'], name, *figures, success]

    return table_lines(_solver_lines(rows), header, cells)


def _solver_lines(rows: list[dict]) -> Iterable[Mapping]:
    """Yield a row and the side of it to show: ours once for each robot and problem."""
    for _, group in itertools.groupby(rows, lambda entry: (entry['robot'], entry['problem'])):
        entries = list(group)
        yield {'entry': entries[0], 'side': 'ours'}
        yield from ({'entry': entry, 'side': 'peer'} for entry in entries)


def merged(rows: list[dict], recorded: list[dict]) -> list[dict]:
    """Return recorded rows with those of the same benchmarks replaced, in the page's order."""
    new, order = {entry['benchmark'] for entry in rows}, list(SECTIONS)
    kept = [entry for entry in recorded if entry['benchmark'] not in new]
    return sorted([*kept, *rows], key=lambda entry: order.index(entry['benchmark']))


def document(rows: list[dict]) -> str:
    """Return the generated part of the document."""
    parts = [_heading(rows)]
    for name, (title, remark) in SECTIONS.items():
        chosen = [entry for entry in rows if entry['benchmark'] == name]
        if not chosen:
            continue
        notes = note_lines(chosen)
        body = '\n'.join(section_lines(name, chosen))
        tail = '\n\n' + '\n'.join(f'- {note}' for note in notes) if notes else ''
        parts.append(f'## {title}\n\n{remark}\n\n{body}{tail}')
    return '\n\n'.join(parts)


def _heading(rows):
    machines = ' and '.join(sorted({entry['machine'] for entry in rows}))
    versions = {name: v for entry in rows for name, v in entry['versions'].items()}
    listed = ', '.join(f'{name} {versions[name]}' for name in sorted(versions))
    return (
        f'Measured on {machines}, each solver in a process of its own, with one thread by\n'
        'default. Pinocchio checks every answer in float64: only answers within the tolerance and '
        'inside\nthe limits count as solved. Ratio is peer over ours. Every solver gets the same '
        'URDF: the chain\nfrom base to tip without other branches or shapes.\n'
        f'Versions: {listed}.'
    )
