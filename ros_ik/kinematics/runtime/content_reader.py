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

    def __init__(self, arrays: tuple[Any, ...]) -> None:
        """Store the arrays, as views if they are contiguous in host memory."""
        self.arrays = arrays
        hosts = list(map(_host, arrays))
        # Arrays of different shapes may have the same bytes.
        self._layout = repr([(host.dtype.str, host.shape) for host in hosts]).encode()
        self._views: list[Any] | None = None
        if all(map(_is_on_host, arrays)) and all(host.flags.c_contiguous for host in hosts):
            self._views = [self._layout, *(host.data for host in hosts)]
        self._latest = b''

    def read(self) -> bytes:
        """Return layout and content of the arrays, as the same hashed object until they change."""
        parts = self._views or [self._layout, *(_host(each).tobytes() for each in self.arrays)]
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
