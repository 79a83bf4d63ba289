# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Filter that keeps the solutions of poses in which no shapes collide."""

from __future__ import annotations

import dataclasses

import numpy as np

from ros_ik.kinematics.collisions import CollisionChecker
from ros_ik.solvers.analytic.result import AllSolutions
from ros_ik.solvers.status import SolveStatus

# Configurations that are checked at once; bounds the memory of the checker.
CHECKED_AT_ONCE = 1024


def collision_free(
    found: AllSolutions, checker: CollisionChecker, max_solutions: int
) -> AllSolutions:
    """Return the solutions without collision, in the same order.

    Args:
        found: Solutions in s places.
        checker: Checks the pairs that may collide.
        max_solutions: Places of the result, at most s.

    Returns:
        Solutions of which ``n_exist`` counts those without collision; IN_COLLISION, and the
        nearest one in the first place, where every solution collides.
    """
    n, s = found.joint_q.shape[:2]
    there = np.arange(s) < found.n_found[:, None]
    free = np.zeros((n, s), dtype=bool)
    rows = found.joint_q[there]
    collides = [
        checker.check(rows[first : first + checker.n]) for first in range(0, len(rows), checker.n)
    ]
    free[there] = ~np.concatenate(collides) if collides else False
    # Free ones first; a stable sort keeps their order.
    order = np.argsort(~free, axis=1, kind='stable')[:, :max_solutions]
    n_exist = free.sum(axis=1).astype(np.int32)
    n_found = np.minimum(n_exist, max_solutions).astype(np.int32)
    order = np.where(
        np.arange(order.shape[1]) < np.maximum(n_found, 1)[:, None], order, order[:, :1]
    )
    index = np.arange(n)[:, None], order
    blocked = (found.n_found > 0) & (n_found == 0) & (found.status == SolveStatus.CONVERGED)
    return dataclasses.replace(
        found,
        joint_q=found.joint_q[index],
        n_found=n_found,
        n_exist=n_exist,
        status=np.where(blocked, int(SolveStatus.IN_COLLISION), found.status).astype(np.int32),
        position_error=found.position_error[index],
        rotation_error=found.rotation_error[index],
        singular=found.singular[index],
        free_direction=found.free_direction[index],
    )
