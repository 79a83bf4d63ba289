# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Largest step from which steps that shrink by a constant amount stop within a distance.

    step(d, s) = s (k / 2 + D / (k + 1)),    D = d / s,    k = floor((sqrt(1 + 8 D) - 1) / 2)

The k + 1 steps x, x - s, ..., x - k s sum to (k + 1) (x - k s / 2) = d. (The continuous formula
sqrt(2 s d) would overshoot by up to s / 8.)
"""

import functools
from typing import no_type_check

import warp as wp


@no_type_check
@functools.cache
def braking_function(scalar: type) -> wp.Function:
    """Build ``braking_step(distance, shrink)``, which is the distance if ``shrink`` is 0."""

    @wp.func
    def braking_step(distance: scalar, shrink: scalar) -> scalar:
        if not wp.isfinite(distance) or shrink <= scalar(0.0):
            return distance
        D = distance / shrink
        k = wp.floor((wp.sqrt(scalar(1.0) + scalar(8.0) * D) - scalar(1.0)) / scalar(2.0))
        return shrink * (k / scalar(2.0) + D / (k + scalar(1.0)))

    return braking_step
