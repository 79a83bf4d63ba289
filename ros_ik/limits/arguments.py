# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of the arguments of limits; every error names the argument."""

from __future__ import annotations

import math
from typing import Any
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_numbers
from ros_ik.model.building.joints.mimic_range import limits_in_force
from ros_ik.numbers import real_array
from ros_ik.numbers import real_value

if TYPE_CHECKING:
    from ros_ik.model import JointGroup
    from ros_ik.model import Model


def dof_values(name: str, values: Any) -> np.ndarray:
    """Return the limits of degrees of freedom as float64; their shape is checked later.

    Args:
        name: Name of the argument.
        values: Numbers that are not negative; inf for no limit, 0 for a joint that must not move.

    Raises:
        ArgumentError: Not numbers, NaN, negative, or all zero, so that the robot could never move.
    """
    array = real_value(name, values)
    if np.any(np.isnan(array)):
        raise ArgumentError(f'{name} must not be NaN (inf stands for no limit), got {values}')
    if np.any(array < 0.0):
        raise ArgumentError(f'{name} must not be negative, got {values}')
    if array.size and not array.any():
        raise ArgumentError(
            f'{name} must not be zero for every joint, which would keep the robot at rest; '
            'inf stands for no limit'
        )
    return array


def positive_values(name: str, values: Any) -> np.ndarray:
    """Return limits as :func:`dof_values` does, all above zero, or raise ArgumentError."""
    array = dof_values(name, values)
    if not np.all(array > 0.0):
        raise ArgumentError(
            f'{name} must be positive (inf stands for no limit): with zero a joint at rest could '
            f'never move, got {values}'
        )
    return array


def fraction(name: str, value: Any) -> float:
    """Return a number in (0, 1], or raise ArgumentError."""
    number = checked_numbers(name, value)
    if number.shape != () or not 0.0 < number <= 1.0:
        raise ArgumentError(f'{name} must lie in (0, 1], got {value}')
    return float(number)


def finite_array(name: str, values: Any) -> np.ndarray:
    """Return an argument as a new float64 array.

    Raises:
        ArgumentError: Not numbers, or not finite; it names the argument.
    """
    is_float64 = isinstance(values, np.ndarray) and values.dtype == np.float64
    array = values.copy() if is_float64 else real_array(name, values)
    # The sum of squares is quicker to test, and finite only if every number is. It may overflow.
    if not math.isfinite(np.vdot(array, array)) and not np.isfinite(array).all():
        raise ArgumentError(f'{name} must be finite, got {values}')
    return array


def check_steps(name: str, steps: np.ndarray, dofs: tuple[int, ...], rows: int | None) -> None:
    """Check the shape of steps, [joint_dof_count] or [n, joint_dof_count].

    Args:
        name: Name of the argument.
        steps: The steps.
        dofs: Shape [joint_dof_count] of one step.
        rows: Number n of robots; None if it is unknown before the first solve.

    Raises:
        ArgumentError: Another shape; it names the argument.
    """
    known = steps.shape[:1] if rows is None else (rows,)
    if steps.shape not in (dofs, (*known, *dofs)):
        single, lead = ', '.join(map(str, dofs)), 'n' if rows is None else rows
        raise ArgumentError(
            f'{name} must have shape [{single}] or [{lead}, {single}], got {[*steps.shape]}'
        )


def margin_values(name: str, values: Any) -> np.ndarray:
    """Return margins from limits as float64, or raise ArgumentError."""
    array = finite_array(name, real_value(name, values))
    if np.any(array < 0.0):
        raise ArgumentError(f'{name} must not be negative, got {values}')
    return array


def check_some_may_move(name: str, values: np.ndarray, group: JointGroup) -> None:
    """Raise ArgumentError if limits [joint_dof_count] let no joint of a group move."""
    if not np.any(values[group.dof_variable >= 0]):
        raise ArgumentError(
            f'{name} must not be zero for every joint that the solver moves, which would keep '
            f'them at rest: {", ".join(group.joint_names)}'
        )


def position_bounds(
    name: str, margin: np.ndarray, model: Model, group: JointGroup
) -> tuple[np.ndarray, np.ndarray]:
    """Return the position limits of a model, narrowed by a margin.

    Mimic joints whose limits exclude every position of their driver have none. A joint with equal
    lower and upper limit keeps its position, whatever the margin. A locked joint keeps it too if
    the margin exceeds half its range.

    Args:
        name: Name of the margin, for errors.
        margin: Distance kept from each limit [rad or m], one or shape [joint_dof_count].
        model: The model.
        group: The joints that may move.

    Returns:
        Lower and upper bounds [rad or m], each [joint_dof_count].

    Raises:
        ArgumentError: A wrong shape, or a margin that leaves a joint of the group no room.
    """
    # Without the margin, which must not remove limits.
    low, high = limits_in_force(model)
    if margin.shape not in ((), low.shape):
        raise ArgumentError(
            f'{name} must be one number or have shape {[*low.shape]}, got {[*margin.shape]}'
        )
    with np.errstate(invalid='ignore'):
        half = 0.5 * (high - low)
    kept = np.broadcast_to(margin, low.shape)
    too_wide = np.flatnonzero((kept > half) & (half > 0.0) & (group.dof_variable >= 0))
    if len(too_wide):
        dof = int(too_wide[0])
        joint = int(np.searchsorted(model.joint_qd_start.numpy(), dof, side='right')) - 1
        raise ArgumentError(
            f'{name} {kept[dof]:g} leaves joint {model.joint_label[joint]!r} no room: its limits '
            f'are {low[dof]:g} and {high[dof]:g}'
        )
    kept = np.minimum(kept, half)
    return low + kept, high - kept
