# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of the arguments of objectives; every error names the argument."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_numbers
from ros_ik.model.conventions.checks import checked_items
from ros_ik.model.conventions.checks import checked_norm
from ros_ik.model.conventions.poses import norm_fault
from ros_ik.numbers import integer_array
from ros_ik.numbers import real_value


def checked_vector(name: str, value: Any, length: int) -> np.ndarray:
    """Return finite numbers as float64 [length], or raise ArgumentError naming the argument."""
    vector = real_value(name, value)
    if vector.shape != (length,) or not np.all(np.isfinite(vector)):
        raise ArgumentError(f'{name} must be {length} finite numbers, got {value}')
    return vector


def checked_unit(name: str, value: Any, length: int) -> np.ndarray:
    """Return finite numbers scaled to length one, or raise ArgumentError naming the argument."""
    vector = checked_vector(name, value, length)
    norm = np.linalg.norm(vector)
    if norm < 1e-9:
        raise ArgumentError(f'{name} must not be zero, got {value}')
    return np.asarray(vector / norm)


def checked_pose(name: str, pose: Any) -> np.ndarray:
    """Return a pose x y z qx qy qz qw with a unit quaternion as float64 [7], or raise."""
    value = checked_vector(name, pose, 7)
    value[3:] /= checked_norm(name, value[3:])
    return value


def checked_quaternions(name: str, values: Any, start: int, *, unit: bool = False) -> Any:
    """Return rows whose last four numbers are unit quaternions.

    Args:
        name: Name of the argument.
        values: Rows from the host, which are normalised, or a Warp array, which is returned
            unchanged. It may be written later, so the solve reports invalid quaternions.
        start: Column in which the quaternions begin.
        unit: True if they must be unit quaternions, as in poses. Otherwise, as in Newton's
            objectives, any length but zero is allowed.

    Raises:
        ArgumentError: A quaternion that is zero, not finite, or not unit.
    """
    if isinstance(values, wp.array):
        return values
    table = np.atleast_2d(checked_numbers(name, values))
    if table.ndim != 2 or table.shape[1] != start + 4:
        return values  # the caller checks the shape
    norms = np.linalg.norm(table[:, start:], axis=1, keepdims=True)
    if not np.all(np.isfinite(table)) or np.any(norms < 1e-9):
        raise ArgumentError(
            f'{name} must be finite, with quaternions that are not zero, got {table}'
        )
    for row, norm in enumerate(norms[:, 0].tolist() if unit else ()):
        if norm_fault(norm):
            raise ArgumentError(f'{name}[{row}]: {norm_fault(norm)}')
    table[:, start:] /= norms
    return table


def checked_weight(name: str, weight: Any, count: int = 1) -> np.ndarray:
    """Return ``count`` finite non-negative numbers, given as one or ``count``, or raise."""
    value = real_value(name, weight)
    if value.shape not in ((), (count,)) or not np.all(np.isfinite(value)) or np.any(value < 0.0):
        wanted = 'a non-negative number' if count == 1 else f'one or {count} non-negative numbers'
        raise ArgumentError(f'{name} must be {wanted}, got {weight}')
    return np.broadcast_to(value, (count,)).copy()


def checked_objectives(objectives: Any) -> list[Any]:
    """Return a list of objectives; raise ArgumentError if it is empty or contains others."""
    found = list(checked_items('objectives', objectives, 'objectives'))
    if not found:
        raise ArgumentError('objectives must hold at least one objective, got none')
    for k, objective in enumerate(found):
        if not hasattr(objective, 'compute_residuals'):
            raise ArgumentError(
                f'objectives[{k}] must be an IKObjective of ros_ik or Newton, got {objective!r}'
            )
    return found


def residual_count(objective: Any) -> int:
    """Return the number of residuals of an objective, or raise ArgumentError naming it."""
    return checked_count(f'{type(objective).__name__}.residual_dim()', objective.residual_dim(), 1)


def checked_links(name: str, links: Any, body_count: int, least: int = 0) -> np.ndarray:
    """Return body indices as int32 [n] that lie in [least, body_count), or raise."""
    indices = np.atleast_1d(integer_array(name, links))
    if indices.ndim != 1:
        raise ArgumentError(f'{name} must be body indices, got {links}')
    if np.any(indices < least) or np.any(indices >= body_count):
        raise ArgumentError(f'{name} must lie in [{least}, {body_count}), got {links}')
    return indices.astype(np.int32)
