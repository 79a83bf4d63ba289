# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Order of the test files, garbage collector, Warp's default device, and tests that hang."""

import faulthandler
import gc
import os
import subprocess
import sys

import pytest

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


def pytest_collection_modifyitems(items):
    """Interleave files that start processes, and therefore wait, with those that compute."""
    waiting = {item.path for item in items if item.get_closest_marker('dds')}
    files = list(dict.fromkeys(item.path for item in items))
    places = {}
    for waits in (True, False):
        paths = [path for path in files if (path in waiting) == waits]
        places |= {path: (place + 0.5) / len(paths) for place, path in enumerate(paths)}
    items.sort(key=lambda item: places[item.path])


def pytest_configure(config):
    """Remember the standard error."""
    config.stash[_STDERR] = os.dup(sys.__stderr__.fileno())


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
