# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp function that keeps the entries of each pose sorted by distance to the seed."""

from typing import no_type_check

import warp as wp


@no_type_check
@wp.func
def insert_sorted(
    distance: wp.float64, entry: int, problem: int, count: int,
    distances: wp.array2d(dtype=wp.float64), entries: wp.array2d(dtype=wp.int32),
) -> int:  # fmt: skip
    """Insert an entry into the sorted tables after ``count`` others; return its column.

    This is the number of columns if the tables are full of nearer entries.
    """
    room = distances.shape[1]
    at = wp.min(count, room)
    while at > 0 and distances[problem, at - 1] > distance:
        if at < room:
            distances[problem, at] = distances[problem, at - 1]
            entries[problem, at] = entries[problem, at - 1]
        at -= 1
    if at < room:
        distances[problem, at] = distance
        entries[problem, at] = entry
    return at
