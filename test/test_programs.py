# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Console scripts: signals during their imports, and those that ``main`` gets."""

import signal
import subprocess
import sys

import pytest

from ros_ik import programs

SIGNALS = [signal.SIGINT, signal.SIGTERM]
INTERRUPTED = """
import os, time
os.kill(os.getpid(), {number:d})
time.sleep(30.0)
"""
ENDING = """
import signal

def main():
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    return 7
"""


def run(folder, source):
    """Return the exit code of a node whose module has this source, and what it prints."""
    (folder / 'slow_node.py').write_text(source)
    # A shell script lets what it starts in the background ignore SIGINT, and all their children.
    program = (
        'import signal; signal.signal(signal.SIGINT, signal.default_int_handler); '
        f'import sys; sys.path.insert(0, {str(folder)!r}); from ros_ik import programs; '
        "sys.exit(programs._run('slow', 'slow_node', is_node=True))"
    )
    done = subprocess.run(
        [sys.executable, '-c', program], capture_output=True, text=True, timeout=60.0
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize('number', SIGNALS)
def test_a_signal_during_the_imports_of_a_node_ends_it_in_order(tmp_path, number):
    assert run(tmp_path, INTERRUPTED.format(number=number)) == (0, '')


def test_main_gets_the_signals_itself(tmp_path):
    assert run(tmp_path, ENDING) == (7, '')


def test_every_node_ends_so(monkeypatch):
    given = {}
    monkeypatch.setattr(
        programs, '_run', lambda name, module, is_node=False: given.setdefault(name, is_node)
    )
    nodes = {'mock_robot', 'robot_description_publisher', 'ros_ik_node', 'ros_ik_viewer'}
    for name in (*nodes, 'ros_ik_setup', 'ros_ik_demo'):
        getattr(programs, name)()
    assert {name for name, is_node in given.items() if is_node} == nodes
