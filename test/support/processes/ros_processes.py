# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Programs on a ROS domain of their own, their logs and their end."""

import contextlib
import fcntl
import itertools
import os
from pathlib import Path
import signal
import subprocess
import sys
import tempfile
import time

import pytest
from support.processes.process_forks import Fork
from support.processes.process_forks import ForkServer
import yaml

ROOT = Path(__file__).parents[3]
# Time in which a process writes the stacks of its threads [s], and lines of a log to show.
_WRITTEN, _LAST_LINES = 0.3, 80
# Time for a program to end by itself [s], also while it starts on a busy machine. One killed while
# it opens a port of Fast DDS in shared memory leaves half of it, and every later process of the
# machine, on any domain, waits for the other half without end.
_PATIENCE = 30.0
_count = itertools.count()
# Places of domains to try: what has just ended on a domain may be heard a little longer.
_places = itertools.count(os.getpid())


def nested(values):
    """Return parameters by dotted name as the tree that a parameter file holds."""
    tree = {}
    for name, value in values.items():
        *sections, leaf = name.split('.')
        branch = tree
        for section in sections:
            branch = branch.setdefault(section, {})
        branch[leaf] = value
    return tree


# Ports of these domains are not among those that Linux hands out to other programs.
_DOMAINS = range(40, 100)


def reserve_domain():
    """Return a ROS domain that no other test process of this machine has, and its lock.

    It is not the last one of this process.
    """
    for place in itertools.islice(_places, len(_DOMAINS)):
        domain = _DOMAINS[place % len(_DOMAINS)]
        path = Path(tempfile.gettempdir()) / f'ros_ik_domain_{domain}_{os.getuid()}'
        lock = path.open('w')
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
        else:
            return domain, lock
    raise RuntimeError('every ROS domain for tests is in use')


@contextlib.contextmanager
def reserved_domain():
    """Yield a ROS domain of :func:`reserve_domain`."""
    domain, lock = reserve_domain()
    with lock:
        yield domain


@contextlib.contextmanager
def without_shared_memory():
    """Let participants that are made meanwhile, here and in new programs, use UDP only.

    A process that is killed while it writes to the shared memory of another one may leave it
    locked, and the other hears no more. A busy machine often stops processes there.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('FASTDDS_BUILTIN_TRANSPORTS', 'UDPv4')
        yield


def _environment(**own):
    """Return the environment of a program, with variables beside those of the tests."""
    path = os.pathsep.join([str(ROOT), os.environ.get('PYTHONPATH', '')])
    return {**os.environ, 'PYTHONPATH': path, **own}


_servers = []


def _fork_server(environment):
    """Return the process that forks programs with the imports of an environment.

    A test process has one for each: what a test may import beside the usual is in few of them.
    """
    for server in _servers:
        if server.serves(environment):
            return server
    _servers.append(ForkServer(environment))
    return _servers[-1]


def start_program(
    module, arguments, domain, log, prefix=(), forks=True, children=True, planners=True
):
    """Start a module as a program on a ROS domain.

    Args:
        module: Name of the module.
        arguments: Its arguments.
        domain: The ROS domain.
        log: Open file for its output.
        prefix: A command that starts another.
        forks: True if it may be a fork; otherwise it imports everything itself.
        children: True if the processes of a node that is a fork are forks too.
        planners: True if a node that is a fork answers planners.
    """
    environment = _environment(
        ROS_DOMAIN_ID=str(domain),
        ROS_AUTOMATIC_DISCOVERY_RANGE=os.environ.get('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST'),
    )
    if forks and not prefix:
        return _fork_server(environment).start(
            module, arguments, environment, log, children, planners
        )
    return subprocess.Popen(
        [*prefix, sys.executable, '-m', module, *map(str, arguments)],
        env=environment,
        stdout=log,
        stderr=log,
    )


class Processes:
    """Programs on one ROS domain, which are forks if ``forks``.

    They are processes with imports of their own otherwise, and so are those that nodes start
    unless ``children``. Nodes that are forks answer planners if ``planners``.
    """

    def __init__(self, folder, forks=True, children=True, planners=True):
        self.domain, self._lock = reserve_domain()
        self._folder, self._forks, self._children = folder, forks, children
        self._planners = planners
        self._running = {}

    def start(
        self, name, module, *files, namespace='', prefix=(), arguments=None, remaps=(),
        **parameters,
    ):  # fmt: skip
        """Start an executable of ros_ik with parameters by name, dots as double underscores.

        Parameter files come before the parameters; ``prefix`` is a command that starts another;
        ``arguments`` stand in the place of all ROS arguments; ``remaps`` are rules like 'a:=b'.
        """
        values = {key.replace('__', '.'): value for key, value in parameters.items()}
        file = self._folder / f'{name}_{next(_count)}.yaml'
        file.write_text(yaml.safe_dump({'/**': {'ros__parameters': nested(values)}}))
        words = [word for path in (*files, file) for word in ('--params-file', str(path))]
        words += [word for rule in remaps for word in ('-r', rule)]
        if namespace:
            words += ['-r', f'__ns:={namespace}']
        if arguments is None:
            arguments = ['--ros-args', *words]
        with (self._folder / f'{name}.log').open('a') as log:
            self._running[name] = start_program(
                module, arguments, self.domain, log, prefix, self._forks, self._children,
                self._planners,
            )  # fmt: skip

    def text(self, name):
        """Return the output of a process."""
        return (self._folder / f'{name}.log').read_text()

    def explain(self):
        """Return the ends of all logs, with the stacks of running forks."""
        for process in self._running.values():
            if isinstance(process, Fork):
                process.write_stacks()
        time.sleep(_WRITTEN)
        logs = {name: self.text(name).splitlines()[-_LAST_LINES:] for name in self._running}
        return '\n'.join(
            line for name, lines in logs.items() for line in (f'--- log of {name} ---', *lines)
        )

    def signal(self, name, number):
        """Send a signal."""
        self._running[name].send_signal(number)

    def wait(self, name, timeout):
        """Return the exit code of a process that is ending."""
        code = self._running[name].wait(timeout)
        del self._running[name]
        return code

    def pid(self, name):
        """Return the identifier of a process."""
        return self._running[name].pid

    def is_running(self, name):
        """Return True if a process of this name was started and has not ended."""
        return name in self._running and self.is_alive(name)

    def is_alive(self, name):
        """Return True if a process runs."""
        return self._running[name].poll() is None

    def end(self):
        """End every process."""
        for process in self._running.values():
            process.send_signal(signal.SIGCONT)
            process.send_signal(signal.SIGTERM)
        for process in self._running.values():
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._lock.close()
