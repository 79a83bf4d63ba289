# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of the arguments of batch optimizers; every error names the argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import check_memory
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_number
from ros_ik.kinematics.runtime.arguments import MAX_ITERATIONS
from ros_ik.kinematics.runtime.array_exchange import as_warp
from ros_ik.kinematics.runtime.batch_arrays import type_name
from ros_ik.objectives.base.arguments import residual_count


def check_tolerances(cost_tolerance: float, gradient_tolerance: float) -> None:
    """Raise ArgumentError for a tolerance that is negative."""
    for name, value in (
        ('cost_tolerance', cost_tolerance), ('gradient_tolerance', gradient_tolerance),
    ):  # fmt: skip
        checked_number(name, value, finite=False)


def check_batch(
    name: str,
    rows: int,
    model: Any,
    objectives: Sequence[Any],
    *,
    candidates: int = 1,
    history_len: int = 0,
) -> None:
    """Raise ArgumentError for a batch that does not fit into memory, before any allocation.

    Args:
        name: Name of the arguments that determine the number of rows, for the error.
        rows: Number of rows of the batch.
        model: The model.
        objectives: The objectives.
        candidates: Number of configurations tried together in each row.
        history_len: Number of pairs that L-BFGS stores.
    """
    residuals = sum(residual_count(objective) for objective in objectives)
    coords, dofs = model.joint_coord_count, model.joint_dof_count
    tried = 8 * coords + 4 * dofs + 28 * model.body_count + 4 * residuals
    system = 16 * dofs * dofs + 4 * residuals * dofs + 16 * history_len * dofs
    row = (candidates + 2) * tried + system + 64 * dofs
    check_memory(name, rows, row, model.device)


def check_step(iterations: int, step_size: float) -> None:
    """Raise ArgumentError for invalid arguments of a solve."""
    checked_count('iterations', iterations, most=MAX_ITERATIONS)
    checked_number('step_size', step_size, positive=True)


def check_array(name: str, given: Any, shape: tuple[int, ...], device: wp.Device) -> None:
    """Raise ArgumentError unless an array of floats has this shape and is usable on this device.

    Args:
        name: Name of the argument, for errors.
        given: A NumPy array, or a Warp array on the device, of float32 or float64.
        shape: Required shape.
        device: The device.
    """
    if (
        isinstance(given, wp.array)
        and given.dtype is wp.float32
        and given.shape == shape
        and given.device is device
    ):
        return
    if isinstance(given, wp.array):
        wrong = given.dtype not in (wp.float32, wp.float64)
        kind = type_name(given.dtype)
    elif isinstance(given, np.ndarray):
        wrong, kind = given.dtype not in (np.float32, np.float64), str(given.dtype)
    else:
        raise ArgumentError(f'{name} must be a Warp or NumPy array, got {type(given).__name__}')
    if wrong or given.shape != shape:
        raise ArgumentError(
            f'{name} must have shape {list(shape)} of float32 or float64, got '
            f'{list(given.shape)} of {kind}'
        )
    if isinstance(given, wp.array) and given.device != device:
        raise ArgumentError(f'{name} must be on {device}, got {given.device}')


def copy_array(target: wp.array | np.ndarray, source: wp.array | np.ndarray) -> None:
    """Copy between arrays that :func:`check_array` accepts, one of which is a float32 Warp array.

    A copy from or to a NumPy array cannot be part of a capture.
    """
    if target.dtype is source.dtype:  # false for NumPy types
        wp.copy(target, source)  # type: ignore[arg-type]
    elif isinstance(target, np.ndarray):
        target[...] = source.numpy() if isinstance(source, wp.array) else source
    elif isinstance(source, np.ndarray):
        with np.errstate(over='ignore'):  # overflow gives infinity, which a solve reports
            target.assign(source.astype(np.float32))
    else:
        wp.utils.array_cast(source, target)


def problem_rows(problem_idx: wp.array | np.ndarray | None, n_batch: int) -> np.ndarray:
    """Check the problem of each row and return them on the host."""
    if problem_idx is None:
        return np.arange(n_batch, dtype=np.int32)
    problem_idx = as_warp('problem_idx', problem_idx)
    if not isinstance(problem_idx, wp.array | np.ndarray):
        raise ArgumentError(
            f'problem_idx must be a Warp or NumPy array, got {type(problem_idx).__name__}'
        )
    rows = problem_idx.numpy() if isinstance(problem_idx, wp.array) else problem_idx
    if rows.shape != (n_batch,) or rows.dtype.kind not in 'iu':
        raise ArgumentError(
            f'problem_idx must have shape [{n_batch}] of int32, got {list(rows.shape)} of '
            f'{rows.dtype}'
        )
    rows = rows.astype(np.int32)
    if rows.min() < 0:
        raise ArgumentError(f'problem_idx must not be negative, got {rows.min()}')
    return rows
