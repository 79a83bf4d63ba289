# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel launches recorded once and replayed each tick, on CPU and CUDA alike."""

from __future__ import annotations

from collections.abc import Callable
import threading

import warp as wp

# How many graphs each thread has recorded.
_RECORDED = threading.local()


def recorded_graphs() -> int:
    """Return the number of graphs that the calling thread has recorded: in a tick, none."""
    return getattr(_RECORDED, 'count', 0)


class Graph:
    """Kernel launches captured from a function.

    The function must launch kernels and copies only: no allocation, no host work that should
    happen again at each replay.
    """

    def __init__(self, record: Callable[[], None], device: wp.DeviceLike) -> None:
        """Run ``record`` once, so that its kernels are compiled and loaded, then capture it.

        Args:
            record: Function that launches the kernels.
            device: Device they run on.
        """
        self._device = wp.get_device(device)
        self._must_wait = self._device.is_cuda
        record()
        wp.synchronize_device(self._device)
        with wp.ScopedCapture(device=self._device, force_module_load=False) as capture:
            record()
        self._graph = capture.graph
        _RECORDED.count = recorded_graphs() + 1

    def launch(self) -> None:
        """Replay the launches and wait for them."""
        wp.capture_launch(self._graph)
        if self._must_wait:
            wp.synchronize_device(self._device)
