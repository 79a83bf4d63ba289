# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Stand-in for a GPU that no solver uses: its arrays must be copied, or refused.

Where an array of it lies on the host are NaN and indices out of range, which a kernel that reads
it without a copy would find. Copies by Warp find the numbers.
"""

import contextlib

import numpy as np
import pytest
import warp as wp

FAR = 'cuda:7'


class FarMemory:
    """Memory of the stand-in.

    Attributes:
        device: The device of its arrays.
    """

    def __init__(self):
        here = wp.get_device('cpu')
        self.device = object.__new__(type(here))
        vars(self.device).update(vars(here), alias=FAR, ordinal=7, _context=7)
        self._rows = []  # address of wrong bytes, their number, address of the right ones, both

    def array(self, values, dtype):
        """Return an array with the content of one of NumPy."""
        right = wp.array(values, dtype=dtype, device='cpu')
        size = right.size * wp.types.type_size_in_bytes(right.dtype)
        wrong = np.full(max(size, 1), 0xFF, dtype=np.uint8)  # NaN, and -1 as an index
        far = wp.array(
            ptr=wrong.ctypes.data, dtype=right.dtype, shape=right.shape, device='cpu', copy=False
        )
        far.device = self.device
        self._rows.append((wrong.ctypes.data, size, right.ptr, (wrong, right)))
        return far

    def near(self, array):
        """Return a view of the right numbers of an array on the device; others unchanged."""
        if not isinstance(array, wp.array) or array.device is not self.device:
            return array
        for wrong, size, right, _ in self._rows:
            if wrong <= array.ptr < wrong + max(size, 1):
                return wp.array(
                    ptr=array.ptr - wrong + right, dtype=array.dtype, shape=array.shape,
                    strides=array.strides, device='cpu', copy=False,
                )  # fmt: skip
        raise KeyError('an array on the device that is none of its own')


@contextlib.contextmanager
def far_memory():
    """Let Warp copy from and to arrays of a stand-in for a GPU; yield its memory."""
    memory = FarMemory()
    to_host, copy, clone, exchange = wp.array.numpy, wp.copy, wp.clone, wp.from_dlpack

    def far_clone(source, device=None, *arguments, **options):
        device = source.device if device is None else device
        assert device is not memory.device, 'nothing is allocated there'
        return clone(memory.near(source), device, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wp.array, 'numpy', lambda array, **o: to_host(memory.near(array), **o))
        patch.setattr(
            wp, 'copy', lambda to, of, *a, **o: copy(memory.near(to), memory.near(of), *a, **o)
        )
        patch.setattr(wp, 'clone', far_clone)
        patch.setattr(wp, 'from_dlpack', lambda array, *a: _unless_far(array, memory, exchange, a))
        yield memory


def _unless_far(array, memory, exchange, arguments):
    is_far = isinstance(array, wp.array) and array.device is memory.device
    return array if is_far else exchange(array, *arguments)
