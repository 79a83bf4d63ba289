# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Active bounds of the variables of a step, as Warp functions of one variable.

A side is -1 if the lower bound is active, 1 for the upper one and 0 for a free variable.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp


@no_type_check
@functools.cache
def bound_side_functions() -> SimpleNamespace:
    """Build the functions, float64.

    Returns:
        ``first_side(side, is_warm, low, high) -> int``: the side to begin with, from that of the
        step before where ``is_warm``; ``side_beyond(x, low, high, tolerance) -> int``: the bound
        that x breaks, 0 for none; ``is_released(side, low, high, slope) -> bool``: True if
        the cost falls as the variable leaves its active bound inwards.
    """
    zero = wp.constant(wp.float64(0.0))

    @wp.func
    def first_side(side: int, is_warm: bool, low: wp.float64, high: wp.float64) -> int:
        first = int(0)
        if is_warm and side < 0 and wp.isfinite(low):
            first = -1
        if is_warm and side > 0 and wp.isfinite(high):
            first = 1
        if low == high:
            first = -1
        return first

    @wp.func
    def side_beyond(
        x: wp.float64, low: wp.float64, high: wp.float64, tolerance: wp.float64
    ) -> int:
        if x > high + tolerance:
            return 1
        if x < low - tolerance:
            return -1
        return 0

    @wp.func
    def is_released(side: int, low: wp.float64, high: wp.float64, slope: wp.float64) -> bool:
        return low < high and slope * wp.float64(side) > zero

    return SimpleNamespace(first_side=first_side, side_beyond=side_beyond, is_released=is_released)
