# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Numbers, priorities and threads of the processes that run test files side by side.

Files whose tests start ROS nodes wait more than they compute, but need the processor at once when
they do. They come first in the list of files, and every other process begins at its end, with
files that only compute. Such a process has a lower priority and takes the time that nodes leave.
"""

import importlib
import os

# Programs of ordinary priority, such as nodes, then get three times as much processor time.
_LOWER_PRIORITY = 5
# Number of threads of the BLAS library, which NumPy and SciPy read when they are imported.
_BLAS_THREADS = 'OPENBLAS_NUM_THREADS'


def worker_number():
    """Return the number of this process, from 0."""
    return int(os.environ.get('PYTEST_XDIST_WORKER', 'gw0').removeprefix('gw'))


def begins_at_the_end(number):
    """Return true for the processes that begin with the last files."""
    return number % 2 == 1


def lower_priority():
    """Lower the priority of this process if it begins with files that compute."""
    if begins_at_the_end(worker_number()):
        os.nice(_LOWER_PRIORITY)


def use_one_blas_thread():
    """Let this process multiply matrices with one thread, but not the programs that it starts.

    The threads of several processes wait for each other in loops, a tenth of all processor time.
    """
    if _BLAS_THREADS not in os.environ:
        os.environ[_BLAS_THREADS] = '1'
        for library in ('numpy', 'scipy.linalg'):
            importlib.import_module(library)
        del os.environ[_BLAS_THREADS]
