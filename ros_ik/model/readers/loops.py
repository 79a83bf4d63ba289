# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Detection of loops in descriptions that must be trees."""

from __future__ import annotations


def find_loop(following: dict[str, str]) -> list[str]:
    """Return the names of a loop in a map from name to name, [] if there is none."""
    passed: set[str] = set()
    for start in following:
        path: dict[str, None] = {}  # an ordered set
        name = start
        while name in following and name not in passed:
            if name in path:
                names = list(path)
                return names[names.index(name) :]
            path[name] = None
            name = following[name]
        passed.update(path)
    return []


def shortened(names: list[str]) -> str:
    """Return names as text that fits into a message."""
    more = f' and {len(names) - 10} more' if len(names) > 10 else ''
    return ', '.join(names[:10]) + more
