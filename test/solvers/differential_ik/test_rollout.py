# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rollouts: the same as single steps, each inside limits and barriers."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load

from ros_ik.barriers import PositionBarrier
from ros_ik.errors import ArgumentError
from ros_ik.limits import AccelerationLimit
from ros_ik.limits import JerkLimit
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.objectives import IKObjectivePosition
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import rollout
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task

DT, ACCELERATION, JERK, STEPS = 0.01, 20.0, 2000.0, 60


class Rig:
    """A Panda with a target behind a wall."""

    def __init__(self, n_robots=1):
        (path,) = (path for path in ALL_URDFS if path.stem == 'panda')
        self.model = load(path)
        self.link = self.model.body_index('panda_hand_tcp')
        settings = DifferentialIKSettings(dt=DT)
        self.diff = DifferentialIK(
            self.model, 'panda_link0:panda_hand_tcp', settings, n_robots=n_robots
        )
        self.start = self.model.neutral_joint_q()
        self.start[:7] = [0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.8]
        self.center = DifferentialIK(self.model).body_poses(self.start)[self.link, :3]
        self.wall = PositionBarrier(
            self.link, [-np.inf] * 3, self.center + [0.05, np.inf, np.inf], gain=5.0
        )
        target = IKObjectivePosition(self.link, np.zeros(3), self.center + [0.3, 0.1, 0.1])
        self.tasks = [Task(target, gain=0.2)]
        dofs = self.model.joint_dof_count
        self.limit = np.full(dofs, ACCELERATION)
        self.acceleration = AccelerationLimit(self.limit)
        self.jerk = JerkLimit(np.full(dofs, JERK))
        self.limits = [PositionLimit(), VelocityLimit(), self.acceleration, self.jerk]


def test_it_is_the_steps_taken_one_by_one():
    ahead, one = Rig(), Rig()
    result = rollout(
        ahead.diff, ahead.start, ahead.tasks, ahead.limits, [ahead.wall], n_steps=STEPS,
        acceleration=ahead.limit,
    )  # fmt: skip
    joint_q, last, before = one.start, np.zeros(9), np.zeros(9)
    for k in range(STEPS):
        step = np.zeros(9)
        one.acceleration.set_last_displacement(last)
        one.jerk.set_last_displacements(last, before)
        one.diff.solve_ik(joint_q, one.tasks, one.limits, [one.wall], step)
        one.diff.limit_to_stoppable(joint_q, [one.wall], step, last, one.limit)
        joint_q = one.diff.integrate(joint_q, step)
        np.testing.assert_allclose(result.delta_q[k], step, atol=1e-14)
        np.testing.assert_allclose(result.joint_q[k + 1], joint_q, atol=1e-13)
        last, before = step, last
    np.testing.assert_array_equal(result.joint_q[0], one.start)


@pytest.mark.parametrize('stopping', [True, False])
def test_every_step_is_inside_limits_and_barriers(stopping):
    rig = Rig()
    result = rollout(
        rig.diff, rig.start, rig.tasks, rig.limits, [rig.wall], n_steps=600,
        acceleration=rig.limit if stopping else None,
    )  # fmt: skip
    assert np.isin(result.status, [s for s in SolveStatus if s.ok or s == 5]).all()
    steps = result.delta_q
    assert np.abs(np.diff(steps, axis=0, prepend=0.0)).max() <= ACCELERATION * DT**2 + 1e-12
    tip = np.array([rig.diff.body_poses(q)[rig.link, 0] for q in result.joint_q])
    assert tip.max() <= rig.center[0] + 0.05 + 1e-9
    assert tip.max() >= rig.center[0] + 0.04  # the wall was in the way
    assert np.abs(steps[-1]).max() < 1e-4  # and the robot rests there


def test_a_batch_rolls_out_each_robot_by_itself():
    rig, alone = Rig(n_robots=3), Rig()
    starts = rig.start + 0.1 * np.random.default_rng(1).normal(size=(3, 9)) * (np.arange(9) < 7)
    last = np.zeros((3, 9))
    last[1, :7] = 1e-3
    together = rollout(
        rig.diff, starts, rig.tasks, rig.limits, [rig.wall], n_steps=20, last_delta_q=last
    )
    assert together.joint_q.shape == (3, 21, 9) and together.status.shape == (3, 20)
    for k in range(3):
        single = rollout(
            alone.diff, starts[k], alone.tasks, alone.limits, [alone.wall], n_steps=20,
            last_delta_q=last[k],
        )  # fmt: skip
        np.testing.assert_allclose(together.joint_q[k], single.joint_q, atol=1e-9)


def test_a_target_that_is_no_number_gives_no_step():
    rig = Rig()
    rig.tasks[0].objective.set_target_position(0, [np.nan, 0, 0])
    result = rollout(rig.diff, rig.start, rig.tasks, [PositionLimit()], n_steps=3)
    assert (result.status == SolveStatus.NON_FINITE_INPUT).all()
    assert not result.delta_q.any()
    np.testing.assert_array_equal(result.joint_q, [rig.start] * 4)


def test_a_robot_in_motion_stops_at_once_without_a_solution():
    """As documented: the step is that of ``solve_ik``, which cannot keep an acceleration limit."""
    rig = Rig()
    rig.tasks[0].objective.set_target_position(0, [np.nan, 0, 0])
    last = np.where(np.arange(9) < 7, 0.01, 0.0)
    result = rollout(
        rig.diff, rig.start, rig.tasks, [rig.acceleration], n_steps=2, last_delta_q=last
    )
    assert (result.status == SolveStatus.NON_FINITE_INPUT).all()
    np.testing.assert_array_equal(result.joint_q, [rig.start] * 3)


@pytest.mark.parametrize('value', [np.nan, np.inf])
@pytest.mark.parametrize('name', ['joint_q', 'last_delta_q', 'delta_q_before_last'])
def test_no_trajectory_begins_at_what_is_no_number(name, value):
    rig = Rig()
    given = {'joint_q': rig.start, 'last_delta_q': np.zeros(9), 'delta_q_before_last': np.zeros(9)}
    good = given[name].copy()
    given[name][2] = value
    for limits in (rig.limits, [PositionLimit()]):
        with pytest.raises(ArgumentError, match=f'{name} must be finite'):
            rollout(rig.diff, tasks=rig.tasks, limits=limits, n_steps=3, **given)
    given[name] = good
    result = rollout(rig.diff, tasks=rig.tasks, limits=rig.limits, n_steps=3, **given)
    assert result.delta_q.any() and (result.status == SolveStatus.CONVERGED).all()


def test_robots_of_a_batch_that_start_at_what_is_no_number_are_counted():
    rig = Rig(n_robots=4)
    starts = np.tile(rig.start, (4, 1))
    starts[[1, 3], 0] = np.nan
    with pytest.raises(ArgumentError, match=r'joint_q of robots \[1, 3\] must be finite'):
        rollout(rig.diff, starts, rig.tasks, rig.limits, n_steps=3)


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'n_steps': 0}, 'n_steps'),
        ({'n_steps': 10_001}, 'n_steps'),
        ({'n_steps': 1.5}, 'n_steps'),
        ({'last_delta_q': np.zeros(3)}, 'last_delta_q'),
        ({'delta_q_before_last': np.zeros(3)}, 'delta_q_before_last'),
        ({'last_delta_q': 'slow'}, 'last_delta_q'),
        ({'limits': None}, 'limits must be a sequence'),
        ({'barriers': np.zeros(2)}, 'barriers must be a sequence'),
    ],
)
def test_bad_arguments_are_named(change, message):
    rig = Rig()
    with pytest.raises(ArgumentError, match=message):
        given = {'limits': rig.limits, 'n_steps': 3, **change}
        rollout(rig.diff, rig.start, rig.tasks, **given)
