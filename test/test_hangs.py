# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Tests that hang in a library, and processes of tests that are killed, end with a reason."""

import os
from pathlib import Path
import subprocess
import sys

import pytest

CONFTEST = Path(__file__).parent / 'conftest.py'
WAITS = """
import ctypes, pytest

@pytest.mark.timeout(1)
def test_it_waits_in_a_library():
    library = ctypes.PyDLL(None)  # its functions are called with the lock of the interpreter
    mutex = ctypes.create_string_buffer(64)
    library.pthread_mutex_lock(mutex)
    library.pthread_mutex_lock(mutex)
"""
KILLED = """
import os, signal

def test_it_is_killed():
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.timeout(100)
@pytest.mark.parametrize(
    'text, said',
    [(WAITS, ('Timeout (0:00:02)!', 'in test_it_waits_in_a_library')), (KILLED, ('code -9',))],
    ids=['waits', 'killed'],
)
def test_the_process_ends_and_says_why(tmp_path, text, said):
    (tmp_path / 'conftest.py').write_text(
        CONFTEST.read_text().replace('_BEYOND = 60.0', '_BEYOND = 1.0')
    )
    (tmp_path / 'test_it.py').write_text(text)
    words = ['-m', 'pytest', '-n', '1', '--max-worker-restart', '0', '-p', 'no:cacheprovider']
    words += ['-p', 'no:launch_testing', '-p', 'no:launch_ros']
    environment = os.environ | {'PYTHONPATH': str(CONFTEST.parent)}
    done = subprocess.run(
        [sys.executable, *words, str(tmp_path)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode != 0
    assert 'crashed while running' in done.stdout, done.stdout
    for words in said:
        assert words in done.stderr, done.stderr
