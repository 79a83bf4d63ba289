# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Order of the test files."""


def pytest_collection_modifyitems(items):
    """Put files that start processes first: they wait, and what computes fills the gaps."""
    waiting = {item.path for item in items if item.get_closest_marker('dds')}
    items.sort(key=lambda item: item.path not in waiting)
