# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Reduction of meshes, because without a graphics card the processor draws each triangle."""

from __future__ import annotations

from collections.abc import Sequence
import importlib.util
import math

import trimesh

# Packages that reduce meshes: trimesh takes scipy to find smooth surfaces.
_NEEDED = ('fast_simplification', 'scipy')
# Minimum number of triangles of a part.
_MIN_FACES = 100
# Angle between faces above which an edge stays sharp [rad].
_SHARP = math.radians(50.0)


def coarsen(parts: Sequence[trimesh.Trimesh], triangles: int) -> list[trimesh.Trimesh]:
    """Return parts with about a given number of triangles; all are reduced by the same ratio.

    Parts with colours per vertex are not reduced. Nothing is without fast-simplification or scipy.

    Args:
        parts: Parts to draw.
        triangles: Maximum number of triangles; 0 for no limit.
    """
    total = sum(len(part.faces) for part in parts)
    is_due = 0 < triangles < total
    if not (is_due and all(importlib.util.find_spec(name) for name in _NEEDED)):
        return list(parts)
    return [_coarse(part, max(_MIN_FACES, triangles * len(part.faces) // total)) for part in parts]


def _coarse(part: trimesh.Trimesh, triangles: int) -> trimesh.Trimesh:
    if len(part.faces) <= triangles or not isinstance(part.visual, trimesh.visual.TextureVisuals):
        return part
    bare = trimesh.Trimesh(part.vertices, part.faces, process=False)
    # Merge vertices, because files may store separate corners for each triangle.
    bare.merge_vertices()
    if len(bare.faces) > triangles:
        bare = bare.simplify_quadric_decimation(face_count=triangles, aggression=3)
    coarse = trimesh.graph.smooth_shade(bare, angle=_SHARP)
    coarse.visual = trimesh.visual.TextureVisuals(material=part.visual.material)
    return coarse
