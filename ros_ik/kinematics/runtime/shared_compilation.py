# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Precompiled headers and compilations of Warp that processes share.

Warp compiles its headers once in each thread that compiles, which takes 1.6 s, and forgets them at
the end of the process. Here they are kept beside the compiled kernels. Clang checks them against
the headers, and Warp does without those that are out of date or damaged and replaces them.

Processes that need the same module at the same time, like a node and its planners at their first
start, would each compile it. Here the others wait for the first and load its result.

The programs of this package replace two functions of Warp for that, which are not public. If a
version of Warp lacks them, modules are compiled as usual. An import of the library replaces
nothing, as Warp may have other users in the same process.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import functools
import hashlib
import os
from pathlib import Path
import shutil
import time
from typing import Any
import zlib

import warp as wp

from ros_ik.cache_files import written_whole

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_HEADERS, _LOCKS = 'ros_ik_headers', 'ros_ik_locks'
# Number of lock files, of which each serves some modules.
_LOCK_COUNT = 256
# Longest wait for another process, which may be stopped, and time between two attempts [s].
_PATIENCE, _POLL = 120.0, 0.02


def share_compilations() -> None:
    """Share precompiled headers and compilations among processes from now on."""
    internals = getattr(wp, '_src', None)
    build = getattr(internals, 'build', None)
    module = getattr(getattr(internals, 'context', None), 'Module', None)
    for owner, name, sharing in (
        (build, 'build_cpu', _with_shared_headers),
        (module, '_compile', _one_at_a_time),
    ):
        function = getattr(owner, name, None)
        if function is not None and not hasattr(function, '__wrapped__'):
            setattr(owner, name, sharing(function))


def _with_shared_headers(build_cpu: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``build_cpu`` of Warp with precompiled headers from the cache."""
    # A file that turned out to be damaged must not be copied again.
    supplied: set[str] = set()

    @functools.wraps(build_cpu)
    def build_with_shared_headers(*args: Any, **options: Any) -> Any:
        folder, cache = options.get('pch_dir'), _cached_headers()
        if folder is None or cache is None:
            return build_cpu(*args, **options)
        if folder not in supplied:
            supplied.add(folder)
            _copy_newer(cache, Path(folder), since=_time_of_headers())
        built = build_cpu(*args, **options)
        _copy_newer(Path(folder), cache)
        return built

    return build_with_shared_headers


def _cached_headers() -> Path | None:
    """Return the folder of the precompiled headers of this installation of Warp."""
    cache = wp.config.kernel_cache_dir
    if not cache:
        return None
    # Precompiled headers contain the paths of the headers.
    name = hashlib.sha256(str(_header_folder()).encode()).hexdigest()[:16]
    return Path(cache) / _HEADERS / name


def _header_folder() -> Path:
    return Path(wp.__file__).resolve().parent / 'native'


@functools.cache
def _time_of_headers() -> int:
    """Return the time of the last change of a header of Warp [ns]."""
    return max((path.stat().st_mtime_ns for path in _header_folder().rglob('*.h')), default=0)


def _copy_newer(source: Path, target: Path, since: int = 0) -> None:
    """Copy precompiled headers that are missing or older in the target.

    Each file appears as a whole. Without a writable disk, only the speed-up is lost.

    Args:
        source: Folder to copy from.
        target: Folder to copy to.
        since: Time before which files are out of date [ns].
    """
    try:
        for path in source.glob('*.pch'):
            made = path.stat().st_mtime_ns
            copy = target / path.name
            if made < since or copy.exists() and copy.stat().st_mtime_ns >= made:
                continue
            with written_whole(copy) as part:
                shutil.copy2(path, part.name)
    except OSError:
        return


def _one_at_a_time(compile_module: Callable[..., bool]) -> Callable[..., bool]:
    """Return ``Module._compile`` of Warp, which does nothing if the result is in the cache."""

    @functools.wraps(compile_module)
    def compile_one_at_a_time(
        module: wp.Module, device: Any = None, folder: Any = None, *args: Any, **options: Any
    ) -> bool:
        if folder is None or os.path.exists(folder):
            return compile_module(module, device, folder, *args, **options)
        with _locked(str(folder)):
            return compile_module(module, device, folder, *args, **options)

    return compile_one_at_a_time


@contextlib.contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Keep other processes and threads from compiling into this folder meanwhile."""
    lock = _open_lock(folder)
    if lock is None:
        yield
        return
    try:
        give_up = time.monotonic() + _PATIENCE
        while not _acquire(lock) and time.monotonic() < give_up:
            time.sleep(_POLL)
        yield
    finally:
        os.close(lock)


def _open_lock(folder: str) -> int | None:
    """Return the descriptor of the lock of a folder; None without a writable cache."""
    cache = wp.config.kernel_cache_dir
    if not cache or fcntl is None:
        return None
    path = Path(cache) / _LOCKS / str(zlib.crc32(folder.encode()) % _LOCK_COUNT)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return None


def _acquire(lock: int) -> bool:
    """Return False while another process or thread holds the lock."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True
