# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Fits kept on disk by what was fitted, in a folder of bounded size."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
import tempfile
import zipfile

import numpy as np

from ros_ik.model.enclosing import Round

# Files kept, about 1 kB each; the least recently used go. Larger ones are none of ours.
_MOST_FILES, _MOST_BYTES = 1000, 1_000_000
# To be raised when fits change.
_VERSION = 1


class FitCache:
    """Fits of single shapes, one file each.

    A file that is damaged, or that cannot be written or read, counts as missing.
    """

    def __init__(self, folder: str | Path | None) -> None:
        """Remember the folder; made when the first fit is stored, none is used where None."""
        self._folder = None if folder is None else Path(folder)

    def load(self, key: str) -> tuple[list[Round], np.ndarray] | None:
        """Return the primitives and their errors [m], or None."""
        path = self._path(key)
        if path is None:
            return None
        try:
            if path.stat().st_size > _MOST_BYTES:
                return None
            with np.load(path, allow_pickle=False) as file:
                ends, radius, error = (file[name] for name in ('ends', 'radius', 'error'))
            count = len(radius)
            shapes = ends.shape, radius.shape, error.shape
            if not count or shapes != ((count, 2, 3), (count,), (count,)):
                return None
            values = np.concatenate([ends.ravel(), radius, error]).astype(np.float64)
            if not np.all(np.isfinite(values)) or np.any(radius < 0.0):
                return None
            os.utime(path)
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
            return None
        return [Round(*pair) for pair in zip(ends, radius.tolist(), strict=True)], error

    def store(self, key: str, fit: list[Round], error: np.ndarray) -> None:
        """Keep a fit; the file appears as a whole or not at all."""
        path = self._path(key)
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                dir=path.parent, suffix='.part', delete=False
            ) as file:
                np.savez(
                    file,
                    ends=np.array([one.ends for one in fit]),
                    radius=np.array([one.radius for one in fit]),
                    error=error,
                )
            os.replace(file.name, path)
            self._prune(path.parent)
        except OSError:
            return  # a full or read-only disk costs time, nothing else

    def _path(self, key: str) -> Path | None:
        return None if self._folder is None else self._folder / f'fit-{key}.npz'

    def _prune(self, folder: Path) -> None:
        """Remove the least recently used files beyond the bound."""
        files = sorted(folder.glob('fit-*.npz'), key=lambda path: path.stat().st_mtime)
        for path in files[: max(0, len(files) - _MOST_FILES)]:
            path.unlink(missing_ok=True)


def fit_key(kind: str, most: int, tolerance: float, points: np.ndarray) -> str:
    """Return the name of a fit: a hash of what it depends on."""
    digest = hashlib.sha256(f'{_VERSION} {kind} {most} {tolerance!r} {points.shape}'.encode())
    digest.update(np.ascontiguousarray(points, dtype=np.float64).tobytes())
    return digest.hexdigest()
