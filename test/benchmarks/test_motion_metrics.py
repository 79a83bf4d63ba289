# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Figures of motion on motions whose figures are known."""

import numpy as np
import pytest

from benchmarks.motion.metrics import mean_distance
from benchmarks.motion.metrics import mean_lag
from benchmarks.motion.metrics import overshoot
from benchmarks.motion.metrics import path_error
from benchmarks.motion.metrics import rms_jerk
from benchmarks.motion.metrics import sign_changes
from benchmarks.motion.target_streams import eight
from benchmarks.motion.target_streams import ramp
from benchmarks.motion.target_streams import Stream


def test_the_jerk_of_two_joints_is_that_of_their_polynomials():
    time = 0.01 * np.arange(100)
    velocity = np.column_stack([0.5 * 3.0 * time**2 + time, 0.5 * 4.0 * time**2])
    assert rms_jerk(velocity, 0.01) == pytest.approx(np.sqrt((9.0 + 16.0) / 2.0))


def test_an_oscillation_changes_the_sign_of_its_acceleration_twice_a_period():
    time = 0.001 * np.arange(4001)
    swinging = np.sin(2.0 * np.pi * 5.0 * time)
    # The other joint goes at a constant speed, rounding aside.
    steady = 0.3 + 1e-15 * np.random.default_rng(1).normal(size=len(time))
    assert sign_changes(swinging[:, None], 0.001) == pytest.approx(10.0)
    assert sign_changes(np.column_stack([swinging, steady]), 0.001) == pytest.approx(5.0)


def test_a_pause_between_two_accelerations_of_one_sign_is_no_change():
    velocity = np.cumsum([0.0, 1.0, 0.0, 1.0, 0.0, -1.0, 0.0])[:, None]
    assert sign_changes(velocity, 1.0) == pytest.approx(1.0 / 6.0)


@pytest.mark.parametrize('lag', [0.04, 0.0, -0.01])
def test_the_lag_is_the_time_behind_the_target(lag):
    time = np.arange(1.1, 1.6, 0.01)
    target, way = (np.array([ramp(t) for t in shifted]) for shifted in (time, time - lag))
    way += [0.0, 0.0, 0.003]  # Beside the path is not behind.
    assert mean_lag(way, target, 0.01) == pytest.approx(lag, abs=1e-12)


def test_a_tool_that_lags_is_on_the_path_and_away_from_the_target():
    path = np.array([eight(time) for time in np.linspace(0.0, np.pi, 2001)])
    time = np.arange(2.0, 4.0, 0.01)
    target, way = (np.array([eight(t) for t in shifted]) for shifted in (time, time - 0.05))
    assert path_error(way, path) < 2e-6
    assert 0.05 * 0.1 < mean_distance(way, target) < 0.05 * 0.28


def test_the_distance_to_a_path_is_that_of_the_worst_place_to_its_nearest():
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    way = np.array([[0.5, 0.0, 0.002], [1.003, 0.4, 0.0], [1.0, 1.0, 0.0], [-0.001, 0.0, 0.0]])
    assert path_error(way, corners) == pytest.approx(0.003)
    # Beyond an end the nearest place is the end.
    assert path_error(way - [0.005, 0.0, 0.0], corners) == pytest.approx(0.006)
    # A corner twice, as where a path rests.
    assert path_error(way, np.vstack([corners, corners[-1:]])) == pytest.approx(0.003)


def test_an_overshoot_counts_along_the_way_and_never_below_zero():
    end = np.array([0.0, 0.3, 0.4])
    way = np.linspace(0.0, 1.02, 52)[:, None] * end
    assert overshoot(way, end) == pytest.approx(0.02 * 0.5)
    assert overshoot(way + [0.01, 0.0, 0.0], end) == pytest.approx(0.02 * 0.5)
    assert overshoot(way[:40], end) == 0.0


@pytest.mark.parametrize('loop', [100.0, 1000.0])
def test_a_stream_goes_on_to_the_last_tick(loop):
    *_, (time, received) = Stream(rate=loop).arrivals(6.0, loop, np.random.default_rng(0))
    assert received[-1][1] == pytest.approx(time) == pytest.approx(6.0 - 1.0 / loop)


@pytest.mark.parametrize(('rate', 'delay'), [(30.0, 0.001), (50.0, 0.0)])
def test_a_message_arrives_in_the_first_tick_that_is_not_before_it(rate, delay):
    stream = Stream(ramp, rate, delay=delay)
    ticks = list(stream.arrivals(1.0, 100.0, np.random.default_rng(0)))
    assert len(ticks) == 99 and sum(len(received) for _, received in ticks) == rate
    # The first message, made at zero, is there before the first tick.
    for time, received in ticks[1:]:
        assert all(time - 0.01 + 1e-9 < at <= time + 1e-9 for at, _, _ in received)
        assert all(at == pytest.approx(made + delay) for at, made, _ in received)
