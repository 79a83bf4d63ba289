# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The text of a robot description from a URDF or xacro file."""

from __future__ import annotations

from pathlib import Path

from ros_ik.errors import ArgumentError
from ros_ik.model.readers.text_files import read_text


def read_description(path: str | Path) -> str:
    """Return the URDF in ``path``; a file that ends with .xacro is expanded.

    Raises:
        ArgumentError: The file cannot be read, or is a xacro that cannot be expanded.
    """
    path = Path(path)
    if path.suffix != '.xacro':
        return read_text(path, 'robot description')
    try:
        return _expand(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(f"robot description '{path}' cannot be read: {error}") from error


def _expand(path: Path) -> str:
    try:
        import xacro
    except ImportError as error:
        raise ArgumentError(f"'{path}' needs the package xacro: pip install xacro") from error
    try:
        return xacro.process_file(str(path)).toxml()
    except (xacro.XacroException, xacro.xml.parsers.expat.ExpatError, RuntimeError) as error:
        # xacro raises a RuntimeError for a missing attribute; a macro may contain itself.
        raise ArgumentError(f"xacro cannot expand '{path}': {error}") from error
