# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of common arguments; every error names the argument."""

from __future__ import annotations

from collections.abc import Sequence
import math
from pathlib import Path
from typing import Any
from typing import TypeVar

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.numbers import as_integer
from ros_ik.numbers import real_array
from ros_ik.numbers import shown

# Largest number of rows, because the device indexes rows and threads with 32 bits.
_MAX_ROWS = 2**31 - 1
# Largest number of iterations, twice which is a number of the device too.
MAX_ITERATIONS = 10**9
_Options = TypeVar('_Options')


def checked_model(model: Any) -> Any:
    """Return a model, or raise ArgumentError if it has no joint arrays."""
    if not hasattr(model, 'joint_type') or not hasattr(model, 'joint_dof_count'):
        raise ArgumentError(
            f"model must be a Model or any object with Newton's joint arrays, got {model!r}"
        )
    return model


def checked_link(name: str, link: Any) -> int:
    """Return a body index, or raise ArgumentError naming the argument; its range is not checked.

    Args:
        name: Name of the argument.
        link: A Python or NumPy integer; no boolean.
    """
    number = as_integer(link)
    if number is None:
        hint = f'; model.body_index({link!r}) returns it' if isinstance(link, str) else ''
        raise ArgumentError(f'{name} must be the integer index of a body, got {link!r}{hint}')
    return number


def checked_count(name: str, value: Any, least: int = 0, most: int | None = None) -> int:
    """Return an integer within bounds, or raise ArgumentError naming the argument.

    Args:
        name: Name of the argument.
        value: The integer.
        least: Its smallest value.
        most: Its largest value, None for any.
    """
    number = as_integer(value)
    if number is None or number < least:
        raise ArgumentError(f'{name} must be an integer of at least {least}, got {value!r}')
    if most is not None and number > most:
        raise ArgumentError(f'{name} must be an integer of at most {most}, got {value!r}')
    return number


def checked_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """Return one of several strings, or raise ArgumentError naming the argument."""
    if not (isinstance(value, str) and value in choices):
        raise ArgumentError(f'{name} must be one of {", ".join(choices)}, got {value!r}')
    return value


def checked_options(name: str, kind: type[_Options], value: _Options | None) -> _Options:
    """Return settings, the defaults of their type for None, or raise ArgumentError."""
    return kind() if value is None else checked_instance(name, kind, value)


def checked_instance(name: str, kind: type[_Options], value: Any) -> _Options:
    """Return an object of a class, or raise ArgumentError naming the argument."""
    if not isinstance(value, kind):
        raise ArgumentError(f'{name} must be {kind.__name__}, got {shown(value)}')
    return value


def checked_number(name: str, value: Any, *, positive: bool = False, finite: bool = True) -> float:
    """Return a number that is not negative, or raise ArgumentError naming the argument.

    Args:
        name: Name of the argument.
        value: The number.
        positive: True if zero is an error too.
        finite: True if infinity is an error.
    """
    try:
        # A text would be kept by those who only check it.
        number = math.nan if isinstance(value, (str, bytes)) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    wrong = math.isnan(number) or number < 0.0 or (finite and math.isinf(number))
    if wrong or (positive and number == 0.0):
        kind = 'positive' if positive else 'not negative'
        raise ArgumentError(f'{name} must be {kind}{" and finite" * finite}, got {value!r}')
    return number


def checked_numbers(name: str, value: Any) -> np.ndarray:
    """Return a float64 copy on the host, or raise ArgumentError naming the argument."""
    return real_array(name, value)


def check_memory(name: str, rows: int, bytes_per_row: int, device: wp.DeviceLike) -> None:
    """Raise ArgumentError for a batch that does not fit into the free memory.

    Args:
        name: Name of the arguments that determine the number of rows, for the error.
        rows: Number of rows of the batch.
        bytes_per_row: Approximate memory per row.
        device: The device.
    """
    if rows > _MAX_ROWS:
        raise ArgumentError(f'{name} must make at most {_MAX_ROWS} rows, got {rows}')
    needed, free = rows * bytes_per_row, _free_bytes(wp.get_device(device))
    if needed > free:
        raise ArgumentError(
            f'{name} makes {rows} rows, which take {needed / 1e9:.3g} GB on {device}; '
            f'{free / 1e9:.3g} GB are free. Solve fewer at a time'
        )


def _free_bytes(device: wp.Device) -> float:
    """Return the free memory of a device [bytes], inf if unknown."""
    if device.is_cuda:
        return float(device.free_memory)
    free = math.inf
    try:
        for line in Path('/proc/meminfo').read_text().splitlines():
            if line.startswith('MemAvailable:'):
                free = 1024.0 * int(line.split()[1])
        # A container may have a limit below the machine's memory; 'max' means no limit.
        free = min(free, float(Path('/sys/fs/cgroup/memory.max').read_text()))
    except (OSError, ValueError):
        pass
    return free
