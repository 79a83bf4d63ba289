# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Lookup of mesh files named in a robot description, inside given folders only."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from urllib.parse import urlsplit

from ros_ik.errors import ArgumentError
from ros_ik.model.conventions.checks import checked_items

# Marker file of colcon in an install space, and default names of the source and build space.
_INSTALL_MARK = '.colcon_install_layout'
_WORKSPACE_FOLDERS = ('src', 'build')
# Hosts of file URIs that name this machine.
_HERE = ('', 'localhost')


@dataclasses.dataclass(frozen=True)
class MeshSource:
    """A mesh of a description.

    Attributes:
        uri: URI in the description.
        path: The file, or None if it was not found inside the package paths.
    """

    uri: str
    path: Path | None


@dataclasses.dataclass(frozen=True)
class _Root:
    """A package path.

    Attributes:
        given: Absolute path without dots; links in it are not followed.
        real: The folder after following links.
        linked: Folders outside of it to which links inside it may lead.
    """

    given: Path
    real: Path
    linked: tuple[Path, ...]

    def holds(self, name: Path, file: Path) -> bool:
        """Return True if a file may be read under a name without dots."""
        if file.is_relative_to(self.real):
            return True
        is_inside = any(name.is_relative_to(folder) for folder in (self.given, self.real))
        return is_inside and any(file.is_relative_to(folder) for folder in self.linked)


def mesh_folders(urdf_path: Path) -> list[str]:
    """Return the folders that may contain the meshes of a description.

    A description lies in ``<folder>/<package>/urdf`` or in ``<folder>/<package>``; one that is
    installed, anywhere below ``share``.
    """
    folders = urdf_path.resolve().parents
    near = [folder for folder in folders[:3] if folder != folder.parent]
    return [str(folder) for folder in folders if folder in near or folder.name == 'share']


def checked_folders(name: str, folders: Any) -> tuple[str | Path, ...]:
    """Return the folders of an argument.

    Raises:
        ArgumentError: One path instead of a list of them, of whose letters '/' would permit every
            file, or an entry that is not a path.
    """
    given = checked_items(name, folders, 'folders')
    if not all(isinstance(folder, str | os.PathLike) for folder in given):
        raise ArgumentError(f'{name} must be a list of folders, got {folders!r}')
    return given


def resolve_mesh(uri: str, package_paths: Sequence[str | Path]) -> MeshSource:
    """Find the file of a mesh.

    ``package://name/rest`` is ``<package path>/name/rest``, or ``<package path>/rest`` where the
    package path itself is called ``name``. ``file://`` and plain paths must lie inside a package
    path. This is checked after following links. Nothing is fetched from a network.

    A package path in the install space of a colcon workspace may hold links to files of that
    workspace: ``colcon build --symlink-install`` installs links into its source and build space.
    Such a file is found by the name of the link only, and no other link out of a package path is
    followed.

    Args:
        uri: URI in the description.
        package_paths: Folders that hold packages.

    Returns:
        The source; its path is None if no file inside the package paths matches.
    """
    roots = [_root(path) for path in package_paths]
    try:
        return MeshSource(uri, _find(uri, roots))
    except (OSError, RuntimeError, ValueError):
        # Not a file name: a null byte, too long, a loop of links, an incomplete URI.
        return MeshSource(uri, None)


def path_of_file_uri(uri: str) -> Path | None:
    """Return the path of a ``file:`` URI on this machine, or None for anything else.

    Raises:
        ValueError: An incomplete URI.
    """
    parts = urlsplit(uri)
    is_here = parts.scheme == 'file' and parts.netloc in _HERE
    return Path(unquote(parts.path)) if is_here else None


def _root(path: str | Path) -> _Root:
    given = Path(os.path.abspath(path))
    real = given.resolve()
    return _Root(given, real, _workspace_folders(real))


def _workspace_folders(root: Path) -> tuple[Path, ...]:
    """Return source and build space of the colcon workspace of a package path.

    The path is ``install/share`` or ``install/<package>/share``, by the layout of the workspace.
    """
    for install in root.parents[:2]:
        if (install / _INSTALL_MARK).is_file():
            folders = (install.parent / name for name in _WORKSPACE_FOLDERS)
            return tuple(folder.resolve() for folder in folders if folder.is_dir())
    return ()


def _find(uri: str, roots: list[_Root]) -> Path | None:
    """Return the file of a mesh inside the roots, or None."""
    parts = urlsplit(uri)
    if parts.scheme == 'package':
        inside = unquote(parts.path).lstrip('/')
        candidates = [root.real / parts.netloc / inside for root in roots]
        candidates += [root.real / inside for root in roots if root.real.name == parts.netloc]
    elif parts.scheme in ('', 'file') and parts.netloc in _HERE:
        plain = Path(unquote(parts.path))
        candidates = [plain] if plain.is_absolute() else [root.real / plain for root in roots]
    else:
        candidates = []
    for candidate in candidates:
        file, name = candidate.resolve(), Path(os.path.normpath(candidate))
        if file.is_file() and any(root.holds(name, file) for root in roots):
            return file
    return None
