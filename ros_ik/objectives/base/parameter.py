# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of an objective on the device: targets, weights, offsets."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.array_exchange import exchanged
from ros_ik.kinematics.runtime.array_exchange import is_exchanged
from ros_ik.kinematics.runtime.batch_arrays import cast_into
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.numbers import real_array
from ros_ik.numbers import real_value


class Parameter:
    """Table of numbers, shape [count, width], that kernels read and the host may change.

    Numbers from the host are stored in float64, and kernels convert them, so one table serves
    float32 and float64 solves. A Warp array is used in place, without a copy: the next solve reads
    the values that the user, or the user's kernels, wrote to it.

    Attributes:
        name: Name of the argument, for errors.
        array: The numbers on the device, shape [count, width].
        given: The user's Warp array, if the solve reads it in place, otherwise ``array``. Both
            share their memory.
    """

    def __init__(
        self,
        name: str,
        values: Any,
        width: int,
        *,
        count: int | None = None,
        device: wp.DeviceLike = 'cpu',
    ) -> None:
        """Store the numbers.

        Args:
            name: Name of the argument, for errors.
            values: Numbers, shape [width] or [count, width]; or a Warp array of float32 or
                float64 of those shapes, or [count] of vectors, quaternions, transforms.
            width: Numbers per row.
            count: Required number of rows; None for any number, at least one.
            device: Device of the numbers until :meth:`bind`.

        Raises:
            ArgumentError: A wrong shape or type, or a number that is NaN.
        """
        self.name = name
        self._buffer: HostBuffer | None = None
        self._is_host_behind = False  # the numbers on the device did not pass through the host
        if isinstance(values, wp.array):
            self.array = _table(name, values, width)
            self.given = values  # keeps its memory alive for the view
        else:
            table = _host_table(name, values, width)
            self._buffer = _filled(table, device)
            self.given = self.array = self._buffer.array
        if not len(self) or (count is not None and len(self) != count):
            raise ArgumentError(
                f'{name} must have shape [{"n" if count is None else count}, {width}], '
                f'got {list(self.array.shape)}'
            )
        if np.any(np.isnan(self.read())):
            raise ArgumentError(f'{name} must not hold NaN, got {self.read()}')

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.array.shape[0])

    @property
    def scalar(self) -> type:
        """Floating-point type in which the numbers are stored."""
        return self.array.dtype  # type: ignore[no-any-return]

    def bind(self, device: wp.DeviceLike) -> None:
        """Copy the numbers to ``device``, if they are not there already.

        Raises:
            ArgumentError: They are a Warp array, which is read in place, on another device.
        """
        target = wp.get_device(device)
        if self.array.device == target:
            return
        if self._buffer is None:
            raise ArgumentError(
                f'{self.name} is a Warp array on {self.array.device}, and the solver on {target} '
                'would not see what is written to it later; pass an array of that device, or '
                'numbers'
            )
        self._buffer = _filled(self.read(), device)
        self.given = self.array = self._buffer.array
        self._is_host_behind = False

    def read(self) -> np.ndarray:
        """Return a copy in float64, shape [count, width]."""
        if self._buffer is None or self._is_host_behind:
            return np.array(self.array.numpy(), dtype=np.float64)
        return np.array(self._buffer.host, dtype=np.float64)

    @shares_launch_lock
    def write(self, values: Any) -> None:
        """Replace every row; a solve reports non-finite values.

        Args:
            values: As in the constructor, with the same number of rows, or such an array of
                another library. An array on the device of the parameter does not pass through the
                host.

        Raises:
            ArgumentError: A wrong shape or type.
        """
        if is_exchanged(values):
            values = _table(self.name, exchanged(self.name, values), self.array.shape[1])
            if values.device == self.array.device:
                self._check_count(len(values))
                cast_into(self.array, values)
                self._is_host_behind = self._buffer is not None and self._buffer.needs_copies
                return
            values = values.numpy()
        table = _host_table(self.name, values, self.array.shape[1])
        self._check_count(len(table))
        if self._buffer is None:
            self.array.assign(table.astype(wp.dtype_to_numpy(self.scalar)))
        else:
            self._buffer.write(table)
            self._is_host_behind = False

    @shares_launch_lock
    def write_row(self, row: int, values: Any) -> None:
        """Replace one row; a solve reports non-finite values.

        Args:
            row: Index of the row.
            values: Numbers, shape [width].

        Raises:
            ArgumentError: A wrong shape, or no such row.
        """
        if not checked_count(f'the row of {self.name}', row) < len(self):
            raise ArgumentError(f'{self.name} has {len(self)} rows, got row {row}')
        value = real_value(f'a row of {self.name}', values)
        if value.shape != (self.array.shape[1],):
            raise ArgumentError(
                f'a row of {self.name} must have shape [{self.array.shape[1]}], '
                f'got {list(value.shape)}'
            )
        if self._buffer is None:
            self.array[row : row + 1].assign(value[None].astype(wp.dtype_to_numpy(self.scalar)))
        else:
            self._buffer.wait_for_uploads()
            self._buffer.host[row] = value
            self._buffer.upload(1, first=row)

    def _check_count(self, count: int) -> None:
        if count != len(self):
            raise ArgumentError(f'{self.name} must have {len(self)} rows, got {count}')


def _host_table(name: str, values: Any, width: int) -> np.ndarray:
    """Return numbers as float64 [count, width], or raise ArgumentError."""
    given = table = real_array(name, values)
    if table.ndim == 1 and table.shape != (width,) and width == 1:
        table = table[:, None]
    table = np.atleast_2d(table)
    if table.ndim != 2 or table.shape[1] != width:
        raise ArgumentError(f'{name} must have shape [n, {width}], got {list(given.shape)}')
    return table


def _table(name: str, values: wp.array, width: int) -> wp.array:
    """Return a view of a Warp array as rows of scalars, or raise ArgumentError."""
    scalar = getattr(values.dtype, '_wp_scalar_type_', values.dtype)
    rows_of_vectors = scalar is not values.dtype
    length = getattr(values.dtype, '_length_', 1)
    single = values.ndim == 1 and not rows_of_vectors and width > 1  # one row of numbers
    shape = (*values.shape, length) if rows_of_vectors or values.ndim == 1 else tuple(values.shape)
    if single:
        shape = 1, *values.shape
    if scalar not in (wp.float32, wp.float64) or len(shape) != 2 or shape[1] != width:
        raise ArgumentError(
            f'{name} must be float32 or float64 of shape [n, {width}], got shape {list(shape)} '
            f'of {scalar.__name__}'
        )
    size = wp.types.type_size_in_bytes(scalar)
    last = size if rows_of_vectors or values.ndim == 1 else values.strides[1]
    return wp.array(
        ptr=values.ptr,
        dtype=scalar,
        shape=shape,
        strides=(values.shape[0] * values.strides[0], values.strides[0])
        if single
        else (values.strides[0], last),
        device=values.device,
        copy=False,
    )


def _filled(table: np.ndarray, device: wp.DeviceLike) -> HostBuffer:
    """Return a buffer on a device that holds the numbers."""
    buffer = HostBuffer(table.shape, wp.float64, device)
    buffer.write(table)
    return buffer
