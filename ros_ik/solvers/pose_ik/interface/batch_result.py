# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Results of batches of poses: arrays with one row for each pose."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
import dataclasses
from typing import TypeVar

import numpy as np

_Result = TypeVar('_Result', bound='BatchResult')


@dataclasses.dataclass(frozen=True)
class BatchResult:
    """Base of results; every field is an array of shape [n, ...]."""

    def copy(self: _Result) -> _Result:
        """Return a result whose arrays the solver does not overwrite."""
        return type(self)(*[array.copy() for array in self._arrays()])

    def added_to(self: _Result, whole: _Result | None, rows: slice, n: int) -> _Result:
        """Return a result of n rows, some of which are copies of these.

        Args:
            whole: The result that the other batches were added to, which is written to; None
                where this batch is the first.
            rows: Where these rows belong.
            n: Rows of the whole.
        """
        if rows.stop - rows.start == n:
            return self.copy()
        own = self._arrays()
        if whole is None:
            whole = type(self)(*[np.empty((n, *array.shape[1:]), array.dtype) for array in own])
        for array, values in zip(whole._arrays(), own, strict=True):
            array[rows] = values
        return whole

    def rows(self: _Result, rows: slice) -> _Result:
        """Return a copy of some rows."""
        return type(self)(*[array[rows].copy() for array in self._arrays()])

    def _arrays(self) -> tuple[np.ndarray, ...]:
        # The fields in their order: nothing else is set on a frozen object.
        return tuple(vars(self).values())


def batches(n: int, most: int) -> Iterator[tuple[int, Iterable[slice]]]:
    """Yield the sizes of batches of up to ``most`` of n rows, at least one, with their rows.

    All batches are of the first size but the last one may be smaller.
    """
    most = max(1, most)
    end = n - n % most
    if end:
        yield most, (slice(first, first + most) for first in range(0, end, most))
    if end < n:
        yield n - end, [slice(end, n)]
