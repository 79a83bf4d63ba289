# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Separate host and device memory on the CPU, as on a GPU: values must be copied."""

import contextlib

import numpy as np
import pytest
import warp as wp

from ros_ik.kinematics.runtime.host_buffer import HostBuffer


class Copies:
    """Counts of the copies between host and device.

    Attributes:
        up: Copies to the device.
        down: Copies to the host.
    """

    def __init__(self):
        self.up = self.down = 0


@contextlib.contextmanager
def apart_memory():
    """Give buffers made inside separate host memory; yield the counts of copies."""
    copies, make = Copies(), HostBuffer.__init__

    def make_apart(buffer, shape, dtype, device=None):
        make(buffer, shape, dtype, device)
        buffer._pinned = wp.zeros(shape, dtype=dtype, device='cpu')
        buffer.host, buffer.needs_copies = buffer._pinned.numpy(), True
        if buffer.host.dtype.kind == 'f':
            buffer.host[...] = np.nan

    def counted(name, copy):
        def copying(buffer, *rows, **options):
            setattr(copies, name, getattr(copies, name) + 1)
            copy(buffer, *rows, **options)

        return copying

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HostBuffer, '__init__', make_apart)
        patch.setattr(HostBuffer, 'upload', counted('up', HostBuffer.upload))
        patch.setattr(HostBuffer, 'download', counted('down', HostBuffer.download))
        yield copies
