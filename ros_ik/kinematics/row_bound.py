# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Lower bound d of a barrier's row J x >= d, and the value of the barrier for a given bound.

d is the least change of the value h of the barrier in one step:

    d = -dt gain (h - margin) / (1 + |h - margin|),    at most dt recovery |J| if positive

d is -inf if h is infinite, which makes the row inactive.

A row whose J is only rounding has no direction in which h changes: its joints are still for it.
The direction of rounding would make joints move as fast as they can. The directions of distances
between hulls are accurate to 5e-8, others to 1e-14, times the lever arms of the joints.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

# Length of J up to which a row is still [units of h per rad or m].
STILL = 1e-7


@no_type_check
@functools.cache
def row_bound_functions(scalar: type) -> SimpleNamespace:
    """Build the functions, with inside = h - margin.

    - ``row_bound(inside, slope, gain, recovery, dt)``: d; ``slope`` is |J|, which is used only
      below the margin.
    - ``inside_of_fall(fall, gain, dt)``: the positive value of ``inside`` for which d = -fall;
      inf for a fall that no row allows.
    - ``is_still(square)``: True if |J|, of which this is the square, is only rounding.

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

    @wp.func
    def inside_of_fall(fall: scalar, gain: scalar, dt: scalar) -> scalar:
        part = fall / (gain * dt)
        if part < scalar(1.0):
            return part / (scalar(1.0) - part)
        return scalar(wp.inf)

    @wp.func
    def is_still(square: scalar) -> bool:
        return square <= scalar(wp.static(STILL * STILL))

    return SimpleNamespace(row_bound=row_bound, inside_of_fall=inside_of_fall, is_still=is_still)
