# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Limits, mimic joints and moved bodies of a model, read by Newton's field names alone.

A model may be our :class:`Model`, a finalized ``newton.Model``, or any namespace with these
fields.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.tree import KinematicTree

# Limits beyond this [rad or m] are treated as no limits; Newton uses 1e10.
_NO_LIMIT = 1e9


@dataclasses.dataclass(frozen=True)
class Mimic:
    """Mimic joint with one coordinate, q0 = coef0 + coef1 q1.

    Attributes:
        joint0: The follower.
        joint1: The driver.
        coef0: Offset [rad or m].
        coef1: Factor.
    """

    joint0: int
    joint1: int
    coef0: float
    coef1: float


def moved_bodies(model: Any, tree: KinematicTree) -> tuple[np.ndarray, np.ndarray]:
    """Return the bodies that each joint moves, as compressed rows.

    Args:
        model: Any object with Newton's joint arrays.
        tree: Its tree.

    Returns:
        Start of each joint's bodies, int32 [joint_count + 1], and the bodies, int32.
    """
    parent, child = model.joint_parent.numpy(), model.joint_child.numpy()
    order = tree.arrays.joint_order.numpy().tolist()
    incoming = {int(child[joint]): joint for joint in order}
    behind: list[list[int]] = [[] for _ in range(model.joint_count)]
    for body in incoming:
        at = body
        while at in incoming:
            behind[incoming[at]].append(body)
            at = int(parent[incoming[at]])
    start = np.cumsum([0] + [len(bodies) for bodies in behind]).astype(np.int32)
    return start, np.array([body for bodies in behind for body in bodies], dtype=np.int32)


def dof_limits(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of each degree of freedom, float32 [joint_dof_count], +-inf for none.

    In Newton, a lower limit above the upper one means that a joint has no limits.

    Args:
        model: Any object with Newton's joint arrays.
    """
    lower = model.joint_limit_lower.numpy().astype(np.float32)
    upper = model.joint_limit_upper.numpy().astype(np.float32)
    none = lower > upper
    lower = np.where(none | ~(lower > -_NO_LIMIT), -np.inf, lower)
    upper = np.where(none | ~(upper < _NO_LIMIT), np.inf, upper)
    return lower.astype(np.float32), upper.astype(np.float32)


def mimic_constraints(model: Any) -> list[Mimic]:
    """Return the enabled mimic constraints; none if the model has no such arrays.

    Newton stores them in arrays of constraints, and since version 1.7 also in arrays of joints.

    Args:
        model: Any object with Newton's joint arrays.

    Raises:
        ArgumentError: A constraint on a joint that has more than one coordinate.
    """
    given = _constraint_rows(model)
    constrained = {row[0] for row in given}
    given += [row for row in _joint_rows(model) if row[0] not in constrained]
    if not given:
        return []
    dofs = np.diff(model.joint_qd_start.numpy())
    coords = np.diff(model.joint_q_start.numpy())
    found = []
    for follower, driver, coef0, coef1 in given:
        # A mimic constraint on a fixed joint has no effect.
        if dofs[follower] == 0:
            continue
        if any(dofs[j] != 1 or coords[j] != 1 for j in (follower, driver)):
            raise ArgumentError(
                f'model: mimic joints must have one coordinate; joint {follower} follows {driver}'
            )
        found.append(Mimic(follower, driver, coef0, coef1))
    return found


def _constraint_rows(model: Any) -> list[tuple[int, int, float, float]]:
    """Return follower, driver, offset and factor of the enabled constraints."""
    joint0 = getattr(model, 'constraint_mimic_joint0', None)
    if joint0 is None or not joint0.shape[0]:
        return []
    columns = [
        getattr(model, f'constraint_mimic_{name}').numpy().tolist()
        for name in ('joint0', 'joint1', 'coef0', 'coef1', 'enabled')
    ]
    return [row[:4] for row in zip(*columns, strict=True) if row[4]]


def _joint_rows(model: Any) -> list[tuple[int, int, float, float]]:
    """Return follower, driver, offset and factor from the arrays of joints."""
    driver = getattr(model, 'joint_mimic_joint', None)
    if driver is None or not driver.shape[0]:
        return []
    drivers, coefficients = driver.numpy().tolist(), model.joint_mimic_coeffs.numpy().tolist()
    return [
        (joint, drivers[joint], *coefficients[joint])
        for joint in range(len(drivers))
        if drivers[joint] >= 0
    ]
