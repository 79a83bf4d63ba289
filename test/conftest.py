# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Order of the test files, and what the collector of garbage looks through."""

import gc

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep the collector of garbage away from the tests, which all stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items):
    """Mix the files that start processes, and so wait, with those that compute."""
    waiting = {item.path for item in items if item.get_closest_marker('dds')}
    files = list(dict.fromkeys(item.path for item in items))
    places = {}
    for waits in (True, False):
        paths = [path for path in files if (path in waiting) == waits]
        places |= {path: (place + 0.5) / len(paths) for place, path in enumerate(paths)}
    items.sort(key=lambda item: places[item.path])
