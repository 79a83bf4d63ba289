# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions and parameters that callers declare objectives, barriers and limits by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_count

# Rows of a block of a formula.
_MOST_ROWS = 6


def checked_function(
    owner: str,
    name: str,
    function: Any,
    arguments: tuple[type, ...],
    like: wp.Function | None = None,
    rows: int | None = None,
) -> Any:
    """Return the struct of parameters that a function takes first.

    Args:
        owner: Name of what is declared, for errors.
        name: Argument that the function was given for.
        function: What the caller gave.
        arguments: Types of the arguments behind the parameters.
        like: A function whose parameters and results it must share; None for none.
        rows: How many numbers it must return; None for 1 to 6.

    Raises:
        ArgumentError: No Warp function, wrong arguments, or a wrong or no type that is returned.
    """
    if not isinstance(function, wp.Function):
        raise ArgumentError(
            f'{owner}: {name} must be a Warp function, made with @wp.func, got {function!r}'
        )
    called = f"{owner}: {name} '{function_name(function)}'"
    types = dict(function.adj.arg_types)
    returned = types.pop('return', None)
    given = tuple(types.values())
    values = given[0] if given else None
    if not _is_struct(values) or given[1:] != arguments:
        wanted = ', '.join(('a wp.struct of parameters', *map(_shown, arguments)))
        raise ArgumentError(f'{called} must take ({wanted}), it takes ({_listed(given)})')
    if not 1 <= _rows(returned) <= _MOST_ROWS:
        raise ArgumentError(
            f'{called} must say with its annotation that it returns a wp.float64 or a vector of '
            f'1 to {_MOST_ROWS}, such as wp.vec2d, it returns {_shown(returned)}'
        )
    if rows not in (None, _rows(returned)):
        raise ArgumentError(
            f'{called} must return a vector of {rows} of wp.float64, it returns {_shown(returned)}'
        )
    if like is not None:
        theirs = dict(like.adj.arg_types)
        if returned is not theirs['return'] or values is not next(iter(theirs.values())):
            raise ArgumentError(
                f"{called} must take and return what '{function_name(like)}' does, "
                f'{_shown(next(iter(theirs.values())))} and {_shown(theirs["return"])}, not '
                f'{_shown(values)} and {_shown(returned)}'
            )
    return values


def function_name(function: wp.Function) -> str:
    """Return the name of a Warp function, with the function or class around it."""
    return str(getattr(function.func, '__qualname__', function.key))


def returned_rows(function: wp.Function) -> int:
    """Return how many numbers a function that was checked returns."""
    return _rows(function.adj.arg_types['return'])


class ParameterTable:
    """Instances of a struct that declared functions read, on the host and on a device.

    Attributes:
        array: Where the functions read them, one row for each instance.
    """

    def __init__(self, owner: str, struct: Any, parameters: Any) -> None:
        """Take instances, given as one or several.

        Args:
            owner: Name of what is declared, for errors.
            struct: Their ``wp.struct``.
            parameters: One instance or a sequence of them.

        Raises:
            ArgumentError: There are none, or instances of another struct.
        """
        self._owner, self._struct = owner, struct
        self._given = self._checked(parameters)  # they own the arrays that they may hold
        self.array = wp.array(self._given, dtype=struct, device='cpu')

    @property
    def count(self) -> int:
        """Number of instances."""
        return len(self._given)

    def bind_device(self, device: wp.DeviceLike) -> None:
        """Put them on a device."""
        if self.array.device != wp.get_device(device):
            self.array = self.array.to(device)

    def set(self, parameters: Any) -> None:
        """Change all of them, where they are.

        Raises:
            ArgumentError: Another number of them, or another struct.
        """
        given = self._checked(parameters)
        if len(given) != self.count:
            raise ArgumentError(f'parameters must be {self.count}, got {len(given)}')
        self._given = given
        wp.copy(self.array, wp.array(given, dtype=self._struct, device=self.array.device))

    def set_one(self, name: str, index: int, parameters: Any) -> None:
        """Change one of them.

        Args:
            name: What to call the index in an error.
            index: Which one.
            parameters: The instance.

        Raises:
            ArgumentError: No such one, or another struct.
        """
        if not checked_count(name, index) < self.count:
            raise ArgumentError(f'{name} must be below {self.count}, got {index}')
        given = list(self._given)
        given[index] = parameters
        self.set(given)

    def _checked(self, parameters: Any) -> list[Any]:
        given = list(parameters) if isinstance(parameters, Sequence) else [parameters]
        if not given or any(getattr(one, '_cls', None) is not self._struct for one in given):
            raise ArgumentError(
                f'{self._owner}: parameters must be one {_shown(self._struct)} or several, got '
                f'{parameters!r}'
            )
        return given


def _is_struct(kind: Any) -> bool:
    return hasattr(kind, 'cls') and hasattr(kind, 'vars')


def _rows(returned: Any) -> int:
    """Return how many numbers of float64 a type holds, 0 for another type."""
    if returned is wp.float64:
        return 1
    if getattr(returned, '_wp_scalar_type_', None) is not wp.float64:
        return 0
    shape = returned._shape_
    return int(shape[0]) if len(shape) == 1 else 0


def _listed(types: tuple[Any, ...]) -> str:
    return ', '.join(map(_shown, types))


def _shown(kind: Any) -> str:
    if kind is None:
        return 'nothing that is annotated'
    if _is_struct(kind):
        return str(kind.cls.__name__)
    named = {
        wp.transformd: 'wp.transformd', wp.spatial_vectord: 'wp.spatial_vectord',
        wp.float64: 'wp.float64',
    }  # fmt: skip
    return named.get(kind, getattr(kind, '__name__', repr(kind)))
