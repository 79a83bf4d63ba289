# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Test files that wait and those that compute run in processes of different priority."""

import os
from pathlib import Path
import subprocess
import sys

TEST = Path(__file__).parents[2]
FILE = """
import os
import pytest

{mark}

@pytest.mark.parametrize('number', range(3))
def test_number(number):
    with open({log!r}, 'a') as log:
        log.write(f'{name} {{os.environ["PYTEST_XDIST_WORKER"]}} {{os.nice(0)}}\\n')
"""


def run_files(folder, *words):
    """Run the test files of a folder in two processes, as those of the package."""
    (folder / 'conftest.py').write_text((TEST / 'conftest.py').read_text())
    settings = ('-p', 'no:cacheprovider', '-o', 'markers=dds', '--import-mode=importlib')
    environment = os.environ | {'PYTHONPATH': str(TEST)}
    environment.pop('PYTEST_XDIST_WORKER', None)
    return subprocess.run(
        [sys.executable, '-m', 'pytest', *settings, '-n', '2', '--dist', 'loadfile',
         '--no-loadscope-reorder', *words, str(folder)],
        cwd=folder, env=environment,
        capture_output=True, text=True, timeout=100,
    )  # fmt: skip


def test_those_that_wait_begin_in_processes_of_higher_priority(tmp_path):
    log = tmp_path / 'log.txt'
    for k in range(2):
        for kind, mark in ('wait', 'pytestmark = pytest.mark.dds'), ('compute', ''):
            name = f'{kind}{k}'
            text = FILE.format(mark=mark, name=name, log=str(log))
            (tmp_path / f'test_{name}.py').write_text(text)
    run = run_files(tmp_path)
    assert run.returncode == 0, run.stdout
    first, here = {}, os.nice(0)
    for line in log.read_text().splitlines():
        name, worker, priority = line.split()
        first.setdefault(worker, (name.rstrip('0123456789'), int(priority)))
    # 19 is the lowest priority of Linux.
    assert first == {'gw0': ('wait', here), 'gw1': ('compute', min(here + 5, 19))}


CRASHING = """
import os
from pathlib import Path

import pytest

@pytest.mark.parametrize('number', range(3))
def test_number(number):
    first = Path({first!r})
    if number == 1 and not first.exists():
        first.touch()
        os._exit(1)
"""


def test_a_run_ends_though_a_process_of_it_dies(tmp_path):
    """Files that it had finished are no work for the others."""
    for name in 'abcdefgh':
        (tmp_path / f'test_{name}.py').write_text('def test_nothing():\n    pass\n')
    crashing = CRASHING.format(first=str(tmp_path / 'first'))
    (tmp_path / 'test_e_crashing.py').write_text(crashing)
    report = run_files(tmp_path, '--max-worker-restart', '1')
    assert report.returncode == 1, report.stdout
    # The test that crashed failed there, and passed in another process.
    assert '1 failed, 11 passed' in report.stdout


ONE_THREAD = """
import os
from support.processes.workers import use_one_blas_thread

use_one_blas_thread()
import numpy as np
import scipy.linalg

square = np.ones((500, 500))
scipy.linalg.inv(square @ square + np.eye(500))
assert 'OPENBLAS_NUM_THREADS' not in os.environ
print(len(os.listdir('/proc/self/task')))
"""


def test_matrices_are_multiplied_by_one_thread():
    environment = os.environ | {'PYTHONPATH': str(TEST)}
    environment.pop('OPENBLAS_NUM_THREADS', None)
    run = subprocess.run(
        [sys.executable, '-c', ONE_THREAD], env=environment,
        capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert (run.returncode, run.stdout) == (0, '1\n'), run.stderr
