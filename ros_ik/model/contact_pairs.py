# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Pairs of shapes that may collide, by Newton's rules.

Two shapes may collide if both have the flag to collide with shapes, they lie on different bodies,
share a world (a shape may be in all), belong to matching groups, and are not filtered. Groups
match if both are the same positive number, or one is negative and the other differs; 0 matches
none.
Filters, such as those of an SRDF, come from :mod:`ros_ik.model.building.tables.collision_filters`.
"""

from __future__ import annotations

import numpy as np

from ros_ik.model.conventions.flags import ShapeFlags


def packed_pairs(pairs: np.ndarray) -> np.ndarray:
    """Return pairs [n, 2] as sorted unique numbers, the smaller index in the upper half."""
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    return np.unique((low.astype(np.int64) << 32) | high)


def unpacked_pairs(codes: np.ndarray) -> np.ndarray:
    """Return pairs [n, 2] of numbers that :func:`packed_pairs` made."""
    return np.stack([codes >> 32, codes & 0xFFFFFFFF], axis=1)


def contact_pairs(
    body: np.ndarray,
    world: np.ndarray,
    group: np.ndarray,
    flags: np.ndarray,
    filtered: np.ndarray,
) -> np.ndarray:
    """Return the pairs of shapes that may collide, int32 [n, 2], s1 < s2, ascending.

    Args:
        body: Body of each shape.
        world: World of each shape, -1 for all.
        group: Collision group of each shape.
        flags: Flags of each shape.
        filtered: Pairs that must not collide, as :func:`packed_pairs` returns them.
    """
    active = np.flatnonzero(((flags & int(ShapeFlags.COLLIDE_SHAPES)) != 0) & (group != 0))
    first, second = _candidates(active, world[active])
    keep = (body[first] != body[second]) & _compatible(group[first], group[second])
    codes = packed_pairs(np.stack([first[keep], second[keep]], axis=1))
    codes = codes[~np.isin(codes, filtered, assume_unique=True)]
    return unpacked_pairs(codes).astype(np.int32)


def _candidates(shapes: np.ndarray, world: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of shapes of one world, and of global shapes with all others.

    Worlds with the same number of shapes are treated at once.
    """
    everywhere, local = shapes[world < 0], shapes[world >= 0]
    above = np.triu_indices(len(everywhere), 1)
    firsts = [everywhere[above[0]], np.repeat(everywhere, len(local))]
    seconds = [everywhere[above[1]], np.tile(local, len(everywhere))]
    order = np.argsort(world[world >= 0], kind='stable')
    local = local[order]
    _, starts, counts = np.unique(world[world >= 0][order], return_index=True, return_counts=True)
    for count in np.unique(counts):
        members = local[starts[counts == count][:, None] + np.arange(count)]  # [worlds, count]
        low, high = np.triu_indices(int(count), 1)
        firsts.append(members[:, low].ravel())
        seconds.append(members[:, high].ravel())
    return np.concatenate(firsts), np.concatenate(seconds)


def _compatible(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return a mask of the pairs whose groups match."""
    return np.where(first > 0, (first == second) | (second < 0), first != second)
