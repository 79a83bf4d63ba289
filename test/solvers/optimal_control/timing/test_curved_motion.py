# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motions along curves, whose limits hold at the knots and between them."""

import numpy as np
import pytest
from support.long_forms import either

from ros_ik.solvers.optimal_control.timing.limits import VariableLimits
from ros_ik.solvers.optimal_control.timing.motion import MotionEnd
from ros_ik.solvers.optimal_control.timing.motion import MotionPlanner

DT = 0.05


def fastest_between_knots(motion):
    """Return the largest speeds of a motion with accelerations linear between knots, [n]."""
    s = np.linspace(0.0, 1.0, 201)[:, None, None]
    v, a = motion.velocities, motion.accelerations
    speeds = v[:-1] + DT * (s * a[:-1] + 0.5 * s**2 * np.diff(a, axis=0))
    return np.abs(speeds).max(axis=(0, 1))


@pytest.mark.parametrize(('hardest', 'most'), [(2.0, 5.5), (1e3, 1.6)])
def test_the_limits_hold_between_the_knots_of_a_curve(hardest, most):
    """A joint that turns within a tick is fastest between two knots."""
    rng, n = np.random.default_rng(1), 3
    s = np.linspace(0.0, 1.0, 60)[:, None]
    for _ in range(30):
        bends = rng.uniform(-0.2, 0.2, (4, n)), rng.uniform(2.0, 60.0, (4, n))
        points = sum(a * np.sin(w * s) for a, w in zip(*bends, strict=True))
        limits = VariableLimits(
            np.full(n, -9.0), np.full(n, 9.0), rng.uniform(0.5, 2.0, n),
            hardest * rng.uniform(0.5, 2.0, n), np.zeros(n, dtype=bool),
        )  # fmt: skip
        planner = MotionPlanner(None, limits, DT, 10_000)
        motion = next(planner.curved(points, planner.stop(np.zeros(n))))
        assert motion.end is MotionEnd.GOAL
        np.testing.assert_allclose(motion.positions[[0, -1]], points[[0, -1]], atol=1e-12)
        fast = np.max(fastest_between_knots(motion) / limits.speed)
        hard = np.max(np.abs(motion.accelerations) / limits.acceleration)
        assert max(fast, hard) <= 1.0 + 1e-9
        # A bend of the curve slows the motion there alone: it takes little longer than at the full
        # speed of one joint or another throughout, or than strong bends require.
        least = np.max(np.abs(np.diff(points, axis=0)) / limits.speed, axis=1).sum()
        assert motion.velocities.shape[0] * DT < most * least


@pytest.mark.parametrize('dt', [1e-3, 0.02, 0.3])
def test_positions_stay_within_their_limits_between_the_knots_of_a_curve(dt):
    """Points along a limit, reached at an angle; an interpolating spline would leave them."""
    rng, n = np.random.default_rng(2), 2
    s = np.linspace(0.0, 1.0, 50)[:, None]
    for _ in range(10):
        points = np.minimum(np.sin(rng.uniform(2.0, 9.0, n) * s), high := rng.uniform(0.2, 0.9, n))
        points -= points[0]
        limits = VariableLimits(
            np.full(n, -9.0), high, np.full(n, 2.0), np.full(n, 10.0), np.zeros(n, dtype=bool)
        )
        planner = MotionPlanner(None, limits, dt, 100_000)
        for motion in planner.curved(points, planner.stop(np.zeros(n))):
            u = np.linspace(0.0, 1.0, 101)[:, None, None]
            x, v = motion.positions, motion.velocities
            ends = (1.0 + 2.0 * u) * (1.0 - u) ** 2 * x[:-1] + (3.0 - 2.0 * u) * u**2 * x[1:]
            way = ends + dt * u * (1.0 - u) * ((1.0 - u) * v[:-1] - u * v[1:])
            assert np.all(way <= high + 1e-12) and motion.end is MotionEnd.GOAL


@pytest.mark.parametrize(('dt', 'count'), [
    (0.01, 200), (0.1, either(50, 200)), (0.4, either(50, 200)),
])  # fmt: skip
def test_moving_starts_that_leave_their_limits_between_two_knots_brake_harder(dt, count):
    rng, n = np.random.default_rng(0), 3
    u = np.linspace(0.0, 1.0, 101)[:, None, None] * dt
    left = kept = 0
    for _ in range(count):
        low, high = -rng.uniform(0.0, 0.3, n), rng.uniform(0.0, 0.3, n)
        speed, acceleration = rng.uniform(0.5, 2.0, n), rng.uniform(2.0, 20.0, n)
        limits = VariableLimits(low, high, speed, acceleration, np.zeros(n, dtype=bool))
        planner = MotionPlanner(None, limits, dt, 100_000)
        velocity = rng.uniform(-1.0, 1.0, n) * speed
        for motion in (planner.straight(0.5 * (low + high), velocity), planner.stop(velocity)):
            x, v, a = motion.positions, motion.velocities, motion.accelerations
            bend = 0.5 * a[:-1] + u * np.diff(a, axis=0) / (6.0 * dt)
            way = (x[:-1] + u * (v[:-1] + u * bend)).reshape(-1, n)
            least, most = motion.position_range(dt)
            np.testing.assert_allclose(least, way.min(axis=0), atol=1e-4 * dt)
            np.testing.assert_allclose(most, way.max(axis=0), atol=1e-4 * dt)
            outside = np.any((way < low - 2e-9) | (way > high + 2e-9), axis=0)
            left += np.any(outside)
            kept += not np.any(outside)
            # The hardest stop of all passes on by the way of a tick.
            room = np.where(velocity > 0.0, high, -low)
            assert np.all(room[outside] < 1.01 * dt * np.abs(velocity[outside]))
    assert kept and left
