# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Former public names, which work for one release with a DeprecationWarning."""

from __future__ import annotations

from typing import Any
import warnings


class FormerName(property):
    """Former name of an attribute or method, read only.

    In the body of a class, ``before = FormerName('after')`` lets ``before`` read ``after``.
    """

    def __init__(self, name: str) -> None:
        """Name the attribute that is read instead."""
        super().__init__(self._read)
        self.__doc__ = f'Former name of ``{name}``, for one release.'
        self._name = name

    def __set_name__(self, owner: type, former_name: str) -> None:
        """Keep the former name for the warning."""
        self._former_name = f'{owner.__name__}.{former_name}'

    def _read(self, instance: Any) -> Any:
        warn_of_former_name(self._former_name, self._name)
        return getattr(instance, self._name)


def renamed_argument(name: str, given: Any, former_name: str, former: Any) -> Any:
    """Return an argument, or what was given by its former name.

    Args:
        name: Name of the argument.
        given: The argument.
        former_name: Its former name.
        former: What was given by that name, None for nothing.
    """
    if former is None:
        return given
    # This function and the one that has the argument.
    warn_of_former_name(former_name, name, calls=2)
    return former


def warn_of_former_name(former_name: str, name: str, calls: int = 1) -> None:
    """Warn that a former name was used.

    Args:
        former_name: The former name.
        name: The present name.
        calls: Number of calls between the line that used the name and this function. The warning
            shows that line.
    """
    warnings.warn(f'{former_name} is now {name}', DeprecationWarning, stacklevel=calls + 2)
