# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Interpolation against closed forms and against the boundary values it must meet."""

import numpy as np
import pytest

from ros_ik.demo.controller.trajectory_rules import Trajectory
from ros_ik.demo.controller.trajectory_rules import TrajectoryPoint
from ros_ik.demo.controller.trajectory_sampler import TrajectorySampler

SECOND = 1_000_000_000
START = 50 * SECOND


def at(seconds: float) -> int:
    return START + round(seconds * SECOND)


def sampler_on(*points: TrajectoryPoint, stamp: int = 0, now: int = START) -> TrajectorySampler:
    sampler = TrajectorySampler(('a', 'b'), (0.0, 1.0))
    sampler.start(Trajectory(('a', 'b'), points, stamp), now)
    return sampler


def test_holds_its_initial_position():
    position, velocity, acceleration = TrajectorySampler(('a',), (0.3,)).sample(START)
    assert position == [0.3]
    assert not velocity.any() and not acceleration.any()


def test_positions_only_are_joined_by_straight_lines():
    sampler = sampler_on(
        TrajectoryPoint(SECOND, (1.0, 2.0)), TrajectoryPoint(3 * SECOND, (2.0, 0.0))
    )
    for time, expected, rate in (
        (0.0, (0.0, 1.0), (1.0, 1.0)),
        (0.5, (0.5, 1.5), (1.0, 1.0)),
        (1.0, (1.0, 2.0), (0.5, -1.0)),
        (2.0, (1.5, 1.0), (0.5, -1.0)),
    ):
        position, velocity, _ = sampler.sample(at(time))
        np.testing.assert_allclose(position, expected, atol=1e-12)
        np.testing.assert_allclose(velocity, rate, atol=1e-12)


def test_last_point_is_held_at_rest():
    sampler = sampler_on(TrajectoryPoint(SECOND, (1.0, 2.0)))
    for time in (1.0, 1.5, 100.0):
        position, velocity, _ = sampler.sample(at(time))
        np.testing.assert_array_equal(position, (1.0, 2.0))
        assert not velocity.any()


def test_joints_are_sorted_by_name():
    sampler = TrajectorySampler(('a', 'b'), (0.0, 0.0))
    sampler.start(Trajectory(('b', 'a'), (TrajectoryPoint(SECOND, (2.0, 1.0)),)), START)
    np.testing.assert_array_equal(sampler.sample(at(1.0))[0], (1.0, 2.0))


def test_joints_left_out_hold_their_desired_position():
    sampler = TrajectorySampler(('a', 'b', 'c'), (0.1, 0.2, 0.3))
    sampler.start(Trajectory(('a',), (TrajectoryPoint(SECOND, (1.1,)),)), START)
    np.testing.assert_allclose(sampler.sample(at(0.5))[0], (0.6, 0.2, 0.3), atol=1e-12)
    # A joint in motion stops at its desired position of that moment.
    sampler.start(
        Trajectory(('c',), (TrajectoryPoint(SECOND, (1.3,), (0.0,)),)), START + SECOND // 2
    )
    position, velocity, _ = sampler.sample(at(1.5))
    np.testing.assert_allclose(position, (0.6, 0.2, 1.3), atol=1e-12)
    assert not velocity.any()


def test_cubic_meets_positions_and_velocities_of_both_ends():
    sampler = sampler_on(
        TrajectoryPoint(SECOND, (1.0, 2.0), (0.4, -0.2)),
        TrajectoryPoint(3 * SECOND, (2.0, 0.0), (0.0, 0.0)),
    )
    # From rest at (0, 1): 3 u^2 - 2 u^3 for the positions, u^3 - u^2 for the end velocity.
    position, velocity, _ = sampler.sample(at(0.5))
    np.testing.assert_allclose(position, (0.5 - 0.125 * 0.4, 1.5 + 0.125 * 0.2), atol=1e-12)
    position, velocity, _ = sampler.sample(at(1.0))
    np.testing.assert_allclose(position, (1.0, 2.0), atol=1e-12)
    np.testing.assert_allclose(velocity, (0.4, -0.2), atol=1e-12)


def test_quintic_meets_accelerations_too():
    sampler = sampler_on(
        TrajectoryPoint(SECOND, (1.0, 2.0), (0.4, -0.2), (0.5, 0.1)),
        TrajectoryPoint(2 * SECOND, (2.0, 0.0), (0.0, 0.0), (0.0, 0.0)),
    )
    before = sampler.sample(at(1.0) - 1)
    after = sampler.sample(at(1.0))
    for value, expected in zip(after, ((1.0, 2.0), (0.4, -0.2), (0.5, 0.1)), strict=True):
        np.testing.assert_allclose(value, expected, atol=1e-9)
    for value, expected in zip(before, after, strict=True):
        np.testing.assert_allclose(value, expected, atol=1e-7)


@pytest.mark.parametrize('fields', (1, 2, 3))
def test_velocity_and_acceleration_are_the_derivatives(fields):
    rng = np.random.default_rng(7)
    points = [
        TrajectoryPoint(k * SECOND, *(rng.normal(size=2) for _ in range(fields))) for k in (1, 2)
    ]
    sampler = sampler_on(*points)
    step = 1e-3
    for time in (0.3, 1.4, 1.8):
        low, middle, high = (sampler.sample(at(time + k * step)) for k in (-1, 0, 1))
        np.testing.assert_allclose((high[0] - low[0]) / (2 * step), middle[1], atol=1e-4)
        np.testing.assert_allclose((high[1] - low[1]) / (2 * step), middle[2], atol=1e-3)


def test_new_trajectory_starts_from_the_desired_state():
    sampler = sampler_on(TrajectoryPoint(SECOND, (1.0, 2.0)))
    replacement = Trajectory(('a', 'b'), (TrajectoryPoint(SECOND, (0.5, 1.5), (0.0, 0.0)),))
    before = sampler.sample(at(0.5))
    sampler.start(replacement, at(0.5))
    after = sampler.sample(at(0.5))
    np.testing.assert_allclose(after[0], before[0])
    np.testing.assert_allclose(after[1], before[1])


def test_future_stamp_is_approached_from_now():
    sampler = sampler_on(TrajectoryPoint(SECOND, (1.0, 2.0)), stamp=at(1.0))
    np.testing.assert_allclose(sampler.sample(at(1.0))[0], (0.5, 1.5))


def test_past_stamp_joins_the_trajectory_where_it_is():
    points = (TrajectoryPoint(SECOND, (1.0, 2.0)), TrajectoryPoint(2 * SECOND, (3.0, 4.0)))
    sampler = sampler_on(*points, stamp=START, now=at(1.5))
    np.testing.assert_allclose(sampler.sample(at(1.5))[0], (2.0, 3.0))


def test_clock_that_goes_back_waits_at_the_start():
    sampler = sampler_on(TrajectoryPoint(SECOND, (1.0, 2.0)))
    np.testing.assert_array_equal(sampler.sample(at(-5.0))[0], (0.0, 1.0))
