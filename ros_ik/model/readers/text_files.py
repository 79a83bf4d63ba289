# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Text files that users name."""

from __future__ import annotations

from pathlib import Path
import re

from ros_ik.errors import ArgumentError

# The encoding that an XML declaration names.
_DECLARED = re.compile(rb'\s*<\?xml\s[^<>]*?\sencoding=["\']([A-Za-z0-9._-]+)')


def decoded(data: bytes) -> str:
    """Return the text of a file in UTF-8, or in the encoding that its XML declaration names.

    Raises:
        UnicodeDecodeError: It is in neither.
    """
    try:
        return data.decode('utf-8')
    except UnicodeDecodeError:
        declared = _DECLARED.match(data)
        if declared is None:
            raise
        try:
            return data.decode(declared[1].decode('ascii'))
        except LookupError:
            pass
        raise


def read_text(path: str | Path, what: str) -> str:
    """Return the text of a file.

    Args:
        path: The file.
        what: Its content, for the error.

    Raises:
        ArgumentError: It cannot be read; the message names it.
    """
    try:
        return decoded(Path(path).read_bytes())
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(f"{what} '{path}' cannot be read: {error}") from error


def error_in_file(path: str | Path, error: Exception) -> ArgumentError:
    """Return the error of a file's content, as one sentence that names the file.

    Args:
        path: The file.
        error: What is wrong with its content.
    """
    return ArgumentError(f"'{path}': {' '.join(str(error).split())}")
