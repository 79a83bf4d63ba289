# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Shapes of a model as triangles to draw, with trimesh, which is optional."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import trimesh

from ros_ik.errors import ModelError
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.readers.mesh_files import check_vertices
from ros_ik.model.readers.mesh_files import MeshFile
from ros_ik.model.readers.mesh_files import read_content


def shape_scene(
    kind: int, scale: np.ndarray, source: object, sections: int = 32
) -> trimesh.Scene | None:
    """Return a shape about its origin [m], or None without a size or a file.

    Args:
        kind: Its :class:`GeoType`.
        scale: Its size, in the convention of models.
        source: File of a mesh.
        sections: Number of facets around the axis of round shapes.

    Raises:
        ModelError: A mesh file that cannot be read.
    """
    if kind == GeoType.MESH:
        if not isinstance(source, MeshFile) or source.path is None:
            return None
        scene = _read_scene(source.uri, source.path)
        scene.apply_transform(np.diag([*np.asarray(scale, dtype=float), 1.0]))
        return scene
    if kind == GeoType.BOX:
        part = trimesh.creation.box(extents=2.0 * scale)
    elif kind == GeoType.SPHERE:
        part = trimesh.creation.icosphere(2 if sections < 32 else 3, radius=scale[0])
    elif kind == GeoType.CYLINDER:
        part = trimesh.creation.cylinder(
            radius=scale[0], height=2.0 * scale[1], sections=sections
        )
    elif kind == GeoType.CAPSULE:
        part = trimesh.creation.capsule(
            radius=scale[0], height=2.0 * scale[1], count=[sections, sections]
        )
    else:
        return None
    return trimesh.Scene(part)


def _read_scene(uri: str, path: Path) -> trimesh.Scene:
    """Read a mesh file in m; referenced files, such as textures, are not read."""
    where = f'mesh {uri!r}'
    content = read_content(path)
    content.check()
    kind = content.kind
    try:
        scene = trimesh.load_scene(io.BytesIO(content.data), file_type=kind)
        units = scene.units
        if kind == 'dae' and units is not None:
            scene.apply_scale(trimesh.units.unit_conversion(units, 'meters'))
    # Readers raise arbitrary errors for broken files.
    except Exception as error:
        raise ModelError(where, f'cannot be read as {kind}: {error!r}') from error
    meshes = [part for part in scene.geometry.values() if isinstance(part, trimesh.Trimesh)]
    # Readers return what a file that was cut off still has.
    if not meshes:
        raise ModelError(where, 'has no triangles')
    for mesh in meshes:
        check_vertices(where, mesh.vertices)
    return scene
