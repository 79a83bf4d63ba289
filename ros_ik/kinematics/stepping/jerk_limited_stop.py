# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Stop of one degree of freedom within acceleration and jerk limits, in closed form.

All quantities are per step. x is a step, A = x - last its change, s = a dt^2 the largest change
and j = J dt^3 the largest difference of two successive changes. The next change of the stop is

    A' = clamp(T(x), A - j, A + j),    T(x) = -sign(x) min(s, brake(|x|, j))

with brake(d, j) of :mod:`ros_ik.kinematics.stepping.braking`, the largest change from which
changes that shrink by j sum to d. This is the fastest stop: velocity and acceleration become zero
together. Changes that shrink from s by j sum to

    total(s) = (k + 1) (s - k j / 2),    k = ceil(s / j) - 1

The changes of a stop are three arithmetic series: A - i j, until T is within reach; then -s; then
-(brake - i j). If the change A is opposite to the step and too large, the joint reverses once,
during the first series. With infinite j, this is the stop of
:mod:`ros_ik.kinematics.stepping.stop_path`.
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.stepping.braking import braking_function


@no_type_check
@functools.cache
def jerk_limited_stop_struct(scalar: type) -> Any:
    """Return the Warp struct of the stop after a step x."""

    @wp.struct
    class JerkLimitedStop:
        step: scalar  # x
        side: scalar  # 1 or -1, direction in which speeds and changes are positive
        speed: scalar  # of x
        change: scalar  # A
        slowdown: scalar  # s
        jerk: scalar  # j
        last_change: scalar  # first change of the last series, positive
        growth: scalar  # of the last series
        first: scalar  # number of steps of each series
        second: scalar
        third: scalar
        turn: scalar  # number of steps after which the joint reverses, 0 for never

    return JerkLimitedStop


@no_type_check
@functools.cache
def jerk_limited_stop_functions(scalar: type) -> SimpleNamespace:
    """Build the functions of jerk-limited stops.

    - ``next_change(step, change, slowdown, jerk)``: the next change A'.
    - ``make_stop(step, change, slowdown, jerk)``: the stop after a step.
    - ``ticks(stop)``: number of steps until rest.
    - ``displacement_at(stop, time)``: displacement at time u, in units of a step; the step itself
      ends at u = 1.
    - ``travel_at(stop, time)``: length of the path up to that time.
    - ``reach(stop)``: least, largest and final displacement.
    - ``wanted_change(step, slowdown, jerk)``: the change T(x) of the fastest way to rest.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    Stop = jerk_limited_stop_struct(scalar)
    braking_step = braking_function(scalar)
    zero, half, one = (wp.constant(scalar(value)) for value in (0.0, 0.5, 1.0))
    two, three = wp.constant(scalar(2.0)), wp.constant(scalar(3.0))

    @wp.func
    def most_change(speed: scalar, jerk: scalar) -> scalar:
        # A single change removes exactly the remaining speed.
        if speed <= jerk:
            return wp.max(speed, zero)
        return braking_step(speed, jerk)

    @wp.func
    def total(change: scalar, jerk: scalar) -> scalar:
        if not wp.isfinite(jerk):
            return change
        k = wp.max(wp.ceil(change / jerk) - one, zero)
        return (k + one) * (change - k * jerk * half)

    @wp.func
    def wanted_change(step: scalar, slowdown: scalar, jerk: scalar) -> scalar:
        return -wp.sign(step) * wp.min(slowdown, most_change(wp.abs(step), jerk))

    @wp.func
    def next_change(step: scalar, change: scalar, slowdown: scalar, jerk: scalar) -> scalar:
        return wp.clamp(wanted_change(step, slowdown, jerk), change - jerk, change + jerk)

    @wp.func
    def run(speed: scalar, change: scalar, growth: scalar, n: scalar):
        """Return speed and path length after n steps with changes ``change + i growth``."""
        pairs = half * n * (n + one)
        after = speed + n * change + growth * pairs
        travel = n * speed + change * pairs + growth * pairs * (n + two) / three
        return after, travel

    @wp.func
    def free_steps(speed: scalar, change: scalar, slowdown: scalar, jerk: scalar) -> scalar:
        """Return the number of changes ``change - i jerk`` until T is within reach."""
        first = jerk - change
        c = wp.ceil(first / jerk) - one
        rest = first - c * jerk
        # Speed at which the same series of changes, extended backwards, would begin with ``rest``.
        begun = speed + c * rest + half * jerk * c * (c - one)
        m = zero
        if begun >= rest:
            root = wp.sqrt(wp.max(rest * rest + jerk * (begun - rest), zero))
            m = wp.floor((root - rest) / jerk) + one
        if slowdown >= rest:
            m = wp.min(m, wp.floor((slowdown - rest) / jerk) + one)
        else:
            m = zero
        return wp.max(m, wp.max(c, zero)) - c

    @wp.func
    def turning_step(speed: scalar, change: scalar, jerk: scalar) -> scalar:
        """Return the number of free steps after which a joint that moves backwards reverses."""
        b = change - half * jerk
        root = wp.sqrt(wp.max(b * b + two * jerk * speed, zero))
        return wp.max(wp.ceil((b - root) / jerk) - one, zero)

    @wp.func
    def make_stop(step: scalar, change: scalar, slowdown: scalar, jerk: scalar) -> Stop:
        stop = Stop()
        stop.step = step
        stop.slowdown = slowdown
        stop.jerk = jerk
        stop.side = one
        if step < zero:
            stop.side = -one
        wanted = wanted_change(step, slowdown, jerk)
        turns = wp.abs(wanted - change) > jerk
        if turns:
            stop.side = wp.where(wanted < change, one, -one)
        stop.speed = stop.side * step
        stop.change = stop.side * change
        speed = scalar(stop.speed)
        if turns:
            stop.first = free_steps(stop.speed, stop.change, slowdown, jerk)
            if stop.speed < zero:
                stop.turn = wp.min(turning_step(speed, stop.change, jerk), stop.first)
            speed, _ = run(stop.speed, stop.change, -jerk, stop.first)
        if wp.isfinite(slowdown):
            full = total(slowdown, jerk)
            if speed > zero and speed >= full:
                stop.second = wp.floor((speed - full) / slowdown) + one
                speed -= stop.second * slowdown
        if speed > zero:
            stop.last_change = most_change(speed, jerk)
            stop.third = one
            if speed > jerk:
                stop.growth = jerk
                stop.third = wp.ceil(stop.last_change / jerk)
        return stop

    @wp.func
    def ticks(stop: Stop) -> scalar:
        return stop.first + stop.second + stop.third

    @wp.func
    def whole_steps(stop: Stop, n: scalar):
        """Return speed and path length after n steps of the stop, in the stop's direction."""
        speed = scalar(stop.speed)
        travel = scalar(0.0)
        left = n
        if stop.first > zero:
            speed, travel = run(speed, stop.change, -stop.jerk, wp.min(left, stop.first))
            left -= stop.first
        if left > zero and stop.second > zero:
            m = wp.min(left, stop.second)
            speed, more = run(speed, -stop.slowdown, zero, m)
            travel += more
        left -= stop.second
        if left > zero:
            m = wp.min(left, stop.third)
            speed, more = run(speed, -stop.last_change - stop.growth, stop.growth, m)
            travel += more
            if left >= stop.third:
                speed = zero
        return speed, travel

    @wp.func
    def side_displacement_at(stop: Stop, time: scalar) -> scalar:
        if time <= one:
            return time * stop.speed
        n = wp.floor(time - one)
        _, travel = whole_steps(stop, n)
        part = time - one - n
        if part > zero:
            _, further = whole_steps(stop, n + one)
            travel += part * (further - travel)
        return stop.speed + travel

    @wp.func
    def displacement_at(stop: Stop, time: scalar) -> scalar:
        return stop.side * side_displacement_at(stop, time)

    @wp.func
    def travel_at(stop: Stop, time: scalar) -> scalar:
        here = side_displacement_at(stop, time)
        if stop.speed < zero:
            if time <= one + stop.turn:
                return -here
            there = side_displacement_at(stop, one + stop.turn)
            return here - two * there
        return here

    @wp.func
    def reach(stop: Stop):
        end = displacement_at(stop, one + ticks(stop))
        least = wp.min(stop.step, end)
        most = wp.max(stop.step, end)
        if stop.turn > zero:
            turn = displacement_at(stop, one + stop.turn)
            least = wp.min(least, turn)
            most = wp.max(most, turn)
        return least, most, end

    return SimpleNamespace(
        next_change=next_change,
        make_stop=make_stop,
        ticks=ticks,
        displacement_at=displacement_at,
        travel_at=travel_at,
        reach=reach,
        wanted_change=wanted_change,
    )
