# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Processes that the node starts and ends: they hear of it through pipes."""

from __future__ import annotations

import os
from pathlib import Path
import signal
import subprocess
import sys

_ROOT = str(Path(__file__).resolve().parents[3])


def start_module(module: str) -> subprocess.Popen[bytes]:
    """Start a module of this package as a process with pipes for input and output.

    Ctrl-C goes to all processes. The node ends this one in order, which therefore inherits a mask
    of the signal. A session of its own would do that too, but Linux may give each session an equal
    share of the processor (autogroups), and niceness counts within a session only.

    Args:
        module: Name of the module.
    """
    path = os.pathsep.join([_ROOT, *filter(None, [os.environ.get('PYTHONPATH')])])
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return subprocess.Popen(
            [sys.executable, '-m', module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, 'PYTHONPATH': path, 'PYTHONSAFEPATH': '1'},
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
