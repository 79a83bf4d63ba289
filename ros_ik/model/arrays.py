# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Conversion of a builder's columns to the arrays of a model."""

from __future__ import annotations

from typing import Any
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.launch_lock import shares_launch_lock
from ros_ik.model.building.joints.configuration_space import ConfigurationSpace
from ros_ik.model.building.joints.configuration_space import resolve_mimics
from ros_ik.model.building.tables.columns import COLUMNS
from ros_ik.model.building.tables.joint_dof import UNLIMITED
from ros_ik.model.building.tables.rows import FIXED_SIZES
from ros_ik.model.building.tables.rows import mimic_row
from ros_ik.model.conventions.joint_type import JointType

if TYPE_CHECKING:
    from ros_ik.model.building.worlds.articulations import Articulations
    from ros_ik.model.model import Model

_LIMITS = (
    'joint_limit_lower', 'joint_limit_upper', 'joint_velocity_limit', 'joint_effort_limit',
)  # fmt: skip
# Fields that the model also stores with the float64 precision of the description.
_PRECISE = ('body_mass', 'body_com', 'body_inertia', 'joint_X_p', 'joint_X_c', 'joint_axis')
_START_ARRAYS = {'joint_q_start': 'joint_coord', 'joint_qd_start': 'joint_dof'}


@shares_launch_lock
def device_array(values: Any, dtype: Any, device: Any, requires_grad: bool = False) -> wp.array:
    """Return rows of numbers as an array; without rows it is empty, of the same type and rank."""
    values = np.asarray(values, dtype=wp.dtype_to_numpy(_scalar(dtype)))
    if not len(values):
        # The columns of vectors are part of their type.
        shape = values.shape if _scalar(dtype) is dtype else 0
        return wp.empty(shape, dtype=dtype, device=device, requires_grad=requires_grad)
    return wp.array(values, dtype=dtype, device=device, requires_grad=requires_grad)


def fill_arrays(model: Model, builder: Articulations) -> None:
    """Set the field of every column.

    Args:
        model: The model; its device and ``requires_grad`` are set.
        builder: The builder, with checked columns and an articulation for every joint.
    """
    for name, column in COLUMNS.items():
        if not column.on_model:
            continue
        values = getattr(builder, name)
        if column.dtype is None:
            setattr(model, name, list(values))
            continue
        # Real numbers are float64 arrays, integers and flags lists.
        real = isinstance(values, np.ndarray)
        host = values if real else np.array(values, wp.dtype_to_numpy(column.dtype))
        if name in _PRECISE:
            setattr(model, f'{name}64', host)
        if name in _START_ARRAYS:
            host = np.append(host, builder.row_count(_START_ARRAYS[name]))
        elif name == 'articulation_start':
            host = np.append(host, builder.joint_count)
        elif name == 'joint_dof_dim':
            host = host.reshape(-1, 2)
        elif name in _LIMITS:
            host = np.clip(host, -UNLIMITED, UNLIMITED)
        grad = column.grad and model.requires_grad
        setattr(model, name, device_array(host, column.dtype, model.device, grad))


def limits(builder: Articulations) -> np.ndarray:
    """Return lower, upper, velocity and effort limits, +-inf for none, float64 [4, dofs].

    Distance joints do not bound a coordinate and have no limits here.
    """
    result = np.array([getattr(builder, name) for name in _LIMITS], dtype=np.float64)
    start = np.append(np.array(builder.joint_qd_start, dtype=int), builder.joint_dof_count)
    for joint in np.flatnonzero(np.array(builder.joint_type, dtype=int) == JointType.DISTANCE):
        result[:2, start[joint] : start[joint + 1]] = [[-np.inf], [np.inf]]
    return result


def body_inverses(model: Model) -> tuple[wp.array, wp.array]:
    """Return inverse masses and inertias, zero for bodies without mass or singular inertia."""
    mass = model.body_mass.numpy().astype(np.float64)
    inertia = model.body_inertia.numpy().astype(np.float64).reshape(-1, 3, 3)
    inverse_mass = np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0.0)
    regular = (mass > 0.0) & (np.linalg.det(inertia) != 0.0)
    inverse = np.zeros_like(inertia)
    inverse[regular] = np.linalg.inv(inertia[regular])
    grad, device = model.requires_grad, model.device
    return (
        device_array(inverse_mass, wp.float32, device, grad),
        device_array(inverse, wp.mat33, device, grad),
    )


def joint_ancestors(builder: Articulations) -> np.ndarray:
    """Return the joint that places the parent body of each joint, or -1, [joint_count]."""
    incoming = np.full(builder.body_count + 1, -1)  # the last one is the world, body -1
    incoming[builder.joint_child] = np.arange(builder.joint_count)
    return incoming[builder.joint_parent]


def world_starts(world: np.ndarray, rows: np.ndarray, world_count: int) -> np.ndarray:
    """Return the first row of each world, then of global rows at the end, then all rows.

    Args:
        world: World of each element, -1 for all, [n].
        rows: Rows of each element, [n].
        world_count: Number of worlds.

    Returns:
        int [world_count + 2], Newton's ``*_world_start``.
    """
    inside = world >= 0
    leading = int(rows[: np.argmax(inside)].sum() if inside.any() else rows.sum())
    per_world = np.bincount(world[inside], rows[inside], minlength=world_count).astype(int)
    return np.concatenate([[leading], leading + np.cumsum(per_world), [rows.sum()]])


def fill_world_starts(model: Model, builder: Articulations) -> None:
    """Set all fields with the first row of each world."""
    joints = np.array(builder.joint_world, dtype=int)
    for name in ('body', 'joint', 'shape', 'articulation'):
        world = np.array(getattr(builder, f'{name}_world'), dtype=int)
        _set_world_start(model, name, world, np.ones(len(world), dtype=int))
    for name, first in (
        ('joint_coord', builder.joint_q_start),
        ('joint_dof', builder.joint_qd_start),
        ('joint_constraint', builder.joint_cts_start),
    ):
        rows = np.diff(np.append(np.array(first, dtype=int), builder.row_count(name)))
        _set_world_start(model, name, joints, rows)


def _set_world_start(model: Model, name: str, world: np.ndarray, rows: np.ndarray) -> None:
    """Set one field with the first row of each world."""
    starts = world_starts(world, rows, model.world_count)
    setattr(model, f'{name}_world_start', device_array(starts, wp.int32, model.device))


def longest_articulation(builder: Articulations) -> tuple[int, int]:
    """Return the largest number of joints and of degrees of freedom of an articulation."""
    start = np.array(builder.articulation_start, dtype=int)
    end = np.array(builder.articulation_end, dtype=int)
    qd = np.append(np.array(builder.joint_qd_start, dtype=int), builder.joint_dof_count)
    return int(np.max(end - start, initial=0)), int(np.max(qd[end] - qd[start], initial=0))


def configuration_space(
    builder: Articulations, limits: np.ndarray, drivers: dict[int, tuple[int, float, float]]
) -> ConfigurationSpace:
    """Return the coordinates of a builder's joints with their limits.

    Args:
        builder: The joints.
        limits: As :func:`limits` returns them.
        drivers: As :func:`active_mimics` returns them.
    """
    kinds = np.array(builder.joint_type, dtype=int)
    q_start = np.array(builder.joint_q_start, dtype=int)
    qd_start = np.array(builder.joint_qd_start, dtype=int)
    joint = np.repeat(np.arange(len(kinds)), np.diff(np.append(qd_start, builder.joint_dof_count)))
    within = np.arange(len(joint)) - qd_start[joint]
    dofs = np.flatnonzero(~np.isin(kinds[joint], [int(kind) for kind in FIXED_SIZES]))
    linear = np.array(builder.joint_dof_dim, dtype=int).reshape(-1, 2)[joint, 0]
    quaternions = np.flatnonzero(
        np.isin(kinds, [int(k) for k in FIXED_SIZES if FIXED_SIZES[k][0]])
    )
    sizes = [FIXED_SIZES[JointType(kinds[k])][0] for k in quaternions]
    values = list(drivers.values())
    return ConfigurationSpace(
        n_coords=builder.joint_coord_count,
        coords=q_start[joint[dofs]] + within[dofs],
        lower=limits[0][dofs],
        upper=limits[1][dofs],
        reach=np.where(within < linear, 1.0, np.pi)[dofs],
        quaternion_joints=tuple(
            (int(q_start[k]), int(q_start[k]) + size - 4)
            for k, size in zip(quaternions, sizes, strict=True)
        ),
        followers=q_start[list(drivers)],
        drivers=q_start[[driver for driver, _, _ in values]],
        coef0=np.array([coef0 for _, coef0, _ in values]),
        coef1=np.array([coef1 for _, _, coef1 in values]),
    )


def active_mimics(builder: Articulations) -> dict[int, tuple[int, float, float]]:
    """Return for each mimic joint its final driver, offset and factor.

    Raises:
        ArgumentError: A joint that follows two joints, or itself.
    """
    enabled = [k for k, on in enumerate(builder.constraint_mimic_enabled) if on]
    return resolve_mimics([mimic_row(builder, k) for k in enabled])


def _scalar(dtype: Any) -> Any:
    """Return the scalar type of a Warp type."""
    return getattr(dtype, '_wp_scalar_type_', dtype)


def joint_order(builder: Articulations, ancestors: np.ndarray) -> np.ndarray | None:
    """Return an order with parents first in each articulation, or None if the joints have it.

    Args:
        builder: The joints.
        ancestors: As :func:`joint_ancestors` returns them.
    """
    joints = np.arange(len(ancestors))
    if np.all(ancestors < joints):
        return None
    depth, above = np.zeros(len(joints), dtype=int), ancestors
    while np.any(above >= 0):
        depth += above >= 0
        above = np.where(above >= 0, ancestors[above], -1)
    first = np.array(builder.articulation_start)[np.array(builder.joint_articulation)]
    return np.lexsort((joints, depth, first))
