# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Steps within limits of position, velocity, acceleration and jerk together."""

import itertools

import numpy as np
import pytest
import ruckig
from support.long_forms import either
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
from support.solvers.kernel_outputs import launched
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.limits import MotionLimit
from ros_ik.limits.jerk_viable_step import viable_step_functions
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import Task

VIABLE = viable_step_functions(wp.float64)
viable_steps, nearest_step = VIABLE.viable_steps, VIABLE.nearest_step


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


def test_from_every_viable_state_there_are_steps_to_viable_states():
    rng, n = np.random.default_rng(5), 3000
    slowdown = 10.0 ** rng.uniform(-3.0, 0.5, n)
    jerk = slowdown * 10.0 ** rng.uniform(-1.5, 0.7, n)
    speed = slowdown * 10.0 ** rng.uniform(-0.5, 1.5, n)
    size = speed * 10.0 ** rng.uniform(-1.0, 2.0, n)
    q = rng.uniform(-1.0, 1.0, n) * size
    last, change, way = np.zeros((3, n))
    kind = np.zeros(n)
    for _ in range(either(150, 300)):
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


def test_a_joint_comes_down_to_a_lowered_speed_about_as_soon_as_that_of_ruckig():
    rng, n, dt = np.random.default_rng(8), 40, 1e-3
    acceleration, jerk = 10.0 ** rng.uniform((-0.3, 1.3), (0.5, 3.5), (n, 2)).T
    velocity = rng.uniform(0.05, 0.5, n)
    fast = velocity + rng.uniform(0.01, 1.0, n)
    changing = rng.uniform(-0.9, 0.9, n) * acceleration
    otg, least = ruckig.Ruckig(1), np.zeros(n)
    for k in range(n):
        given, trajectory = ruckig.InputParameter(1), ruckig.Trajectory(1)
        given.control_interface = ruckig.ControlInterface.Velocity
        given.current_velocity, given.current_acceleration = [fast[k]], [changing[k]]
        given.target_velocity = [velocity[k]]
        given.max_acceleration, given.max_jerk = [acceleration[k]], [jerk[k]]
        assert otg.calculate(given, trajectory) == ruckig.Result.Working
        least[k] = trajectory.duration
    last, change, free = fast * dt, changing * dt**2, np.full(n, np.inf)
    slowdown, jerk_step = acceleration * dt**2, jerk * dt**3
    too_fast = np.zeros(n)
    for tick in range(int(1.2 * least.max() / dt)):
        # The program takes the longest step it may take.
        state = last, change, free, free, velocity * dt, slowdown, jerk_step, free
        step = launched(find_steps, state, 4)[0][:, 2]
        assert (np.abs(step - last) <= slowdown * (1.0 + 1e-9)).all()
        assert (np.abs(step - last - change) <= jerk_step * (1.0 + 1e-6)).all()
        change, last = step - last, step
        too_fast[last > velocity * dt * (1.0 + 1e-9)] = (tick + 2) * dt
    assert (too_fast <= 1.1 * least).all()
    # None goes far below the speed either: it ends there, with no change.
    np.testing.assert_allclose(last, velocity * dt, rtol=1e-9)


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


# No limit, and numbers so large that sums of them have no half.
ENDLESS = [np.inf, 1e200, 1e308]
GIVEN = {'velocity': 2.0, 'acceleration': 20.0, 'jerk': 1000.0}


@pytest.mark.parametrize('endless', ENDLESS)
@pytest.mark.parametrize(
    'limited', [names for n in range(4) for names in itertools.combinations(GIVEN, n)]
)
def test_joints_move_without_limits_too(endless, limited):
    """A joint between position limits reaches one, within the limits that are given."""
    model = load(next(path for path in ALL_URDFS if path.stem == 'ur5_robot'))
    low, high, _, _ = model.limits64()
    limit = MotionLimit(*(np.full(6, GIVEN[name] if name in limited else endless)
                          for name in GIVEN))  # fmt: skip
    diff = DifferentialIK(model, settings=DifferentialIKSettings(dt=0.01))
    joint_q = np.zeros(6)
    task = Task(IKObjectiveJointPosition(model, joint_q - 50.0))
    steps = [np.zeros(6), np.zeros(6)]
    for _ in range(400):
        limit.set_last_displacements(steps[-1], steps[-2])
        steps.append(np.zeros(6))
        assert diff.solve_ik(joint_q, [task], [limit], (), steps[-1]).ok
        joint_q = diff.integrate(joint_q, steps[-1])
        assert (joint_q >= low - 1e-9).all() and (joint_q <= high).all()
    np.testing.assert_allclose(joint_q, low, atol=1e-6)
    moved = np.array(steps)
    for order, name in enumerate(GIVEN, 1):
        most = np.abs(np.diff(moved, order - 1, axis=0)).max() / 0.01**order
        assert most <= (GIVEN[name] if name in limited else np.inf) * (1.0 + 1e-6)
