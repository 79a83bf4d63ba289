# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motion towards a target: bounds on speed and acceleration, no overshoot, exact arrival."""

import numpy as np
import pytest
import warp as wp

from ros_ik.kinematics.stepping.braking import braking_function
from ros_ik.servo.motion.approach import Approach
from ros_ik.servo.motion.approach import braking_distance
from ros_ik.servo.motion.approach import braking_step
from ros_ik.servo.motion.approach import joint_step
from ros_ik.servo.motion.ramped_approach import ApproachLimits
from ros_ik.servo.motion.ramped_approach import braking_length


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
        assert abs(length / dt - speed) <= 2.5 * dt * (1.0 + 1e-9)
        left, speed, ticks = left - length, length / dt, ticks + 1
        if left < 1e-15:
            left = 0.0
    assert left == 0.0
    assert ticks * dt < distance / 0.5 + 0.5 / 2.5 + 0.1


def test_gain_approaches_gradually():
    approach, limits = Approach(0.01), ApproachLimits(0.5, 1e3, 0.1, np.inf)
    assert approach.step(np.array([1e-3, 0.0, 0.0]), np.zeros(3), limits)[0] == pytest.approx(1e-4)


# Either the brakes or the gain is the bound.
@pytest.mark.parametrize('gain', [0.5, 0.05])
def test_a_far_target_counts_as_the_largest_distance(gain):
    far, near = Approach(0.01), Approach(0.01)
    bounded, limits = (ApproachLimits(10.0, 1.0, gain, most) for most in (0.002, np.inf))
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


def fewest_steps(distance, speed, acceleration, dt):
    """Return the least number of steps of a motion from rest to rest over a distance."""
    gain, count, covered = acceleration * dt**2, 0, 0.0
    while covered < distance * (1.0 - 1e-9):
        count += 1
        covered = sum(
            min(gain * min(k, count + 1 - k), speed * dt) for k in range(1, count + 1)
        )  # fmt: skip
    return count


def random_motion(generator):
    """Return distance, speed limit, acceleration limit and dt."""
    dt = generator.choice([1e-3, 2e-3, 0.01, 0.02])
    acceleration, speed = 10.0 ** generator.uniform([-0.5, -1.0], [1.0, 0.5])
    gain = acceleration * dt**2
    # A few steps, or many, or exactly the braking distance from some speed.
    count = int(generator.integers(1, 30))
    distance = gain * generator.choice([generator.uniform(0.0, 500.0), count * (count + 1) / 2])
    return distance, speed, acceleration, dt


@pytest.mark.parametrize('seed', range(60))
def test_the_target_is_reached_in_the_fewest_steps_and_not_passed(seed):
    distance, speed, acceleration, dt = random_motion(np.random.default_rng(seed))
    approach, limits = Approach(dt), ApproachLimits(speed, acceleration, 1.0, np.inf)
    left, step, steps = np.array([distance, 0.0, 0.0]), np.zeros(3), [0.0]
    while left[0] > 1e-12 * distance:
        step = approach.step(left, step, limits)
        left = left - step
        steps.append(step[0])
        assert left[0] >= -1e-12 * distance, 'it went too far'
        assert step[0] <= speed * dt * (1.0 + 1e-9)
    most = acceleration * dt**2 * (1.0 + 1e-6)
    assert np.abs(np.diff([*steps, 0.0])).max() <= most, 'it braked harder than its limit'
    assert len(steps) - 1 == fewest_steps(distance, speed, acceleration, dt)


@pytest.mark.parametrize('seed', range(20))
def test_braking_from_the_largest_step_ends_at_the_distance(seed):
    generator = np.random.default_rng(seed)
    dt = generator.choice([1e-3, 0.01])
    acceleration = np.array([*10.0 ** generator.uniform(-1.0, 1.0, 3), np.inf])
    distance = np.append(10.0 ** generator.uniform(-7.0, 0.0, 3), 0.2)
    step = braking_step(distance, acceleration, dt)
    assert step[3] == 0.2, 'without a limit it goes the whole way'
    loss = acceleration[:3] * dt**2
    counts = np.ceil(step[:3] / loss * (1.0 - 1e-9))
    covered = [
        sum(s - k * u for k in range(int(n))) for s, u, n in zip(step, loss, counts, strict=False)
    ]
    np.testing.assert_allclose(covered, distance[:3], rtol=1e-6)


def test_kernels_and_single_distances_brake_by_the_same_formula():
    generator = np.random.default_rng(0)
    dt, n = 0.01, 500
    acceleration = 10.0 ** generator.uniform(-2.0, 2.0, n)
    distance = 10.0 ** generator.uniform(-8.0, 0.0, n)
    expected = braking_step(distance, acceleration, dt)
    loss = acceleration * (dt * dt)
    single = [braking_length(float(d), float(u)) for d, u in zip(distance, loss, strict=True)]
    # Where the root is nearly whole, floor may give either number; the step is the same there.
    np.testing.assert_allclose(single, expected, rtol=1e-12)
    function = braking_function(wp.float64)

    @wp.kernel(enable_backward=False, module='unique')
    def brake(d: wp.array(dtype=wp.float64), u: wp.array(dtype=wp.float64)):
        i = wp.tid()
        d[i] = function(d[i], u[i])

    steps, losses = (wp.array(each, dtype=wp.float64, device='cpu') for each in (distance, loss))
    wp.launch(brake, dim=n, inputs=[steps, losses], device='cpu')
    np.testing.assert_allclose(steps.numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize('seed', range(20))
def test_a_target_at_the_braking_distance_is_neared_at_the_velocity(seed):
    generator = np.random.default_rng(seed)
    dt = generator.choice([1e-3, 0.01])
    acceleration = 10.0 ** generator.uniform(-1.0, 1.5, 5)
    velocity = np.append(generator.uniform(-2.0, 2.0, 4), 0.0)
    # A distance of a whole number of ticks of braking.
    velocity[3] = -7.0 * acceleration[3] * dt
    way = braking_distance(velocity, acceleration, dt)
    step = joint_step(way, np.full(5, np.inf), acceleration, dt)
    np.testing.assert_allclose(step, velocity * dt, rtol=1e-9)


def test_joints_without_a_way_to_go_get_no_step():
    way = np.array([np.nan, 0.0, -0.5])
    step = joint_step(way, np.full(3, 1.0), np.full(3, 2.0), 0.01)
    assert np.isnan(step[0]) and step[1] == 0.0 and step[2] == -0.01


def test_what_has_no_acceleration_cannot_move():
    assert braking_step(np.array([0.5, 0.0]), np.zeros(2), 0.01).tolist() == [0.0, 0.0]


def test_no_more_is_asked_for_where_nothing_is_achieved():
    approach, limits = Approach(0.01), ApproachLimits(0.5, 2.5, 1.0, np.inf)
    for _ in range(50):
        step = approach.step(np.array([1.0, 0.0, 0.0]), np.zeros(3), limits)
    assert step[0] == pytest.approx(2.5 * 0.01**2)


@pytest.mark.parametrize('left', [1e-7, 1e-5, 0.1])
def test_a_motion_needs_its_whole_acceleration_until_it_has_lost_its_speed(left):
    # At 10 mm/s, with accelerations that build up in 0.2 s.
    limits, moved = ApproachLimits(0.5, 2.0, 1.0, np.inf, ramp=0.2), (4e-5, 0.0, 0.0)
    assert limits.full_acceleration((left, 0.0, 0.0), 0.004, moved)[0] == pytest.approx(2.0, 0.02)


def test_a_short_displacement_from_rest_needs_less_acceleration():
    limits = ApproachLimits(0.5, 2.0, 1.0, np.inf, ramp=0.2)
    assert limits.full_acceleration((1e-7, 0.0, 0.0), 0.004)[0] < 0.01


def test_an_acceleration_above_a_limit_that_has_dropped_ends_in_time():
    dt, ramp = 0.01, 1.0 / 3.0
    approach, place, moved, speeds = Approach(dt), np.array([-1.0, 0.0, 0.0]), np.zeros(3), []
    # As beside a singularity: at the largest acceleration, the joints allow a thirtieth of it.
    for tick in range(round(60.0 / dt)):
        acceleration = 2.5 if tick < 40 else 0.08
        limits = ApproachLimits(5.0, acceleration, 1.0, np.inf, ramp)
        moved = np.array(approach.step((-place).tolist(), moved.tolist(), limits))
        place += moved
        speeds.append(moved[0] / dt)
    change = np.diff(speeds) / dt
    assert change[38] > 2.0
    # It would take 30 ramps to end at a constant 0.08 / ramp.
    assert np.abs(change[40 + round(2.0 * ramp / dt) :]).max() < 0.2
    assert np.abs(change[40 + round(4.0 * ramp / dt) :]).max() < 0.0801
    assert max(speeds) < speeds[39] + 0.6 * change[38] * ramp
    assert np.linalg.norm(place) < 1e-3 and abs(speeds[-1]) < 1e-3


def test_a_joint_that_cannot_move_needs_no_distance_to_brake():
    way = braking_distance(np.array([0.0, 0.3, -0.3]), np.array([0.0, 0.0, 2.0]), 0.01)
    np.testing.assert_allclose(way, [0.0, 0.0, -0.024])
