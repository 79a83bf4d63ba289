# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Timing of motions: arrival at rest, inside the limits, in the least time."""

import numpy as np
import pytest
from support.long_forms import either

from ros_ik.solvers.optimal_control.timing.profile import average_over_tick
from ros_ik.solvers.optimal_control.timing.profile import brake
from ros_ik.solvers.optimal_control.timing.profile import follow
from ros_ik.solvers.optimal_control.timing.profile import positions_of as rounded_positions
from ros_ik.solvers.optimal_control.timing.profile import reach

DT = 0.01
# Rounding of sums over a few hundred ticks.
EPS = 1e-9
# Number of random motions.
N = either(60, 200)


def positions_of(start, velocities, dt):
    """Positions of velocities that are linear between ticks."""
    means = 0.5 * dt * (velocities[1:] + velocities[:-1])
    return start + np.concatenate([np.zeros((1, means.shape[1])), np.cumsum(means, axis=0)])


def problems(count, moving, seed=0):
    """Yield distance, velocity, speed limit, acceleration limit of random joints."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = rng.integers(1, 8)
        speed = rng.uniform(0.2, 3.0, n)
        acceleration = speed / rng.uniform(0.05, 1.0, n)
        velocity = rng.uniform(-1.0, 1.0, n) * speed if moving else np.zeros(n)
        distance = rng.uniform(-2.0, 2.0, n) * rng.choice([1e-3, 1.0], n)
        yield distance, velocity, speed, acceleration


def check_limits(velocities, velocity, speed, acceleration):
    assert np.array_equal(velocities[0], velocity)
    assert not np.any(velocities[-1])
    assert np.all(np.abs(velocities) <= speed + EPS)
    assert np.all(np.abs(np.diff(velocities, axis=0)) <= acceleration * DT + EPS)


def fastest(distance, velocity, speed, acceleration):
    """Duration of the fastest motion of one joint in continuous time, by its three phases."""
    stop = velocity * abs(velocity) / (2 * acceleration)
    sign = np.sign(distance - stop) or 1.0
    d, v = sign * distance, sign * velocity
    peak = np.sqrt(max(acceleration * d + 0.5 * v * v, 0.0))
    if peak <= speed:
        return (2 * peak - v) / acceleration
    ramps = (speed**2 - 0.5 * v * v) / acceleration
    return (2 * speed - v) / acceleration + (d - ramps) / speed


@pytest.mark.parametrize('moving', [False, True])
def test_reach_arrives_inside_the_limits(moving):
    for distance, velocity, speed, acceleration in problems(N, moving):
        velocities = reach(distance, velocity, speed, acceleration, DT, 10_000)
        check_limits(velocities, velocity, speed, acceleration)
        end = positions_of(np.zeros(len(distance)), velocities, DT)[-1]
        assert np.allclose(end, distance, rtol=0, atol=EPS)


@pytest.mark.parametrize('moving', [False, True])
def test_reach_is_as_fast_as_ticks_allow(moving):
    for distance, velocity, speed, acceleration in problems(N, moving, seed=1):
        velocities = reach(distance, velocity, speed, acceleration, DT, 10_000)
        least = max(map(fastest, distance, velocity, speed, acceleration))
        duration = DT * (len(velocities) - 1)
        # Switching on ticks costs at most one tick for each of the two switches and the end; at
        # rest all joints share one profile, which may cost the slower of two limits each.
        assert least - EPS <= duration
        if moving or len(distance) == 1:
            assert duration <= least + 3 * DT


def test_reach_from_rest_is_straight_and_synchronised():
    for distance, velocity, speed, acceleration in problems(50, False, seed=2):
        velocities = reach(distance, velocity, speed, acceleration, DT, 10_000)
        positions = positions_of(np.zeros(len(distance)), velocities, DT)
        along = positions @ distance / (distance @ distance)
        assert np.allclose(positions, along[:, None] * distance, rtol=0, atol=EPS)
        assert np.all(np.diff(along) >= 0.0)


def test_reach_turns_back_only_where_it_cannot_stop():
    for distance, velocity, speed, acceleration in problems(N, True, seed=3):
        velocities = reach(distance, velocity, speed, acceleration, DT, 10_000)
        positions = positions_of(np.zeros(len(distance)), velocities, DT)
        sign = np.sign(velocity)
        beyond = np.max(sign * positions, axis=0)
        halt = positions_of(np.zeros(len(distance)), brake(velocity, acceleration, DT), DT)[-1]
        assert np.all(beyond <= np.maximum(sign * halt, sign * distance) + EPS)


def test_reach_has_a_bound_on_its_ticks():
    one = np.ones(1)
    assert reach(one, 0 * one, one, one, DT, 150) is None
    assert len(reach(one, 0 * one, one, one, DT, 200)) == 201
    assert reach(0 * one, 0 * one, one, one, DT, 1).tolist() == [[0.0]]
    # One tick is enough for the smallest of ways only with an interior knot: two ticks.
    assert len(reach(1e-6 * one, 0 * one, one, one, DT, 10)) == 3


def test_brake_is_the_fastest_stop():
    for _, velocity, speed, acceleration in problems(50, True, seed=4):
        velocities = brake(velocity, acceleration, DT)
        check_limits(velocities, velocity, speed, acceleration)
        assert len(velocities) - 1 == np.ceil(np.max(np.abs(velocity) / acceleration) / DT)


def test_follow_stays_at_the_polyline_and_ends_there():
    rng = np.random.default_rng(5)
    for _ in range(50):
        n = rng.integers(1, 6)
        points = rng.uniform(-1, 1, (rng.integers(2, 6), n))
        speed = rng.uniform(0.3, 2.0, n)
        acceleration = speed / rng.uniform(0.05, 0.5, n)
        velocities = follow(points, speed, acceleration, DT, 100_000)
        check_limits(velocities, np.zeros(n), speed, acceleration)
        positions = positions_of(points[0], velocities, DT)
        assert np.allclose(positions[-1], points[-1], rtol=0, atol=EPS)
        assert np.all(positions >= points.min(axis=0) - EPS)
        assert np.all(positions <= points.max(axis=0) + EPS)


def test_follow_cuts_corners_less_when_slow():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    one = np.ones(2)
    gaps = []
    for speed in (1.0, 0.5, 0.25):
        positions = positions_of(points[0], follow(points, speed * one, 5 * one, DT, 10_000), DT)
        gaps.append(np.min(np.linalg.norm(positions - points[1], axis=1)))
    # The window shrinks with the speed, and with it the way in the window: as the square.
    assert gaps[1] < 0.3 * gaps[0] and gaps[2] < 0.3 * gaps[1]


def test_follow_of_one_segment_is_the_motion_from_rest():
    """On one segment the averaged motion is the trapezoid of :func:`reach`."""
    points = np.array([[0.0, 0.0], [1.0, -0.5]])
    speed, acceleration = np.array([1.0, 1.0]), np.array([4.0, 4.0])
    averaged = follow(points, speed, acceleration, DT, 10_000)
    direct = reach(points[1], np.zeros(2), speed, acceleration, DT, 10_000)
    assert abs(len(averaged) - len(direct)) <= 1
    assert follow(points, speed, acceleration, DT, 50) is None


@pytest.mark.parametrize('moving', [False, True])
def test_rounded_motions_are_means_over_a_tick(moving):
    """By the definition of the mean: integrals of the given motion on a fine grid."""
    fine = 200
    for distance, velocity, speed, acceleration in problems(20, moving, seed=6):
        given = reach(distance, velocity, speed, acceleration, DT, 10_000)
        velocities, accelerations = average_over_tick(given, DT)
        positions = rounded_positions(np.zeros(len(distance)), velocities, accelerations, DT)
        ticks = np.arange(len(given))
        times = np.arange(-fine, (len(given)) * fine + 1) / fine  # a tick before, a tick after
        v = np.stack([np.interp(times, ticks, column) for column in given.T], axis=1)
        x = positions_of(np.zeros(len(distance)), v, DT / fine)
        x = np.concatenate([np.zeros((1, x.shape[1])), np.cumsum(0.5 * (x[1:] + x[:-1]), axis=0)])
        means = (x[fine:] - x[:-fine]) / fine
        assert np.allclose(positions, (means - means[0])[::fine], rtol=0, atol=1e-7)
        expected = positions_of(np.zeros(len(distance)), given, DT)[-1] + 0.5 * DT * velocity
        assert np.allclose(positions[-1], expected, rtol=0, atol=EPS)
        assert np.array_equal(velocities[0], velocity) and not np.any(velocities[-1])
        assert not np.any(accelerations[[0, -1]])
        assert np.all(np.abs(velocities) <= np.maximum(speed, np.abs(velocity)) + EPS)
        assert np.all(np.abs(accelerations) <= acceleration + EPS / DT)
    assert average_over_tick(np.zeros((1, 3)), DT)[1].tolist() == [[0.0, 0.0, 0.0]]
