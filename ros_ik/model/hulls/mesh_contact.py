# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Contact of two surfaces of triangles, exact for hollows, which convex hulls fill.

Two surfaces meet if an edge of one passes through a triangle of the other. The triangles are
divided between the halves of the box that both surfaces share, until few are left. A body inside
another one, whose surfaces do not meet, counts as apart.
"""

from __future__ import annotations

import numpy as np

# Number of pairs of triangles that are tested at once, and depth at which they are not divided.
_FEW, _MAX_DEPTH = 20_000, 30


def surfaces_meet(first: np.ndarray, second: np.ndarray) -> bool:
    """Return True if two surfaces meet.

    Args:
        first: Corners of the triangles of one surface [m], [n, 3, 3].
        second: Those of the other one in the same frame [m], [m, 3, 3].
    """
    if not len(first) or not len(second):
        return False
    least = [surface.min(axis=1) for surface in (first, second)]
    most = [surface.max(axis=1) for surface in (first, second)]
    left = [(np.arange(len(first)), np.arange(len(second)), np.full(3, -np.inf),
             np.full(3, np.inf), 0)]  # fmt: skip
    while left:
        a, b, low, high, depth = left.pop()
        low = np.max([low, least[0][a].min(axis=0), least[1][b].min(axis=0)], axis=0)
        high = np.min([high, most[0][a].max(axis=0), most[1][b].max(axis=0)], axis=0)
        a = a[np.all((least[0][a] <= high) & (most[0][a] >= low), axis=1)]
        b = b[np.all((least[1][b] <= high) & (most[1][b] >= low), axis=1)]
        if not len(a) or not len(b):
            continue
        if len(a) * len(b) <= _FEW or depth == _MAX_DEPTH:
            if _meet(first[a], second[b]):
                return True
            continue
        axis = int(np.argmax(high - low))
        middle = 0.5 * (low[axis] + high[axis])
        for k, bound in enumerate((high, low)):
            half = bound.copy()
            half[axis] = middle
            left.append((a, b, *((low, half) if k == 0 else (half, high)), depth + 1))
    return False


def _meet(first: np.ndarray, second: np.ndarray) -> bool:
    """Return True if some edges of either surface pass through triangles of the other one."""
    count = max(1, _FEW // len(second))
    return any(
        _pierce(first[k : k + count], second) or _pierce(second, first[k : k + count])
        for k in range(0, len(first), count)
    )


def _pierce(edged: np.ndarray, pierced: np.ndarray) -> bool:
    """Return True if an edge of some triangles passes through one of others."""
    start = edged.reshape(-1, 3)
    end = np.roll(edged, -1, axis=1).reshape(-1, 3)
    a, b, c = pierced[:, 0], pierced[:, 1], pierced[:, 2]
    normal = np.cross(b - a, c - a)
    level = np.einsum('ij,ij->i', normal, a)
    before, after = start @ normal.T - level, end @ normal.T - level
    edge, face = np.nonzero((before * after <= 0.0) & (before != after))
    along = end[edge] - start[edge]
    corners = [corner[face] - start[edge] for corner in (a, b, c)]
    sides = np.array(
        [
            np.einsum('ij,ij->i', along, np.cross(corners[k], corners[(k + 1) % 3]))
            for k in range(3)
        ]
    )
    return bool(np.any(np.all(sides >= 0.0, axis=0) | np.all(sides <= 0.0, axis=0)))
