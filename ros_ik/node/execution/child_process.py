# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Child processes of the node, connected by pipes."""

from __future__ import annotations

import os
from pathlib import Path
import signal
import subprocess
import sys
from typing import BinaryIO

_ROOT = str(Path(__file__).resolve().parents[3])


class PipedProcess(subprocess.Popen[bytes]):
    """A process with pipes for input and output."""

    stdin: BinaryIO
    stdout: BinaryIO


def start_module(module: str) -> PipedProcess:
    """Start a module of this package as a process with pipes for input and output.

    Ctrl-C reaches all processes of a terminal. The child inherits a mask that blocks this signal,
    and the node ends it in an orderly way. A new session would have the same effect, but Linux may
    give each session an equal share of the processor (autogroups), so that niceness would have no
    effect between them.

    Args:
        module: Name of the module.
    """
    path = os.pathsep.join([_ROOT, *filter(None, [os.environ.get('PYTHONPATH')])])
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return PipedProcess(
            [sys.executable, '-m', module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, 'PYTHONPATH': path, 'PYTHONSAFEPATH': '1'},
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
