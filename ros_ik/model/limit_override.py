# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Copy of a model with other position limits."""

from __future__ import annotations

import copy
import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.model.arrays import device_array
from ros_ik.model.building.tables.rows import FIXED_SIZES

if TYPE_CHECKING:
    from ros_ik.model.model import Model


def with_position_limits(model: Model, lower: np.ndarray, upper: np.ndarray) -> Model:
    """Return a copy with other position limits, which shares everything else.

    Args:
        model: The model, which is not changed.
        lower: Lower limits [rad or m], [joint_dof_count], -inf if there is none.
        upper: Upper limits, same shape.

    Raises:
        ArgumentError: A wrong shape, NaN, or a lower limit above the upper one.
    """
    shape = (model.joint_dof_count,)
    if lower.shape != shape or upper.shape != shape or not np.all(lower <= upper):
        raise ArgumentError(
            f'lower and upper must be ascending, of shape {list(shape)}, got {lower}, {upper}'
        )
    changed = copy.copy(model)
    _, _, velocity, effort = model.limits64()
    changed._limits = np.stack([lower, upper, velocity, effort])
    dofs = _dofs_of_coordinates(model)
    changed._space = dataclasses.replace(model._space, lower=lower[dofs], upper=upper[dofs])
    for name, values, before in (
        ('joint_limit_lower', lower, model.joint_limit_lower),
        ('joint_limit_upper', upper, model.joint_limit_upper),
    ):
        # In Newton's arrays a large number stands for no limit.
        numbers = np.where(np.isfinite(values), values, before.numpy())
        setattr(changed, name, device_array(numbers, wp.float32, model.device))
    return changed


def _dofs_of_coordinates(model: Model) -> np.ndarray:
    """Return the degrees of freedom with a coordinate of their own, int [k]."""
    starts = model.joint_qd_start.numpy()
    kinds = np.repeat(model.joint_type.numpy(), np.diff(starts))
    return np.flatnonzero(~np.isin(kinds, [int(kind) for kind in FIXED_SIZES]))
