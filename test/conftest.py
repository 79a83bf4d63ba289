# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Order of the test files, and what the collector of garbage looks through."""

import gc


def pytest_configure():
    """Collect the tests without the collector of garbage: they all stay."""
    gc.disable()


def pytest_collection_modifyitems(items):
    """Mix the files that start processes, and so wait, with those that compute."""
    files = {item.path: bool(item.get_closest_marker('dds')) for item in items}
    places = {}
    for waits in (True, False):
        paths = [path for path, starts in files.items() if starts == waits]
        places |= {path: (place + 0.5) / len(paths) for place, path in enumerate(paths)}
    items.sort(key=lambda item: places[item.path])


def pytest_collection_finish():
    """Leave what was collected out of what the collector of garbage looks through."""
    gc.collect()
    gc.freeze()
    gc.enable()
