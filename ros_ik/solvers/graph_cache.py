# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Cache of solvers and other holders of captured graphs, by their arguments."""

from __future__ import annotations

import collections
from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Iterator
from typing import Any
from typing import Generic
from typing import TypeVar

_Value = TypeVar('_Value')

# Number of values that are kept: each holds graphs and arrays on the device.
_MAX_KEPT = 8


class GraphCache(Generic[_Value]):
    """Cache of a few values by key, which drops the least recently used one.

    A value whose attribute ``is_current`` is False is created again.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._values: collections.OrderedDict[Hashable, _Value] = collections.OrderedDict()

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self._values)

    def __iter__(self) -> Iterator[_Value]:
        """Iterate over the values."""
        return iter(self._values.values())

    def discard(self, condition: Callable[[Any], bool]) -> None:
        """Drop the values whose keys meet a condition."""
        for key in list(filter(condition, self._values)):
            del self._values[key]

    def get(self, key: Hashable, make: Callable[[], _Value]) -> _Value:
        """Return the value of a key, created if it is missing or no longer current."""
        found = self._values.get(key)
        if found is None or not getattr(found, 'is_current', True):
            self._values.pop(key, None)
            found = make()
            self._values[key] = found
            if len(self._values) > _MAX_KEPT:
                self._values.popitem(last=False)
        else:
            self._values.move_to_end(key)
        return found
