# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The times at which the status is published."""

import numpy as np
import pytest

from ros_ik.node.control.status_timer import StatusTimer


def published(ticks, period, tick):
    """Return the ticks that publish a status."""
    timer, found = StatusTimer(), []
    for now in ticks:
        if timer.is_due(now, period, tick):
            timer.note(now, period)
            found.append(now)
    return np.array(found)


@pytest.mark.parametrize('tick', [0.01, 0.005, 0.001])
@pytest.mark.parametrize('period', [0.2, 0.05, 0.0])
def test_late_ticks_do_not_shift_what_follows(period, tick):
    rng = np.random.default_rng(0)
    # A machine on which each tick is late by up to nine tenths of its period.
    ticks = 7.0 + tick * (np.arange(20_000) + rng.uniform(0.0, 0.9, 20_000))
    times = published(ticks, period, tick)
    grid = times[0] + max(period, tick) * np.arange(len(times))
    assert len(times) == pytest.approx((ticks[-1] - ticks[0]) / max(period, tick), abs=2)
    np.testing.assert_allclose(times, grid, atol=1.5 * tick)


def test_missed_statuses_are_not_repeated():
    ticks = np.concatenate([np.arange(0.0, 1.0, 0.01), np.arange(5.0, 6.0, 0.01)])
    times = published(ticks, 0.1, 0.01)
    assert len(times) == 20
    assert np.diff(times[times >= 5.0]).min() > 0.09


def test_a_shorter_period_counts_at_once():
    timer = StatusTimer()
    timer.note(3.0, 10.0)
    assert not timer.is_due(3.1, 10.0)
    assert timer.is_due(3.1, 0.05)
