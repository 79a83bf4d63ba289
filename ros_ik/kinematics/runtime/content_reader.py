# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Content of arrays as bytes, to detect changes of a model."""

from __future__ import annotations

from typing import Any

import numpy as np


class ContentReader:
    """Reader of the contents of a set of arrays, for repeated comparisons.

    Attributes:
        arrays: The arrays, of NumPy or Warp.
    """

    def __init__(self, arrays: tuple[Any, ...], *, reads_devices: bool = True) -> None:
        """Store the arrays, as views if they are contiguous in host memory.

        Args:
            arrays: The arrays.
            reads_devices: True to read arrays in the memory of a GPU at each :meth:`read`, which
                waits for the GPU; False to read them only here, so that later changes in place
                are not detected.
        """
        self.arrays = arrays
        hosts = list(map(_host, arrays))
        # Arrays of different shapes may have the same bytes.
        layout = repr([(host.dtype.str, host.shape) for host in hosts]).encode()
        self._parts: list[Any] = [layout]
        self._reread: list[tuple[int, Any]] = []  # parts that are neither views nor constant
        for array, host in zip(arrays, hosts, strict=True):
            is_here = _is_on_host(array)
            is_view = is_here and host.flags.c_contiguous
            if not is_view and (is_here or reads_devices):
                self._reread.append((len(self._parts), array))
            self._parts.append(host.data if is_view else host.tobytes())
        self._latest = b''

    def read(self) -> bytes:
        """Return layout and content of the arrays, as the same hashed object until they change."""
        parts = self._parts
        if self._reread:
            parts = parts.copy()
            for index, array in self._reread:
                parts[index] = _host(array).tobytes()
        content = b''.join(parts)
        latest = self._latest  # which another thread may set meanwhile
        if content == latest:
            return latest
        self._latest = content
        return content


def _is_on_host(array: Any) -> bool:
    return isinstance(array, np.ndarray) or array.device.is_cpu


def _host(array: Any) -> np.ndarray:
    """Return a NumPy or Warp array as a NumPy array, a view if it is in host memory."""
    return array if isinstance(array, np.ndarray) else array.numpy()
