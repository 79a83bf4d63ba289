# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of Warp functions that callers declare objectives by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import warp as wp

from ros_ik.errors import ArgumentError

# Residuals of a block of a formula.
_MOST_ROWS = 6


def checked_function(
    objective: str,
    name: str,
    function: Any,
    arguments: tuple[type, ...],
    like: wp.Function | None = None,
) -> Any:
    """Return the struct of parameters that a function takes first.

    Args:
        objective: Name of the objective, for errors.
        name: Argument that the function was given for.
        function: What the caller gave.
        arguments: Types of the arguments behind the parameters.
        like: A function whose parameters and residuals it must share; None for none.

    Raises:
        ArgumentError: No Warp function, wrong arguments, or a wrong or no type that is returned.
    """
    if not isinstance(function, wp.Function):
        raise ArgumentError(
            f'{objective}: {name} must be a Warp function, made with @wp.func, got {function!r}'
        )
    called = f"{objective}: {name} '{function_name(function)}'"
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
    """Return how many residuals a function that was checked returns."""
    return _rows(function.adj.arg_types['return'])


def checked_parameters(objective: str, struct: Any, parameters: Any) -> list[Any]:
    """Return instances of a struct as a list, given as one or several, or raise ArgumentError."""
    given = list(parameters) if isinstance(parameters, Sequence) else [parameters]
    if not given or any(getattr(one, '_cls', None) is not struct for one in given):
        raise ArgumentError(
            f'{objective}: parameters must be one {_shown(struct)} or several, got {parameters!r}'
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
    named = {wp.transformd: 'wp.transformd', wp.spatial_vectord: 'wp.spatial_vectord'}
    return named.get(kind, getattr(kind, '__name__', repr(kind)))
