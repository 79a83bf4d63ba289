# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of the arrays of batch functions, and their conversion to Warp arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.array_exchange import check_device
from ros_ik.kinematics.runtime.array_exchange import exchanged
from ros_ik.kinematics.runtime.array_exchange import host_view
from ros_ik.kinematics.runtime.array_exchange import is_exchanged
from ros_ik.kinematics.runtime.array_exchange import wait_for_warp
from ros_ik.launch_lock import LAUNCH_LOCK
from ros_ik.numbers import check_writable
from ros_ik.numbers import host_array

# Warp's types that have a name of their own.
_WARP_TYPES = (
    wp.transformf, wp.transformd, wp.spatial_vectorf, wp.spatial_vectord, wp.quatf, wp.quatd,
    wp.vec2f, wp.vec2d, wp.vec3f, wp.vec3d, wp.vec4f, wp.vec4d, wp.mat33f, wp.mat33d, wp.mat44f,
    wp.mat44d,
)  # fmt: skip
_SCALARS = {np.dtype(np.float32): wp.float32, np.dtype(np.float64): wp.float64}


def batch_input(
    name: str,
    given: Any,
    columns: int,
    device: wp.DeviceLike,
    *,
    n: int | None = None,
    scalar: type | None = None,
) -> tuple[wp.array, type]:
    """Return an array of shape [n, columns] as a Warp array, and its scalar type.

    Args:
        name: Name of the argument, for errors.
        given: The array, float32 or float64, of any library, or a Warp array [n] of vectors or
            transforms. A host array is copied to a GPU.
        columns: Its second dimension.
        device: Device of the result.
        n: Its first dimension; None for any.
        scalar: The required precision; None for either.

    Raises:
        ArgumentError: Another shape, type or GPU, or a copy from the host during a capture.
    """
    if is_exchanged(given):
        given = as_numbers(exchanged(name, given))
    else:
        given = host_array(given, name)
    found = given.dtype if isinstance(given, wp.array) else _SCALARS.get(given.dtype)
    allowed = (wp.float32, wp.float64) if scalar is None else (scalar,)
    if found is None or found not in allowed:
        expected = 'float32 or float64' if scalar is None else scalar.__name__
        raise ArgumentError(f'{name} must be {expected}, got {type_name(given.dtype)}')
    shape = tuple(given.shape)
    if len(shape) != 2 or shape[1] != columns or n not in (None, shape[0]):
        rows = 'n' if n is None else n
        raise ArgumentError(f'{name} must have shape [{rows}, {columns}], got {list(shape)}')
    return _on_device(name, given, found, wp.get_device(device)), found


def batch_output(
    name: str, given: Any, shape: tuple[int, ...], dtype: Any, device: wp.DeviceLike
) -> wp.array:
    """Return the Warp array to compute into, in the memory of the given array if possible.

    Otherwise :func:`copy_back` copies it there, as where the components of vectors have gaps.

    Args:
        name: Name of the argument, for errors.
        given: The caller's output array, of any library.
        shape: Required shape as a Warp array of ``dtype``.
        dtype: Warp type of its elements; the components of a vector are the last dimension of an
            array of plain numbers.
        device: Device to compute on.

    Raises:
        ArgumentError: Another shape or type, another device (NumPy arrays may be on the host), or
            a read-only array, or a copy to the host during a capture.
    """
    target: Any = wp.get_device(device)
    check_writable(name, given)
    scalar = getattr(dtype, '_wp_scalar_type_', dtype)
    components = () if scalar is dtype else (dtype._length_,)
    if is_exchanged(given):
        array = exchanged(name, given)
        view = _as_type(array, shape, dtype)
        has_gaps = view is None and tuple(array.shape) == (*shape, *components)
        if has_gaps and array.dtype is scalar:
            check_device(name, array, target)
            return _separate_output(array, shape, dtype)
        if view is None:
            numbers = f'{[*shape, *components]} of {scalar.__name__} or ' if components else ''
            raise ArgumentError(
                f'{name} must have shape {numbers}{list(shape)} of {type_name(dtype)}, got '
                f'{list(array.shape)} of {type_name(array.dtype)}'
            )
        check_device(name, view, target)
        return view
    if not isinstance(given, np.ndarray):
        raise ArgumentError(
            f'{name} must be a NumPy or Warp array to write into, or one of another library, got '
            f'{type(given).__name__}'
        )
    if given.shape != (*shape, *components) or _SCALARS.get(given.dtype) is not scalar:
        raise ArgumentError(
            f'{name} must have shape {[*shape, *components]} of {scalar.__name__}, got '
            f'{list(given.shape)} of {given.dtype}'
        )
    memory = host_view(given, scalar) if target.is_cpu else None
    view = None if memory is None else _as_type(memory, shape, dtype)
    if view is None:
        _check_not_captured(name, target)
        return wp.zeros(shape, dtype=dtype, device=target)
    return view


def copy_back(result: wp.array, given: Any) -> None:
    """Copy the result to the caller's array, or let its library wait for a result in place."""
    if isinstance(given, np.ndarray):
        if result.ptr != given.__array_interface__['data'][0]:
            given[...] = result.numpy()
        return
    target = getattr(result, '_target', None)
    if target is not None:
        wp.copy(target, as_numbers(result))
    if wp.get_device(result.device).is_cuda:
        wait_for_warp(given)


def cast_into(target: wp.array, source: wp.array) -> None:
    """Copy between arrays of one device and shape, float32 or float64 each."""
    with LAUNCH_LOCK.shared():
        if target.dtype is source.dtype:
            wp.copy(target, source)
        else:
            wp.utils.array_cast(source, target)


def as_numbers(given: wp.array) -> wp.array:
    """Return a view of an array of vectors as an array of numbers."""
    scalar = getattr(given.dtype, '_wp_scalar_type_', given.dtype)
    components = () if scalar is given.dtype else getattr(given.dtype, '_shape_', ())
    view = _as_type(given, (*given.shape, *components), scalar) if len(components) == 1 else None
    return given if view is None else view


def _on_device(
    name: str, given: np.ndarray | wp.array, scalar: type, device: wp.Device
) -> wp.array:
    """Return an array on a device, copied only if it is elsewhere."""
    if isinstance(given, np.ndarray):
        view = host_view(given, scalar) if device.is_cpu else None
        if view is None:
            _check_not_captured(name, device)
            return wp.array(given, dtype=scalar, device=device)
        return view
    if wp.get_device(given.device).is_cpu and device.is_cuda:
        _check_not_captured(name, device)
        return given.to(device)
    check_device(name, given, device)
    return given


def _check_not_captured(name: str, device: wp.Device) -> None:
    """Refuse to copy from or to the host during a capture, whose replays would not repeat it."""
    if device.is_capturing:
        raise ArgumentError(
            f'{name} would be copied between host and {device}, which no capture repeats; give a '
            f'Warp array on {device}, of the right type and without gaps'
        )


def _as_type(given: wp.array, shape: tuple[int, ...], dtype: Any) -> wp.array | None:
    """Return an array, or a view of its memory as another type of the same layout.

    Warp has several types with the same layout: ``wp.transform`` (which is ``wp.transformf``) and
    the type that its generic functions make, for instance. An array of numbers whose last
    dimension holds the components has the same layout too.

    Args:
        given: The array.
        shape: Required shape as an array of ``dtype``.
        dtype: Required type.

    Returns:
        The array or view, or None if the memory layout does not match.
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
    # In an array of numbers, the last dimension becomes the components, if it is contiguous.
    if not components and scalar is not dtype:
        if strides[-1] != size:
            return None
        strides = strides[:-1]
    elif components and scalar is dtype:
        strides = (*strides, size)
    grad = _as_type(given.grad, shape, dtype) if given.grad is not None else None
    view = wp.array(
        ptr=given.ptr, dtype=dtype, shape=shape, strides=strides, device=given.device, copy=False,
        grad=grad, requires_grad=grad is not None,
    )  # fmt: skip
    view._source = given  # type: ignore[attr-defined]  # its memory lives as long as the view
    return view


def _separate_output(given: wp.array, shape: tuple[int, ...], dtype: Any) -> wp.array:
    """Return an array in memory of its own that :func:`copy_back` copies to numbers with gaps."""
    grad = given.requires_grad
    separate = wp.zeros(shape, dtype=dtype, device=given.device, requires_grad=grad)
    separate._target = given  # type: ignore[attr-defined]
    return separate


def type_name(dtype: Any) -> str:
    """Return the name of a NumPy or Warp type, of a Warp type the one that its users know."""
    if not isinstance(dtype, type):
        return str(dtype)
    for known in _WARP_TYPES:
        if wp.types.types_equal(known, dtype):
            return f'wp.{known.__name__}'
    return wp.types.type_repr(dtype)
