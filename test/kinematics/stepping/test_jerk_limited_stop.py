# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Stops within limits of acceleration and jerk, against stops made step by step and ruckig."""

import numpy as np
import pytest
import ruckig
from support.solvers.kernel_outputs import launched
import warp as wp

from ros_ik.kinematics.stepping.jerk_limited_stop import jerk_limited_stop_functions

STOP = jerk_limited_stop_functions(wp.float64)
make_stop, displacement_at, travel_at = STOP.make_stop, STOP.displacement_at, STOP.travel_at
ticks, reach = STOP.ticks, STOP.reach


@wp.kernel(enable_backward=False, module='unique')
def follow_stops(
    state: wp.array2d(dtype=wp.float64),  # step, change, slowdown, jerk
    displacement: wp.array2d(dtype=wp.float64),
    travel: wp.array2d(dtype=wp.float64),
    ends: wp.array2d(dtype=wp.float64),
):
    i = wp.tid()
    stop = make_stop(state[i, 0], state[i, 1], state[i, 2], state[i, 3])
    for k in range(displacement.shape[1]):
        displacement[i, k] = displacement_at(stop, wp.float64(k) * wp.float64(0.5))
        travel[i, k] = travel_at(stop, wp.float64(k) * wp.float64(0.5))
    least, most, end = reach(stop)
    ends[i, 0] = least
    ends[i, 1] = most
    ends[i, 2] = end
    ends[i, 3] = ticks(stop)


def stop_states(n, seed):
    """Return steps, changes, slowdowns and jerks: also whole multiples, none, and no limit."""
    rng = np.random.default_rng(seed)
    slowdown = 10.0 ** rng.uniform(-1.0, 0.5, n)
    jerk = slowdown * 10.0 ** rng.uniform(-1.5, 0.7, n)
    change = slowdown * rng.uniform(-1.0, 1.0, n)
    step = slowdown * rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-3.0, 1.3, n)
    step[::7], change[::11] = 0.0, 0.0
    step[3::5] = np.round(step[3::5] / jerk[3::5]) * jerk[3::5]
    change[3::5] = np.round(change[3::5] / jerk[3::5]) * jerk[3::5]
    jerk[5::13], slowdown[6::17] = np.inf, np.inf
    return step, change, slowdown, jerk


def braking(distance, loss):
    """Return the first of changes that shrink by ``loss`` and sum to ``distance``, by search."""
    count = np.zeros_like(distance)
    for k in range(1, 200):
        # k + 1 changes are needed where k of them, the last as large as the loss, are too few.
        count[distance > 0.5 * loss * k * (k + 1)] = k
    first = distance / (count + 1.0) + 0.5 * loss * count
    return np.where(np.isfinite(loss), first, distance)


@pytest.mark.filterwarnings('ignore:invalid value')
def test_a_stop_in_closed_form_is_the_stop_made_step_by_step():
    step, change, slowdown, jerk = stop_states(4000, 1)
    n = 160
    displacement, travel, ends = launched(
        follow_stops, (step, change, slowdown, jerk), 2 * n, 2 * n, 4
    )
    # Step by step: the change goes to the one from which changes shrink to nothing with the step.
    unit = np.where(np.isfinite(slowdown), slowdown, np.where(np.isfinite(jerk), jerk, 1.0))
    speed, last = step.copy(), change.copy()
    at, length = [0.0 * step, step.copy()], [0.0 * step, np.abs(step)]
    for _ in range(n - 2):
        wanted = -np.sign(speed) * np.minimum(slowdown, braking(np.abs(speed), jerk))
        last = np.clip(wanted, last - jerk, last + jerk)
        speed = speed + last
        speed[np.abs(speed) < 1e-12 * unit] = 0.0
        at.append(at[-1] + speed)
        length.append(length[-1] + np.abs(speed))
    at, length = np.array(at).T, np.array(length).T
    assert (speed == 0.0).all() and (ends[:, 3] < n - 2).all()
    tolerance = 1e-9 * unit[:, None]
    assert (np.abs(displacement[:, ::2] - at) <= tolerance).all()
    assert (np.abs(travel[:, ::2] - length) <= tolerance).all()
    # Between steps the motion is even.
    middle = 0.5 * (at[:, 1:] + at[:, :-1])
    assert (np.abs(displacement[:, 1:-1:2] - middle) <= tolerance).all()
    found = np.column_stack((at[:, 1:].min(axis=1), at[:, 1:].max(axis=1), at[:, -1]))
    assert (np.abs(ends[:, :3] - found) <= tolerance).all()


def test_a_stop_takes_no_longer_than_that_of_ruckig():
    step, change, slowdown, jerk = stop_states(400, 2)
    finite = np.isfinite(slowdown) & np.isfinite(jerk) & (step != 0.0)
    _, _, ends = launched(follow_stops, (step, change, slowdown, jerk), 1, 1, 4)
    otg = ruckig.Ruckig(1)
    for k in np.flatnonzero(finite):
        given = ruckig.InputParameter(1)
        given.control_interface = ruckig.ControlInterface.Velocity
        given.current_velocity, given.current_acceleration = [step[k]], [change[k]]
        given.target_velocity, given.target_acceleration = [0.0], [0.0]
        given.max_acceleration, given.max_jerk = [slowdown[k]], [jerk[k]]
        trajectory = ruckig.Trajectory(1)
        assert otg.calculate(given, trajectory) == ruckig.Result.Working
        # Whole steps for each of three phases.
        assert ends[k, 3] <= trajectory.duration + 3.0


def test_how_far_a_stop_goes_grows_with_its_step():
    _, _, slowdown, jerk = stop_states(2000, 3)
    slowdown = np.where(np.isfinite(slowdown), slowdown, 1.0)
    last = slowdown * np.random.default_rng(4).normal(0.0, 5.0, len(slowdown))
    rows = []
    for part in np.linspace(-1.0, 1.0, 41):
        change = part * slowdown
        rows.append(launched(follow_stops, (last + change, change, slowdown, jerk), 1, 1, 4)[2])
    assert np.diff(np.array(rows)[:, :, :3], axis=0).min() >= -1e-9
