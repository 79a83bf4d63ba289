# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Stops and steps within limits of position, velocity, acceleration and jerk together."""

import numpy as np
import pytest
import ruckig
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.stepping.jerk_limited_stop import jerk_limited_stop_functions
from ros_ik.limits import MotionLimit
from ros_ik.limits.jerk_viable_step import viable_step_functions

STOP = jerk_limited_stop_functions(wp.float64)
make_stop, displacement_at, way_at = STOP.make_stop, STOP.displacement_at, STOP.way_at
ticks, reach = STOP.ticks, STOP.reach
VIABLE = viable_step_functions(wp.float64)
viable_steps, nearest_step = VIABLE.viable_steps, VIABLE.nearest_step


@wp.kernel(enable_backward=False, module='unique')
def follow_stops(
    state: wp.array2d(dtype=wp.float64),  # step, change, slowdown, jerk
    displacement: wp.array2d(dtype=wp.float64),
    way: wp.array2d(dtype=wp.float64),
    ends: wp.array2d(dtype=wp.float64),
):
    i = wp.tid()
    stop = make_stop(state[i, 0], state[i, 1], state[i, 2], state[i, 3])
    for k in range(displacement.shape[1]):
        displacement[i, k] = displacement_at(stop, wp.float64(k) * wp.float64(0.5))
        way[i, k] = way_at(stop, wp.float64(k) * wp.float64(0.5))
    least, most, end = reach(stop)
    ends[i, 0] = least
    ends[i, 1] = most
    ends[i, 2] = end
    ends[i, 3] = ticks(stop)


@wp.kernel(enable_backward=False, module='unique')
def find_steps(
    # last, change, behind, ahead, speed, slowdown, jerk, way
    state: wp.array2d(dtype=wp.float64),
    found: wp.array2d(dtype=wp.float64),
):
    i = wp.tid()
    last = state[i, 0]
    low, braking, high = viable_steps(
        last, state[i, 1], state[i, 2], state[i, 3], state[i, 4], state[i, 5], state[i, 6]
    )
    found[i, 0] = low
    found[i, 1] = braking
    found[i, 2] = high
    found[i, 3] = nearest_step(low, braking, high, last, state[i, 7], state[i, 5], state[i, 6])


def launched(kernel, columns, *widths):
    """Return the outputs of a kernel on states given by columns."""
    state = wp.array(np.column_stack(columns), dtype=wp.float64, device='cpu')
    outputs = [wp.zeros((len(columns[0]), w), dtype=wp.float64, device='cpu') for w in widths]
    wp.launch(kernel, len(columns[0]), inputs=[state, *outputs], device='cpu')
    return [output.numpy() for output in outputs]


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
    displacement, way, ends = launched(
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
    assert (np.abs(way[:, ::2] - length) <= tolerance).all()
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


def test_from_every_viable_state_there_are_steps_to_viable_states():
    rng, n = np.random.default_rng(5), 3000
    slowdown = 10.0 ** rng.uniform(-3.0, 0.5, n)
    jerk = slowdown * 10.0 ** rng.uniform(-1.5, 0.7, n)
    speed = slowdown * 10.0 ** rng.uniform(-0.5, 1.5, n)
    size = speed * 10.0 ** rng.uniform(-1.0, 2.0, n)
    q = rng.uniform(-1.0, 1.0, n) * size
    last, change, way = np.zeros((3, n))
    kind = np.zeros(n)
    for _ in range(300):
        (found,) = launched(
            find_steps, (last, change, size + q, size - q, speed, slowdown, jerk, way), 4
        )
        low, braking_step, high, nearest = found.T
        assert (low <= high).all()
        assert (low <= braking_step).all() and (braking_step <= high).all()
        assert (low <= nearest).all() and (nearest <= high).all()
        # The program takes any step in between, mostly one at an end for a while.
        kind = np.where(rng.random(n) < 0.1, rng.integers(0, 4, n), kind)
        step = np.choose(
            kind.astype(int), [low, high, braking_step, low + rng.random(n) * (high - low)]
        )
        assert (np.abs(step) <= speed * (1.0 + 1e-9)).all()
        assert (np.abs(step - last) <= slowdown * (1.0 + 1e-9)).all()
        assert (np.abs(step - last - change) <= jerk * (1.0 + 1e-9)).all()
        change, last, q = step - last, step, q + step
        assert (np.abs(q) <= size * (1.0 + 1e-9)).all()


def test_a_state_that_is_not_viable_is_left_as_jerks_permit():
    rng, n = np.random.default_rng(6), 500
    slowdown, jerk = np.ones(n), 10.0 ** rng.uniform(-1.0, 0.5, n)
    # Too fast, and about to leave the range.
    last, change, q = rng.uniform(2.0, 20.0, n), rng.uniform(-1.0, 1.0, n), np.zeros(n)
    speed, size = np.full(n, 1.5), np.full(n, 3.0)
    for _ in range(120):
        (found,) = launched(
            find_steps, (last, change, size + q, size - q, speed, slowdown, jerk, 0.0 * q), 4
        )
        step = found[:, 2]
        assert (found[:, 0] <= step).all()
        assert (np.abs(step - last - change) <= jerk * (1.0 + 1e-9)).all()
        change, last, q = step - last, step, q + step
    assert (last <= speed).all()


@pytest.mark.parametrize('start', ['rest', 'motion'])
def test_a_joint_reaches_its_target_about_as_soon_as_that_of_ruckig(start):
    rng, n, dt = np.random.default_rng(7), 40, 1e-3
    limits = 10.0 ** rng.uniform((-0.3, 0.3, 1.3), (0.5, 1.0, 3.5), (n, 3)).T
    velocity, acceleration, jerk = limits
    slowdown = acceleration * dt**2
    target = rng.uniform(0.05, 3.0, n) * rng.choice([-1.0, 1.0], n)
    q, last, change = np.zeros((3, n))
    if start == 'motion':
        last = rng.uniform(-0.5, 0.5, n) * velocity * dt
    otg, least = ruckig.Ruckig(1), np.zeros(n)
    for k in range(n):
        given, trajectory = ruckig.InputParameter(1), ruckig.Trajectory(1)
        given.current_velocity = [last[k] / dt]
        given.target_position = [target[k]]
        given.max_velocity, given.max_acceleration = [velocity[k]], [acceleration[k]]
        given.max_jerk = [jerk[k]]
        assert otg.calculate(given, trajectory) == ruckig.Result.Working
        least[k] = trajectory.duration
    free, arrived = np.full(n, np.inf), np.zeros(n)
    for tick in range(int(1.2 * least.max() / dt)):
        state = last, change, free, free, velocity * dt, slowdown, jerk * dt**3, target - q
        step = launched(find_steps, state, 4)[0][:, 3]
        change, last, q = step - last, step, q + step
        away = (np.abs(target - q) > 1e-6) | (np.abs(last) > 1e-6 * dt)
        arrived[away] = (tick + 2) * dt
    assert (arrived <= 1.1 * least).all()
    assert (np.abs(target - q) <= 1e-8).all() and (last == 0.0).all()


@pytest.mark.parametrize(
    ('name', 'values'),
    [('velocity', (-1.0, 1.0, 1.0)), ('acceleration', (1.0, -1.0, 1.0)), ('jerk', (1.0, 1.0, 0.0)),
     ('jerk', (1.0, 1.0, np.nan))],
)  # fmt: skip
def test_limits_that_are_none_are_refused(name, values):
    with pytest.raises(ArgumentError, match=name):
        MotionLimit(*(np.full(6, value) for value in values))


@pytest.mark.parametrize('name', ['velocity_scale', 'acceleration_scale', 'position_margin'])
def test_scales_and_margins_are_checked(name):
    ones = np.ones(6)
    with pytest.raises(ArgumentError, match=name):
        MotionLimit(ones, ones, ones, **{name: -1.0})
