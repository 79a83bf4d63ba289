# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of numbers from outside: real, finite and bounded."""

from __future__ import annotations

from array import array as typed_array
from collections.abc import Iterable
import math
import operator
from typing import Any

import numpy as np

from ros_ik.errors import ArgumentError

# Largest magnitude of a number in a message, a request, a description or a batch of poses. Lengths
# in m and angles in rad beyond it are mistakes; their squares and the products of those stay far
# inside float32 (3e38).
MAX_MAGNITUDE = 1e9
# DLPack's number of the host's memory.
_DLPACK_CPU = 1


def host_array(value: Any, name: str = 'array') -> np.ndarray:
    """Return a NumPy array of a sequence, or of an array of any library on any device.

    Args:
        value: The sequence or array.
        name: Name of the value in an error.

    Raises:
        ArgumentError: Rows of different lengths, or a library that refuses the exchange.
    """
    if isinstance(value, np.ndarray):
        return value
    if _is_exchanged_only(value):
        value = _exchanged(name, value)
    try:
        array = np.asarray(value.numpy() if hasattr(value, 'numpy') else value)
    except ValueError:
        raise ArgumentError(f'{name} must be numbers, got {shown(value)}') from None
    except TypeError:
        if not hasattr(value, '__dlpack__'):
            raise
        # Some libraries refuse ``__array__``, to make copies explicit.
        array = _exchanged(name, value).numpy()
    # Matrices of Warp give their numbers in a row.
    return array.reshape(getattr(type(value), '_shape_', array.shape))


def exchanged_view(given: Any) -> Any:
    """Return a Warp array of the memory of another library's array.

    On a GPU, Warp's current stream waits for what the library has enqueued.

    Args:
        given: The array, with DLPack or ``__cuda_array_interface__``.

    Raises:
        Exception: Anything that the library raises if it refuses.
    """
    import warp as wp  # noqa: PLC0415  # nothing else here needs it

    if hasattr(given, '__dlpack__'):
        return wp.from_dlpack(given)
    view: Any = wp.array(given, copy=False)
    stream = given.__cuda_array_interface__.get('stream')
    if stream is not None and view.device.is_cuda:
        view.device.stream.wait_stream(wp.Stream(view.device, cuda_stream=stream))
    return view


def _exchanged(name: str, value: Any) -> Any:
    """Return a Warp array of another library's memory, or raise ArgumentError."""
    try:
        return exchanged_view(value)
    except Exception as error:  # another library may raise any exception
        raise ArgumentError(f'{name} cannot be read as an array: {error}') from error


def _is_exchanged_only(value: Any) -> bool:
    """Return True if NumPy itself cannot read another library's array."""
    if hasattr(value, '__dlpack_device__') and value.__dlpack_device__()[0] != _DLPACK_CPU:
        return True
    if hasattr(value, '__array__') or hasattr(value, 'numpy'):
        return False
    return hasattr(value, '__dlpack_device__') or hasattr(value, '__cuda_array_interface__')


def real_array(name: str, value: Any) -> np.ndarray:
    """Return real numbers as a new float64 array; integers are converted.

    Args:
        name: Name of the value in an error.
        value: A number, nested sequences of numbers, or an array of any library.

    Raises:
        ArgumentError: A string, a complex number, a boolean, None or anything else that is not a
            real number, or rows of different lengths; the message names the element.
    """
    try:
        array = host_array(value)
        if array.dtype.kind in 'iuf':
            return array.astype(np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f'{name} must be numbers, got {shown(value)}') from None
    if array.dtype.kind == 'O' and array.size and array.ndim:
        for index in np.ndindex(array.shape):
            if not _is_real(array[index]):
                raise _wrong(name, index, array[index])
        try:
            return array.astype(np.float64)
        except OverflowError as error:
            raise ArgumentError(f'{name} must be numbers: {error}') from None
    index, element = _first_wrong(value)
    raise _wrong(name, index, element)


def real_value(name: str, value: Any) -> np.ndarray:
    """Return the numbers of one vector, pose or matrix as :func:`real_array` does.

    Args:
        name: What to call it in an error.
        value: The same, or a Warp array of which it is the only element.

    Raises:
        ArgumentError: As :func:`real_array`.
    """
    if hasattr(getattr(value, 'dtype', None), '_shape_') and value.shape == (1,):
        value = value.numpy()[0]
    return real_array(name, value)


def as_integer(value: Any) -> int | None:
    """Return an integer of Python or NumPy; None for anything else, such as a boolean or 1.0."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def integer_array(name: str, value: Any) -> np.ndarray:
    """Return integers as a new int64 array.

    Args:
        name: Name of the value in an error.
        value: An integer, nested sequences of integers, or an array of any library.

    Raises:
        ArgumentError: An element that is not an integer, which the message names, or rows of
            different lengths. NumPy would convert booleans in a list.
    """
    try:
        array = host_array(value)
        if array.dtype.kind in 'iu' and not isinstance(value, list | tuple):
            return array.astype(np.int64)
        # An array of objects keeps the booleans beside integers.
        array = np.array(value if array.size else array, dtype=object)
    except (TypeError, ValueError):
        raise ArgumentError(f'{name} must be integers, got {shown(value)}') from None
    for index in np.ndindex(array.shape):
        if as_integer(array[index]) is None:
            element = f'{_element(name, index)} is {shown(array[index])}'
            raise ArgumentError(f'{name} must be integers: {element}')
        if not abs(array[index]) < 2**63:
            element = f'{_element(name, index)} is {shown(array[index])}'
            raise ArgumentError(f'{name} must be integers of 64 bits: {element}')
    return array.astype(np.int64)


def check_bounded(name: str, array: np.ndarray) -> None:
    """Check that numbers are finite and within :data:`MAX_MAGNITUDE`.

    Raises:
        ArgumentError: A number that is not; the message names it.
    """
    good = np.abs(array) <= MAX_MAGNITUDE
    if good.all():
        return
    index = tuple(int(k) for k in np.argwhere(~good)[0])
    raise ArgumentError(
        f'{_element(name, index)} must be finite and at most {MAX_MAGNITUDE:g} in size, got '
        f'{float(array[index]):g}'
    )


def check_writable(name: str, given: Any) -> None:
    """Check that an array of any library may be written to.

    Raises:
        ArgumentError: It is read-only, as are all arrays of JAX.
    """
    if isinstance(given, np.ndarray):
        is_read_only = not given.flags.writeable
    elif type(given).__module__.partition('.')[0] in ('jax', 'jaxlib'):
        is_read_only = True
    elif hasattr(given, '__cuda_array_interface__') and not hasattr(given, '__dlpack__'):
        is_read_only = bool(given.__cuda_array_interface__['data'][1])
    else:
        is_read_only = False
    if is_read_only:
        raise ArgumentError(f'{name} cannot be written to, got a read-only {type(given).__name__}')


def is_bounded(values: Iterable[Any]) -> bool:
    """Return True if all of a few values are real, finite and within :data:`MAX_MAGNITUDE`."""
    try:
        return all([-MAX_MAGNITUDE <= value <= MAX_MAGNITUDE for value in values])
    except TypeError:
        return False


def is_finite(values: Iterable[Any]) -> bool:
    """Return True if all of a few values are real and finite."""
    try:
        return all(map(math.isfinite, values))
    except TypeError:
        return False


def shown(value: Any) -> str:
    """Return a value as text, however long and of any class."""
    if isinstance(value, str | bytes):
        text = repr(value)
    elif isinstance(value, np.ndarray | list | tuple | typed_array):
        text = str(np.asarray(value, dtype=object).tolist())
    else:
        text = str(value)
    return text if len(text) <= 100 else f'{text[:97]}...'


def _wrong(name: str, index: tuple[int, ...], value: Any) -> ArgumentError:
    if not index:
        return ArgumentError(f'{name} must be numbers, got {shown(value)}')
    return ArgumentError(f'{name} must be numbers: {_element(name, index)} is {shown(value)}')


def _is_real(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(
        value, bool
    )


def _first_wrong(value: Any) -> tuple[tuple[int, ...], Any]:
    """Return index and value of the first element that is not a real number."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        for index, element in enumerate(value):
            if isinstance(element, np.generic):
                element = element.item()
            if not _is_real(element):
                below, wrong = _first_wrong(element)
                if below or not isinstance(element, list | tuple):
                    return (index, *below), wrong
    return (), value


def _element(name: str, index: tuple[int, ...]) -> str:
    return name + ''.join(f'[{k}]' for k in index)
