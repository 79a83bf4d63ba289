# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Disk cache of fits, hulls and pair masks, keyed by their inputs and bounded in size."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp

from ros_ik.cache_files import written_whole
from ros_ik.model.hulls.bounding_volumes import Capsule

# Maximum number of files, of 1 to 12 kB each; the least recently used are deleted. Largest size of
# a valid file.
_MAX_FILES, _MAX_BYTES = 1000, 1_000_000
# Increase when fits change.
_VERSION = 2


class FitCache:
    """Cache of fits and hulls of shapes, and of masks over pairs of shapes, one file each.

    A damaged or inaccessible file counts as missing.
    """

    def __init__(self, folder: str | Path | None) -> None:
        """Store the folder, which is created on demand; None disables the cache."""
        self._folder = None if folder is None else Path(folder)

    @classmethod
    def beside_kernels(cls) -> FitCache:
        """Return the cache beside that of the compiled kernels."""
        folder = wp.config.kernel_cache_dir
        return cls(Path(folder) / 'ros_ik_fits' if folder else None)

    def load(self, key: str) -> tuple[list[Capsule], np.ndarray] | None:
        """Return the primitives and their errors [m], or None."""
        found = self._read(self._path('fit', key), ('ends', 'radius', 'error'))
        if found is None:
            return None
        ends, radius, error = found
        try:
            count = len(radius)
            shapes = ends.shape, radius.shape, error.shape
            if not count or shapes != ((count, 2, 3), (count,), (count,)):
                return None
            values = np.concatenate([ends.ravel(), radius, error]).astype(np.float64)
            if not np.all(np.isfinite(values)) or np.any(radius < 0.0):
                return None
        except (ValueError, TypeError):
            return None
        return [Capsule(*pair) for pair in zip(ends, radius.tolist(), strict=True)], error

    def store(self, key: str, fit: list[Capsule], error: np.ndarray) -> None:
        """Store a fit; writing is atomic."""
        ends = np.array([one.ends for one in fit])
        radius = np.array([one.radius for one in fit])
        self._write(self._path('fit', key), {'ends': ends, 'radius': radius, 'error': error})

    def load_hull(self, key: str) -> tuple[np.ndarray, float] | None:
        """Return the points of a hull [n, 3] and the thickness about it [m], or None."""
        found = self._read(self._path('hull', key), ('points', 'radius'))
        if found is None:
            return None
        points, radius = found
        if points.ndim != 2 or points.shape[1] != 3 or not len(points) or radius.shape != ():
            return None
        if points.dtype != np.float64 or radius.dtype != np.float64:
            return None
        if not np.all(np.isfinite(points)) or not 0.0 <= radius < np.inf:
            return None
        return points, float(radius)

    def store_hull(self, key: str, points: np.ndarray, radius: float) -> None:
        """Store a hull; writing is atomic."""
        self._write(self._path('hull', key), {'points': points, 'radius': np.float64(radius)})

    def load_masks(
        self, key: str, names: Sequence[str], count: int
    ) -> dict[str, np.ndarray] | None:
        """Return masks by name, bool [count] each, or None."""
        found = self._read(self._path('pairs', key), names)
        if found is None or any(a.shape != (count,) or a.dtype != np.bool_ for a in found):
            return None
        return dict(zip(names, found, strict=True))

    def store_masks(self, key: str, masks: Mapping[str, np.ndarray]) -> None:
        """Store masks; writing is atomic."""
        self._write(self._path('pairs', key), masks)

    def _read(self, path: Path | None, names: Sequence[str]) -> list[np.ndarray] | None:
        """Return the arrays of a file by name, or None if it is missing, damaged or too large."""
        if path is None:
            return None
        try:
            if path.stat().st_size > _MAX_BYTES:
                return None
            with np.load(path, allow_pickle=False) as file:
                found = [file[name] for name in names]
            os.utime(path)
        except Exception:  # a damaged file may raise any
            return None
        return found

    def _write(self, path: Path | None, arrays: Mapping[str, np.ndarray]) -> None:
        if path is None:
            return
        content: dict[str, Any] = dict(arrays)
        try:
            with written_whole(path) as file:
                np.savez(file, **content)
            self._prune(path.parent)
        except OSError:
            return  # without a writable disk, only the speed-up is lost

    def _path(self, kind: str, key: str) -> Path | None:
        return None if self._folder is None else self._folder / f'{kind}-{key}.npz'

    def _prune(self, folder: Path) -> None:
        """Remove the least recently used files beyond the bound."""
        files = sorted(folder.glob('*-*.npz'), key=lambda path: path.stat().st_mtime)
        for path in files[: max(0, len(files) - _MAX_FILES)]:
            path.unlink(missing_ok=True)


def fit_key(kind: str, most: int, tolerance: float, points: np.ndarray) -> str:
    """Return the file name of a fit: a hash of its inputs."""
    digest = hashlib.sha256(f'{_VERSION} {kind} {most} {tolerance!r} {points.shape}'.encode())
    digest.update(np.ascontiguousarray(points, dtype=np.float64).tobytes())
    return digest.hexdigest()
