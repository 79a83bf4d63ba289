# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Device array with a NumPy view, in the same memory on a CPU, in pinned memory for a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from ros_ik.launch_lock import LAUNCH_LOCK
from ros_ik.launch_lock import shares_launch_lock


def wait_for(device: wp.Device) -> None:
    """Wait for the current stream of a device, but not for its other streams."""
    if device.is_cuda:
        with LAUNCH_LOCK.shared():
            wp.synchronize_stream(device)


class HostBuffer:
    """Array that the host writes or reads in every tick without allocating.

    On a CPU device ``host`` is a view of ``array`` and the copies do nothing. On CUDA ``host`` is
    page-locked memory, and :meth:`upload` and :meth:`download` enqueue a copy, which a graph
    capture records.

    Attributes:
        array: The Warp array on the device.
        host: NumPy array of the same shape.
        needs_copies: True if the two are in separate memories, so changes of one must be copied.
    """

    @shares_launch_lock
    def __init__(self, shape: tuple[int, ...], dtype: type, device: wp.DeviceLike) -> None:
        """Allocate zeros.

        Args:
            shape: Shape of the Warp array.
            dtype: Warp scalar, vector or transform type.
            device: Warp device.
        """
        device = wp.get_device(device)
        self.array = wp.zeros(shape, dtype=dtype, device=device)
        self.needs_copies = device.is_cuda
        self._pinned = (
            wp.zeros(shape, dtype=dtype, device='cpu', pinned=True) if device.is_cuda else None
        )
        self.host: np.ndarray = (self.array if self._pinned is None else self._pinned).numpy()

    def wait_for_uploads(self) -> None:
        """Wait until the uploads are complete, before the host writes new data."""
        if self.needs_copies:
            wait_for(wp.get_device(self.array.device))

    def write(self, values: Any) -> None:
        """Replace the host's data, once earlier uploads are complete, and upload them."""
        self.wait_for_uploads()
        self.host[...] = values
        self.upload()

    def upload(self, rows: int | None = None, first: int = 0) -> None:
        """Copy the host's data to the device; does nothing on a CPU.

        Args:
            rows: Number of rows; None for all rows from ``first`` on.
            first: First row to copy.
        """
        if self._pinned is not None and self.array.size:
            with LAUNCH_LOCK.shared():
                some = slice(first, None if rows is None else first + rows)
                wp.copy(self.array[some], self._pinned[some])

    def download(self, rows: int | None = None) -> None:
        """Copy the device's data to the host, to be read after a synchronisation.

        Args:
            rows: Number of rows from the start; None for all.
        """
        if self._pinned is not None and self.array.size:
            with LAUNCH_LOCK.shared():
                wp.copy(self._pinned[:rows], self.array[:rows])
