# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Errors with their evidence; each is also the matching built-in error."""

from __future__ import annotations

import copyreg
from typing import Any


class RosIkError(Exception):
    """Base of all errors that ros_ik raises; each can be copied and pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Restore text and attributes; Exception would pass the text to ``__init__``."""
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]


class ModelError(RosIkError, ValueError):
    """A robot description that cannot become a model.

    Attributes:
        element: The element at fault, e.g. ``joint 'elbow'``.
        reason: Expected and actual value.
    """

    def __init__(self, element: str, reason: str) -> None:
        super().__init__(f'{element}: {reason}')
        self.element = element
        self.reason = reason


class ArgumentError(RosIkError, ValueError):
    """An argument with an unusable name, shape, type or value; the message names it."""
