# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Runs the jobs of a solver in a process of its own, with a time limit and one thread."""

from dataclasses import dataclass
import json
import os
from pathlib import Path
import subprocess
import sys

import numpy as np

from benchmarks.harness.job import Job

ROOT = Path(__file__).resolve().parents[2]
PEER_PYTHON = ROOT / '.venv-bench' / 'bin' / 'python'

_ONE_THREAD = {
    name: '1'
    for name in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS', 'RAYON_NUM_THREADS')
}


@dataclass(frozen=True)
class Answer:
    """Answer to one job.

    Attributes:
        joint_q: Answers [m, dof], m <= n where the job's budget ended first; None on an error.
        seconds: Per problem [m], or per whole batch [repeats].
        versions: Versions of the solver's packages.
        setting: What the solver says about its setting.
        error: Why there is no answer, '' if there is one.
        repeats: True if steps made several times came to the same configurations.
    """

    joint_q: np.ndarray | None
    seconds: np.ndarray | None
    versions: dict
    setting: str = ''
    error: str = ''
    repeats: bool | None = None


def run_jobs(
    module: str, jobs: list[Job], folder: Path, timeout: float, *, python: Path | None = None
) -> dict[str, Answer]:
    """Run jobs in one child process and collect the answers by key.

    Args:
        module: Module to run, ``benchmarks.peers.newton`` for one.
        jobs: What to do; their problem sets are in ``folder``.
        folder: Where problems are and answers go.
        timeout: When to end the child [s]; answers up to then count.
        python: Interpreter; the one of this process by default.
    """
    if python is not None and not python.exists():
        reason = f'{python.parent.parent.name} is not set up (tools/setup_bench)'
        return {job.key: Answer(None, None, {}, error=reason) for job in jobs}
    for job in jobs:  # of an earlier run in this folder
        for answer in (folder / f'{job.key}.json', folder / f'{job.key}.npz'):
            if answer.name == job.problems:
                raise ValueError(f'job {job.key!r}: its answers would replace its problems')
            answer.unlink(missing_ok=True)
    (folder / 'jobs.json').write_text(json.dumps([job.save() for job in jobs]))
    command = [str(python or sys.executable), '-m', module, str(folder)]
    environment = {**os.environ, **_ONE_THREAD}
    if python is not None:
        environment.pop('VIRTUAL_ENV', None)
        environment['PYTHONPATH'] = str(ROOT)
    with (folder / 'log.txt').open('w') as log:
        try:
            code = subprocess.run(
                command, cwd=ROOT, env=environment, timeout=timeout, stdout=log, stderr=log
            ).returncode
            reason = f'ended with exit code {code}'
        except subprocess.TimeoutExpired:
            reason = f'took more than {timeout:.0f} s'
    tail = (folder / 'log.txt').read_text(errors='replace').strip().splitlines()[-1:]
    return {job.key: _collect(folder, job.key, ': '.join([reason, *tail])) for job in jobs}


def _collect(folder, key, reason):
    note_file, answer_file = folder / f'{key}.json', folder / f'{key}.npz'
    if not note_file.exists():
        return Answer(None, None, {}, error=reason)
    note = json.loads(note_file.read_text())
    if 'error' in note:
        return Answer(None, None, note['versions'], error=note['error'])
    with np.load(answer_file) as file:
        return Answer(
            file['joint_q'], file['seconds'], note['versions'], setting=note.get('setting', ''),
            repeats=note.get('repeats'),
        )  # fmt: skip
