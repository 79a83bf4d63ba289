# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions and parameters with which users declare objectives, barriers and limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_count

# Largest number of residuals in a block of a formula.
_MAX_ROWS = 6


def checked_function(
    owner: str,
    name: str,
    function: Any,
    arguments: tuple[type, ...],
    like: wp.Function | None = None,
    rows: int | None = None,
) -> Any:
    """Check a function, and return the struct of parameters that is its first argument.

    Args:
        owner: Name of the objective, barrier or limit, for errors.
        name: Name of the argument that holds the function, for errors.
        function: The function.
        arguments: Types of the arguments after the parameters.
        like: A function with which it must share parameters and return type, or None.
        rows: Number of values that it must return; None for 1 to 6.

    Raises:
        ArgumentError: Not a Warp function, wrong arguments, or a wrong or missing return type.
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
    if not 1 <= _rows(returned) <= _MAX_ROWS:
        raise ArgumentError(
            f'{called} must be annotated to return a wp.float64 or a vector of 1 to '
            f'{_MAX_ROWS}, such as wp.vec2d, it returns {_shown(returned)}'
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
    """Return the name of a Warp function, with its enclosing function or class."""
    return str(getattr(function.func, '__qualname__', function.key))


def returned_rows(function: wp.Function) -> int:
    """Return the number of values that a checked function returns."""
    return _rows(function.adj.arg_types['return'])


class ParameterTable:
    """Parameters of declared functions: instances of a struct, on the host and on a device.

    Attributes:
        array: The instances on the device.
    """

    def __init__(self, owner: str, struct: Any, parameters: Any) -> None:
        """Copy the instances to an array.

        Args:
            owner: Name of the objective, barrier or limit, for errors.
            struct: The ``wp.struct``.
            parameters: One instance or a sequence of them.

        Raises:
            ArgumentError: No instance, or an instance of another struct.
        """
        self._owner, self._struct = owner, struct
        self._given = self._checked(parameters)  # keeps alive the arrays inside the structs
        self.array = wp.array(self._given, dtype=struct, device='cpu')

    @property
    def count(self) -> int:
        """Number of instances."""
        return len(self._given)

    def bind_device(self, device: wp.DeviceLike) -> None:
        """Copy the instances to a device."""
        if self.array.device != wp.get_device(device):
            self.array = self.array.to(device)

    def set(self, parameters: Any) -> None:
        """Replace all instances in place.

        Raises:
            ArgumentError: Another number of instances, or an instance of another struct.
        """
        given = self._checked(parameters)
        if len(given) != self.count:
            raise ArgumentError(f'parameters must be {self.count}, got {len(given)}')
        self._given = given
        wp.copy(self.array, wp.array(given, dtype=self._struct, device=self.array.device))

    def set_one(self, name: str, index: int, parameters: Any) -> None:
        """Replace one instance in place.

        Args:
            name: Name of the index, for errors.
            index: Index of the instance.
            parameters: The new instance.

        Raises:
            ArgumentError: An index out of range, or an instance of another struct.
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
    """Return the number of float64 values of a type, 0 for any other type."""
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
