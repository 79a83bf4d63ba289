# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of arguments that many functions share; each error names the argument."""

from __future__ import annotations

import math
import operator
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.numbers import real_array

# Rows and threads are counted in 32 bits on the device.
_MOST_ROWS = 2**31 - 1


def checked_model(model: Any) -> Any:
    """Return a model, or raise ArgumentError for what has no joint arrays."""
    if not hasattr(model, 'joint_type') or not hasattr(model, 'joint_dof_count'):
        raise ArgumentError(
            f"model must be a Model or any object with Newton's joint arrays, got {model!r}"
        )
    return model


def checked_link(name: str, link: Any) -> int:
    """Return a body index, or raise ArgumentError naming the argument; its range is not checked.

    Args:
        name: Name of the argument.
        link: An integer; NumPy's count, booleans and numbers with a fraction do not.
    """
    number = _integer(link)
    if number is None:
        hint = f'; model.body_index({link!r}) tells it' if isinstance(link, str) else ''
        raise ArgumentError(f'{name} must be the integer index of a body, got {link!r}{hint}')
    return number


def checked_count(name: str, value: Any, least: int = 0) -> int:
    """Return an integer of at least ``least``, or raise ArgumentError naming the argument."""
    number = _integer(value)
    if number is None or number < least:
        raise ArgumentError(f'{name} must be an integer of at least {least}, got {value!r}')
    return number


def checked_number(name: str, value: Any, *, positive: bool = False, finite: bool = True) -> float:
    """Return a number that is not negative, or raise ArgumentError naming the argument.

    Args:
        name: Name of the argument.
        value: The number.
        positive: Whether it must not be zero either.
        finite: Whether it must not be infinite.
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    wrong = math.isnan(number) or number < 0.0 or (finite and math.isinf(number))
    if wrong or (positive and number == 0.0):
        kind = 'positive' if positive else 'not negative'
        raise ArgumentError(f'{name} must be {kind}{" and finite" * finite}, got {value!r}')
    return number


def checked_numbers(name: str, value: Any) -> np.ndarray:
    """Return a copy in float64 on the host, or raise ArgumentError naming the argument."""
    return real_array(name, value)


def check_memory(name: str, rows: int, bytes_per_row: int, device: wp.DeviceLike) -> None:
    """Raise ArgumentError for a batch that does not fit into the memory that is free.

    Args:
        name: What determines the number of rows, for the error.
        rows: Rows of the batch.
        bytes_per_row: About what a row takes.
        device: Where.
    """
    if rows > _MOST_ROWS:
        raise ArgumentError(f'{name} must make at most {_MOST_ROWS} rows, got {rows}')
    needed, free = rows * bytes_per_row, _free_bytes(wp.get_device(device))
    if needed > free:
        raise ArgumentError(
            f'{name} makes {rows} rows, which take {needed / 1e9:.3g} GB on {device}; '
            f'{free / 1e9:.3g} GB are free. Solve fewer at a time'
        )


def _free_bytes(device: wp.Device) -> float:
    """Return the memory that is free on a device [bytes], inf where that is not known."""
    if device.is_cuda:
        return float(device.free_memory)
    free = math.inf
    try:
        for line in Path('/proc/meminfo').read_text().splitlines():
            if line.startswith('MemAvailable:'):
                free = 1024.0 * int(line.split()[1])
        # A container may have less than the machine; 'max' says that it has not.
        free = min(free, float(Path('/sys/fs/cgroup/memory.max').read_text()))
    except (OSError, ValueError):
        pass
    return free


def _integer(value: Any) -> int | None:
    """Return a value as an integer, None for what is not one."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None
