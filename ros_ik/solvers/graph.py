# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel launches recorded once and replayed in each tick, on a CPU or a GPU."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
import contextlib
import functools
import threading
from typing import Any
import warnings

import warp as wp

from ros_ik.kinematics.runtime.host_buffer import wait_for
from ros_ik.launch_lock import LAUNCH_LOCK
from ros_ik.objectives.recording.host_code import find_host_code
from ros_ik.objectives.recording.host_code import users_parts

# How many graphs each thread has recorded.
_RECORDED = threading.local()


def recorded_graphs() -> int:
    """Return the number of graphs that the calling thread has recorded."""
    return getattr(_RECORDED, 'count', 0)


class Graph:
    """Graph of kernel launches captured from a function.

    The function must launch kernels and copies only: no allocation, no host work that should
    happen again at each replay. Methods of users' classes may do more, so the function runs again
    at each launch if it calls them, unless the class sets ``is_recordable``. If such a method is
    found to do more nevertheless, the function runs again at each launch, with a warning.

    The owner of the graph keeps the arrays alive that the function uses, also those in structs. A
    graph of a GPU has only their addresses.

    Attributes:
        is_replayed: True if launches are replayed; False if the function runs each time.
    """

    def __init__(
        self, record: Callable[[], None], device: wp.DeviceLike, parts: Iterable[Any] = ()
    ) -> None:
        """Run ``record`` once, so that its kernels are compiled and loaded, then capture it.

        Args:
            record: Function that launches the kernels.
            device: Device they run on.
            parts: Users' objects whose methods it calls: objectives, limits, barriers.
        """
        self._replay: Callable[[], Any]
        self._device = wp.get_device(device)
        self._is_cuda = self._device.is_cuda
        self._record(record, parts)

    def _record(self, record: Callable[[], None], parts: Iterable[Any]) -> None:
        """Capture the launches, or keep them one by one if they run host code."""
        # Compiling may take seconds, in which other threads launch.
        with LAUNCH_LOCK.shared():
            record()
            wait_for(self._device)
            own = users_parts(parts)
            is_recordable = all(getattr(part, 'is_recordable', False) for part in own)
            found = find_host_code(record, own) if is_recordable else None
        if found is not None:
            warnings.warn(
                f'launches are made one by one, not replayed as a graph: a method {found}',
                RuntimeWarning,
                stacklevel=3,
            )
        self.is_replayed = is_recordable and found is None
        if not self.is_replayed:
            self._replay = record
            return
        with LAUNCH_LOCK.alone():
            wait_for(self._device)
            try:
                with wp.ScopedCapture(device=self._device, force_module_load=False) as capture:
                    record()
            except Exception:
                raise
            except BaseException:
                # An interrupt (Ctrl-C) may leave it open, and no other could begin.
                with contextlib.suppress(RuntimeError):
                    wp.capture_end(self._device)
                raise
        self._replay = functools.partial(wp.capture_launch, capture.graph)
        _RECORDED.count = recorded_graphs() + 1

    def enqueue(self) -> None:
        """Replay the launches; on a GPU without waiting, on the current stream of the device."""
        if self._is_cuda:
            with LAUNCH_LOCK.shared():
                self._replay()
        else:  # on a CPU a replay has no part in what another thread records
            self._replay()

    def launch(self) -> None:
        """Replay the launches and wait for them."""
        if self._is_cuda:
            with LAUNCH_LOCK.shared():
                self._replay()
                wait_for(self._device)
        else:
            self._replay()
