# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Finds mesh files named in a robot description, inside given folders and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from pathlib import Path
from urllib.parse import unquote
from urllib.parse import urlsplit


@dataclasses.dataclass(frozen=True)
class MeshSource:
    """A mesh that a description names.

    Attributes:
        uri: What the description says.
        path: The file, None where it was not found inside the package paths.
    """

    uri: str
    path: Path | None


def resolve_mesh(uri: str, package_paths: Sequence[str | Path]) -> MeshSource:
    """Find the file of a mesh.

    ``package://name/rest`` is ``<package path>/name/rest``, or ``<package path>/rest`` where the
    package path itself is called ``name``. ``file://`` and plain paths must lie inside a package
    path. Links are followed before that is judged, and nothing is fetched from a network.

    Args:
        uri: What the description says.
        package_paths: Folders that hold packages.

    Returns:
        The source; its path is None where no file inside the package paths matches.
    """
    roots = [Path(path).resolve() for path in package_paths]
    try:
        return MeshSource(uri, _find(uri, roots))
    except (OSError, RuntimeError, ValueError):
        # No name of a file: a null byte, too long, a loop of links, half an address.
        return MeshSource(uri, None)


def _find(uri: str, roots: list[Path]) -> Path | None:
    """Return the file of a mesh inside the roots, None where there is none."""
    parts = urlsplit(uri)
    if parts.scheme == 'package':
        inside = unquote(parts.path).lstrip('/')
        candidates = [root / parts.netloc / inside for root in roots]
        candidates += [root / inside for root in roots if root.name == parts.netloc]
    elif parts.scheme in ('', 'file') and parts.netloc in ('', 'localhost'):
        plain = Path(unquote(parts.path))
        candidates = [plain] if plain.is_absolute() else [root / plain for root in roots]
    else:
        candidates = []
    for candidate in candidates:
        path = candidate.resolve()
        if path.is_file() and any(path.is_relative_to(root) for root in roots):
            return path
    return None
