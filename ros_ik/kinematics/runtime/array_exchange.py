# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Conversion of other libraries' arrays to Warp arrays and back, without copies.

The conversion uses DLPack and ``__cuda_array_interface__``. On a GPU, work is ordered by the
current streams of Warp and of the other library, without waiting on the host. Warp's current
stream waits for arrays that are given. The current stream of the other library waits for results
that are returned or written in place.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.numbers import check_writable
from ros_ik.numbers import exchanged_view

_ON_HOST = {np.ndarray, list, tuple, type(None)}


def is_exchanged(given: Any) -> bool:
    """Return True if a value is an array of Warp or of a library other than NumPy."""
    if type(given) in _ON_HOST:  # the usual case; the test below takes ten times as long
        return False
    if isinstance(given, wp.array):
        return True
    if isinstance(given, (np.ndarray, np.generic)):
        return False
    return hasattr(given, '__dlpack__') or hasattr(given, '__cuda_array_interface__')


def exchanged(name: str, given: Any) -> wp.array:
    """Convert an array of another library to a Warp array of the same memory.

    Args:
        name: Name of the argument, for errors.
        given: The array, for which :func:`is_exchanged` holds.

    Raises:
        ArgumentError: The library refuses the conversion, as for a PyTorch tensor that requires a
            gradient; or Warp does not have the type.
    """
    if isinstance(given, wp.array):
        return given
    try:
        view = exchanged_view(given)
    except Exception as error:  # another library may raise any exception
        raise ArgumentError(f'{name} cannot be read as an array: {error}') from error
    view._source = given  # keeps its memory alive for the view
    return view  # type: ignore[no-any-return]


def as_warp(name: str, given: Any, *, is_output: bool = False) -> Any:
    """Convert an array of another library to a Warp array of its memory; return others unchanged.

    Args:
        name: Name of the argument, for errors.
        given: The array.
        is_output: True if it is written to.

    Raises:
        ArgumentError: The conversion failed, or the array is read-only.
    """
    if is_output:
        check_writable(name, given)
    return exchanged(name, given) if is_exchanged(given) else given


def host_view(given: np.ndarray, dtype: Any) -> wp.array | None:
    """Return a NumPy array as a Warp array of the same memory on the CPU.

    Args:
        given: The array.
        dtype: Warp type of its numbers.

    Returns:
        The view, or None if Warp does not support the memory layout.
    """
    size = given.itemsize
    if not given.dtype.isnative or any(step < 0 or step % size for step in given.strides):
        return None
    view: Any = wp.array(
        ptr=given.__array_interface__['data'][0], dtype=dtype, shape=given.shape,
        strides=given.strides, device='cpu', copy=False,
    )  # fmt: skip
    view._source = given
    return view  # type: ignore[no-any-return]


def check_device(name: str, given: wp.array, device: wp.Device) -> None:
    """Check that an array is on a device.

    Raises:
        ArgumentError: It is on another device.
    """
    if given.device != device:
        raise ArgumentError(f'{name} must be on {device}, got an array on {given.device}')


def namespace_of(given: Any) -> ModuleType:
    """Return the module of an array's library, which has ``from_dlpack``.

    Returns:
        The array namespace of another library; NumPy for everything else, including Warp arrays.
    """
    if is_exchanged(given) and not isinstance(given, wp.array):
        if hasattr(given, '__array_namespace__'):
            return given.__array_namespace__()  # type: ignore[no-any-return]
        module = sys.modules.get(type(given).__module__.partition('.')[0])
        if module is not None and hasattr(module, 'from_dlpack'):
            return module
        return wp
    return np


def checked_namespace(namespace: Any, given: Any) -> ModuleType:
    """Check and return a module that creates arrays; None for the module of an array.

    Raises:
        ArgumentError: The module has no ``from_dlpack``.
    """
    if namespace is None:
        return np if type(given) in _ON_HOST else namespace_of(given)
    if not hasattr(namespace, 'from_dlpack'):
        raise ArgumentError(
            'xp must be a module of arrays with from_dlpack, such as numpy, warp, torch or '
            f'jax.numpy, got {namespace!r}'
        )
    return namespace  # type: ignore[no-any-return]


def in_namespace(result: wp.array, namespace: ModuleType) -> Any:
    """Convert a Warp array to an array of a library, without a copy.

    Only the conversion of a GPU array to NumPy copies it to the host.
    """
    if namespace is wp:
        return result
    if namespace is np:
        return result.numpy()
    return namespace.from_dlpack(result)


def wait_for_warp(given: Any) -> None:
    """Make the current stream of an array's library wait for the work that Warp has enqueued.

    Args:
        given: Array of PyTorch or CuPy that was written in place, or a view of one. Users of other
            libraries must wait for Warp's stream themselves.
    """
    source = getattr(given, '_source', given)
    module = sys.modules.get(type(source).__module__.partition('.')[0])
    name = getattr(module, '__name__', '')
    if name not in ('torch', 'cupy'):
        return
    device: Any = exchanged('an output', given).device
    if not device.is_cuda:
        return
    cuda: Any = module.cuda  # type: ignore[union-attr]
    if name == 'torch':
        stream = cuda.current_stream(device.ordinal).cuda_stream
    else:
        stream = cuda.get_current_stream().ptr
    if stream != device.stream.cuda_stream:
        wp.Stream(device, cuda_stream=stream).wait_stream(device.stream)
