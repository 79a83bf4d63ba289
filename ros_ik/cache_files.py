# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Files of caches that several processes share, each written as a whole."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import os
from pathlib import Path
import tempfile
import time
from typing import IO

_SUFFIX = '.part'
# Age from which an unfinished file was left by a process that was killed [s].
_ABANDONED = 3600.0


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to write, which takes its place at the end, and not at all after an error.

    Creates the folder. Deletes unfinished files in it that killed processes left.

    Raises:
        OSError: The disk is full, or the folder cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _delete_abandoned(path.parent)
    part = tempfile.NamedTemporaryFile(dir=path.parent, suffix=_SUFFIX, delete=False)
    try:
        with part:
            yield part
        os.replace(part.name, path)
    except BaseException:
        Path(part.name).unlink(missing_ok=True)
        raise


def _delete_abandoned(folder: Path) -> None:
    """Delete the unfinished files of processes that were killed."""
    for part in folder.glob(f'*{_SUFFIX}'):
        with contextlib.suppress(FileNotFoundError):  # another process finished or deleted it
            # The time of the last change of the entry; a copy may have an older content.
            if time.time() - part.stat().st_ctime > _ABANDONED:
                part.unlink()
