# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Range of a joint whose mimic joints have limits too."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

import numpy as np

from ros_ik.model.conventions.labels import listed


def driver_range(
    own: tuple[float, float], follower: tuple[float, float], coef0: float, coef1: float
) -> tuple[float, float]:
    """Return the limits of a driver, narrowed by those of its mimic joint.

    Args:
        own: Limits of the driver, or those that other mimic joints have left [rad or m].
        follower: Limits of the mimic joint, which is at coef0 + coef1 q [rad or m].
        coef0: Position of the mimic joint with the driver at 0.
        coef1: Motion of the mimic joint per motion of the driver; with 0 it stands at coef0, which
            narrows nothing if its limits allow it.

    Returns:
        The lower and the upper limit; the lower one is larger if no position fits both.
    """
    if coef1 == 0.0:
        return own if follower[0] <= coef0 <= follower[1] else (np.inf, -np.inf)
    low, high = sorted((bound - coef0) / coef1 for bound in follower)
    return max(own[0], low), min(own[1], high)


def narrow_drivers(
    lower: np.ndarray, upper: np.ndarray, links: Iterable[tuple[int, int, float, float]]
) -> list[int]:
    """Narrow the limits of drivers in place by those of their mimic joints.

    Limits of a mimic joint have no effect if they exclude every position that is left to its
    driver.

    Args:
        lower: Lower limit of each coordinate or degree of freedom [rad or m].
        upper: Upper limit of each, same shape.
        links: Index of the mimic joint, index of its driver, coef0 and coef1 of each mimic joint.

    Returns:
        Indices of the mimic joints whose limits have no effect.
    """
    found = []
    for follower, driver, coef0, coef1 in links:
        own, given = ((lower[k], upper[k]) for k in (driver, follower))
        low, high = driver_range(own, given, coef0, coef1)
        if low > high:
            found.append(follower)
        else:
            lower[driver], upper[driver] = low, high
    return found


def dof_links(
    mimic_driver: Mapping[int, tuple[int, float, float]], starts: np.ndarray
) -> list[tuple[int, int, float, float]]:
    """Return the mimic joints as :func:`narrow_drivers` takes them, by degree of freedom.

    Args:
        mimic_driver: Driver, coef0 and coef1 of each mimic joint, as :class:`Model` has them.
        starts: First degree of freedom of each joint.
    """
    return [
        (int(starts[joint]), int(starts[driver]), coef0, coef1)
        for joint, (driver, coef0, coef1) in mimic_driver.items()
    ]


def limits_without_effect(model: Any, lower: np.ndarray, upper: np.ndarray) -> list[int]:
    """Return the degrees of freedom of mimic joints whose limits leave their driver no position.

    Args:
        model: A :class:`Model`, or an object with the same mimic drivers.
        lower: Lower position limits [rad or m], [joint_dof_count]; not changed.
        upper: Upper position limits, same shape; not changed.
    """
    links = dof_links(model.mimic_driver, model.joint_qd_start.numpy())
    return narrow_drivers(lower.copy(), upper.copy(), links)


def limits_in_force(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the position limits of a model, without those of mimic joints that have no effect.

    Args:
        model: A :class:`Model`, or an object with the same limits and mimic drivers.

    Returns:
        Lower and upper limits [rad or m], -inf and inf for none, float64 [joint_dof_count].
    """
    lower, upper, _, _ = model.limits64()
    without_effect = limits_without_effect(model, lower, upper)
    lower[without_effect], upper[without_effect] = -np.inf, np.inf
    return lower, upper


def driver_limits(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the position limits of a model, those of drivers narrowed by their mimic joints.

    Args:
        model: A :class:`Model`, or an object with the same limits and mimic drivers.

    Returns:
        Lower and upper limits [rad or m], -inf and inf for none, float64 [joint_dof_count].
    """
    lower, upper, _, _ = model.limits64()
    narrow_drivers(lower, upper, dof_links(model.mimic_driver, model.joint_qd_start.numpy()))
    return lower, upper


def warnings_of_limits_without_effect(model: Any) -> list[str]:
    """Return a warning for each mimic joint whose limits exclude all positions of its driver.

    The positions are those that the driver and its other mimic joints allow.

    Args:
        model: A :class:`Model`, or an object with the same limits, mimic drivers and labels.
    """
    lower, upper, _, _ = model.limits64()
    low, high, starts = lower.copy(), upper.copy(), model.joint_qd_start.numpy()
    mimics, label = model.mimic_driver, model.joint_label
    excluded = set(narrow_drivers(low, high, dof_links(mimics, starts)))
    followers = [joint for joint in mimics if int(starts[joint]) in excluded]
    found = []
    for joint in followers:
        driver, coef0, coef1 = mimics[joint]
        own, of_driver, allowed_by = starts[joint], starts[driver], ''
        ends = _ends(lower[of_driver], upper[of_driver], coef0, coef1)
        if ends[1] >= lower[own] and ends[0] <= upper[own]:
            ends = _ends(low[of_driver], high[of_driver], coef0, coef1)
            others = [k for k in mimics if mimics[k][0] == driver and k not in followers]
            allowed_by = f' that {listed(repr(label[k]) for k in others)} can follow'
        found.append(
            f'joint {label[joint]!r} mimic: positions of joint '
            f'{label[driver]!r}{allowed_by} lead it from {ends[0]:g} to '
            f'{ends[1]:g}, all outside its limits, {lower[own]:g} to {upper[own]:g}'
        )
    return found


def _ends(lower: float, upper: float, coef0: float, coef1: float) -> tuple[float, float]:
    """Return the range of a mimic joint whose driver has these limits."""
    if coef1 == 0.0:
        return coef0, coef0
    low, high = sorted(coef0 + coef1 * bound for bound in (lower, upper))
    return low, high
