# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Meshes with fewer triangles: without a graphics card the processor draws each of them."""

from __future__ import annotations

from collections.abc import Sequence
import importlib.util
import math

import trimesh

# A part keeps so many triangles, however many the others have.
_LEAST = 100
# Faces that meet at a larger angle keep an edge [rad].
_SHARP = math.radians(50.0)


def coarsen(parts: Sequence[trimesh.Trimesh], triangles: int) -> list[trimesh.Trimesh]:
    """Return parts with about so many triangles in total; each loses the same share of its own.

    Parts that have a colour of their own for each vertex stay as they are. So does everything
    where fast-simplification is not installed.

    Args:
        parts: What is drawn.
        triangles: How many triangles it may have; 0 for as many as it has.
    """
    total = sum(len(part.faces) for part in parts)
    is_due = 0 < triangles < total and importlib.util.find_spec('fast_simplification')
    if not is_due:
        return list(parts)
    return [_coarse(part, max(_LEAST, triangles * len(part.faces) // total)) for part in parts]


def _coarse(part: trimesh.Trimesh, triangles: int) -> trimesh.Trimesh:
    if len(part.faces) <= triangles or not isinstance(part.visual, trimesh.visual.TextureVisuals):
        return part
    bare = trimesh.Trimesh(part.vertices, part.faces, process=False)
    # Files give each triangle corners of its own, which would come apart.
    bare.merge_vertices()
    if len(bare.faces) > triangles:
        bare = bare.simplify_quadric_decimation(face_count=triangles, aggression=3)
    coarse = trimesh.graph.smooth_shade(bare, angle=_SHARP)
    coarse.visual = trimesh.visual.TextureVisuals(material=part.visual.material)
    return coarse
