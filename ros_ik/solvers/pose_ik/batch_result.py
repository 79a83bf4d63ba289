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
        return type(self)(*(array.copy() for array in self._arrays()))

    @classmethod
    def gathered(cls: type[_Result], parts: Iterable[tuple[slice, _Result]], n: int) -> _Result:
        """Return a copy of the results of several batches as one.

        Args:
            parts: The results, each with its rows of the whole.
            n: Rows of the whole.
        """
        whole: _Result | None = None
        for rows, part in parts:
            if rows.stop - rows.start == n:
                return part.copy()
            if whole is None:
                shapes = ((n, *array.shape[1:]) for array in part._arrays())
                kinds = (array.dtype for array in part._arrays())
                whole = cls(*map(np.empty, shapes, kinds))
            for array, values in zip(whole._arrays(), part._arrays(), strict=True):
                array[rows] = values
        assert whole is not None, 'no parts'
        return whole

    def rows(self: _Result, rows: slice) -> _Result:
        """Return a copy of some rows."""
        return type(self)(*(array[rows].copy() for array in self._arrays()))

    def _arrays(self) -> tuple[np.ndarray, ...]:
        return tuple(getattr(self, field.name) for field in dataclasses.fields(self))


def batches(n: int, most: int) -> Iterator[tuple[slice, int]]:
    """Yield the rows of batches of up to ``most`` of n rows, at least one, and how many."""
    most = max(1, most)
    for first in range(0, n, most):
        size = min(most, n - first)
        yield slice(first, first + size), size
