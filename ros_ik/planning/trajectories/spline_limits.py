# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""First time at which a trajectory violates a joint limit, computed without sampling."""

from __future__ import annotations

from collections.abc import Iterator
import dataclasses
import math

import numpy as np

from ros_ik.planning.context.budget import Budget
from ros_ik.planning.trajectories.spline import Spline

# Tolerance of a limit for rounding errors [rad, m, and per s and s^2]; a point may be at its
# limit.
_ROUNDING = 1e-9


@dataclasses.dataclass(frozen=True, eq=False)
class JointBounds:
    """Limits of the joints of a trajectory; inf if there is none.

    Attributes:
        names: Their names.
        lower: Lower position limits [rad or m].
        upper: Upper position limits [rad or m].
        velocity: Velocity limits [rad/s or m/s].
        acceleration: Acceleration limits [rad/s^2 or m/s^2].
    """

    names: tuple[str, ...]
    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


@dataclasses.dataclass(frozen=True)
class Violation:
    """First violation of a limit.

    Attributes:
        time: Time [s].
        what: Name of the limit or the barrier.
    """

    time: float
    what: str


def first_limit_violation(spline: Spline, bounds: JointBounds, budget: Budget) -> Violation | None:
    """Return the first violation of a joint limit along a trajectory, or None.

    Raises:
        RequestError: The time limit has passed or the budget was cancelled.
    """
    kinds = (
        ('position', spline.control, bounds.lower, bounds.upper),
        ('velocity', spline.velocity_control(), -bounds.velocity, bounds.velocity),
        ('acceleration', spline.acceleration_control(), -bounds.acceleration,
         bounds.acceleration),
    )  # fmt: skip
    suspects = [
        (int(segment), kind)
        for kind in kinds
        for segment in np.flatnonzero(_outside(*kind[1:]).any(axis=1))
    ]
    first: Violation | None = None
    for segment, (kind, control, lower, upper) in sorted(suspects, key=lambda entry: entry[0]):
        start, duration = float(spline.start[segment]), float(spline.duration[segment])
        if first is not None and start > first.time:
            break
        budget.check_time()
        for joint, s in _crossings(control[segment], lower, upper):
            time = start + s * duration
            if first is None or time < first.time:
                first = Violation(time, f'{kind} limit of {bounds.names[joint]}')
    return first


def _outside(control: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return which joints of which segments may violate a limit, bool [m, joints]."""
    low, high = control.min(axis=1), control.max(axis=1)
    return (low < lower - _ROUNDING) | (high > upper + _ROUNDING)


def _crossings(
    control: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> Iterator[tuple[int, float]]:
    """Yield joints of a segment that violate a limit, and the elapsed fraction until then."""
    for joint in np.flatnonzero(_outside(control[None], lower, upper)[0]):
        column = control[:, joint]
        for excess in (column - upper[joint], lower[joint] - column):
            # In this basis, the coefficients of p - c are those of p minus c.
            s = _first_positive(excess - _ROUNDING) if np.isfinite(excess).all() else None
            if s is not None:
                yield int(joint), s


def _first_positive(coefficients: np.ndarray) -> float | None:
    """Return the first argument in [0, 1] where a Bernstein polynomial is positive, or None."""
    if coefficients.max() <= 0.0:
        return None
    if coefficients[0] > 0.0:
        return 0.0
    power = _power_basis(coefficients)
    roots = np.roots(power[::-1])
    real = np.sort(roots.real[(np.abs(roots.imag) < 1e-7) & (roots.real > 0.0)])
    ends = np.concatenate([[0.0], real[real < 1.0], [1.0]])
    for begin, end in zip(ends[:-1], ends[1:], strict=True):
        if np.polyval(power[::-1], 0.5 * (begin + end)) > 0.0:
            return float(begin)
    return 1.0 if coefficients[-1] > 0.0 else None


def _power_basis(coefficients: np.ndarray) -> np.ndarray:
    """Return the coefficients of s^0, s^1, ..: binomial(n, k) times the k-th difference."""
    degree = len(coefficients) - 1
    power, difference = np.empty(degree + 1), coefficients
    for k in range(degree + 1):
        power[k] = math.comb(degree, k) * difference[0]
        difference = np.diff(difference)
    return power
