# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The whole demo as a user starts it: its last line, its picture, its exit code, and Ctrl-C."""

import contextlib
import json
from pathlib import Path
import signal
import time

import pytest
from support.long_forms import either
from support.processes.process_forks import Fork
from support.processes.ros_processes import reserved_domain
from support.processes.ros_processes import start_program

from ros_ik.demo.robots import find_robot
from tools.process_stat import process_stats

pytestmark = [pytest.mark.dds, pytest.mark.timeout(480)]

# Two runs at a time, each of half a minute and with kernels to compile, on a busy machine.
PATIENCE = 400.0
# Robots and arguments of the demo; a slower loop leaves more processor time to the other tests.
UR3 = str(find_robot('ur3').urdf_path)
ARGUMENTS = {'panda': ('--rate', '50'), UR3: ('--rate', '50')}
# Robots of whole demos, and of those that a signal interrupts.
WHOLE = either(['panda'], ['panda', UR3])
INTERRUPTED = {signal.SIGINT: 'allegro_right_hand', signal.SIGTERM: UR3}


def start(domain, folder, robot, forks=True):
    """Start the demo of a robot; its output goes to a file.

    Without ``forks`` it and its processes import everything, as those that a user starts.
    """
    words = ['--output', folder, '--robot', robot, *ARGUMENTS.get(robot, ())]
    with (folder / 'log').open('w') as log:
        return start_program('ros_ik.demo.__main__', words, domain, log, forks=forks)


def end(process):
    """End a demo that may have ended already."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    process.wait()


def children_of(process):
    """Return the pids of the processes that a demo has started."""
    found = _below(process.pid)
    # Those of a fork are started by a fork that it leaves behind.
    if isinstance(process, Fork):
        return [pid for other in found for pid in _below(other)]
    return found


def _below(pid):
    """Return the pids of the running processes whose parent is a process."""
    stats = process_stats().items()
    return [child for child, stat in stats if stat.parent == pid and stat.state != 'Z']


@pytest.fixture(scope='module')
def demos(tmp_path_factory):
    """Yield demos that were started together, with their folders, by robot."""
    with contextlib.ExitStack() as stack:
        started = {}
        for robot in WHOLE:
            domain = stack.enter_context(reserved_domain())
            folder = tmp_path_factory.mktemp('demo')
            started[robot] = start(domain, folder, robot), folder
        yield started
        for process, _ in started.values():
            process.send_signal(signal.SIGINT)
            process.wait()


@pytest.mark.parametrize('robot', WHOLE)
def test_reaches_everything_and_says_so(demos, robot):
    process, folder = demos[robot]
    code = process.wait(PATIENCE)
    log = (folder / 'log').read_text()
    figures = json.loads(log.splitlines()[-1])
    assert code == 0, log
    assert figures['reached'] == figures['targets'] > 5
    assert figures['ticks'] > 500
    # Meshes are used only for robots with an SRDF; missing ones are in the log.
    assert ('not watched' in log) == ('no SRDF' in log) == (robot != 'panda')
    assert (folder / f'{figures["robot"]}.png').read_bytes().startswith(b'\x89PNG')


@pytest.fixture(scope='module')
def interrupted(tmp_path_factory):
    """Yield demos and their children, by the signal that each got at its first pose."""
    with contextlib.ExitStack() as stack:
        demos, logs, found = {}, {}, {}
        for number, robot in INTERRUPTED.items():
            domain = stack.enter_context(reserved_domain())
            folder = tmp_path_factory.mktemp('interrupted')
            demos[number] = start(domain, folder, robot, forks=number != signal.SIGINT)
            logs[number] = folder / 'log'
            stack.callback(end, demos[number])
        give_up = time.monotonic() + PATIENCE
        # One demo may end by itself while a test waits for the other: they are watched together.
        while len(found) < len(demos):
            for number, process in demos.items():
                log = logs[number].read_text()
                assert time.monotonic() < give_up, log
                if number not in found and 'pose 1' in log:
                    found[number] = process, children_of(process)
                    process.send_signal(number)
            time.sleep(0.1)
        yield found


@pytest.mark.parametrize('number', INTERRUPTED)
def test_interrupt_ends_every_child(interrupted, number):
    process, children = interrupted[number]
    assert len(children) == 3
    assert process.wait(PATIENCE) != 0
    assert not [pid for pid in children if Path(f'/proc/{pid}').exists()]


def test_unknown_robot_is_one_line(domain, tmp_path):
    process = start(domain, tmp_path, 'pandda')
    assert process.wait(PATIENCE) == 2
    assert (tmp_path / 'log').read_text().startswith("demo: robot 'pandda' is neither")
