# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motion towards a target: bounds on speed and acceleration, no overshoot, exact arrival."""

import numpy as np
import pytest

from ros_ik.servo.approach import Approach
from ros_ik.servo.approach import ApproachLimits
from ros_ik.servo.approach import braking_step


@pytest.mark.parametrize('dt', [0.01, 0.002])
@pytest.mark.parametrize('distance', [1e-4, 0.03, 1.0])
def test_it_arrives_exactly_within_its_bounds(dt, distance):
    approach, limits = Approach(dt), ApproachLimits(0.5, 2.5, 1.0, np.inf)
    direction = np.array([2.0, -1.0, 2.0]) / 3.0
    left, speed, ticks, step = distance, 0.0, 0, np.zeros(3)
    while left > 0.0 and ticks < 10000:
        step = approach.step(direction * left, step, limits)
        length = float(step @ direction)
        assert 0.0 < length <= min(left, 0.5 * dt) + 1e-15
        # The last step may stop from any speed that is left, which the braking law keeps small.
        assert abs(length / dt - speed) <= 2.5 * dt * 1.5 + 1e-12
        left, speed, ticks = left - length, length / dt, ticks + 1
        if left < 1e-15:
            left = 0.0
    assert left == 0.0
    assert ticks * dt < distance / 0.5 + 0.5 / 2.5 + 0.1


def test_gain_approaches_gradually():
    approach, limits = Approach(0.01), ApproachLimits(0.5, 1e3, 0.1, np.inf)
    assert approach.step(np.array([1e-3, 0.0, 0.0]), np.zeros(3), limits)[0] == pytest.approx(1e-4)


def test_a_far_target_counts_as_the_largest_distance():
    far, near = Approach(0.01), Approach(0.01)
    bounded, limits = ApproachLimits(10.0, 1.0, 0.5, 0.002), ApproachLimits(10.0, 1.0, 0.5, np.inf)
    step = same = np.zeros(3)
    for _ in range(50):
        step = far.step(np.array([1.0, 0.0, 0.0]), step, bounded)
        same = near.step(np.array([0.002, 0.0, 0.0]), same, limits)
    assert step[0] == pytest.approx(same[0])


def test_a_turn_back_starts_from_rest():
    approach, limits = Approach(0.01), ApproachLimits(0.5, 2.5, 1.0, np.inf)
    step = np.zeros(3)
    for _ in range(30):
        step = approach.step(np.array([1.0, 0.0, 0.0]), step, limits)
    back = approach.step(np.array([-1.0, 0.0, 0.0]), step, limits)
    assert back[0] == pytest.approx(-2.5 * 0.01**2)


def test_braking_ends_at_the_distance():
    acceleration = np.array([1.0, 5.0, np.inf, 2.0])
    left = np.array([0.3, 0.01, 0.2, 0.0])
    last = None
    for _ in range(500):
        step = braking_step(left, acceleration, 0.01)
        assert np.all(step >= 0.0) and np.all(step <= left + 1e-15)
        if last is not None:
            assert np.all((last - step)[:2] <= 1.5 * acceleration[:2] * 1e-4 + 1e-15)
        left, last = left - step, step
    assert np.all(left < 1e-9)


def test_no_more_is_asked_for_where_nothing_is_achieved():
    approach, limits = Approach(0.01), ApproachLimits(0.5, 2.5, 1.0, np.inf)
    for _ in range(50):
        step = approach.step(np.array([1.0, 0.0, 0.0]), np.zeros(3), limits)
    assert step[0] == pytest.approx(2.5 * 0.01**2)
