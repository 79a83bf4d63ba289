# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Range of a joint whose mimic joint has limits too."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


def driver_range(
    own: tuple[float, float], follower: tuple[float, float], coef0: float, coef1: float
) -> tuple[float, float]:
    """Return the limits of a driver, narrowed by those of its mimic joint.

    Args:
        own: Limits of the driver, or those that other mimic joints have left [rad or m].
        follower: Limits of the mimic joint, which is at coef0 + coef1 q [rad or m].
        coef0: Position of the mimic joint with the driver at 0.
        coef1: Motion of the mimic joint per motion of the driver; with 0 it narrows nothing.

    Returns:
        The lower and the upper limit; the lower one is larger if no position fits both.
    """
    if coef1 == 0.0:
        return own
    low, high = sorted((bound - coef0) / coef1 for bound in follower)
    return max(own[0], low), min(own[1], high)


def range_in_force(
    own: tuple[float, float], follower: tuple[float, float], coef0: float, coef1: float
) -> tuple[float, float]:
    """Return :func:`driver_range`, or ``own`` where the limits of the follower have no effect.

    They have none if they exclude every position that is left to the driver.
    """
    low, high = driver_range(own, follower, coef0, coef1)
    return (low, high) if low <= high else own


def limits_without_effect(
    mimic_driver: Mapping[int, tuple[int, float, float]],
    starts: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
) -> list[int]:
    """Return the degrees of freedom of the mimic joints whose limits have no effect.

    Args:
        mimic_driver: Driver, coef0 and coef1 of each mimic joint, as :class:`Model` has them.
        starts: First degree of freedom of each joint.
        lower: Lower limit of each degree of freedom [rad or m].
        upper: Upper limit of each degree of freedom [rad or m].
    """
    lower, upper, found = lower.copy(), upper.copy(), []
    for joint, (driver_joint, coef0, coef1) in mimic_driver.items():
        follower, driver = (
            (float(lower[k]), float(upper[k])) for k in (starts[joint], starts[driver_joint])
        )
        low, high = driver_range(driver, follower, coef0, coef1)
        if low > high:
            found.append(int(starts[joint]))
        else:
            lower[starts[driver_joint]], upper[starts[driver_joint]] = low, high
    return found
