# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""View of a model for batch solvers, read through Newton's field names alone.

Our :class:`Model`, a finalized ``newton.Model`` and a plain namespace with these fields are the
same thing here.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.tree import KinematicTree

# Limits further out than this, in rad or m, mean that there is none; Newton writes 1e10.
_NO_LIMIT = 1e9


@dataclasses.dataclass(frozen=True)
class Mimic:
    """A joint with one coordinate that follows another, q0 = coef0 + coef1 q1.

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
    """Return the bodies behind each joint, as rows of a compressed table.

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

    A lower limit above its upper one is Newton's mark of a joint without limits.

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
    """Return the enabled mimic constraints; none where the model has no such arrays.

    Newton keeps them in arrays of their own, and from its 1.7 on beside the joints.

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
        # A fixed joint that carries a mimic has nothing to move.
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
    """Return the same of the joints that say themselves which one they follow."""
    driver = getattr(model, 'joint_mimic_joint', None)
    if driver is None or not driver.shape[0]:
        return []
    drivers, coefficients = driver.numpy().tolist(), model.joint_mimic_coeffs.numpy().tolist()
    return [
        (joint, drivers[joint], *coefficients[joint])
        for joint in range(len(drivers))
        if drivers[joint] >= 0
    ]
