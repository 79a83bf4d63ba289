# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Progress of building a model: its stage, and the kernels that Warp compiles or loads."""

from __future__ import annotations

import dataclasses
import re
import time
from typing import Any

import warp as wp

from ros_ik.node.transport.mailbox import Mailbox

# Warp composes the name of a module of the kernel's factory, the kernel, and a number.
_MODULE = re.compile(r'Module ((?:\S*__locals__)?(\S+?)(?:_[0-9a-f]{8})?) .*\((compiled|cached)\)')


@dataclasses.dataclass(frozen=True)
class Progress:
    """Progress of a build.

    Attributes:
        stage: Current stage, '' before the first build.
        compiled: Number of compiled kernels.
        cached: Number of kernels loaded from the cache.
        last: Last finished kernel, or ''.
    """

    stage: str = ''
    compiled: int = 0
    cached: int = 0
    last: str = ''

    def __str__(self) -> str:
        """Return the progress as text."""
        if not self.compiled:
            return self.stage
        return f'{self.stage}: {self.compiled} kernels compiled, the last one {self.last}'


class ProgressLog:
    """Progress of a build, as the logger of Warp, which reports each finished module.

    Attributes:
        latest: Current progress; any thread may read it.
    """

    def __init__(self) -> None:
        """Register as the logger of Warp."""
        self.latest = Mailbox(Progress())
        self._begin = time.monotonic()
        # Two threads may finish the same module.
        self._ready: set[str] = set()
        self._usual = wp.get_logger()
        wp.config.log_level = wp.LOG_INFO
        wp.set_logger(self)

    def begin(self, stage: str, *, goes_on: bool = False) -> None:
        """Start to record another build.

        Args:
            stage: Its first stage.
            goes_on: True if modules finished since the last call belong to this build too.
        """
        self._begin = time.monotonic()
        if goes_on:
            self.advance(stage)
        else:
            self._ready.clear()
            self.latest.put(Progress(stage))

    def advance(self, stage: str) -> None:
        """Record the next stage of the build."""
        self.latest.update(lambda now: dataclasses.replace(now, stage=stage))

    def summary(self) -> str:
        """Return the durations of the build, for the log."""
        progress, took = self.latest.get(), time.monotonic() - self._begin
        return (
            f'built in {took:.1f} s: {progress.compiled} kernels compiled, '
            f'{progress.cached} from the cache in {wp.config.kernel_cache_dir}'
        )

    def debug(self, message: str) -> None:
        """Ignore Warp's messages for developers."""

    def info(self, message: str) -> None:
        """Count a finished module."""
        found = _MODULE.search(message)
        if found is None:
            return
        module, name, how = found.groups()
        if module in self._ready:
            return
        self._ready.add(module)
        # Several threads load modules.
        if how == 'compiled':
            self.latest.update(
                lambda now: dataclasses.replace(now, compiled=now.compiled + 1, last=name)
            )
        else:
            self.latest.update(lambda now: dataclasses.replace(now, cached=now.cached + 1))

    def warning(self, message: str, category: Any = None, stacklevel: int = 1) -> None:
        """Forward a warning."""
        self._usual.warning(message, category, stacklevel + 1)

    def error(self, message: str) -> None:
        """Forward an error."""
        self._usual.error(message)
