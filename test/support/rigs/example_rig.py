# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Programs of examples/ in processes of their own, beside a session."""

import contextlib
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

from sensor_msgs.msg import JointState
from support.processes.ros_processes import Processes
from support.processes.ros_processes import ROOT
from support.processes.ros_processes import start_program
from support.rigs.ros_rig import Client
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.services_rig import solve

from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.srv import SolveIk
from tools.process_stat import process_stats


class Example:
    """A running program."""

    def __init__(self, domain, log, program, words, stdin=None):
        """Start a file, or a module by its name, as a fork; with ``stdin`` as users do."""
        self._log = log
        with log.open('w') as file:
            if stdin is None:
                self._process = start_program(program, words, domain, file)
                return
            environment = {
                **os.environ,
                'ROS_DOMAIN_ID': str(domain),
                'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
                'PYTHONPATH': os.pathsep.join([str(ROOT), os.environ.get('PYTHONPATH', '')]),
                'PYTHONUNBUFFERED': '1',
            }
            self._process = subprocess.Popen(
                [sys.executable, program, *words],
                cwd=ROOT, env=environment, stdin=stdin, stdout=file, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def text(self):
        """Return its output."""
        return self._log.read_text()

    def is_running(self):
        """Return True if it has not ended yet."""
        return self._process.poll() is None

    def interrupt(self):
        """Send Ctrl-C; return the exit code."""
        self._process.send_signal(signal.SIGINT)
        return self.wait()

    def wait(self):
        """Wait for the end; return the exit code."""
        return self._process.wait(LONG)

    def end(self):
        """End the program by force if necessary."""
        if self.is_running():
            self._process.kill()
            self._process.wait()


def _threads_below(process):
    """Return the threads of all processes that a process has started, and those have."""
    stats, found = process_stats(), [process]
    for each in found:
        found += [child for child, stat in stats.items() if stat.parent == each]
    threads = []
    for each in found[1:]:
        with contextlib.suppress(OSError):  # it has ended meanwhile
            threads += [int(entry.name) for entry in Path(f'/proc/{each}/task').iterdir()]
    return threads


def _nice(thread):
    """Return the niceness of a thread, 0 if it has ended."""
    try:
        return os.getpriority(os.PRIO_PROCESS, thread)
    except ProcessLookupError:
        return 0


class Session:
    """A robot of ros_ik.demo.session, a client of its node, and examples beside them."""

    def __init__(self, folder, *arguments):
        self._folder, self._examples = folder, []
        self.processes = Processes(folder)
        self.client = Client(self.processes)
        self.processes.start('session', 'ros_ik.demo.session', arguments=arguments)

    def wait_until_ready(self):
        """Wait until the node follows targets and answers requests."""
        client = self.client
        client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)
        # Timeouts that robots and examples without processor time do not exceed.
        assert all(result.successful for result in client.set(**NEVER_STALE).values())
        # Another process answers these, for which examples wait only a few seconds.
        planner = client.node.create_client(SolveIk, 'ros_ik/solve_ik')
        client.wait_for(planner.service_is_ready, 'service solve_ik', LONG)
        client.node.destroy_client(planner)
        return self

    def prepare_planner(self, **fields):
        """Request a pose until kernels are compiled, which may exceed the limit of a request.

        The process that answers has the lowest priority of a busy machine, except here.
        """
        low = [each for each in _threads_below(self.processes.pid('session')) if _nice(each) > 0]
        assert low, 'no process answers planners'
        for thread in low:
            # Only root may.
            with contextlib.suppress(PermissionError, ProcessLookupError):
                os.setpriority(os.PRIO_PROCESS, thread, 0)
        pose, give_up = self.client.moved_pose().pose, time.monotonic() + LONG
        while SolveIk.Response.TIMED_OUT in solve(self.client, poses=[pose], **fields).codes:
            assert time.monotonic() < give_up, 'no answer in time'

    @contextlib.contextmanager
    def example(self, name, *arguments, stdin=None):
        """Yield an example that runs, and end it."""
        path = ROOT / 'examples' / 'node' / f'{name}.py'
        with self.start(name, str(path), *map(str, arguments), stdin=stdin) as example:
            yield example

    @contextlib.contextmanager
    def start(self, name, program, *words, stdin=None):
        """Yield a Python program that runs, and end it."""
        log = self._folder / f'{name}.log'
        example = Example(self.processes.domain, log, program, words, stdin)
        try:
            yield example
        finally:
            example.end()

    def wait_for(self, condition, what, example, timeout=LONG):
        """Listen until a condition holds; fail with what the example says otherwise."""
        give_up = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < give_up, f'no {what}: {example.text()}'
            self.client.spin(0.02)

    def interrupt(self, example):
        """Send Ctrl-C; expect a clean end, and come to rest."""
        code, text = example.interrupt(), example.text()
        assert code == 0 and 'Traceback' not in text, text

    def go(self, positions):
        """Go to positions by joint without other targets, and stay there at rest."""
        client, joints = self.client, JointState(name=list(positions))
        joints.position = [float(value) for value in positions.values()]
        client.forget_targets()

        def is_there():
            found = dict(zip(client.states[-1].name, client.states[-1].position, strict=True))
            return all(abs(found[name] - value) < 1e-3 for name, value in positions.items())

        client.stream('joints', joints)
        client.wait_for(lambda: client.states and is_there(), 'start')
        client.stream('joints', None)
        client.wait_for_rest()
        client.forget_targets()

    def end(self):
        """End everything."""
        self.client.end()
        self.processes.end()
