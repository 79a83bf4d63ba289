# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Limits on velocity, acceleration and jerk together, also from states outside them."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load

from ros_ik.errors import ArgumentError
from ros_ik.limits import AccelerationLimit
from ros_ik.limits import JerkLimit
from ros_ik.limits import Limit
from ros_ik.limits import MotionLimit
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import Task

DT = 0.01
UR5 = next(path for path in ALL_URDFS if path.stem == 'ur5_robot')
SPEED, ACCELERATION, JERK = 1.0, 4.0, 60.0
# Rounding of differences of steps, relative to the bound.
ROUNDING = 1 + 1e-9


class Joint:
    """The first joint of a UR5 under all limits, driven to a target."""

    def __init__(self, target, start=0.0):
        self.model = load(UR5)
        self.diff = DifferentialIK(
            self.model, ['shoulder_pan_joint'], DifferentialIKSettings(dt=DT)
        )
        dofs = self.model.joint_dof_count
        self.acceleration = AccelerationLimit(np.full(dofs, ACCELERATION))
        self.jerk = JerkLimit(np.full(dofs, JERK), velocity=np.full(dofs, SPEED))
        # The order in the list does not matter.
        self.limits = [
            self.jerk, self.acceleration, VelocityLimit(np.full(dofs, SPEED)), PositionLimit()
        ]  # fmt: skip
        self.objective = IKObjectiveJointPosition(self.model, np.full(dofs, target))
        self.task = Task(self.objective)
        self.q = np.zeros(dofs)
        self.q[0] = start
        self.steps = [np.zeros(dofs), np.zeros(dofs)]

    def run(self, ticks):
        """Return positions and steps of the joint."""
        positions = []
        for _ in range(ticks):
            self.solve(
                self.acceleration.set_last_displacement, self.jerk.set_last_displacements
            )
            positions.append(self.q[0])
        return np.array(positions), np.array(self.steps)[:, 0]

    def solve(self, set_last, set_last_two):
        """Make a step, after setting the last ones with these functions."""
        set_last(self.steps[-1])
        set_last_two(self.steps[-1], self.steps[-2])
        step = np.zeros(len(self.q))
        assert self.diff.solve_ik(self.q, [self.task], self.limits, step).ok
        self.q = self.q + step
        self.steps.append(step)


def test_speeds_up_to_its_speed_limit_without_breaking_any_limit():
    _, steps = Joint(target=6.0).run(150)
    assert np.all(np.abs(steps) <= SPEED * DT * ROUNDING)
    assert np.all(np.abs(np.diff(steps)) <= ACCELERATION * DT**2 * ROUNDING)
    assert np.all(np.abs(np.diff(steps, 2)) <= JERK * DT**3 * ROUNDING)
    assert steps[-1] == pytest.approx(SPEED * DT)
    # It gets there about as fast as acceleration and jerk permit: v / a + a / j = 0.317 s.
    assert np.argmax(steps >= 0.999 * SPEED * DT) < 40


def test_position_limit_wins_over_jerk():
    joint = Joint(target=20.0, start=4.5)
    high = joint.model.limits64()[1][0]
    positions, steps = joint.run(400)
    assert np.all(positions <= high + 1e-12)
    assert positions[-1] == pytest.approx(high, abs=1e-4)
    assert np.all(np.abs(np.diff(steps)) <= ACCELERATION * DT**2 * ROUNDING)


def test_no_state_is_infeasible():
    """From last steps and positions outside every limit, the limits hold in their order."""
    rng = np.random.default_rng(0)
    joint = Joint(target=0.0)
    low, high = (limit[0] for limit in joint.model.limits64()[:2])
    outside_acceleration = 0
    for _ in range(300):
        joint.q[0] = rng.uniform(low - 0.5, high + 0.5)
        joint.objective.set_target_positions(np.full(len(joint.q), rng.uniform(-9, 9)))
        last, before = rng.uniform(-3, 3, (2, len(joint.q))) * SPEED * DT
        joint.acceleration.set_last_displacement(last)
        joint.jerk.set_last_displacements(last, before)
        step = np.zeros(len(joint.q))
        status = joint.diff.solve_ik(joint.q, [joint.task], joint.limits, step)
        assert status.ok
        assert abs(step[0]) <= SPEED * DT
        assert -max(joint.q[0] - low, 0.0) <= step[0] <= max(high - joint.q[0], 0.0)
        outside_acceleration += abs(step[0] - last[0]) > ACCELERATION * DT**2
    assert outside_acceleration > 50  # otherwise the states drawn were harmless


def test_robots_of_a_batch_have_last_steps_of_their_own():
    """Parts on several threads give the steps of single robots."""
    model, n = load(UR5), 200
    rng = np.random.default_rng(1)
    dofs = model.joint_dof_count
    joint_q = model.random_joint_q(n, rng)
    last, before = 0.2 * rng.uniform(-1, 1, (2, n, dofs)) * DT
    tip = model.body_index('tool0')

    def solve(q, last, before, n_robots):
        diff = DifferentialIK(model, n_robots=n_robots, n_threads=2)
        acceleration, jerk = AccelerationLimit(np.full(dofs, 5.0)), JerkLimit(np.full(dofs, 400.0))
        acceleration.set_last_displacement(last)
        jerk.set_last_displacements(last, before)
        limits = [PositionLimit(), VelocityLimit(), acceleration, jerk]
        tasks = [
            Task(IKObjectivePose(tip, [0.3, 0.2, 0.4, 0, 0, 0, 1], exact_jacobian=False)),
            Task(IKObjectiveJointPosition(model, np.zeros(dofs)), weight=0.1),
        ]
        step = np.zeros(np.shape(q))
        diff.solve_ik(q, tasks, limits, (), step)
        return step

    together = solve(joint_q, last, before, n)
    for k in range(0, n, 17):
        alone = solve(joint_q[k], last[k], before[k], 1)
        # The dual method, where one of them takes it, rounds otherwise.
        np.testing.assert_allclose(together[k], alone, atol=1e-12)
    assert np.ptp(together, axis=0).min() > 1e-3


def test_velocity_may_change_between_solves():
    joint = Joint(target=6.0)
    limit = VelocityLimit()
    step = np.zeros(len(joint.q))
    joint.diff.solve_ik(joint.q, [joint.task], [limit], step)
    assert step[0] == pytest.approx(joint.model.limits64()[2][0] * DT)
    limit.velocity = np.full(len(joint.q), 0.5)
    joint.diff.solve_ik(joint.q, [joint.task], [limit], step)
    assert step[0] == pytest.approx(0.5 * DT)
    limit.scale = 0.2
    joint.diff.solve_ik(joint.q, [joint.task], [limit], step)
    assert step[0] == pytest.approx(0.1 * DT)
    with pytest.raises(ArgumentError, match='velocity'):
        limit.velocity = np.ones(3)
    np.testing.assert_array_equal(limit.velocity, 0.5)


def test_last_velocity_is_a_displacement_per_dt():
    joint = Joint(target=0.0)
    step = np.zeros(len(joint.q))
    limit = AccelerationLimit(np.full(len(joint.q), ACCELERATION))
    with pytest.raises(ArgumentError, match='first solve'):
        limit.set_last_velocity(np.zeros(len(joint.q)))
    joint.diff.solve_ik(joint.q, [joint.task], [limit], step)
    limit.set_last_velocity(np.full(len(joint.q), 0.3))
    joint.diff.solve_ik(joint.q, [joint.task], [limit], step)
    assert step[0] == pytest.approx(0.3 * DT - ACCELERATION * DT**2)
    limit.reset()
    joint.diff.solve_ik(joint.q, [joint.task], [limit], step)
    assert abs(step[0]) <= ACCELERATION * DT**2


@pytest.mark.parametrize('kind', [JerkLimit, MotionLimit])
def test_a_reset_forgets_the_last_steps(kind):
    joint = Joint(target=6.0)
    size = len(joint.q)
    step, values = np.zeros(size), [np.full(size, 2.0), np.full(size, ACCELERATION)]
    limit = kind(*(values if kind is MotionLimit else []), np.full(size, 5.0))
    joint.diff.solve_ik(joint.q, [joint.task], [limit], step)
    first = step[0]
    limit.set_last_displacements(np.full(size, 1e-3), np.full(size, 1e-3))
    joint.diff.solve_ik(joint.q, [joint.task], [limit], step)
    assert step[0] > first + 5e-4
    limit.reset()
    joint.diff.solve_ik(joint.q, [joint.task], [limit], step)
    assert step[0] == first


class Reverse(Limit):
    """A user-defined limit that permits only negative steps."""

    def _allocate(self, state):
        pass

    def launch(self, lower, upper):
        upper.zero_()


def test_a_limit_of_ones_own():
    joint = Joint(target=6.0)
    step = np.ones(len(joint.q))
    assert joint.diff.solve_ik(joint.q, [joint.task], [Reverse()], step).ok
    assert step[0] == 0.0


def test_a_changed_velocity_limit_counts_from_the_next_step():
    """Its box is kept between steps, also beside another solver whose limit changes."""
    joint, other = Joint(target=6.0), Joint(target=6.0)
    limit, apart = VelocityLimit(np.full(len(joint.q), SPEED)), VelocityLimit()
    step = np.zeros(len(joint.q))
    for scale in (1.0, 0.25, 0.5):
        limit.scale = scale
        assert joint.diff.solve_ik(joint.q, [joint.task], [limit], step).ok
        assert step[0] == pytest.approx(scale * SPEED * DT, rel=1e-12)
        other.diff.solve_ik(other.q, [other.task], [apart], np.zeros(len(joint.q)))
        apart.scale = 0.5 * scale
        joint.diff.solve_ik(joint.q, [joint.task], [limit], step)
        assert step[0] == pytest.approx(scale * SPEED * DT, rel=1e-12)
    limit.velocity = np.full(len(joint.q), 2 * SPEED)
    joint.diff.solve_ik(joint.q, [joint.task], [limit], step)
    assert step[0] == pytest.approx(SPEED * DT, rel=1e-12)


@pytest.mark.parametrize(
    ('call', 'name'),
    [
        (lambda: JerkLimit(np.array([-1.0])), 'jerk'),
        (lambda: JerkLimit('fast'), 'jerk'),
        (lambda: JerkLimit(np.ones(6), velocity=np.array([np.nan])), 'velocity'),
        (lambda: JerkLimit(np.ones(6), scale=2.0), 'scale'),
        (lambda: VelocityLimit([1.0, -1.0]), 'velocity'),
        (lambda: Joint(0.0).diff.solve_ik(np.zeros(6), [Joint(0.0).task], [JerkLimit(np.ones(2))],
                                          np.zeros(6)), 'jerk'),
    ],
)  # fmt: skip
def test_misuse_is_named(call, name):
    with pytest.raises(ArgumentError, match=name):
        call()


@pytest.mark.parametrize('value', [np.nan, np.inf])
def test_last_steps_that_are_no_numbers_are_refused_and_those_before_stay(value):
    joint = Joint(target=1.0)
    dofs = joint.model.joint_dof_count
    last, bad = np.full(dofs, 0.004), np.full(dofs, 0.004)
    bad[2] = value
    joint.acceleration.set_last_displacement(last)
    joint.jerk.set_last_displacements(last, last)
    with pytest.raises(ArgumentError, match='displacement must be finite'):
        joint.acceleration.set_last_displacement(bad)
    with pytest.raises(ArgumentError, match='last must be finite'):
        joint.jerk.set_last_displacements(bad, last)
    with pytest.raises(ArgumentError, match='before_last must be finite'):
        joint.jerk.set_last_displacements(last, bad)
    step = np.zeros(dofs)
    joint_q = joint.model.neutral_joint_q()
    for _ in range(2):
        tasks = [Task(joint.objective)]
        assert joint.diff.solve_ik(joint_q, tasks, joint.limits, (), step).ok
        assert abs(step[0] - 0.004) <= ACCELERATION * DT**2 * ROUNDING
        with pytest.raises(ArgumentError, match='finite'):
            joint.acceleration.set_last_displacement(bad)


def test_last_steps_that_are_written_without_a_check_limit_alike():
    checked, written = Joint(1.5), Joint(1.5)
    written.run(1)
    last = written.acceleration, written.jerk
    for _ in range(60):
        written.solve(last[0].write_last_displacement, last[1].write_last_displacements)
    checked.run(61)
    np.testing.assert_array_equal(written.steps, checked.steps)
    assert np.ptp([step[0] for step in checked.steps]) > 0.005
