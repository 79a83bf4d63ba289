# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Tests and benchmarks of a machine with a graphics card: ``make gpu``.

The tests of test/gpu, then batches of poses and control steps of many robots beside newton and
mink-warp, with arrays of the host and with arrays that stay on the card, in 8 minutes at most.
They write ``benchmarks/results/gpu.json`` and the section of docs/benchmarks.md, after each part,
so that an end before the last one loses nothing. ``DEVICE=cpu`` rehearses all of it with small
batches, and prints the section.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import time
from xml.etree import ElementTree

import warp as wp

from benchmarks.control_steps import batch_step
from benchmarks.harness.measure import LOOSE
from benchmarks.harness.measure import OURS
from benchmarks.harness.measure import Runner
from benchmarks.harness.measure import TIGHT
from benchmarks.harness.process import ROOT
from benchmarks.harness.table import note_lines
from benchmarks.harness.table import Side
from benchmarks.harness.table import table_lines
from benchmarks.harness.table import write_document
from benchmarks.harness.table import write_json
from benchmarks.kinematics import closed_form
from benchmarks.kinematics.inverse import batch_row
from benchmarks.kinematics.inverse import batch_spec

BEGIN, END = '<!-- made by `make gpu`: begin -->', '<!-- made by `make gpu`: end -->'
RESULTS = ROOT / 'benchmarks' / 'results'

# Bounds on the parts [s], and on all of them together. The last one, newton, whose kernels take
# long to compile, gets what is left.
TESTS_TIME, OURS_TIME, MINK_TIME, STEPS_TIME, CLOSED_TIME = 120.0, 30.0, 40.0, 30.0, 10.0
WHOLE_TIME = 470.0
# Processes of the tests, each with a context of its own on the card.
MAX_WORKERS = 8


@dataclass(frozen=True)
class Sizes:
    """Numbers of poses and of robots.

    Attributes:
        poses: Batches of poses.
        shared: The largest that peers get: newton expands problems by its seeds.
        robots: Batches of control steps.
        resident: Batches of poses and robots whose arrays stay on the card.
        closed_form: Batches of poses of which all solutions are found.
    """

    poses: tuple[int, ...]
    shared: int
    robots: tuple[int, ...]
    resident: tuple[int, ...]
    closed_form: tuple[int, ...]


CARD = Sizes(
    (1, 256, 1024, 16_384, 65_536, 262_144, 1_000_000), 65_536, (1, 256, 4096, 65_536),
    (1, 16_384, 262_144, 1_000_000), (16_384, 1_000_000),
)  # fmt: skip
REHEARSAL = Sizes((1, 256), 256, (1, 256), (1, 256), (256,))
# Robots whose steps are judged one by one; G1 with 43 joints at most.
MAX_RESIDENT_ROBOTS = 65_536


def run_tests(device: str, timeout: float = TESTS_TIME) -> dict:
    """Run the tests of the GPU in a process of their own and return what they came to.

    Returns:
        ``passed`` and ``skipped`` counts, ``failed`` names, ``seconds``, and ``error``, the reason
        why there is no outcome.
    """
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / 'report.xml'
        # In one process the compilation of all kernels takes longer than the tests have.
        workers = str(min(os.cpu_count() or 1, MAX_WORKERS))
        command = [
            sys.executable, '-m', 'pytest', '-m', 'gpu', 'test/gpu', f'--junitxml={report}',
            '-n', workers, '--dist', 'worksteal',
        ]  # fmt: skip
        environment = {**os.environ, 'GPU_TEST_DEVICE': device}
        error = ''
        try:
            subprocess.run(command, cwd=ROOT, env=environment, timeout=timeout)
        except subprocess.TimeoutExpired:
            error = f'the tests took more than {timeout:.0f} s'
        outcome = read_report(report) if report.exists() else {
            'passed': 0, 'skipped': 0, 'failed': [],
        }  # fmt: skip
    if not error and not outcome['passed']:
        error = 'no test ran'
    return {**outcome, 'seconds': round(time.perf_counter() - begin, 1), 'error': error}


def read_report(path: Path) -> dict:
    """Return the counts and the names of failed tests of a JUnit report."""
    cases = list(ElementTree.parse(path).iter('testcase'))
    failed = [
        f'{case.get("classname")}::{case.get("name")}'
        for case in cases
        if case.find('failure') is not None or case.find('error') is not None
    ]
    skipped = sum(case.find('skipped') is not None for case in cases)
    return {'passed': len(cases) - len(failed) - skipped, 'skipped': skipped, 'failed': failed}


def pose_rows(
    runner: Runner, sizes: Sizes, device: str, name: str, left: Callable[[], float]
) -> list[dict]:
    """Return the rows of batches of poses beside mink-warp and newton.

    Args:
        runner: Runs the solvers.
        sizes: Numbers of poses.
        device: Warp's name of the device.
        name: Its name in the rows.
        left: Returns the time left for all that follows [s].
    """
    cases = [('panda', limit, n) for n in sizes.poses for limit in (LOOSE, TIGHT)]
    shared = [case for case in cases if case[1] is LOOSE and 1 < case[2] <= sizes.shared]
    specs = {case: batch_spec(case, 'chain', device=device) for case in cases}
    peers = {
        'mink-warp LM': ('mink_warp_lm', '', MINK_TIME),
        'newton LM, many seeds': ('newton_lm', 'many_seeds', WHOLE_TIME),
    }
    ours = runner.run(OURS, list(specs.values()), min(OURS_TIME, left()))
    sides: dict[tuple, list[tuple[str, Side]]] = {case: [] for case in cases}
    for peer, (module, variant, timeout) in peers.items():
        wanted = {case: batch_spec(case, variant, device=device) for case in shared}
        answers = runner.run(
            f'benchmarks.peers.{module}', list(wanted.values()), min(timeout, left())
        )
        for case, spec in wanted.items():
            sides[case].append((peer, answers[spec]))
    return [
        batch_row(case, ours[specs[case]], peer, side, 'gpu', device=name)
        for case in cases
        for peer, side in sides[case] or [('', Side(None))]
    ]


def resident_rows(runner: Runner, sizes: Sizes, device: str, name: str) -> list[dict]:
    """Return the rows of poses, steps and closed forms with arrays that stay on the device."""
    cases = [('panda', limit, n) for n in sizes.resident for limit in (LOOSE, TIGHT)]
    specs = {case: batch_spec(case, 'chain', device=device, resident=True) for case in cases}
    ours = runner.run(OURS, list(specs.values()), OURS_TIME)
    rows = [
        batch_row(case, ours[specs[case]], '', Side(None), 'gpu_resident', device=name)
        for case in cases
    ]
    robots = tuple(min(n, MAX_RESIDENT_ROBOTS) for n in sizes.resident)
    rows += batch_step.step_rows(
        runner, tuple(dict.fromkeys(robots)), 1, benchmark='gpu_resident_step', device=device,
        device_name=name, timeout=STEPS_TIME, is_resident=True,
    )  # fmt: skip
    return rows + closed_form.device_rows(runner, sizes.closed_form, device, name, CLOSED_TIME)


def section(rows: list[dict], tests: dict, name: str) -> str:
    """Return the generated part of the document."""
    outcome = f'{tests["passed"]} tests passed, {len(tests["failed"])} failed'
    parts = [f'On {name}: {outcome} in {tests["seconds"]:.0f} s.']
    parts += [f'- failed: {test}' for test in tests['failed']]
    parts += [f'- {tests["error"]}'] if tests['error'] else []
    titles = {
        'gpu': 'Batches of poses, microseconds per verified solution:',
        'gpu_step': 'Control steps of many robots, microseconds per robot:',
        'gpu_resident': (
            'Batches of poses whose arrays stay on the card, microseconds per verified solution:'
        ),
        'gpu_resident_step': (
            'Control steps whose arrays stay on the card, microseconds per robot:'
        ),
        'gpu_closed_form': (
            'All solutions of a pose, arrays on the card, microseconds per pose. The success is '
            'the share of the solutions that the card or the CPU found:'
        ),
    }
    for benchmark, title in titles.items():
        chosen = [entry for entry in rows if entry['benchmark'] == benchmark]
        if chosen:
            notes = [f'- {note}' for note in note_lines(chosen)]
            parts += ['', title, '', *table_lines(chosen), *([''] if notes else []), *notes]
    return '\n'.join(parts)


def write_results(rows: list[dict], tests: dict, name: str, *, rehearsal: bool) -> None:
    """Write the file of the results and, unless for a rehearsal, the part of the document."""
    result = {'device': name, 'tests': tests, 'rows': rows}
    write_json(result, RESULTS / ('gpu_rehearsal.json' if rehearsal else 'gpu.json'))
    if not rehearsal:
        text = section(rows, tests, name)
        write_document(rows, ROOT / 'docs' / 'benchmarks.md', lambda _: text, (BEGIN, END))


def main():
    """Run the tests, then the benchmarks; exit with 1 where a test failed."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks.gpu.card')
    parser.add_argument('--device', default='cuda:0', help='cuda:0, or cpu to rehearse')
    device = parser.parse_args().device
    wp.config.quiet = True
    rehearsal = device == 'cpu'
    if not rehearsal and not wp.is_cuda_available():
        sys.exit(
            'no CUDA device on this machine, or a driver older than R580, which this Warp needs '
            '(nvidia-smi shows it); make gpu DEVICE=cpu rehearses'
        )
    name = wp.get_device(device).name
    sizes = REHEARSAL if rehearsal else CARD
    begin = time.perf_counter()

    def left() -> float:
        return max(1.0, begin + WHOLE_TIME - time.perf_counter())

    tests = run_tests(device)
    rows: list[dict] = []
    with tempfile.TemporaryDirectory(prefix='ros_ik_gpu_') as folder:
        runner = Runner(Path(folder))
        # The slowest peer last.
        parts = (
            lambda: resident_rows(runner, sizes, device, name),
            lambda: batch_step.step_rows(
                runner, sizes.robots, 1, benchmark='gpu_step', device=device, device_name=name,
                timeout=STEPS_TIME,
            ),
            lambda: pose_rows(runner, sizes, device, name, left),
        )  # fmt: skip
        for part in parts:
            rows += part()
            write_results(rows, tests, name, rehearsal=rehearsal)
    print(section(rows, tests, name))
    print(f'\n{(time.perf_counter() - begin) / 60.0:.1f} minutes')
    sys.exit(bool(tests['failed'] or tests['error']))


if __name__ == '__main__':
    main()
