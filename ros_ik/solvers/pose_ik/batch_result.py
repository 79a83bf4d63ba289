# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Results of batches of poses: arrays with one row for each pose."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
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
    def concatenate(cls: type[_Result], parts: Sequence[_Result]) -> _Result:
        """Return the results of several batches as one."""
        if len(parts) == 1:
            return parts[0]
        columns = zip(*(part._arrays() for part in parts), strict=True)
        return cls(*(np.concatenate(arrays) for arrays in columns))

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
