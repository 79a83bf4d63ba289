# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Where threads meet: a place for the latest value, which nobody waits for."""

from __future__ import annotations

from typing import Generic
from typing import TypeVar

T = TypeVar('T')


class Mailbox(Generic[T]):
    """Holds the latest value; writing replaces it. One thread writes, any may read.

    Values are immutable by agreement: a writer puts a new object, so that a reader never sees half
    of a change. Binding an attribute is atomic in Python.
    """

    def __init__(self, value: T) -> None:
        """Start with ``value``."""
        self._value = value

    def put(self, value: T) -> None:
        """Replace the value."""
        self._value = value

    def get(self) -> T:
        """Return the latest value."""
        return self._value
