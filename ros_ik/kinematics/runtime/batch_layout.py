# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Memory layout of work arrays with a row for each robot or problem.

Kernels have a thread per row. On a GPU, 32 threads access the same element of 32 rows at a time,
and each cache line that they touch costs time. There the arrays are interleaved: the row has the
smallest stride, so that these elements are adjacent. On a CPU, a thread processes one row after
the other, and each row is contiguous.

Interleaved arrays have the same shape and indices as others, but they are not contiguous. Arrays
that users or other libraries read are therefore never interleaved.
"""

from __future__ import annotations

import math
from typing import Any

import warp as wp

from ros_ik.launch_lock import shares_launch_lock


def is_interleaved(n: int, device: wp.DeviceLike) -> bool:
    """Return True if work arrays of n rows are interleaved on a device."""
    return n > 1 and wp.get_device(device).is_cuda


@shares_launch_lock
def batch_zeros(shape: tuple[int, ...], dtype: Any, device: wp.DeviceLike) -> wp.array:
    """Allocate a work array of zeros.

    Args:
        shape: Shape, rows first.
        dtype: Warp type of its elements.
        device: Device of the array.
    """
    return batch_view(wp.zeros(math.prod(shape), dtype=dtype, device=device), shape)


def batch_view(memory: wp.array, shape: tuple[int, ...]) -> wp.array:
    """Return a work array in given memory.

    Args:
        memory: Array of one dimension, with as many elements as the result.
        shape: Shape of the result, rows first.
    """
    n, *columns = shape
    if not memory.size or not is_interleaved(n, memory.device):
        return memory.reshape(shape)
    return memory.reshape((*columns, n)).transpose((len(columns), *range(len(columns))))
