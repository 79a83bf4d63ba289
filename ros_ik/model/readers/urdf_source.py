# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Source of a robot description: text, or a file and the folders of its meshes."""

from __future__ import annotations

from collections.abc import Sequence
import os
from pathlib import Path

from ros_ik.errors import ModelError
from ros_ik.model.readers.mesh_lookup import mesh_folders
from ros_ik.model.readers.mesh_lookup import path_of_file_uri
from ros_ik.model.readers.mesh_lookup import resolve_mesh
from ros_ik.model.readers.text_files import decoded
from ros_ik.model.readers.xml import MAX_DOCUMENT_BYTES


def read_source(
    source: str | os.PathLike[str], package_paths: Sequence[str | Path]
) -> tuple[str, tuple[str | Path, ...]]:
    """Return the text of a description and the folders in which its meshes are looked up.

    Args:
        source: The document; or the path of a file, its ``file://`` or ``package://`` URI.
        package_paths: Folders in which packages are looked up.

    Returns:
        The text and the folders: ``package_paths``, then those of :func:`mesh_folders` for a file.

    Raises:
        ModelError: A file that does not exist, cannot be read or is too large.
    """
    paths = tuple(package_paths)
    if isinstance(source, str) and ('<' in source or not source.strip()):
        return source, paths
    if not isinstance(source, str | os.PathLike):
        raise ModelError(
            'document', f'expected XML or the path of a file, got {type(source).__name__}'
        )
    name = os.fspath(source)
    try:
        found = resolve_mesh(name, paths).path if name.startswith('package://') else None
        path = found or path_of_file_uri(name) or Path(name)
        if not path.is_file():
            raise ModelError('document', f'neither XML nor the path of a file: {name[:200]!r}')
        path = path.resolve()
        if path.stat().st_size > MAX_DOCUMENT_BYTES:
            raise ModelError('document', f'larger than the {MAX_DOCUMENT_BYTES} bytes accepted')
        text = decoded(path.read_bytes())
    except (OSError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError('document', f'file {name[:200]!r} cannot be read: {error}') from error
    return text, (*paths, *mesh_folders(path))
