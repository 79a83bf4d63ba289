# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Axes of a joint: their number by type, and the ways to specify them."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import Any

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.model.building.tables.joint_dof import checked_dof
from ros_ik.model.building.tables.joint_dof import DofData
from ros_ik.model.building.tables.joint_dof import JointDofConfig
from ros_ik.model.building.tables.rows import FIXED_SIZES
from ros_ik.model.conventions.checks import checked_items
from ros_ik.model.conventions.joint_type import JointType
from ros_ik.model.conventions.keywords import JOINT
from ros_ik.model.conventions.keywords import used

# Axes of the joints with fixed axes: linear, angular.
_XYZ = tuple(DofData(axis) for axis in np.eye(3))
_FIXED_AXES: dict[JointType, tuple[tuple[DofData, ...], tuple[DofData, ...]]] = {
    JointType.BALL: ((), _XYZ),
    JointType.FIXED: ((), ()),
    JointType.FREE: (_XYZ, _XYZ),
    JointType.DISTANCE: (_XYZ, _XYZ),
}
# Number of linear and angular axes of every kind except D6, which has up to MAX_AXES of each.
AXIS_COUNTS = {
    JointType.PRISMATIC: (1, 0),
    JointType.REVOLUTE: (0, 1),
    **{kind: (len(linear), len(angular)) for kind, (linear, angular) in _FIXED_AXES.items()},
}
MAX_AXES = 3
# Keyword arguments that belong to the axis of a joint with one.
_LIMITS = {field.name for field in dataclasses.fields(JointDofConfig)} - {'axis'}


def joint_sizes(kind: JointType, axis_count: int) -> tuple[int, int]:
    """Return the number of coordinates and of velocity constraints of a joint."""
    coords, _, constraints = FIXED_SIZES.get(kind, (axis_count, axis_count, 6 - axis_count))
    return coords, constraints


def one_axis(
    method: str, axis: Any, settings: dict[str, Any], default: JointDofConfig
) -> tuple[list[Any], dict[str, Any]]:
    """Split keyword arguments into one axis with its limits and those of the joint.

    Args:
        method: Name of the called method, for errors.
        axis: The axis, or a configuration of it.
        settings: Keyword arguments.
        default: Defaults.
    """
    settings = used(method, settings, (*JOINT, *_LIMITS))
    limits = {name: value for name, value in settings.items() if name in _LIMITS}
    common = {name: value for name, value in settings.items() if name not in _LIMITS}
    if isinstance(axis, DofData | JointDofConfig):
        if limits:
            raise ArgumentError(
                f'joint {settings.get("label") or ""!r}: {", ".join(sorted(limits))} are part '
                'of the axis, which is given with its limits'
            )
        return [axis], common
    limits = {name: value for name, value in limits.items() if value is not None}
    axis = default.axis if axis is None else axis
    return [dataclasses.replace(default, axis=axis, **limits)], common


def checked_axes(
    where: str,
    kind: JointType,
    linear: Sequence[Any] | None,
    angular: Sequence[Any] | None,
) -> tuple[tuple[DofData, ...], tuple[DofData, ...]]:
    """Return the axes of a joint, checked against its type."""
    linear = checked_items('linear_axes', () if linear is None else linear, 'axes')
    angular = checked_items('angular_axes', () if angular is None else angular, 'axes')
    given = len(linear), len(angular)
    if kind in _FIXED_AXES:
        if given not in ((0, 0), AXIS_COUNTS[kind]):
            raise ArgumentError(f'{where}: {kind.name} has axes {AXIS_COUNTS[kind]}, got {given}')
        return _FIXED_AXES[kind]
    if kind in AXIS_COUNTS and given != AXIS_COUNTS[kind]:
        raise ArgumentError(f'{where}: {kind.name} has axes {AXIS_COUNTS[kind]}, got {given}')
    if max(given) > MAX_AXES:
        raise ArgumentError(f'{where}: at most three axes of a kind, got {given}')
    axes = (*linear, *angular)
    checked = [checked_dof(f'{where} axis {k}', axis) for k, axis in enumerate(axes)]
    return tuple(checked[: given[0]]), tuple(checked[given[0] :])
