# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Braking in time for a joint target: no overshoot, and no slower than needed."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load

from ros_ik.errors import ArgumentError
from ros_ik.limits import AccelerationLimit
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import Task

DT, ACCELERATION = 0.01, 5.0


def run(braking, distance):
    """Drive a joint with a dead-beat gain; return its overshoot and the steps to the goal."""
    (path,) = (path for path in ALL_URDFS if path.stem == 'panda')
    model = load(path)
    joints = ['panda_joint1', 'panda_joint2']
    diff = DifferentialIK(model, joints, DifferentialIKSettings(dt=DT))
    joint_q = model.neutral_joint_q()
    goal = joint_q.copy()
    goal[0] += distance
    tasks = [Task(IKObjectiveJointPosition(model, goal))]
    limit = AccelerationLimit(np.full(model.joint_dof_count, ACCELERATION))
    step, furthest = np.zeros(model.joint_dof_count), 0.0
    for tick in range(1000):  # noqa: B007 (returned)
        if braking:
            limit.set_target_displacement(goal - joint_q)
        assert diff.solve_ik(joint_q, tasks, [limit], (), step).ok
        limit.set_last_displacement(step)
        joint_q = diff.integrate(joint_q, step)
        furthest = max(furthest, (joint_q[0] - goal[0]) * np.sign(distance))
        if abs(joint_q[0] - goal[0]) < 1e-9 and abs(step[0]) <= ACCELERATION * DT**2:
            break
    return furthest, tick + 1


@pytest.mark.parametrize('distance', [0.7, -0.3, 0.01])
def test_no_overshoot_and_the_least_time(distance):
    furthest, ticks = run(True, distance)
    assert furthest <= 1e-12
    # Speeding up and slowing down at full acceleration takes 2 sqrt(d / a).
    assert ticks <= 2.0 * np.sqrt(abs(distance) / ACCELERATION) / DT + 3
    assert run(False, distance)[0] > 0.1 * abs(distance)


def test_it_can_be_cleared():
    limit = AccelerationLimit(np.full(9, ACCELERATION))
    limit.set_target_displacement(np.ones(9))
    limit.clear_target_displacement()
    (path,) = (path for path in ALL_URDFS if path.stem == 'panda')
    model = load(path)
    diff, step = DifferentialIK(model, settings=DifferentialIKSettings(dt=DT)), np.zeros(9)
    goal = model.neutral_joint_q() - 1.0
    task = Task(IKObjectiveJointPosition(model, goal))
    diff.solve_ik(model.neutral_joint_q(), [task], [limit], (), step)
    assert step[0] == pytest.approx(-ACCELERATION * DT**2)


def test_a_target_that_is_no_number_is_named():
    with pytest.raises(ArgumentError, match='displacement'):
        AccelerationLimit(np.ones(9)).set_target_displacement([np.nan] * 9)
