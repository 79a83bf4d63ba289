# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Python programs started as forks of a process that has imported their common modules.

Imports, and the kernels that every node makes, are most of the work of a start, and the tests
start some hundreds of programs. The process that forks has no node and no device: it does not load
or run the kernels.
"""

import atexit
import ctypes
import faulthandler
import gc
import importlib
import json
import math
import os
import runpy
import signal
import socket
import subprocess
import sys
import time

IMPORTED = ('ros_ik.node.ik_node', 'ros_ik.demo.mock_robot')
# Environment variables in which a program may differ; others affect imports.
_OWN = ('PYTEST_CURRENT_TEST', 'ROS_AUTOMATIC_DISCOVERY_RANGE', 'ROS_DOMAIN_ID')
_POLL = 0.01
# At this signal a program writes the stacks of its threads.
_STACKS = signal.SIGUSR1
# Time for the process to end by itself [s].
_PATIENCE = 5.0


class Fork:
    """A running program, with the part of subprocess.Popen that tests use."""

    def __init__(self, server, pid):
        self.pid, self._server, self._code = pid, server, None

    def poll(self):
        """Return the exit code, negative for a signal; None while it runs."""
        if self._code is None:
            self._code = self._server.ask({'poll': self.pid})
        return self._code

    def wait(self, timeout=math.inf):
        """Return the exit code once it has ended."""
        give_up = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > give_up:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(_POLL)
        return self._code

    def send_signal(self, number):
        """Send a signal unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def write_stacks(self):
        """Make it write the stacks of its threads to its log."""
        self.send_signal(_STACKS)

    def kill(self):
        """Kill it unless it has ended."""
        self.send_signal(signal.SIGKILL)


class ForkServer:
    """The process that forks, seen from the tests."""

    def __init__(self, environment):
        self._environment = _imported_by(environment)
        self._socket, other = socket.socketpair()
        with other:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(other.fileno())],
                pass_fds=[other.fileno()],
                env=environment,
                stdout=subprocess.DEVNULL,
            )
        self._replies = self._socket.makefile('r')
        atexit.register(self.end)

    def serves(self, environment):
        """Return whether a program of this environment would import the same."""
        return _imported_by(environment) == self._environment

    def start(self, module, arguments, environment, log):
        """Start a module as a program whose output goes to an open file."""
        own = {key: environment[key] for key in _OWN if key in environment}
        words = {'module': module, 'arguments': list(map(str, arguments)), 'environment': own}
        return Fork(self, self.ask(words, log.fileno()))

    def ask(self, question, *files):
        """Return the answer to a question, which may hand files over."""
        line = json.dumps(question).encode() + b'\n'
        self._socket.sendall(len(line).to_bytes(4, 'little'))
        socket.send_fds(self._socket, [line], list(files))
        return json.loads(self._replies.readline())

    def end(self):
        """End the process; the programs that it started continue."""
        self._replies.close()
        self._socket.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()


def _imported_by(environment):
    return {key: value for key, value in environment.items() if key not in _OWN}


def _serve(link):
    """Answer until the other end is closed; return what a fork is to run, None at the end."""
    while head := link.recv(4, socket.MSG_WAITALL):
        size = int.from_bytes(head, 'little')
        data, files, _, _ = socket.recv_fds(link, size, 1)
        while len(data) < size:
            data += link.recv(size - len(data))
        question = json.loads(data)
        if 'module' in question:
            answer = os.fork()
            if answer == 0:
                return question, files[0]
            os.close(files[0])
        else:
            answer = _code(question['poll'])
        link.sendall(json.dumps(answer).encode() + b'\n')
    return None


def _code(pid):
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def _skip_destructors():
    """Let the process end without the exit handlers of its libraries.

    The one of lttng-ust cancels threads that a fork does not have, and may crash.
    """
    libc = ctypes.CDLL(None)
    # Called in the opposite order, with the exit code as the first argument.
    for function in (libc._exit, libc.fcloseall):
        libc.on_exit(ctypes.cast(function, ctypes.c_void_p), None)


def _become(question, log):
    """Make this fork like a new process of a program."""
    _skip_destructors()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.close(log)
    faulthandler.register(_STACKS, file=2)
    for key in _OWN:
        os.environ.pop(key, None)
    os.environ.update(question['environment'])
    sys.argv[1:] = question['arguments']
    sys.modules.pop(question['module'], None)


def _make_kernels():
    """Make the kernels that every node compiles before it has a robot."""
    from ros_ik.node.model_loading.compile_ahead import kernels_ahead
    from ros_ik.settings import read_settings

    kernels_ahead(read_settings({'ee.frame': 'tool'}))


def main():
    """Import, then fork as asked; a fork runs its module and ends as a program does."""
    sys.path[0] = os.getcwd()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    link = socket.socket(fileno=int(sys.argv[1]))
    for module in IMPORTED:
        importlib.import_module(module)
    _make_kernels()
    # Memory pages of imported modules stay shared.
    gc.freeze()
    asked = _serve(link)
    link.close()
    if asked is not None:
        _become(*asked)
        runpy.run_module(asked[0]['module'], run_name='__main__', alter_sys=True)


if __name__ == '__main__':
    main()
