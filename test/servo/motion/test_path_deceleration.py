# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Deceleration along a path: its time, its limits, and the path."""

import numpy as np
import pytest
from support.long_forms import either

from ros_ik.servo.motion.deceleration import Deceleration
from ros_ik.servo.motion.path_deceleration import PathDeceleration


def ticks_of_each(last, acceleration, dt):
    """Return the number of ticks in which joints brake independently."""
    halt, ticks = Deceleration(), 0
    while last.any():
        last = halt.step(last, last, last, acceleration, dt, returns=False)
        ticks += 1
    return ticks


def test_it_takes_the_time_of_the_slowest_joint_within_the_limits():
    rng = np.random.default_rng(5)
    for _ in range(either(30, 300)):
        dt = 10.0 ** rng.uniform(-3, -1)
        acceleration = 10.0 ** rng.uniform(-1, 2, 5)
        last = rng.uniform(-300, 300, 5) * acceleration * dt**2
        last[rng.integers(5)] = 0.0
        before = last + rng.uniform(-1, 1, 5) * acceleration * dt**2
        halt, ticks, slowest = PathDeceleration(), 0, ticks_of_each(last, acceleration, dt)
        while last.any():
            step = halt.step(last, before, np.full(5, np.inf), acceleration, dt)
            assert np.all(np.abs(step - last) <= acceleration * dt**2 * (1 + 1e-9))
            assert np.all(np.abs(step) <= np.abs(last)) and np.all(step * last >= 0.0)
            before, last, ticks = last, step, ticks + 1
        assert ticks <= slowest


@pytest.mark.parametrize('room', [0.0, 0.3, 1.0])
def test_a_joint_before_its_position_limit_brakes_in_time(room):
    dt, acceleration = 0.01, np.array([1.0, 10.0])
    last = np.array([0.004, 0.004])
    halt, moved = PathDeceleration(), np.zeros(2)
    # The way of the second joint if it brakes at its limit, and that of the first.
    shortest, longest = 0.004 + 0.003 + 0.002 + 0.001 - 0.004, 0.5 * 0.4**2
    limit = shortest + room * (longest - shortest)
    while last.any():
        ahead = np.array([np.inf, max(limit - moved[1], 0.0)])
        last = halt.step(last, last, ahead, acceleration, dt)
        moved += last
    assert shortest - 1e-9 <= moved[1] <= limit + 1e-9
    assert moved[0] == pytest.approx(longest, rel=0.05)


def test_a_curved_path_is_kept_to_the_third_order():
    def path(s):
        return np.array([np.sin(0.8 + s), -np.cos(0.8 + s), s])

    ds, halt = 0.01, PathDeceleration()
    before, last = path(-ds) - path(-2.0 * ds), path(0.0) - path(-ds)
    place = path(0.0)
    while last.any():
        step = halt.step(last, before, np.full(3, np.inf), np.full(3, 10.0), 0.01)
        before, last, place = last, step, place + step
    off = np.linalg.norm(place - path(place[2]))
    # Without the curvature it is 1 mm.
    assert 0.04 < place[2] < 0.06 and off < 1e-4
