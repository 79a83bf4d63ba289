# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Mailbox between threads: it holds the latest value, and readers do not wait."""

from __future__ import annotations

from collections.abc import Callable
import threading
from typing import Generic
from typing import TypeVar

T = TypeVar('T')


class Mailbox(Generic[T]):
    """Holder of the latest value. Any thread may read it without waiting.

    Values are immutable by agreement: a writer puts a new object, so that a reader never sees a
    partial change. Binding an attribute is atomic in Python.
    """

    def __init__(self, value: T) -> None:
        """Start with ``value``."""
        self._value = value
        self._writing = threading.Lock()

    def put(self, value: T) -> None:
        """Replace the value."""
        with self._writing:
            self._value = value

    def update(self, change: Callable[[T], T]) -> T:
        """Replace the value by ``change(value)``, and return it.

        Writers wait for each other, so that no change is lost.
        """
        with self._writing:
            self._value = change(self._value)
            return self._value

    def get(self) -> T:
        """Return the latest value."""
        return self._value
