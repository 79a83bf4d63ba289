# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Smoothing of a joint path by self-motions, which do not move the tool.

With the unit vector t_k of the self-motion at configuration q_k, the lengths d_k minimise

    sum over k of |q_k+1 + t_k+1 d_k+1 - q_k - t_k d_k|^2,

which is a tridiagonal system (Gauss-Newton method for the energy of the path). Each q_k + t_k d_k
is then corrected to reach its pose exactly. Configurations that would violate a constraint stay
unchanged.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# Number of steps, largest change of a configuration in one [rad or m], and relative decrease of
# the energy below which the method ends.
_STEPS, _MAX_CHANGE, _GAIN = 30, 0.2, 1e-4
# Keeps the system regular where a path reverses.
_REGULAR = 1e-9

# Computes unit vectors [n, v] of the self-motion at variables [n, v].
Tangents = Callable[[np.ndarray], np.ndarray]
# Corrects variables [n, v] to reach their poses; returns which rows succeeded, bool [n].
Correct = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
# Tests which rows of a path [n, v], and the motions next to them, are allowed, bool [n].
Allowed = Callable[[np.ndarray], np.ndarray]


def smoothed(
    path: np.ndarray,
    tangents: Tangents,
    correct: Correct,
    allowed: Allowed,
    *,
    is_start_fixed: bool,
) -> np.ndarray:
    """Return a path of less energy at the same poses.

    Args:
        path: Variables of the chain at each pose, [n, v].
        tangents: Function that computes self-motions.
        correct: Function that corrects configurations to reach their poses.
        allowed: Function that tests constraints.
        is_start_fixed: True if the first configuration is given.
    """
    fixed = np.zeros(len(path), dtype=bool)
    fixed[0] = is_start_fixed
    energy = _energy(path)
    for _ in range(_STEPS):
        change = _step(path, tangents(path), fixed)
        change *= min(1.0, _MAX_CHANGE / max(np.max(np.abs(change)), _MAX_CHANGE))
        there, solved = correct(path + change)
        refused = ~solved & ~fixed
        there[fixed | refused] = path[fixed | refused]
        refused |= ~allowed(there) & ~fixed
        if refused.any():
            fixed |= refused
            continue
        after = _energy(there)
        if not after < energy:
            break
        gain, energy, path = energy - after, after, there
        if gain < _GAIN * after:
            break
    return path


def _energy(path: np.ndarray) -> float:
    return float(np.sum(np.diff(path, axis=0) ** 2))


def _step(path: np.ndarray, tangents: np.ndarray, fixed: np.ndarray) -> np.ndarray:
    """Return the change t_k d_k of each configuration, [n, v]."""
    n = len(path)
    free = np.where(fixed[:, None], 0.0, tangents)
    steps = np.diff(path, axis=0)
    forces = np.zeros(n)
    forces[:-1] += np.sum(free[:-1] * steps, axis=1)
    forces[1:] -= np.sum(free[1:] * steps, axis=1)
    neighbours = np.full(n, 2.0)
    neighbours[[0, -1]] = 1.0
    diagonal = np.where(fixed, 1.0, neighbours + _REGULAR)
    beside = -np.sum(free[1:] * free[:-1], axis=1)
    return free * _tridiagonal(diagonal, beside, forces)[:, None]


def _tridiagonal(diagonal: np.ndarray, beside: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve a symmetric positive definite tridiagonal system (Thomas)."""
    n = len(diagonal)
    pivots, values = diagonal.tolist(), right.tolist()
    off = beside.tolist()
    for k in range(1, n):
        factor = off[k - 1] / pivots[k - 1]
        pivots[k] -= factor * off[k - 1]
        values[k] -= factor * values[k - 1]
    values[-1] /= pivots[-1]
    for k in range(n - 2, -1, -1):
        values[k] = (values[k] - off[k] * values[k + 1]) / pivots[k]
    return np.array(values)
