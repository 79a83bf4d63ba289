# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Child processes of the demo, started together and always ended."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import signal
import subprocess
import sys
import time
from types import TracebackType

# Time for a child to end after SIGINT before it is killed [s].
_GRACE = 5.0


class ChildProcesses:
    """Child processes that live as long as the ``with`` block."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        """Start without processes.

        Args:
            environment: Their environment; None for that of this process.
        """
        self._environment = environment
        self._processes: dict[str, subprocess.Popen] = {}

    def __enter__(self) -> ChildProcesses:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End every child."""
        self.end()

    def start(self, module: str, arguments: Sequence[str] = ()) -> None:
        """Start a Python module with ROS arguments in a process of its own."""
        command = [sys.executable, '-m', module, '--ros-args', *arguments]
        # In a session of its own, so that Ctrl-C reaches only this process, which ends the
        # children in order.
        self._processes[module] = subprocess.Popen(
            command,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            start_new_session=True,
        )

    def ended_child(self) -> str:
        """Return the first child that has ended by itself and its exit code, or ''."""
        for module, process in self._processes.items():
            if process.poll() is not None:
                return f'{module} ended with exit code {process.returncode}'
        return ''

    def end(self) -> dict[str, int]:
        """Interrupt every child, wait, kill the others; return the exit codes by module."""
        for process in reversed(self._processes.values()):
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        give_up = time.monotonic() + _GRACE
        codes = {}
        for module, process in self._processes.items():
            try:
                codes[module] = process.wait(max(0.1, give_up - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                codes[module] = process.wait()
        self._processes.clear()
        return codes
