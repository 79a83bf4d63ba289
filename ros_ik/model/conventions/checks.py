# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of the arguments of a ModelBuilder; every error names the element and the value."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import math
from typing import Any

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.model.conventions.poses import IDENTITY_POSE
from ros_ik.model.conventions.poses import norm_fault
from ros_ik.numbers import as_integer
from ros_ik.numbers import integer_array
from ros_ik.numbers import real_array
from ros_ik.numbers import shown

# Quaternions of float32 origin are unit to about 1e-7 and stay as they are.
NORM_ROUNDING = 1e-6
# Shortest vector that has a direction.
MIN_AXIS = 1e-9
# Moments of inertia [kg m^2] negative only because of rounding, as in exports of CAD programs.
MIN_MOMENT = -1e-12


def checked_pose(where: str, pose: Any) -> np.ndarray:
    """Return a pose as a read-only float64 [7]; None is the identity.

    Raises:
        ArgumentError: Not seven finite numbers, or a quaternion that is not unit
            (:func:`ros_ik.model.conventions.poses.norm_fault`).
    """
    values = checked_array(where, IDENTITY_POSE if pose is None else pose, (7,))
    norm = checked_norm(where, values[3:])
    if abs(norm - 1.0) > NORM_ROUNDING:
        values = np.concatenate([values[:3], values[3:] / norm])
        values.setflags(write=False)
    return values


def checked_norm(where: str, quaternion: np.ndarray) -> float:
    """Return the norm of a quaternion [4].

    Raises:
        ArgumentError: It is not unit (:func:`ros_ik.model.conventions.poses.norm_fault`).
    """
    norm = float(np.linalg.norm(quaternion))
    if norm_fault(norm):
        raise ArgumentError(f'{where}: {norm_fault(norm)}')
    return norm


def checked_array(where: str, values: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return finite numbers as a read-only float64 array of a given shape.

    Raises:
        ArgumentError: Not numbers, another count of them, or one that is not finite.
    """
    array = real_array(where, values)
    if array.size != math.prod(shape):
        raise ArgumentError(f'{where}: expected shape {list(shape)}, got {list(array.shape)}')
    if not np.isfinite(array).all():
        raise ArgumentError(f'{where}: must be finite, got {array.tolist()}')
    array = array.reshape(shape)
    array.setflags(write=False)
    return array


def checked_flag(name: str, value: Any) -> bool:
    """Return a boolean of Python or NumPy, or 0 or 1, or raise ArgumentError."""
    if isinstance(value, bool | np.bool_) or as_integer(value) in (0, 1):
        return bool(value)
    raise ArgumentError(f'{name} must be True or False, got {value!r}')


def check_flags(**flags: Any) -> None:
    """Check several arguments, given by name, as :func:`checked_flag` does."""
    for name, value in flags.items():
        checked_flag(name, value)


def checked_names(name: str, values: Any) -> Mapping[str, Any]:
    """Return values by name, none for None, or raise ArgumentError naming the argument."""
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise ArgumentError(f'{name} must be values by name, got {shown(values)}')
    return values


def label_or(label: Any, default: str) -> str:
    """Return a label, a default for None or '', or raise ArgumentError."""
    return (checked_text('label', label) if label is not None else '') or default


def checked_text(name: str, value: Any) -> str:
    """Return a string, or raise ArgumentError naming the argument."""
    if not isinstance(value, str):
        raise ArgumentError(f'{name} must be a string, got {shown(value)}')
    return value


def checked_items(name: str, values: Any, content: str) -> tuple[Any, ...]:
    """Return the items of a list, or of anything else that can be iterated except text.

    Args:
        name: Name of the argument.
        values: The list.
        content: What it should hold, for the error.

    Raises:
        ArgumentError: Something that is not a list, such as one item or an array without
            dimensions.
    """
    if not isinstance(values, str | bytes | Mapping):
        try:
            return tuple(values)
        except TypeError:
            pass
    raise ArgumentError(f'{name} must be a list of {content}, got {shown(values)}')


def checked_inertia(where: str, values: Any) -> np.ndarray:
    """Return an inertia as a read-only float64 [3, 3].

    Raises:
        ArgumentError: Not nine finite numbers, or a negative moment.
    """
    inertia = checked_array(where, values, (3, 3))
    if moment_fault(inertia):
        raise ArgumentError(f'{where}: {moment_fault(inertia)}')
    return inertia


def moment_fault(inertia: np.ndarray) -> str:
    """Return the fault of an inertia [3, 3] with a negative moment, '' for none."""
    if (inertia.diagonal() < MIN_MOMENT).any():
        return f'moments must not be negative, got {inertia.tolist()}'
    return ''


def as_number(where: str, value: Any) -> float:
    """Return a value as a number, which may be NaN, or raise ArgumentError."""
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f'{where}: expected a number, got {value!r}') from error


def checked_amount(where: str, value: float, *, finite: bool = True) -> float:
    """Return a number that is not negative, or raise ArgumentError."""
    number = as_number(where, value)
    if math.isnan(number) or number < 0.0 or (finite and math.isinf(number)):
        expected = 'a finite number' if finite else 'a number'
        raise ArgumentError(f'{where}: expected {expected} >= 0, got {value}')
    return number


def checked_index(where: str, index: int, count: int, *, least: int = 0) -> int:
    """Return an index in [least, count), or raise ArgumentError.

    Raises:
        ArgumentError: Not an integer, a boolean, or outside the range.
    """
    number = as_integer(index)
    if number is None or not least <= number < count:
        raise ArgumentError(f'{where}: expected an index in [{least}, {count}), got {index!r}')
    return number


def checked_rows(where: str, indices: Any, count: int, *, least: int = 0) -> np.ndarray:
    """Return indices in [least, count) as an int array [n], or raise ArgumentError."""
    rows = integer_array(where, indices)
    if rows.ndim != 1 or np.any(rows < least) or np.any(rows >= count):
        given = shown(indices)
        raise ArgumentError(f'{where}: expected indices in [{least}, {count}), got {given}')
    return rows


def link_index(model: Any, link: int | str, *, least: int = -1, name: str = 'link') -> int:
    """Return the index of a link given by name or index, -1 for the world.

    Args:
        model: The model.
        link: Its name or index.
        name: Name of the argument, for errors.
        least: 0 if the world is not allowed.

    Raises:
        ArgumentError: The link does not exist.
    """
    if isinstance(link, str):
        return int(model.body_index(link))
    return checked_index(name, link, model.body_count, least=least)


def link_indices(name: str, model: Any, links: Any) -> list[int]:
    """Return the indices of links given by names or indices, -1 for the world.

    Args:
        name: Name of the argument, for errors.
        model: The model.
        links: The links.

    Raises:
        ArgumentError: One name instead of a list of them, or an unknown link.
    """
    if isinstance(links, np.ndarray):
        links = links.tolist()
    if isinstance(links, str) or not isinstance(links, Iterable):
        raise ArgumentError(f'{name} must be a list of links, got {links!r}')
    return [link_index(model, link, name=f'{name}[{k}]') for k, link in enumerate(links)]


def checked_device(device: wp.DeviceLike) -> wp.Device:
    """Return a device, the current one for None.

    Raises:
        ArgumentError: The device does not exist.
    """
    try:
        return wp.get_device(device)
    except (RuntimeError, TypeError, ValueError) as error:
        known = ', '.join(repr(str(known)) for known in wp.get_devices())
        raise ArgumentError(f'device must be one of {known}, got {device!r}: {error}') from error


def axis_number(where: str, axis: Any) -> int:
    """Return 0, 1 or 2 for a coordinate axis given as number, letter, or Newton's enum.

    Raises:
        ArgumentError: None of these.
    """
    number = 'xyz'.find(axis.lower()) if isinstance(axis, str) and len(axis) == 1 else axis
    try:
        return checked_index(where, number, 3)
    except ArgumentError:
        raise ArgumentError(f'{where}: expected 0, 1, 2, "x", "y", "z", got {axis!r}') from None


def checked_axis(where: str, axis: Any) -> np.ndarray:
    """Return a unit axis, read-only float64 [3].

    Args:
        where: Name of the argument in an error.
        axis: Three numbers, or a coordinate axis as 0, 1, 2 or 'x', 'y', 'z'.

    Raises:
        ArgumentError: None of these, not finite, or of zero length.
    """
    vector = np.array(checked_array(where, _named_axis(where, axis), (3,)))
    norm = float(np.linalg.norm(vector))
    if norm < MIN_AXIS:
        raise ArgumentError(f'{where}: has zero length: {vector.tolist()}')
    vector /= norm
    vector.setflags(write=False)
    return vector


def _named_axis(where: str, axis: Any) -> Sequence[float] | np.ndarray:
    """Return the vector of a coordinate axis that is given by number or letter."""
    if isinstance(axis, int | np.integer) or (isinstance(axis, str) and len(axis) == 1):
        return np.eye(3)[axis_number(where, axis)]
    return axis
