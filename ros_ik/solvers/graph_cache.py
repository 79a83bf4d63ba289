# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Captured graphs by what they were made for, of which only the latest few are kept."""

from __future__ import annotations

import collections
from collections.abc import Callable
from collections.abc import Hashable
from typing import Generic
from typing import TypeVar

_Value = TypeVar('_Value')

# Combinations of tasks, limits and barriers whose graphs are kept.
_MOST = 8


class GraphCache(Generic[_Value]):
    """A few values by key; the least recently used one goes.

    A value with an attribute ``is_current`` that is False is made anew.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._values: collections.OrderedDict[Hashable, _Value] = collections.OrderedDict()

    def __len__(self) -> int:
        """Return how many values are kept."""
        return len(self._values)

    def drop(self, key: Hashable) -> None:
        """Forget a value, if it is there."""
        self._values.pop(key, None)

    def peek(self, key: Hashable) -> _Value | None:
        """Return a value that is there; nothing is made."""
        return self._values.get(key)

    def get(self, key: Hashable, make: Callable[[], _Value]) -> _Value:
        """Return the value of a key, made where it is not there or not current any more."""
        found = self._values.get(key)
        if found is None or not getattr(found, 'is_current', True):
            self._values.pop(key, None)
            found = make()
            self._values[key] = found
            if len(self._values) > _MOST:
                self._values.popitem(last=False)
        else:
            self._values.move_to_end(key)
        return found
