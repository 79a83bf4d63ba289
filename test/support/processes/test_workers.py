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


def test_those_that_wait_begin_in_processes_of_higher_priority(tmp_path):
    log = tmp_path / 'log.txt'
    for k in range(2):
        for kind, mark in ('wait', 'pytestmark = pytest.mark.dds'), ('compute', ''):
            name = f'{kind}{k}'
            text = FILE.format(mark=mark, name=name, log=str(log))
            (tmp_path / f'test_{name}.py').write_text(text)
    (tmp_path / 'conftest.py').write_text((TEST / 'conftest.py').read_text())
    settings = ('-p', 'no:cacheprovider', '-o', 'markers=dds', '--import-mode=importlib')
    environment = os.environ | {'PYTHONPATH': str(TEST)}
    environment.pop('PYTEST_XDIST_WORKER', None)
    run = subprocess.run(
        [sys.executable, '-m', 'pytest', *settings, '-n', '2', '--dist', 'loadfile',
         '--no-loadscope-reorder', str(tmp_path)],
        cwd=tmp_path, env=environment,
        capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout
    first, here = {}, os.nice(0)
    for line in log.read_text().splitlines():
        name, worker, priority = line.split()
        first.setdefault(worker, (name.rstrip('0123456789'), int(priority)))
    # 19 is the lowest priority of Linux.
    assert first == {'gw0': ('wait', here), 'gw1': ('compute', min(here + 5, 19))}


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
