# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Limits of a joint and of those that mimic it: each keeps its own, and brakes in time."""

import numpy as np
import pytest
from support.robots import coupled_lift

from ros_ik import AccelerationLimit
from ros_ik import DifferentialIK
from ros_ik import DifferentialIKSettings
from ros_ik import IKObjectiveJointPosition
from ros_ik import JerkLimit
from ros_ik import PositionLimit
from ros_ik import Task
from ros_ik import VelocityLimit

FACTORS = [1.0, 0.5, -2.0]


@pytest.mark.parametrize('factor', FACTORS)
def test_coupled_limits_are_the_least_that_the_others_leave(factor):
    group = coupled_lift.model(factor).joint_group('')
    rng = np.random.default_rng(1)
    for _ in range(20):
        driver, follower, turn = limits = rng.uniform(0.1, 10.0, 3)
        expected = [min(driver, follower / abs(factor)), min(follower, driver * abs(factor)), turn]
        np.testing.assert_allclose(group.coupled_limits(limits), expected, rtol=1e-14)


def test_degrees_of_freedom_without_a_variable_keep_their_limits():
    group = coupled_lift.model(2.0).joint_group(['turn'])
    np.testing.assert_array_equal(group.coupled_limits([1.0, 7.0, np.inf]), [1.0, 7.0, np.inf])


def moved(model, limits, dt, seconds):
    """Return the steps of all joints towards a position beyond every limit, [n, 3]."""
    solver = DifferentialIK(model, '', DifferentialIKSettings(dt=dt))
    target = model.apply_mimic(np.array([2.9, 0.0, 0.0]))
    tasks = [Task(IKObjectiveJointPosition(model, target[None]))]
    q, step, before, steps = model.neutral_joint_q(), np.zeros(3), np.zeros(3), []
    for _ in range(round(seconds / dt)):
        for limit in limits:
            if isinstance(limit, AccelerationLimit):
                limit.set_last_displacement(step)
            elif isinstance(limit, JerkLimit):
                limit.set_last_displacements(step, before)
        before = step.copy()
        assert solver.solve_ik(q, tasks, limits, (), step).ok
        q = solver.integrate(q, step)
        steps.append(step.copy())
    return q, np.array(steps)


@pytest.mark.parametrize('dt', [0.01, 0.002])
@pytest.mark.parametrize('factor', FACTORS)
@pytest.mark.parametrize('accelerations', [(6.0, 3.0), (3.0, 6.0)])
def test_joints_brake_in_time_for_the_position_limit_of_a_follower(accelerations, factor, dt):
    model = coupled_lift.model(factor, follower=0.2)
    most = np.array([*accelerations, 5.0])
    limits = [PositionLimit(), VelocityLimit(), AccelerationLimit(most)]
    q, steps = moved(model, limits, dt, 3.0)
    assert abs(q[1]) == pytest.approx(0.2, abs=1e-6)
    changes = np.abs(np.diff(steps, axis=0)) / dt**2
    assert np.all(changes <= most * (1.0 + 1e-6))


@pytest.mark.parametrize('factor', FACTORS)
@pytest.mark.parametrize('jerks', [(60.0, 20.0), (20.0, 60.0)])
def test_accelerations_end_in_time_for_the_velocity_limit_of_a_follower(jerks, factor):
    model, dt = coupled_lift.model(factor, speed=0.3), 0.005
    most = np.array([*jerks, 50.0])
    limits = [VelocityLimit(), AccelerationLimit(np.full(3, 5.0)), JerkLimit(most)]
    _, steps = moved(model, limits, dt, 0.7)
    jerk = np.abs(np.diff(steps, 2, axis=0)) / dt**3
    assert np.abs(steps[:, 1]).max() / dt == pytest.approx(min(0.3, 0.5 * abs(factor)), rel=1e-3)
    assert np.all(jerk <= most * (1.0 + 1e-6))
