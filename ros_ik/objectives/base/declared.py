# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions and parameters with which users declare objectives, barriers and limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.launch_lock import shares_launch_lock

# Largest number of residuals in a block of a formula.
_MAX_ROWS = 6


def checked_function(
    owner: str,
    name: str,
    function: Any,
    arguments: tuple[type, ...],
    parameters: Any,
    like: wp.Function | None = None,
    rows: int | None = None,
) -> wp.Function:
    """Check a function, and return its overload for the struct of the parameters.

    Warp keeps functions of one name and module as overloads of the first one. So a notebook cell
    that runs again with another struct adds an overload.

    Args:
        owner: Name of the objective, barrier or limit, for errors.
        name: Name of the argument that holds the function, for errors.
        function: The function.
        arguments: Types of the arguments after the parameters.
        parameters: One instance of its struct or a sequence of them, not checked here.
        like: A function with which it must share parameters and return type, or None.
        rows: Number of values that it must return; None for 1 to 6.

    Raises:
        ArgumentError: Not a Warp function, wrong arguments, or a wrong or missing return type.
    """
    if not isinstance(function, wp.Function):
        raise ArgumentError(
            f'{owner}: {name} must be a Warp function, made with @wp.func, got {function!r}'
        )
    wanted = (_struct_of(next(iter(_listed(parameters)), None)), *arguments)
    function = next(
        (one for one in function.user_overloads.values() if _argument_types(one) == wanted),
        function,
    )
    called = f"{owner}: {name} '{function_name(function)}'"
    returned = function.adj.arg_types.get('return')
    given = _argument_types(function)
    values = given[0] if given else None
    if not _is_struct(values) or given[1:] != arguments:
        needed = ', '.join(('a wp.struct of parameters', *map(_shown, arguments)))
        taken = ', '.join(map(_shown, given))
        raise ArgumentError(f'{called} must take ({needed}), it takes ({taken})')
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
        theirs = like.adj.arg_types['return']
        if returned is not theirs or values is not parameter_struct(like):
            raise ArgumentError(
                f"{called} must take and return what '{function_name(like)}' does, "
                f'{_shown(parameter_struct(like))} and {_shown(theirs)}, not '
                f'{_shown(values)} and {_shown(returned)}'
            )
    return function


def parameter_struct(function: wp.Function) -> Any:
    """Return the struct of parameters that is the first argument of a checked function."""
    return _argument_types(function)[0]


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

    @shares_launch_lock
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

    @shares_launch_lock
    def bind_device(self, device: wp.DeviceLike) -> None:
        """Copy the instances to a device."""
        if self.array.device != wp.get_device(device):
            self.array = self.array.to(device)

    @shares_launch_lock
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
        given, name = _listed(parameters), _shown(self._struct)
        structs = [_struct_of(one) for one in given]
        if not given or any(struct is not self._struct for struct in structs):
            again = any(_is_struct(struct) and _shown(struct) == name for struct in structs)
            raise ArgumentError(
                f'{self._owner}: parameters must be one {name} or several, got {parameters!r}'
                + again * f' of another {name}; declare the functions after the struct'
            )
        return given


def _listed(parameters: Any) -> list[Any]:
    """Return a list of one or several instances of a struct."""
    return list(parameters) if isinstance(parameters, Sequence) else [parameters]


def _struct_of(instance: Any) -> Any:
    """Return the struct of an instance, None for anything else."""
    return getattr(instance, '_cls', None)


def _argument_types(function: wp.Function) -> tuple[Any, ...]:
    types = dict(function.adj.arg_types)
    types.pop('return', None)
    return tuple(types.values())


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
