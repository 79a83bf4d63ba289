# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Order of the test files, settings of the garbage collector, and Warp's default device."""

import gc
import sys

import pytest

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
