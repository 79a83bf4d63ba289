# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Python programs started as forks of a process that has imported their common modules.

Imports, and the kernels that every node makes, are most of the work of a start, and the tests
start some hundreds of programs. The process that forks has no node and no device: it does not load
or run the kernels. The processes that a node or a session starts are forks too, of a fork that it
leaves behind before it has threads.
"""

import atexit
import contextlib
import ctypes
import faulthandler
import gc
import importlib
import json
import math
import os
from pathlib import Path
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time

_SESSION = 'ros_ik.demo.session'
# Programs whose processes may be forks too: those that start them with environment and arguments,
# and nodes.
_SESSIONS = (_SESSION, 'ros_ik.demo.__main__', 'ros_ik.viewer.demo')
_PARENTS = (*_SESSIONS, 'ros_ik.node.ros_ik_node', 'support.processes.failing_node')
# Modules of the node that start processes by ``start_module``.
_MARKERS, _PLANNERS = 'ros_ik.node.markers.marker_client', 'ros_ik.node.services.planner_client'
# The process that answers planners, for tests that do not ask it.
_NO_PLANNERS = 'support.processes.no_planners'
IMPORTED = (
    'ros_ik.node.ik_node',
    'ros_ik.node.markers.marker_main',
    'ros_ik.node.services.planner_main',
    'ros_ik.demo.mock_robot',
    'ros_ik.demo.robot_description_publisher',
    _SESSION,
)
# What a program imports beside these, once the first of it is started.
_ON_DEMAND = {'ros_ik.viewer': 'ros_ik.viewer.viewer_node'}
# Environment variables in which a program may differ; others affect imports.
_OWN = (
    'AMENT_PREFIX_PATH', 'DISPLAY', 'FASTDDS_BUILTIN_TRANSPORTS', 'PYTEST_CURRENT_TEST',
    'ROS_AUTOMATIC_DISCOVERY_RANGE', 'ROS_DOMAIN_ID', 'WAYLAND_DISPLAY',
)  # fmt: skip
_POLL = 0.01
_TESTS = Path(__file__).parents[2]
# Warp hashes a kernel for the threads of a block, of which the CPU has one.
_THREADS_OF_CPU = 1
# At this signal a program writes the stacks of its threads.
_STACKS = signal.SIGUSR1
# Time for the process to end by itself [s].
_PATIENCE = 5.0


class Fork:
    """A running program, with the part of subprocess.Popen that tests and the node use.

    Attributes:
        pid: Identifier of the process.
        stdin: File that writes to its standard input, None if it has none.
        stdout: File that reads its standard output, None if that is a file.
        returncode: Exit code, negative for a signal; None until it is noticed.
    """

    def __init__(self, server, pid, stdin=None, stdout=None):
        self.pid, self._server = pid, server
        self.stdin, self.stdout, self.returncode = stdin, stdout, None
        # The end of a process can be asked for once, and two threads of a node ask.
        self._polling = threading.Lock()

    def poll(self):
        """Return the exit code, negative for a signal; None while it runs."""
        with self._polling:
            if self.returncode is None:
                self.returncode = self._server.ask({'poll': self.pid})
            return self.returncode

    def wait(self, timeout=math.inf):
        """Return the exit code once it has ended."""
        give_up = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > give_up:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(_POLL)
        return self.returncode

    def send_signal(self, number):
        """Send a signal unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def write_stacks(self):
        """Make it write the stacks of its threads to its log."""
        self.send_signal(_STACKS)

    def terminate(self):
        """Ask it to end unless it has ended."""
        self.send_signal(signal.SIGTERM)

    def kill(self):
        """Kill it unless it has ended."""
        self.send_signal(signal.SIGKILL)


class _Server:
    """A process that forks, at the other end of a socket."""

    def __init__(self, link):
        self._link, self._replies = link, link.makefile('r')
        self._lock = threading.Lock()

    def ask(self, question, *files):
        """Return the answer to a question, which may hand files over."""
        line = json.dumps(question).encode() + b'\n'
        with self._lock:
            self._link.sendall(len(line).to_bytes(4, 'little'))
            socket.send_fds(self._link, [line], list(files))
            return json.loads(self._replies.readline())

    def close(self):
        """Let the process end."""
        self._replies.close()
        self._link.close()


class _ChildServer(_Server):
    """The process that forks those of a node or session, seen from there."""

    def start_module(self, module):
        """Start a module with pipes, as ``ros_ik.node.execution.child_process`` does."""
        (stdin, to_child), (from_child, stdout) = os.pipe(), os.pipe()
        try:
            pid = self.ask({'module': module}, stdin, stdout)
        finally:
            os.close(stdin)
            os.close(stdout)
        return Fork(self, pid, open(to_child, 'wb'), open(from_child, 'rb'))

    def start_in(self, children, module, arguments=()):
        """Start a module with ROS arguments, as ``ChildProcesses`` does in the demo."""
        environment = children._environment
        words = {
            'module': module,
            'arguments': ['--ros-args', *arguments],
            'environment': dict(os.environ if environment is None else environment),
        }
        children._processes[module] = Fork(self, self.ask(words))


class ForkServer(_Server):
    """The process that forks, seen from the tests."""

    def __init__(self, environment):
        self._environment = _imported_by(environment)
        link, other = socket.socketpair()
        with other:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(other.fileno())],
                pass_fds=[other.fileno()],
                env=environment,
                stdout=subprocess.DEVNULL,
            )
        super().__init__(link)
        atexit.register(self.end)

    def serves(self, environment):
        """Return True if a program of this environment would import the same."""
        return _imported_by(environment) == self._environment

    def start(self, module, arguments, environment, log, children, planners):
        """Start a module as a program whose output goes to an open file.

        Args:
            module: Name of the module, or path of a file.
            arguments: Its arguments.
            environment: Its environment variables.
            log: Open file for its output.
            children: True if the processes of a node or session are forks too.
            planners: True if a node that is a fork answers planners.
        """
        own = {key: environment[key] for key in _OWN if key in environment}
        words = {
            'module': module,
            'arguments': list(map(str, arguments)),
            'environment': own,
            'children': children and module in _PARENTS,
            'planners': planners,
        }
        return Fork(self, self.ask(words, log.fileno()))

    def end(self):
        """End the process and the programs that it started."""
        self.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()


def _imported_by(environment):
    return {key: value for key, value in environment.items() if key not in _OWN}


def _serve(link, running):
    """Answer until the other end is closed; return what a fork is to run, None at the end.

    The question comes with the files that were handed over.

    Args:
        link: Socket.
        running: Set for the identifiers of the forks whose end was not noticed.
    """
    try:
        return _next_fork(link, running)
    except ConnectionError:  # the other end was killed
        return None


def _next_fork(link, running):
    """Return what a fork is to run, or None where the other end was closed.

    Raises:
        ConnectionError: The other end was killed.
    """
    while head := link.recv(4, socket.MSG_WAITALL):
        size = int.from_bytes(head, 'little')
        data, files, _, _ = socket.recv_fds(link, size, 2)
        while len(data) < size:
            more = link.recv(size - len(data))
            if not more:  # the other end was killed while it asked
                return None
            data += more
        question = json.loads(data)
        if 'module' in question:
            _import_for(question['module'])
            answer = os.fork()
            if answer == 0:
                return question, files
            running.add(answer)
            for file in files:
                os.close(file)
        else:
            answer = _code(question['poll'])
            if answer is not None:
                running.remove(question['poll'])
        link.sendall(json.dumps(answer).encode() + b'\n')
    return None


def _import_for(module):
    """Import what forks that run a module have in common, beside ``IMPORTED``."""
    beside = _ON_DEMAND.get(module)
    if beside is None or beside in sys.modules:
        return
    # Each fork says that something is missing.
    with contextlib.suppress(ImportError):
        importlib.import_module(beside)
    gc.freeze()


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


def _run(question, files):
    """Make this fork like a new process of a program, and run it."""
    _skip_destructors()
    (log,) = files
    for stream in (1, 2):
        os.dup2(log, stream)
    os.close(log)
    faulthandler.register(_STACKS, file=2)
    for key in _OWN:
        os.environ.pop(key, None)
    os.environ.update(question['environment'])
    if question['children']:
        _fork_children(question['module'])
    if not question['planners']:
        _leave_out_planners()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv[1:] = question['arguments']
    _run_module(question['module'])


def _fork_children(module):
    """Leave a fork behind that forks the processes of this node or session."""
    link, other = socket.socketpair()
    if os.fork() != 0:
        other.close()
        server = _ChildServer(link)
        if module in _SESSIONS:
            from ros_ik.demo.processes.children import ChildProcesses

            ChildProcesses.start = lambda *given: server.start_in(*given)
        else:
            for starting in (_MARKERS, _PLANNERS):
                sys.modules[starting].start_module = server.start_module
        return
    link.close()
    asked = _serve(other, set())
    other.close()
    if asked is not None:
        question, files = asked
        # Those of a node ignore Ctrl-C too.
        for stream, file in enumerate(files):
            os.dup2(file, stream)
            os.close(file)
        if 'arguments' in question:
            _begin_session(question)
        _run_module(question['module'])
        sys.exit()
    # The interpreter would end for 50 ms: it writes to every object, which copies its memory.
    os._exit(0)


def _leave_out_planners():
    """Let a stand-in be the process of the planners of this node."""
    client = sys.modules[_PLANNERS]
    # A process of its own finds it there.
    paths = [os.environ.get('PYTHONPATH', ''), str(_TESTS)]
    os.environ['PYTHONPATH'] = os.pathsep.join(filter(None, paths))
    start = client.start_module
    client.start_module = lambda _: start(_NO_PLANNERS)


def _begin_session(question):
    """Make this fork like a child of a session: the leader of a group, which Ctrl-C ends."""
    os.setsid()
    os.environ.clear()
    os.environ.update(question['environment'])
    if question['module'] in _PARENTS:
        _fork_children(question['module'])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv[1:] = question['arguments']


def _run_module(module):
    if module.endswith('.py'):
        sys.stdout.reconfigure(write_through=True)
        runpy.run_path(module, run_name='__main__')
        return
    sys.modules.pop(module, None)
    runpy.run_module(module, run_name='__main__', alter_sys=True)


def has_cuda_driver():
    """Return True if Warp would initialise CUDA, which works in no fork afterwards."""
    try:
        ctypes.CDLL('libcuda.so.1')
    except OSError:
        return False
    return True


def _make_kernels():
    """Make the kernels that every node compiles before it has a robot, and find their files."""
    import warp as wp

    from ros_ik.node.model_loading.compile_ahead import kernels_ahead
    from ros_ik.settings import read_settings

    if not has_cuda_driver():
        # Otherwise each fork would do it, which makes Warp forget the hashes.
        level, wp.config.log_level = wp.config.log_level, wp.LOG_WARNING
        wp.init()
        wp.config.log_level = level
    here, beside = kernels_ahead(read_settings({'ee.frame': 'tool'}))
    for kernel in (*here, *beside):
        # The hash of its source names its file, and takes far longer than to load that.
        kernel.module.get_module_hash(_THREADS_OF_CPU)


def main():
    """Import, then fork as asked; a fork runs its module and ends as a program does."""
    sys.path[0] = os.getcwd()
    # Programs of the tests are beside those of ros_ik.
    sys.path.append(str(_TESTS))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    link = socket.socket(fileno=int(sys.argv[1]))
    for module in IMPORTED:
        importlib.import_module(module)
    _make_kernels()
    # Memory pages of imported modules stay shared.
    gc.freeze()
    running = set()
    asked = _serve(link, running)
    link.close()
    if asked is not None:
        _run(*asked)
    else:
        # The process of the tests may have been killed; its nodes would stay on their domain.
        for pid in running:
            os.kill(pid, signal.SIGCONT)
            os.kill(pid, signal.SIGTERM)


if __name__ == '__main__':
    main()
