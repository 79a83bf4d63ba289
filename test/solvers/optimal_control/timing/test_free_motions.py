# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A motion is free only if samples, dense enough, exclude that a barrier falls below zero."""

from types import SimpleNamespace

import numpy as np
import pytest

from ros_ik.solvers.optimal_control.timing.motion import Motion
from ros_ik.solvers.optimal_control.timing.motion import MotionEnd
from ros_ik.solvers.optimal_control.timing.motion import MotionPlanner

# Position of the lowest value of h, between two samples of every motion below.
LOWEST = 100.013


def is_free(h, ticks, distance):
    """Return the answer for one joint that moves at constant speed past a barrier h >= 0."""
    arrays = SimpleNamespace(
        n_rows=1,
        sample=lambda u: np.array([h(u[0] - LOWEST)]),
        check=lambda u: np.array([h(u[0] - LOWEST)]),
        is_violated=lambda u: False,
    )
    limits = SimpleNamespace(low=np.zeros(1))
    planner = MotionPlanner(arrays, limits, 1e-3, ticks)
    places = np.linspace(0.0, distance, ticks + 1)[:, None]
    speed = np.full_like(places, distance / ticks / 1e-3)
    motion = Motion(
        speed, np.zeros_like(places), places, MotionEnd.GOAL, np.zeros(1, dtype=bool)
    )
    return planner.is_free(motion)


@pytest.mark.parametrize('ticks', [7_000, 25_000])
def test_a_dip_between_two_samples_is_found_in_a_motion_of_any_number_of_ticks(ticks):
    assert not is_free(lambda u: 5e3 * u**2 - 1e-3, ticks, 130.0)
    assert is_free(lambda u: 5e3 * u**2 + 1e-3, ticks, 130.0)


def test_a_motion_is_not_said_to_be_free_if_halvings_run_out():
    """Two rows of closest pairs that swap have a kink, which takes 18 halvings."""
    assert is_free(lambda u: 3.0 * abs(u) + 1e-9, 7_000, 130.0)

    def rough(u):
        return 1e-3 * (1.0 + np.sin(1e12 * u)) if abs(u) < 0.1 else 1.0

    assert not is_free(rough, 7_000, 130.0)


def test_a_motion_that_is_too_long_for_the_samples_is_not_said_to_be_free():
    """Samples 0.05 apart would step over an obstacle of 0.02."""
    assert not is_free(lambda u: -0.1 if abs(u) < 0.01 else 1.0, 100, 1000.0)
    assert is_free(lambda u: 1.0, 100, 300.0)
