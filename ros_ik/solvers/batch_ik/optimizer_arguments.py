# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of what batch optimizers are given; each error names the argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.arguments import check_memory
from ros_ik.kinematics.arguments import checked_count
from ros_ik.kinematics.arguments import checked_number
from ros_ik.objectives.arguments import residual_count


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
    """Raise ArgumentError for a batch that does not fit into memory, before anything is made.

    Args:
        name: What determines the number of rows, for the error.
        rows: Rows of the batch.
        model: The model.
        objectives: The objectives.
        candidates: Configurations tried together in each row.
        history_len: Pairs that L-BFGS keeps.
    """
    residuals = sum(residual_count(objective) for objective in objectives)
    coords, dofs = model.joint_coord_count, model.joint_dof_count
    tried = 8 * coords + 4 * dofs + 28 * model.body_count + 4 * residuals
    system = 16 * dofs * dofs + 4 * residuals * dofs + 16 * history_len * dofs
    row = (candidates + 2) * tried + system + 64 * dofs
    check_memory(name, rows, row, model.device)


def check_step(iterations: int, step_size: float) -> None:
    """Raise ArgumentError for arguments of a solve that cannot be used."""
    checked_count('iterations', iterations)
    checked_number('step_size', step_size, positive=True)


def check_array(name: str, given: Any, shape: tuple[int, ...], device: wp.Device) -> None:
    """Raise ArgumentError unless an array is float32, of this shape, on this device."""
    if not isinstance(given, wp.array):
        raise ArgumentError(f'{name} must be a Warp array, got {type(given).__name__}')
    if given.dtype != wp.float32 or given.shape != shape:
        raise ArgumentError(
            f'{name} must have shape {list(shape)} of float32, got {list(given.shape)} of '
            f'{given.dtype.__name__}'
        )
    if given.device != device:
        raise ArgumentError(f'{name} must be on {device}, got {given.device}')


def problem_rows(problem_idx: wp.array | None, n_batch: int) -> np.ndarray:
    """Return the problem of each row on the host, checked."""
    if problem_idx is None:
        return np.arange(n_batch, dtype=np.int32)
    if not isinstance(problem_idx, wp.array):
        raise ArgumentError(f'problem_idx must be a Warp array, got {type(problem_idx).__name__}')
    if problem_idx.shape != (n_batch,) or problem_idx.dtype != wp.int32:
        raise ArgumentError(
            f'problem_idx must have shape [{n_batch}] of int32, got {list(problem_idx.shape)} of '
            f'{problem_idx.dtype.__name__}'
        )
    rows = problem_idx.numpy()
    if rows.min() < 0:
        raise ArgumentError(f'problem_idx must not be negative, got {rows.min()}')
    return rows
