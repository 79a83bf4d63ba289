# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Text files that users name."""

from __future__ import annotations

from pathlib import Path

from ros_ik.errors import ArgumentError


def read_text(path: str | Path, what: str) -> str:
    """Return the text of a file.

    Args:
        path: The file, in UTF-8.
        what: Its content, for the error.

    Raises:
        ArgumentError: It cannot be read; the message names it.
    """
    try:
        return Path(path).read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(f"{what} '{path}' cannot be read: {error}") from error


def error_in_file(path: str | Path, error: Exception) -> ArgumentError:
    """Return the error of a file's content, as one sentence that names the file.

    Args:
        path: The file.
        error: What is wrong with its content.
    """
    return ArgumentError(f"'{path}': {' '.join(str(error).split())}")
