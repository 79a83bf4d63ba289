# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Order and processes of the test files, garbage collector, options of Warp, tests that hang."""

import faulthandler
import gc
import importlib.util
import os
import subprocess
import sys

import pytest
from support.processes.workers import lower_priority
from support.processes.workers import use_one_blas_thread
from support.processes.workers import worker_number

# Time after the limit of a test until the process that hangs ends [s]. The limit itself raises an
# exception in Python, which a call that does not return never sees.
_BEYOND = 60.0
# Descriptor of the standard error, which does not lead there while a test runs.
_STDERR = pytest.StashKey()

# Objects between two collections: most of what tests leave behind has no cycles, and the default,
# 700, takes 4 % of their processor time.
_OBJECTS = 20_000


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Exclude the tests, which are never freed, from garbage collection."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(_OBJECTS)
        gc.enable()
        # On a machine with a GPU, tests that name no device run on the CPU as elsewhere.
        if 'warp' in sys.modules:
            sys.modules['warp'].set_device('cpu')
            _share_compilations()
        if 'newton' in sys.modules:
            _leave_out_adjoints()


def _share_compilations():
    from ros_ik.kinematics.runtime.shared_compilation import share_compilations  # noqa: PLC0415

    share_compilations()


def _leave_out_adjoints():
    from support.solvers.newton_adjoints import leave_out_adjoints  # noqa: PLC0415

    leave_out_adjoints()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Let each process of the tests begin with other folders.

    The first to import a file rewrites its assertions, half of the work of a collection. Processes
    that went through the files side by side would each do so.
    """
    report = yield
    if isinstance(collector, pytest.Directory) and report.passed:
        count = int(os.environ.get('PYTEST_XDIST_WORKER_COUNT', '1'))
        first = worker_number() % count * len(report.result) // count
        report.result = report.result[first:] + report.result[:first]
    return report


def pytest_collection_modifyitems(items):
    """Let the files come first whose tests start ROS nodes, and therefore wait."""
    waiting = {item.path for item in items if item.get_closest_marker('dds')}
    # Processes collect files in different orders.
    items.sort(key=lambda item: (item.path not in waiting, item.path))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Let half of the processes begin with files that compute."""
    from support.processes.file_scheduler import FilesFromBothEnds  # noqa: PLC0415

    return FilesFromBothEnds(config, log) if config.option.dist == 'loadfile' else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """Exclude what a file leaves behind, like compiled kernels, from garbage collection.

    A full collection would take more than a second after some hundred tests. This one is of the
    objects of one file.
    """
    yield
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()


def pytest_configure(config):
    """Remember the standard error, set up the processes that run files, and DDS."""
    config.stash[_STDERR] = os.dup(sys.__stderr__.fileno())
    lower_priority()
    if 'PYTEST_XDIST_WORKER' in os.environ:
        use_one_blas_thread()
    if os.environ.get('CHECK_BOUNDS', '') not in ('', '0'):
        import warp.config  # noqa: PLC0415

        # Kernels end the process at an index outside its array.
        warp.config.mode = 'debug'
    # Processes of tests end, too, while others start beside them. A copy of this file may run
    # without the package.
    if importlib.util.find_spec('ros_ik'):
        from ros_ik.node.execution.fastdds_profile import set_fastdds_profile  # noqa: PLC0415

        set_fastdds_profile()


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_timeout_set_timer(item, settings):
    """End the process, with the stacks of its threads, if the limit of a test has no effect."""
    faulthandler.dump_traceback_later(
        settings.timeout + _BEYOND, exit=True, file=item.config.stash[_STDERR]
    )


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_timeout_cancel_timer(item):
    """Let the next test have its own limit."""
    faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    """Print how a process of the tests ended that was not told to."""
    if error:
        try:
            end = f'ended with exit code {node.gateway._io.popen.wait(_BEYOND)}'
        except subprocess.TimeoutExpired:
            end = 'lost its connection, and runs'
        print(f'\n[{node.gateway.id}] {end}', file=sys.__stderr__)
