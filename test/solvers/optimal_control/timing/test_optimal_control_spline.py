# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Splines that stay between bounds; SciPy evaluates them from their control points."""

import numpy as np
import pytest

from ros_ik.solvers.optimal_control.timing.spline import control_points
from ros_ik.solvers.optimal_control.timing.spline import resting_spline
from ros_ik.solvers.optimal_control.timing.spline import spline_at

DT = 0.05


def scipy_spline(control, spacing=1.0):
    """Return SciPy's spline, whose parameter is zero at the second control point."""
    interpolate = pytest.importorskip('scipy.interpolate', reason='scipy is not installed')
    return interpolate.BSpline(spacing * np.arange(-3.0, len(control) + 1.0), control, 3)


@pytest.mark.oracle
@pytest.mark.parametrize('count', [2, 3, 9])
def test_values_and_derivatives_are_those_of_scipy(count):
    rng = np.random.default_rng(7)
    control, at = rng.normal(size=(count, 3)), rng.uniform(0.0, count - 1.0, 50)
    ends = 2.0 * control[0] - control[1], 2.0 * control[-1] - control[-2]
    oracle = scipy_spline(np.concatenate([ends[:1], control, ends[1:]]))
    for order, values in enumerate(spline_at(control, at)):
        np.testing.assert_allclose(values, oracle(at, order), atol=1e-12)


@pytest.mark.oracle
@pytest.mark.parametrize('count', [2, 3, 30])
def test_a_spline_in_time_begins_and_ends_at_rest(count):
    control = np.random.default_rng(8).normal(size=(count, 2))
    padded = np.concatenate([control[:1], control[:1], control, control[-1:], control[-1:]])
    oracle, at = scipy_spline(padded, DT), DT * np.arange(count + 2)
    found = resting_spline(control, DT)
    for order, values in enumerate(found):
        np.testing.assert_allclose(values, oracle(at, order), atol=1e-12 / DT**order)
    np.testing.assert_allclose(found[0][[0, -1]], control[[0, -1]], atol=1e-15)
    assert not np.any(found[1][[0, -1]]) and not np.any(found[2][[0, -1]])


def test_splines_pass_near_points_and_stay_between_bounds():
    s = np.linspace(0.0, 1.0, 41)[:, None]
    points = np.hstack([np.sin(5.0 * s), 0.3 * np.cos(4.0 * s)])
    free = control_points(points, np.full(2, -9.0), np.full(2, 9.0))
    inner = slice(2, -2)  # at the ends the second derivative is zero
    # Fourth differences of the sines are up to (5 / 40)^4.
    np.testing.assert_allclose(
        spline_at(free, np.arange(41.0))[0][inner], points[inner], atol=(5 / 40) ** 4 / 36
    )
    flat = np.minimum(points, [0.7, 0.25])
    high = flat.max(axis=0)
    bound = control_points(flat, np.full(2, -9.0), high)
    at = np.linspace(0.0, 40.0, 4001)
    assert np.all(spline_at(bound, at)[0] <= high + 1e-15)
    assert np.abs(spline_at(bound, np.arange(41.0))[0] - flat).max() < 0.02


def test_points_need_not_be_met_along_tangents():
    """A point may move along a line that the spline follows anyway."""
    points = np.array([[0.0, 0.0], [0.1, 0.0], [0.4, 0.0], [1.0, 0.0]])
    bounds = np.full(2, -9.0), np.full(2, 9.0)
    along = np.tile([1.0, 0.0], (4, 1))
    np.testing.assert_array_equal(control_points(points, *bounds, along), points)
    assert not np.array_equal(control_points(points, *bounds), points)
