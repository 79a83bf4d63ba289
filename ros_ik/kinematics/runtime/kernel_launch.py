# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Launches of kernels, and the threads per block that they have on a GPU.

A block keeps its registers until its slowest thread ends. Threads of kernels that search or
iterate take different times, and hold up to 255 of the 65,536 registers of a multiprocessor (SM)
each: with 256 threads per block, Warp's default, an SM has room for one block, and waits for its
slowest thread. Where a kernel takes many registers blocks are smaller: several share an SM.

The number does not depend on the batch: Warp compiles a kernel anew for each block size. A small
batch is spread over the SMs the better the smaller the blocks are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import warp as wp

from ros_ik.kinematics.runtime.launch_lock import LAUNCHES

# An SM of sm_80 to sm_100, by the CUDA programming guide, "Compute Capabilities".
_REGISTERS, _MOST_THREADS, _WARP = 65_536, 2048, 32
# A warp is given registers by so many for each of its threads.
_GRANULE = 8
# Blocks that an SM is to hold at least: two for each of its four schedulers.
_BLOCKS = 8
# Warp's default, and more than that no kernel here needs: no threads of a block share anything.
DEFAULT_BLOCK = 256
# The most registers that a thread can have.
MOST_REGISTERS = 255


def resident_threads(registers: int) -> int:
    """Return the threads of a kernel that an SM holds at a time.

    Args:
        registers: Registers of a thread.
    """
    granules = -(-registers // _GRANULE) * _GRANULE
    return min(_MOST_THREADS, _REGISTERS // (granules * _WARP) * _WARP)


def block_size(registers: int) -> int:
    """Return the threads per block of a kernel on a GPU, a power of two from 32 to 256.

    Args:
        registers: Registers of a thread, as ``benchmarks/results/kernels.json`` has them.
    """
    size = DEFAULT_BLOCK
    while size > _WARP and resident_threads(registers) // size < _BLOCKS:
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
    # On a CPU a block size would run threads of a block in turns.
    block = kernel.module.options['block_dim'] if device.is_cuda else None
    with LAUNCHES.shared():
        return wp.launch(
            kernel, dim, inputs=inputs, outputs=outputs, device=device, record_tape=record_tape,
            record_cmd=record_cmd, block_dim=block,
        )  # fmt: skip
