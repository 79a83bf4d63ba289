# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Launches of kernels with a number of threads per block that depends on their registers.

A block keeps its registers until its slowest thread ends. Threads of kernels that search or
iterate take different times, and each uses up to 255 of the 65,536 registers of a multiprocessor
(SM). With Warp's default of 256 threads per block, an SM has room for a single block, and waits
for its slowest thread. Kernels with many registers therefore have smaller blocks, of which several
share an SM. Smaller blocks also distribute a small batch better over the SMs.

The number does not depend on the batch, because Warp compiles a kernel again for each block size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import warp as wp

from ros_ik.launch_lock import LAUNCH_LOCK

# An SM of sm_80 to sm_100, by the CUDA programming guide, "Compute Capabilities".
_REGISTERS, _MAX_THREADS = 65_536, 2048
# Number of threads of a GPU that execute the same instruction.
WARP_SIZE = 32
# Granularity of the registers per thread of a warp.
_GRANULE = 8
# Least number of blocks on an SM, two for each of its four schedulers.
_BLOCKS = 8
# Warp's default. No kernel needs more, because threads of a block share no data.
DEFAULT_BLOCK = 256
# Largest number of registers of a thread.
MAX_REGISTERS = 255


def resident_threads(registers: int) -> int:
    """Return the number of threads of a kernel that are resident on an SM.

    Args:
        registers: Number of registers of a thread.
    """
    granules = -(-registers // _GRANULE) * _GRANULE
    return min(_MAX_THREADS, _REGISTERS // (granules * WARP_SIZE) * WARP_SIZE)


def max_resident_threads(device: wp.Device) -> int:
    """Return the number of threads of the largest kernels that a GPU works on; 0 for a CPU."""
    return device.sm_count * resident_threads(MAX_REGISTERS) if device.is_cuda else 0


def listed_threads(device: wp.Device, n: int) -> int:
    """Return the number of threads that share a list of at most n rows.

    A GPU gets a warp for each row, up to four times the resident threads, because even a thread
    without a row takes 20 ps.
    """
    return min(WARP_SIZE * n, 4 * max_resident_threads(device)) if device.is_cuda else n


def exceeds_device(device: wp.Device, n: int) -> bool:
    """Return True if n threads of the largest kernels more than fill a GPU, False for a CPU.

    While all of them are resident, a batch takes the time of its slowest thread. Kernels that
    leave slow threads to a later launch, over the list of them, help larger batches more.
    """
    return can_list_rows(device) and n > max_resident_threads(device)


def can_list_rows(device: wp.Device) -> bool:
    """Return True for a GPU that can make a list of rows between two launches.

    It needs Warp's memory pool, because a graph capture allocates work space.
    """
    return device.is_cuda and wp.is_mempool_enabled(device)


def block_size(registers: int) -> int:
    """Return the threads per block of a kernel on a GPU, a power of two from 32 to 256.

    Args:
        registers: Number of registers of a thread, as in ``benchmarks/results/kernels.json``.
    """
    size = DEFAULT_BLOCK
    while size > WARP_SIZE and resident_threads(registers) // size < _BLOCKS:
        size //= 2
    return size


def launch(
    kernel: wp.Kernel,
    dim: int | Sequence[int],
    *,
    inputs: Sequence[Any] = (),
    outputs: Sequence[Any] = (),
    device: wp.DeviceLike,
    record_tape: bool = True,
    record_cmd: bool = False,
) -> Any:
    """Launch a kernel with the block size of its module; the arguments are those of ``wp.launch``.

    Returns:
        With ``record_cmd`` a ``wp.Launch``, else None.
    """
    device = wp.get_device(device)
    # On a CPU, a block size would make the threads of a block run in turn.
    block = kernel.module.options['block_dim'] if device.is_cuda else None
    with LAUNCH_LOCK.shared():
        return wp.launch(
            kernel, dim, inputs=inputs, outputs=outputs, device=device, record_tape=record_tape,
            record_cmd=record_cmd, block_dim=block,
        )  # fmt: skip
