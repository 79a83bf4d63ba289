# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Attributes that may be set only once, and read-only copies of arrays."""

from __future__ import annotations

from typing import Any
from typing import ClassVar

import numpy as np

from ros_ik.errors import ArgumentError


class ReadOnce:
    """Base of objects with attributes that recorded launches use, which cannot be set again.

    Attributes:
        read_once: Names of attributes that may be set once, and not after a solver has read them.
        construction_only: Names of constructor arguments that are not attributes.
    """

    read_once: ClassVar[frozenset[str]] = frozenset()
    construction_only: ClassVar[frozenset[str]] = frozenset()

    _is_bound = False

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute.

        Raises:
            ArgumentError: The attribute may be set only once, and has been read.
        """
        cls = type(self)
        again = name in cls.read_once and (self._is_bound or name in vars(self))
        if again or name in cls.construction_only:
            raise ArgumentError(
                f'{name} of {cls.__name__} is read at construction and cannot be set; '
                'create another'
            )
        super().__setattr__(name, value)


def read_only(values: np.ndarray) -> np.ndarray:
    """Return a read-only copy of an array, because writing to a copy would have no effect."""
    copy = np.array(values)
    copy.flags.writeable = False
    return copy
