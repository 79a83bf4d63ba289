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


def driver_ranges(
    mimic_driver: Mapping[int, tuple[int, float, float]],
    starts: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
) -> tuple[dict[int, tuple[float, float]], list[int]]:
    """Return the range of each driver, and the mimic joints whose limits have no effect.

    Limits of a mimic joint that exclude every position that is left to its driver have none.

    Args:
        mimic_driver: Driver, coef0 and coef1 of each mimic joint, as :class:`Model` has them.
        starts: First degree of freedom of each joint.
        lower: Lower limit of each degree of freedom [rad or m].
        upper: Upper limit of each degree of freedom [rad or m].

    Returns:
        Lower and upper limit by the degree of freedom of each driver, and those of the mimic
        joints without effect.
    """
    ranges: dict[int, tuple[float, float]] = {}
    without_effect = []
    for joint, (driver_joint, coef0, coef1) in mimic_driver.items():
        follower, driver = int(starts[joint]), int(starts[driver_joint])
        before = ranges.get(driver, (float(lower[driver]), float(upper[driver])))
        of_follower = float(lower[follower]), float(upper[follower])
        low, high = driver_range(before, of_follower, coef0, coef1)
        if low > high:
            without_effect.append(follower)
        ranges[driver] = (low, high) if low <= high else before
    return ranges, without_effect
