# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A setting that takes effect later, once the robot can stop with it."""

from __future__ import annotations

from typing import Generic
from typing import TypeVar

import numpy as np

_Value = TypeVar('_Value', float, np.ndarray)


class Deferred(Generic[_Value]):
    """A value in force, and the one that is requested.

    The owner decides when the robot can stop with the requested value.

    Attributes:
        in_force: Value in force.
        requested: Value that will take effect; the same object if none is deferred.
    """

    def __init__(self, value: _Value) -> None:
        """Start with a value in force."""
        self.in_force = self.requested = value

    @property
    def is_applied(self) -> bool:
        """True if no value is deferred."""
        return self.requested is self.in_force

    def differs_from(self, other: Deferred[_Value]) -> bool:
        """Return True if the values in force differ."""
        return self.in_force is not other.in_force and not np.array_equal(
            self.in_force, other.in_force
        )

    def request(self, value: _Value) -> None:
        """Set the requested value, without effect yet."""
        self.requested = self.in_force if np.array_equal(value, self.in_force) else value

    def enforce(self, value: _Value) -> None:
        """Put a value in force; another requested one stays deferred."""
        self.in_force = self.requested if np.array_equal(value, self.requested) else value

    def apply_requested(self) -> None:
        """Put the requested value in force."""
        self.in_force = self.requested

    def continue_from(self, other: Deferred[_Value]) -> None:
        """Copy both values."""
        self.in_force, self.requested = other.in_force, other.requested
