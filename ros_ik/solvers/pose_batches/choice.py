# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Choice among the solutions of one or several poses, by a preference."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from typing import TypeAlias

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.numbers import real_array
from ros_ik.solvers.analytic.manipulability import manipulability
from ros_ik.solvers.pose_ik.interface.result import ChainIKResult
from ros_ik.solvers.pose_ik.interface.result import ChainIKSettings
from ros_ik.solvers.pose_ik.interface.result import GoalSetResult

if TYPE_CHECKING:
    from ros_ik.kinematics.serial_chain import SerialChain

# A name, or a function that returns costs [n] of configurations [n, joint_coord_count].
Preference: TypeAlias = 'str | Callable[[np.ndarray], np.ndarray]'
PREFERENCES = ('seed', 'middle', 'manipulability')
# Default number of solutions of a pose for preferences other than the seed.
N_CANDIDATES = 16
# Smallest distance of distinct solutions of a search [rad or m], in the joint that differs most.
_SEPARATION = ChainIKSettings().separation
# Weight of a radian [m] in the choice of the nearest of several unreachable poses.
_RADIAN = 0.2


def checked_preference(preference: Preference) -> Preference:
    """Check and return a preference.

    Raises:
        ArgumentError: An unknown name, or neither a name nor a function.
    """
    if not callable(preference) and preference not in PREFERENCES:
        raise ArgumentError(
            f'preference must be one of {", ".join(PREFERENCES)} or a function, got {preference!r}'
        )
    return preference


def preference_cost(
    preference: Preference,
    chain: SerialChain,
    joint_q: np.ndarray,
    seeds: np.ndarray | None,
    rows: np.ndarray,
    device: wp.DeviceLike = 'cpu',
) -> np.ndarray:
    """Return the costs of configurations, [n].

    Whole turns of joints do not change manipulability. Configurations of a pose that differ only
    by whole turns, within the accuracy of a search, have the same cost.

    Args:
        preference: 'seed' for the distance to the seed, 'middle' for the distance to the middle of
            the limits relative to half their ranges, 'manipulability' for the negative of
            :func:`manipulability`; or a function.
        chain: The chain.
        joint_q: Configurations of the whole model, [n, joint_coord_count].
        seeds: Their seeds, of the same shape; None for the middle of the limits.
        rows: Index of the pose of each configuration, ascending, [n].
        device: Device for manipulability.

    Raises:
        ArgumentError: A function did not return a number for each configuration.
    """
    if preference == 'manipulability':
        cost = -manipulability(chain, joint_q, device=device)
        return cost[_first_of_turns(chain, joint_q[:, chain.coordinates], rows)]
    q = joint_q[:, chain.coordinates]
    low, high = chain.sampling_range()
    middle, half = 0.5 * (low + high), np.maximum(0.5 * (high - low), 1e-9)
    if preference == 'middle':
        return np.linalg.norm((q - middle) / half, axis=1)
    if preference == 'seed':
        return np.linalg.norm(
            q - (middle if seeds is None else seeds[:, chain.coordinates]), axis=1
        )
    assert callable(preference)
    cost = real_array('preference', preference(joint_q))
    if cost.shape != (len(q),):
        raise ArgumentError(
            f'preference must return one number for each configuration, shape [{len(q)}], '
            f'got {list(cost.shape)}'
        )
    return cost


def _first_of_turns(chain: SerialChain, q: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the first configuration of the same pose that differs only by whole turns, [n].

    Args:
        chain: The chain.
        q: Variables of the configurations, [n, m].
        rows: Index of the pose of each configuration, ascending, [n].
    """
    turn = chain.turn_lengths()
    turning = np.isfinite(turn)
    first = np.arange(len(q))
    # Compare each configuration with the one k places before it, if that has the same pose.
    for k in range(1, int(np.bincount(rows).max(initial=1))):
        gap = q[k:] - q[:-k]
        gap[:, turning] -= turn[turning] * np.rint(gap[:, turning] / turn[turning])
        same = (np.abs(gap).max(axis=1) < _SEPARATION) & (rows[k:] == rows[:-k])
        first[k:] = np.where(same, np.minimum(first[k:], first[:-k]), first[k:])
    return first


def best_of(
    found: ChainIKResult,
    n_goals: int,
    n_solutions: int,
    cost: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> GoalSetResult:
    """Return the best solutions of problems with several poses each.

    Args:
        found: Solutions of all poses, problem by problem, [n * n_goals, s].
        n_goals: Number of alternative poses of a problem.
        n_solutions: Number of solutions to return.
        cost: Function that returns the costs of configurations [k, joint_coord_count] for poses
            [k].

    Returns:
        The solutions, sorted by cost. For a problem without a solution, the best configuration
        of the nearest pose, with its status.
    """
    n = len(found.status) // n_goals
    s = found.joint_q.shape[1]
    there: np.ndarray = np.arange(s) < found.n_found[:, None]
    costs: np.ndarray = np.full(there.shape, np.inf)
    rows = np.nonzero(there)[0]
    costs[there] = cost(found.joint_q[there], rows)
    costs, there = costs.reshape(n, -1), there.reshape(n, -1)
    order = np.argsort(costs, axis=1, kind='stable')[:, :n_solutions]
    n_found = np.minimum(there.sum(axis=1), n_solutions)
    away = found.position_error[:, 0] + _RADIAN * found.rotation_error[:, 0]
    nearest = np.argmin(np.nan_to_num(away, nan=np.inf).reshape(n, -1), axis=1)
    first = np.where(n_found > 0, order[:, 0], nearest * s)
    order = np.where(np.arange(order.shape[1]) < n_found[:, None], order, first[:, None])
    goal, place = np.divmod(order, s)
    row = goal + n_goals * np.arange(n)[:, None]
    place = place if n_solutions > 1 else place[:, 0]
    row = row if n_solutions > 1 else row[:, 0]
    return GoalSetResult(
        joint_q=found.joint_q[row, place],
        status=found.status[n_goals * np.arange(n) + first // s],
        n_found=n_found.astype(np.int32),
        position_error=found.position_error[row, place],
        rotation_error=found.rotation_error[row, place],
        goal=row % n_goals,
    )
