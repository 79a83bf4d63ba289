# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Reader of mesh files: STL, Wavefront OBJ with trimesh, COLLADA with pycollada.

Collision checks use convex hulls and need only vertices; triangles tell links that touch from
links with hollows. A mesh is read at its first use, so kinematics alone needs neither meshes nor
these libraries. STL in text is read with trimesh too.
"""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import hashlib
import io
import itertools
from pathlib import Path
from typing import Any

import numpy as np

from ros_ik.errors import ModelError
from ros_ik.model.hulls.hull_reduction import unique_rows
from ros_ik.model.readers.mesh_lookup import MeshSource
from ros_ik.model.readers.xml import parse_document
from ros_ik.numbers import MAX_MAGNITUDE

# Largest file. The largest mesh of the tested robots, a visual of a quadruped's trunk, has 29 MB.
MAX_FILE_BYTES = 128 * 1024 * 1024
# Largest number of geometries that the nodes of a scene place.
MAX_PLACED = 10_000
SUFFIXES = ('.stl', '.obj', '.dae')
# Binary STL: a header, the number of facets, and the facets.
_STL_HEADER = 80
_STL_FACET = np.dtype([('normal', '<f4', 3), ('corners', '<f4', (3, 3)), ('attribute', '<u2')])
# The text that stands for a file until Git LFS has fetched it.
_LFS_POINTER = b'version https://git-lfs.github.com/'
_COLLADA_ROOT = '{http://www.collada.org/2005/11/COLLADASchema}COLLADA'


@dataclasses.dataclass(frozen=True)
class MeshContent:
    """Content of a mesh file, read once, so that its hash and its vertices belong together.

    Attributes:
        path: The file, for errors.
        kind: Its format: its suffix without the dot.
        data: Its bytes.
    """

    path: Path
    kind: str
    data: bytes = dataclasses.field(repr=False)

    def digest(self) -> str:
        """Return a hash of format and bytes."""
        digest = hashlib.sha256(f'{self.kind} '.encode())
        digest.update(self.data)
        return digest.hexdigest()

    def vertices(self) -> np.ndarray:
        """Return the vertices, as :func:`read_vertices`."""
        vertices = self._parsed(_facet_vertices)
        if not len(vertices):
            raise ModelError(self.where, 'has no vertices')
        check_vertices(self.where, vertices)
        return unique_rows(vertices)

    def triangles(self) -> np.ndarray:
        """Return the corners of the triangles, as :func:`read_triangles`."""
        triangles = self._parsed(_facet_triangles)
        if not len(triangles):
            raise ModelError(self.where, 'has no triangles')
        check_vertices(self.where, triangles)
        return triangles

    def check(self) -> None:
        """Raise ModelError for COLLADA that is malformed, or has entities or a document type."""
        if self.kind == 'dae':
            try:
                parse_document(self.data.decode('utf-8', 'replace'), _COLLADA_ROOT)
            except ModelError as error:
                raise ModelError(self.where, str(error)) from error

    @property
    def where(self) -> str:
        """Name of the mesh in errors."""
        return f'mesh {str(self.path)!r}'

    def _parsed(self, parse: Callable[[str, bytes], np.ndarray]) -> np.ndarray:
        """Return an array of the content, or raise ModelError."""
        self.check()
        try:
            return parse(self.kind, self.data)
        except ImportError as error:
            raise ModelError(
                self.where, f'reading it needs {error.name}, which is not installed'
            ) from error
        # Readers raise arbitrary errors for broken files.
        except Exception as error:
            raise ModelError(self.where, f'cannot be read as {self.kind}: {error!r}') from error


@dataclasses.dataclass(frozen=True)
class MeshFile(MeshSource):
    """A mesh of a description, and its file; compared by both, not by the file's content."""

    def read(self) -> MeshContent | None:
        """Return the content of the file, which is not parsed yet.

        Returns:
            The content, or None if the file was not found inside the package paths.

        Raises:
            ModelError: As :func:`read_content`.
        """
        return None if self.path is None else read_content(self.path)

    def read_vertices(self) -> np.ndarray | None:
        """Return the vertices [m, before the scale of the shape], float64 [n, 3], unique.

        Returns:
            The vertices, or None if the file was not found inside the package paths.

        Raises:
            ModelError: A file that cannot be read, is too large or malformed, has no vertex, or
                has an unknown format; the error names the mesh.
        """
        return None if self.path is None else read_vertices(self.path)

    def read_triangles(self) -> np.ndarray | None:
        """Return the corners of the triangles [m, before the scale], float64 [n, 3, 3].

        Returns:
            The corners, or None if the file was not found inside the package paths.

        Raises:
            ModelError: As :meth:`read_vertices`, and for a mesh without triangles.
        """
        return None if self.path is None else read_triangles(self.path)


def read_vertices(path: Path) -> np.ndarray:
    """Return the vertices of a mesh file in the units and axes of its scene.

    COLLADA files are converted to metres; their up axis is ignored, as in RViz and MoveIt.

    Args:
        path: The file; its suffix .stl, .obj or .dae gives the format.

    Returns:
        The vertices of all facets, float64 [n, 3], sorted, each once.

    Raises:
        ModelError: As :meth:`MeshFile.read_vertices`; also if the library is not installed.
    """
    return read_content(path).vertices()


def read_triangles(path: Path) -> np.ndarray:
    """Return the corners of the triangles of a mesh file, float64 [n, 3, 3].

    Units and axes are those of :func:`read_vertices`. Polygons are cut into triangles.

    Raises:
        ModelError: As :meth:`MeshFile.read_triangles`.
    """
    return read_content(path).triangles()


def check_vertices(where: str, vertices: np.ndarray) -> None:
    """Raise ModelError for a vertex [n, 3] that is not finite or too far from the origin."""
    if not np.all(np.abs(vertices) <= MAX_MAGNITUDE):
        raise ModelError(where, f'has a vertex that is not finite or beyond {MAX_MAGNITUDE:g}')


def read_content(path: Path) -> MeshContent:
    """Return the content of a mesh file, which is not parsed yet.

    Raises:
        ModelError: A file that cannot be read, is too large, has an unknown format, or was not
            fetched from Git LFS.
    """
    where = f'mesh {str(path)!r}'
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ModelError(where, f'{path.suffix!r} is not one of {", ".join(SUFFIXES)}')
    try:
        with path.open('rb') as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ModelError(where, f'cannot be read: {error}') from error
    if len(data) > MAX_FILE_BYTES:
        raise ModelError(where, f'has more than the {MAX_FILE_BYTES} bytes accepted')
    if data.startswith(_LFS_POINTER):
        raise ModelError(where, 'is a pointer of Git LFS: fetch the file with `git lfs pull`')
    return MeshContent(path, suffix[1:], data)


def _facet_vertices(kind: str, content: bytes) -> np.ndarray:
    """Return the vertices of all facets, float64 [n, 3]."""
    if kind == 'stl' and (corners := _binary_stl_corners(content)) is not None:
        return corners.reshape(-1, 3)
    return _collada_vertices(content) if kind == 'dae' else _mesh_vertices(kind, content)


def _facet_triangles(kind: str, content: bytes) -> np.ndarray:
    """Return the corners of all triangles, float64 [n, 3, 3]."""
    if kind == 'stl' and (corners := _binary_stl_corners(content)) is not None:
        return corners
    return _collada_triangles(content) if kind == 'dae' else _mesh_triangles(kind, content)


def _binary_stl_corners(content: bytes) -> np.ndarray | None:
    """Return the facets of a binary STL file, [n, 3, 3], None if it has another length."""
    first = _STL_HEADER + 4
    if len(content) < first:
        return None
    count = int.from_bytes(content[_STL_HEADER:first], 'little')
    if len(content) != first + count * _STL_FACET.itemsize:
        return None
    facets = np.frombuffer(content, _STL_FACET, offset=first)
    return facets['corners'].astype(np.float64)


def _mesh_vertices(kind: str, content: bytes) -> np.ndarray:
    """Read the vertices of OBJ, or of STL in text; files may have points that no facet uses."""
    return _mesh_triangles(kind, content).reshape(-1, 3)


def _mesh_triangles(kind: str, content: bytes) -> np.ndarray:
    """Read the triangles of OBJ, or of STL in text."""
    import trimesh  # noqa: PLC0415  # large, and needed by few

    scene = trimesh.load_scene(
        io.BytesIO(content), file_type=kind, process=False, skip_materials=True
    )
    if not scene.geometry:
        return np.zeros((0, 3, 3))
    mesh = scene.to_mesh()
    return np.asarray(mesh.vertices, dtype=np.float64)[np.asarray(mesh.faces)]


def _collada_vertices(content: bytes) -> np.ndarray:
    """Read the vertices of COLLADA, with the nodes of its scene and its unit."""
    parts, unit = _collada_parts(content)
    found = [part.vertex[np.unique(part.vertex_index)] for part in parts]
    return np.concatenate([np.zeros((0, 3)), *found]).astype(np.float64) * unit


def _collada_triangles(content: bytes) -> np.ndarray:
    """Read the triangles of COLLADA, as :func:`_collada_vertices`."""
    parts, unit = _collada_parts(content)
    cut = [part.triangleset() if hasattr(part, 'triangleset') else part for part in parts]
    found = [
        part.vertex[part.vertex_index]
        for part in cut
        if np.ndim(part.vertex_index) == 2 and np.shape(part.vertex_index)[1] == 3
    ]
    return np.concatenate([np.zeros((0, 3, 3)), *found]).astype(np.float64) * unit


def _collada_parts(content: bytes) -> tuple[list[Any], float]:
    """Return the primitives of COLLADA that have vertices, placed in its scene, and its unit."""
    import collada  # noqa: PLC0415
    from collada.common import DaeBrokenRefError  # noqa: PLC0415
    from collada.common import DaeUnsupportedError  # noqa: PLC0415

    # Ignore broken or unknown materials and effects.
    passed_over = [DaeUnsupportedError, DaeBrokenRefError]
    document = collada.Collada(io.BytesIO(content), ignore=passed_over)
    found: list[Any] = []
    if document.scene is not None:
        placed = itertools.islice(document.scene.objects('geometry'), MAX_PLACED + 1)
        for count, geometry in enumerate(placed):
            if count == MAX_PLACED:
                raise ValueError(f'more than the {MAX_PLACED} placed geometries accepted')
            found += [part for part in geometry.primitives() if part.vertex_index is not None]
    return found, float(document.assetInfo.unitmeter or 1.0)
