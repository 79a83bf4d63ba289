# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motions along curves, whose limits hold at the knots and between them."""

import numpy as np
import pytest

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


@pytest.mark.parametrize('hardest', [2.0, 1e3])
def test_the_limits_hold_between_the_knots_of_a_curve(hardest):
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
        motion = planner.curved(points, planner.stop(np.zeros(n)))
        assert motion.end is MotionEnd.GOAL
        np.testing.assert_allclose(motion.positions[[0, -1]], points[[0, -1]], atol=1e-12)
        fast = np.max(fastest_between_knots(motion) / limits.speed)
        hard = np.max(np.abs(motion.accelerations) / limits.acceleration)
        # The curve is passed about as fast as one of the limits permits.
        assert 0.85 < max(fast, hard) <= 1.0 + 1e-9
