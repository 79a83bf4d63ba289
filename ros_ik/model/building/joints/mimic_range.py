# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Range of a joint whose mimic joint has limits too."""

from __future__ import annotations


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
