# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""List of the rows of a batch that a later launch works on, made on the device.

Threads of a GPU run in warps of 32, and a warp runs until its slowest thread ends. If a few rows
of a batch need much more work than the others, most threads of each warp are idle. A first launch
therefore marks these rows, and the next one has a thread for each entry of their list, so that its
warps are full.

The list has the order of the rows, by a prefix sum of the marks. It is the same each time, which
an atomic counter would not achieve. The number of entries stays on the device. The next launch has
a thread for each row of the batch, and those past the end of the list return at once.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.runtime.kernel_launch import WARP_SIZE
from ros_ik.launch_lock import LAUNCH_LOCK


@no_type_check
@functools.cache
def row_list_functions() -> SimpleNamespace:
    """Build the struct ``Rows`` and the function ``listed_row(rows, thread) -> row``.

    The row of a thread is -1 past the end of the list. Without a list, thread k works on row k.
    """

    @wp.struct
    class Rows:
        row: wp.array(dtype=wp.int32)  # [n], ascending up to the end of the list; empty for none
        ends: wp.array(dtype=wp.int32)  # [n], number of marked rows up to each one

    @wp.func
    def listed_row(rows: Rows, thread: int) -> int:
        size = rows.row.shape[0]
        if size == 0:
            return thread
        if thread >= rows.ends[size - 1]:
            return -1
        return rows.row[thread]

    return SimpleNamespace(Rows=Rows, listed_row=listed_row)


@no_type_check
@functools.cache
def spacing_function() -> wp.Function:
    """Build ``spacing(n, resident) -> threads``, of which one works, for each of n rows.

    If rows take different branches, a warp of 32 threads takes all of them one after the other. A
    small batch therefore has a warp for each row or for a few, as long as all are among the
    threads that are resident at a time; 0 of them for a CPU.
    """

    @wp.func
    def spacing(n: int, resident: int) -> int:
        spaced = int(1)
        while spaced < wp.static(WARP_SIZE) and 2 * spaced * n <= resident:
            spaced *= 2
        return spaced

    return spacing


@no_type_check
@functools.cache
def list_rows_kernel() -> wp.Kernel:
    """Build the kernel that writes the marked rows to their places in the list."""

    @compiled_kernel()
    def list_rows(
        marked: wp.array(dtype=wp.int32),  # [n], 0 or 1
        ends: wp.array(dtype=wp.int32),  # [n]
        row: wp.array(dtype=wp.int32),  # [n]
    ):
        thread = wp.tid()
        if marked[thread] != 0:
            row[ends[thread] - 1] = thread

    return list_rows


# Memory of a row of a list [bytes]: its mark, its entry and the number of marks up to it.
BYTES_PER_ROW = 12


class RowList:
    """List of rows of a batch, allocated once.

    Attributes:
        marked: 1 for the rows to be listed, else 0, written by kernels, int32 [n].
        rows: The list, as the struct ``Rows`` for kernels.
    """

    def __init__(self, n: int, device: wp.DeviceLike) -> None:
        """Allocate an empty list.

        Args:
            n: Number of rows of the batch.
            device: Device of the arrays.
        """
        self._device = wp.get_device(device)
        self.marked = wp.zeros(n, dtype=wp.int32, device=device)
        self.rows = row_list_functions().Rows()
        self.rows.row = wp.zeros(n, dtype=wp.int32, device=device)
        self.rows.ends = wp.zeros(n, dtype=wp.int32, device=device)

    def size_on_host(self) -> np.ndarray:
        """Return a view of the number of listed rows, shape [1], of a list on a CPU."""
        return self.rows.ends.numpy()[-1:]  # type: ignore[no-any-return]

    def gather(self) -> None:
        """List the marked rows; a graph capture records the launches."""
        # The sum runs on the current device.
        with LAUNCH_LOCK.shared(), wp.ScopedDevice(self._device):
            wp.utils.array_scan(self.marked, self.rows.ends, inclusive=True)
        launch(
            list_rows_kernel(),
            dim=self.marked.shape[0],
            inputs=[self.marked, self.rows.ends],
            outputs=[self.rows.row],
            device=self._device,
        )
