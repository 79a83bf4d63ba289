# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Steps of one joint after which it can still stop within every limit.

A state is viable if the stop from it (:mod:`ros_ik.kinematics.stepping.jerk_limited_stop`) stays
within the position and velocity limits. Every later state of that stop is then viable too. Let p
be the next step of the stop, l the last step and A the change that led to l. From a viable state,
the steps x to viable states satisfy

    l - min(j - A, s, brake(v + l, j)) <= x <= l + min(j + A, s, brake(v - l, j))

and their stops stay within the range of positions. A longer step has a longer stop, so these steps
form an interval. It contains p and is never empty. A state can become non-viable if limits change
in motion. The interval then ends at p, and the jerk limits still hold. Above a lowered v, brake is
negative: the speed falls to v as it would fall to rest, or as p does where that is slower.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.stepping.jerk_limited_stop import jerk_limited_stop_functions

# Halvings of an interval of steps: to 1e-12 of its width.
_HALVINGS = 40
# Distance from its end at which a stop is no longer changed [rad or m].
_ARRIVED = 1e-9


@no_type_check
@functools.cache
def viable_step_functions(scalar: type) -> SimpleNamespace:
    """Build the Warp functions that compute the viable steps of a joint.

    ``viable_steps(last, change, behind, ahead, speed, slowdown, jerk)`` returns the least viable
    step, the step of the stop, and the largest viable step. ``behind`` and ``ahead`` are the
    distances to the position limits.
    ``nearest_step(least, braking, largest, last, displacement, slowdown, jerk)`` returns the
    viable step whose stop ends nearest to a displacement, which is the fastest motion there.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    functions = jerk_limited_stop_functions(scalar)
    make_stop, reach, next_change = functions.make_stop, functions.reach, functions.next_change
    wanted_change = functions.wanted_change
    endless = wp.constant(scalar(wp.inf))
    half = wp.constant(scalar(0.5))

    @wp.func
    def far_end(
        step: scalar, last: scalar, slowdown: scalar, jerk: scalar, whole: bool
    ) -> scalar:
        least, most, end = reach(make_stop(step, step - last, slowdown, jerk))
        return wp.where(whole, most, end)

    @wp.func
    def largest_step(
        low: scalar,
        high: scalar,
        last: scalar,
        room: scalar,
        slowdown: scalar,
        jerk: scalar,
        whole: bool,
    ) -> scalar:
        """Return the largest step whose stop, at its end or all along, stays within a distance."""
        if not wp.isfinite(room) or far_end(high, last, slowdown, jerk, whole) <= room:
            return high
        below = low
        above = high
        for _ in range(wp.static(_HALVINGS)):
            middle = half * (below + above)
            if far_end(middle, last, slowdown, jerk, whole) <= room:
                below = middle
            else:
                above = middle
        return below

    @wp.func
    def upper_step(
        braking: scalar,
        last: scalar,
        change: scalar,
        room: scalar,
        speed: scalar,
        slowdown: scalar,
        jerk: scalar,
    ) -> scalar:
        to_speed = wanted_change(last - speed, endless, jerk)
        gain = wp.min(wp.min(change + jerk, slowdown), to_speed)
        high = wp.max(last + gain, braking)
        return largest_step(braking, high, last, room, slowdown, jerk, True)

    @wp.func
    def viable_steps(
        last: scalar,
        change: scalar,
        behind: scalar,
        ahead: scalar,
        speed: scalar,
        slowdown: scalar,
        jerk: scalar,
    ):
        braking = last + next_change(last, change, slowdown, jerk)
        high = upper_step(braking, last, change, ahead, speed, slowdown, jerk)
        low = -upper_step(-braking, -last, -change, behind, speed, slowdown, jerk)
        return low, braking, high

    @wp.func
    def nearest_step(
        least: scalar,
        braking: scalar,
        largest: scalar,
        last: scalar,
        displacement: scalar,
        slowdown: scalar,
        jerk: scalar,
    ) -> scalar:
        lack = displacement - far_end(braking, last, slowdown, jerk, False)
        if wp.abs(lack) <= scalar(wp.static(_ARRIVED)):
            return braking
        if lack > scalar(0.0):
            return largest_step(braking, largest, last, displacement, slowdown, jerk, False)
        return -largest_step(-braking, -least, -last, -displacement, slowdown, jerk, False)

    return SimpleNamespace(viable_steps=viable_steps, nearest_step=nearest_step)
