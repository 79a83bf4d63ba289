# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The process that forks programs for the tests ends with the process that asks it, as do they."""

from concurrent.futures import ThreadPoolExecutor
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from support.processes import process_forks
from support.processes.ros_processes import ROOT
from support.processes.ros_processes import start_program
from support.rigs.services_rig import is_gone

QUESTION = json.dumps({'poll': 1}).encode()


@pytest.mark.timeout(20)
@pytest.mark.parametrize('sent', [b'', QUESTION[:3]], ids=['no question', 'part of one'])
def test_it_ends_where_the_other_end_was_killed_while_it_asked(sent):
    link, other = socket.socketpair()
    other.sendall(len(QUESTION).to_bytes(4, 'little') + sent)
    other.close()
    with link:
        assert process_forks._serve(link, set()) is None


def test_it_ends_where_the_other_end_was_killed_before_it_read_the_answer():
    link, other = socket.socketpair()
    link.sendall(b'4711\n')
    other.close()
    with link:
        assert process_forks._serve(link, set()) is None


@pytest.mark.timeout(20)
def test_threads_that_ask_for_one_end_get_the_same_answer():
    """One of them hears of it; a second question for the same end would end the other side."""
    ended = os.posix_spawn(sys.executable, [sys.executable, '-c', 'exit(3)'], os.environ)
    while os.waitid(os.P_PID, ended, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        time.sleep(0.01)
    link, other = socket.socketpair()
    fork = process_forks.Fork(process_forks._Server(link), ended)
    together = threading.Barrier(8)
    with ThreadPoolExecutor(9) as pool, other, link:
        serving = pool.submit(process_forks._serve, other, {ended})
        codes = list(pool.map(lambda _: together.wait() >= 0 and fork.poll(), range(8)))
        link.shutdown(socket.SHUT_RDWR)
        assert serving.result() is None
    assert codes == [3] * 8


KILLED = """
import os, pathlib, signal, sys, time
from support.processes.ros_processes import Processes
processes = Processes(pathlib.Path(sys.argv[1]))
processes.start('robot', 'ros_ik.demo.mock_robot')
print(processes.pid('robot'), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.dds
@pytest.mark.timeout(100)
def test_programs_end_after_the_process_of_the_tests_was_killed(tmp_path):
    path = os.pathsep.join([str(ROOT), str(ROOT / 'test'), os.environ.get('PYTHONPATH', '')])
    done = subprocess.run(
        [sys.executable, '-c', KILLED, str(tmp_path)], env={**os.environ, 'PYTHONPATH': path},
        stdout=subprocess.PIPE, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    robot = int(done.stdout)
    while not is_gone(robot):
        time.sleep(0.05)


UNKNOWN_FILES = """
from ros_ik.node.model_loading.compile_ahead import kernels_ahead
from ros_ik.settings import read_settings
import warp as wp

wp.init()
here, beside = kernels_ahead(read_settings({'ee.frame': 'tool'}))
print([kernel.key for kernel in (*here, *beside) if 1 not in kernel.module.hashers])
"""


@pytest.mark.skipif(process_forks.has_cuda_driver(), reason='CUDA is initialised in forks only')
def test_a_fork_finds_the_files_of_the_kernels_without_their_sources(tmp_path):
    program, log = tmp_path / 'program.py', tmp_path / 'log.txt'
    program.write_text(UNKNOWN_FILES)
    with log.open('w') as file:
        assert start_program(str(program), [], 0, file).wait(100.0) == 0, log.read_text()
    assert log.read_text().splitlines()[-1] == '[]'
