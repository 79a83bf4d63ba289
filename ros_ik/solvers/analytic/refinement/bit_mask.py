# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions for bit masks of the first entries of a pose."""

from typing import no_type_check

import warp as wp

# Number of entries in a mask, the bits of an integer but its sign. Later ones are never in it.
MASK_SIZE = 31


@no_type_check
@wp.func
def is_marked(mask: int, entry: int) -> bool:
    """Return True if an entry is in a mask."""
    return entry < wp.static(MASK_SIZE) and ((mask >> entry) & 1) == 1


@no_type_check
@wp.func
def marked(mask: int, entry: int) -> int:
    """Return a mask with an entry added if it has room for it."""
    if entry < wp.static(MASK_SIZE):
        return mask | (1 << entry)
    return mask
