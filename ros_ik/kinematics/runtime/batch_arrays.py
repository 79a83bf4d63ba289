# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""NumPy or Warp arrays that a caller hands to a function of a batch: checked, as Warp arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError

_SCALARS = {np.dtype(np.float32): wp.float32, np.dtype(np.float64): wp.float64}


def batch_input(
    name: str,
    given: np.ndarray | wp.array,
    columns: int,
    device: wp.DeviceLike,
    *,
    n: int | None = None,
    scalar: type | None = None,
) -> tuple[wp.array, type]:
    """Return an array of shape [n, columns] as a Warp array, and its scalar type.

    Args:
        name: What to call it in an error.
        given: The array, float32 or float64.
        columns: Its second dimension.
        device: Device of the result where a NumPy array was given.
        n: Its first dimension; None for any.
        scalar: The precision it must have; None for either.

    Raises:
        ArgumentError: Another shape or type.
    """
    if not isinstance(given, wp.array):
        try:
            given = np.asarray(given)
        except ValueError as error:
            raise ArgumentError(f'{name} must be numbers: {error}') from error
    found = given.dtype if isinstance(given, wp.array) else _SCALARS.get(given.dtype)
    allowed = (wp.float32, wp.float64) if scalar is None else (scalar,)
    if found is None or found not in allowed:
        expected = 'float32 or float64' if scalar is None else scalar.__name__
        raise ArgumentError(f'{name} must be {expected}, got {_type_name(given.dtype)}')
    shape = tuple(given.shape)
    if len(shape) != 2 or shape[1] != columns or n not in (None, shape[0]):
        rows = 'n' if n is None else n
        raise ArgumentError(f'{name} must have shape [{rows}, {columns}], got {list(shape)}')
    if isinstance(given, wp.array):
        return given, found
    return wp.array(given, dtype=found, device=device), found


def batch_output(
    name: str,
    given: np.ndarray | wp.array,
    shape: tuple[int, ...],
    dtype: Any,
    device: wp.DeviceLike,
) -> wp.array:
    """Return the Warp array to compute into: the given one, or one beside a NumPy array.

    Args:
        name: What to call it in an error.
        given: Where the caller wants the result.
        shape: The shape it must have as a Warp array of ``dtype``.
        dtype: Warp type of its elements; the components of a vector are the last dimension of a
            NumPy array.
        device: Device to compute on.

    Raises:
        ArgumentError: Another shape or type.
    """
    if isinstance(given, wp.array):
        view = _as_type(given, shape, dtype)
        if view is None:
            raise ArgumentError(
                f'{name} must have shape {list(shape)} of {dtype.__name__}, got '
                f'{list(given.shape)} of {_type_name(given.dtype)}'
            )
        return view
    if not isinstance(given, np.ndarray):
        raise ArgumentError(
            f'{name} must be a NumPy or Warp array to write into, got {type(given).__name__}'
        )
    scalar = getattr(dtype, '_wp_scalar_type_', dtype)
    components = () if scalar is dtype else (dtype._length_,)
    if given.shape != (*shape, *components) or _SCALARS.get(given.dtype) is not scalar:
        raise ArgumentError(
            f'{name} must have shape {[*shape, *components]} of {scalar.__name__}, got '
            f'{list(given.shape)} of {given.dtype}'
        )
    return wp.zeros(shape, dtype=dtype, device=device)


def copy_back(result: wp.array, given: np.ndarray | wp.array) -> None:
    """Bring the result to a caller that gave a NumPy array."""
    if not isinstance(given, wp.array):
        given[...] = result.numpy()


def _as_type(given: wp.array, shape: tuple[int, ...], dtype: Any) -> wp.array | None:
    """Return an array, or a view of its memory as another type of the same numbers.

    Warp has several types of the same layout: ``wp.transform``, which is ``wp.transformf``, and
    the one that its generic functions make are different types, and a table of numbers whose last
    dimension is the components is the same memory again.

    Args:
        given: The array.
        shape: The shape it must have as an array of ``dtype``.
        dtype: The type it must have.

    Returns:
        None where the numbers do not lie as such an array needs them.
    """
    if given.dtype == dtype and tuple(given.shape) == shape:
        return given
    scalar, length = getattr(dtype, '_wp_scalar_type_', dtype), getattr(dtype, '_length_', 1)
    of_given = getattr(given.dtype, '_wp_scalar_type_', given.dtype)
    components = getattr(given.dtype, '_shape_', ()) if of_given is not given.dtype else ()
    strides = tuple(given.strides)
    whole = (*given.shape, *components)
    wanted = (*shape, length) if scalar is not dtype else shape
    if of_given is not scalar or tuple(whole) != wanted:
        return None
    size = wp.types.type_size_in_bytes(scalar)
    # A table of numbers: the last dimension becomes the components, if they lie together.
    if not components and scalar is not dtype:
        if strides[-1] != size:
            return None
        strides = strides[:-1]
    elif components and scalar is dtype:
        strides = (*strides, size)
    view = wp.array(
        ptr=given.ptr, dtype=dtype, shape=shape, strides=strides, device=given.device, copy=False
    )
    view._source = given  # type: ignore[attr-defined]  # its memory lives as long as the view
    return view


def _type_name(dtype: Any) -> str:
    """Return the name of a NumPy or Warp type."""
    return getattr(dtype, '__name__', None) or str(dtype)
