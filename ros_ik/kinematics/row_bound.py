# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Lower bound d of a barrier's row J x >= d, the least change of its value h in one step.

    d = -dt gain (h - margin) / (1 + |h - margin|),    at most dt recovery |J| if positive

d is -inf if h is infinite, which makes the row inactive.
"""

import functools
from typing import no_type_check

import warp as wp


@no_type_check
@functools.cache
def row_bound_function(scalar: type) -> wp.Function:
    """Build ``row_bound(inside, slope, gain, recovery, dt)`` with inside = h - margin.

    ``slope`` is |J|, which is used only below the margin.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """

    @wp.func
    def row_bound(
        inside: scalar, slope: scalar, gain: scalar, recovery: scalar, dt: scalar
    ) -> scalar:
        if inside == scalar(wp.inf):
            return scalar(-wp.inf)
        bound = -dt * gain * inside / (scalar(1.0) + wp.abs(inside))
        if bound > scalar(0.0) and wp.isfinite(recovery):
            bound = wp.min(bound, dt * recovery * slope)
        return bound

    return row_bound
