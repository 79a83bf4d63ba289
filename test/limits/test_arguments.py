# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Errors for wrong arguments of limits."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load

from ros_ik.errors import ArgumentError
from ros_ik.limits import AccelerationLimit
from ros_ik.limits import JerkLimit
from ros_ik.limits import MotionLimit
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import Task

PANDA = next(path for path in ALL_URDFS if path.stem == 'panda')
HOME = np.array([0, -0.785, 0, -2.356, 0, 1.571, 0.785, 0.02, 0.02])
ARM, FINGERS = slice(0, 7), slice(7, 9)
NAN = np.full(9, np.nan)


def step_with(limit, group='panda_link0:panda_hand_tcp', solvers=None):
    """Return the step of a Panda towards a posture of all joints.

    The solver is added to ``solvers``; otherwise it ends, and the limit belongs to none.
    """
    model = load(PANDA)
    task = Task(IKObjectiveJointPosition(model, HOME + 0.1))
    step, solver = np.zeros(9), DifferentialIK(model, group)
    assert solver.solve_ik(HOME, [task], [limit], step).ok
    if solvers is not None:
        solvers.append(solver)
    return step


def mostly(value, others, where=FINGERS):
    values = np.full(9, others)
    values[where] = value
    return values


@pytest.mark.parametrize(
    ('make', 'message'),
    [
        (lambda: VelocityLimit(NAN), 'velocity must not be NaN'),
        (lambda: AccelerationLimit(NAN), 'acceleration must not be NaN'),
        (lambda: JerkLimit(NAN), 'jerk must not be NaN'),
        (lambda: JerkLimit(np.ones(9), velocity=NAN), 'velocity must not be NaN'),
        (lambda: VelocityLimit(-np.ones(9)), 'velocity must not be negative'),
        (lambda: VelocityLimit('fast'), 'velocity must be numbers'),
        (lambda: VelocityLimit(scale=np.nan), 'scale must lie in'),
        (lambda: VelocityLimit(scale='all'), 'scale must be numbers'),
        (lambda: VelocityLimit(scale=None), 'scale must be numbers'),
        (lambda: PositionLimit(gain=np.nan), 'gain must lie in'),
        (lambda: PositionLimit(gain=[0.5, 0.5]), 'gain must lie in'),
        (lambda: PositionLimit(margin=np.nan), 'margin must be finite'),
        (lambda: PositionLimit(margin=np.inf), 'margin must be finite'),
        (lambda: PositionLimit(margin=-0.1), 'margin must not be negative'),
        (lambda: PositionLimit(margin='wide'), 'margin must be numbers'),
        (lambda: AccelerationLimit(np.ones(9), position_margin=np.nan), 'margin must be finite'),
        (lambda: AccelerationLimit(np.ones(9), position_margin=-1), 'margin must not be negative'),
    ],
)
def test_a_value_that_no_limit_can_have_is_named(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


@pytest.mark.parametrize('kind', [VelocityLimit, AccelerationLimit, JerkLimit])
def test_limits_that_would_freeze_the_robot_are_refused(kind):
    with pytest.raises(ArgumentError, match='at rest'):
        kind(np.zeros(9))
    with pytest.raises(ArgumentError, match='at rest'):
        step_with(kind(mostly(0.0, 5.0, ARM)))


def test_a_velocity_of_zero_may_not_be_set_later_either():
    limit = VelocityLimit(np.ones(9))
    with pytest.raises(ArgumentError, match='at rest'):
        limit.velocity = np.zeros(9)
    np.testing.assert_array_equal(limit.velocity, 1.0)


@pytest.mark.parametrize('kind', [VelocityLimit, AccelerationLimit])
def test_zero_holds_single_joints(kind):
    values = np.full(9, 1e-2)
    values[[1, 7, 8]] = 0.0
    step = step_with(kind(values))
    assert step[1] == 0.0 and np.all(step[[0, 2, 3]] > 0.0)


@pytest.mark.parametrize('value', [0.0, -1.0])
def test_every_jerk_must_be_positive(value):
    with pytest.raises(ArgumentError, match='jerk'):
        JerkLimit(mostly(value, 5.0))
    with pytest.raises(ArgumentError, match='jerk'):
        JerkLimit(value)


MARGINS = {
    'position limit': lambda margin: PositionLimit(margin=margin),
    'acceleration limit': lambda margin: AccelerationLimit(np.ones(9), position_margin=margin),
}


@pytest.mark.parametrize('kind', MARGINS)
def test_a_margin_that_leaves_a_joint_no_room_names_it(kind):
    """Joint 4 of a Panda has 3.00 rad, a finger 0.04 m."""
    with pytest.raises(ArgumentError, match="1.6 leaves joint 'panda_joint4' no room: .* -3.07"):
        step_with(MARGINS[kind](1.6))
    with pytest.raises(ArgumentError, match='panda_finger_joint1'):
        step_with(MARGINS[kind](0.021), '')
    with pytest.raises(ArgumentError, match=r'shape \[9\], got \[7\]'):
        step_with(MARGINS[kind](np.ones(7)))


@pytest.mark.parametrize('kind', MARGINS)
def test_half_of_a_range_and_what_is_locked_are_no_trouble(kind):
    low, high, _, _ = load(PANDA).limits64()
    step_with(MARGINS[kind](0.5 * (high - low)), '')
    assert np.abs(step_with(MARGINS[kind](0.3))).max() > 0.0  # the fingers do not count


def test_a_joint_with_one_position_has_no_margin():
    path = next(path for path in ALL_URDFS if path.stem == 'centauro')  # its wheels cannot turn
    model = load(path)
    low, high, _, _ = model.limits64()
    wheels = np.flatnonzero(low == high)
    assert len(wheels)
    joint_q = model.neutral_joint_q()
    task = Task(IKObjectiveJointPosition(model, joint_q + 0.1))
    step = np.zeros(model.joint_dof_count)
    status = DifferentialIK(model).solve_ik(joint_q, [task], [PositionLimit(margin=0.02)], step)
    assert status.ok
    np.testing.assert_array_equal(step[wheels], 0.0)
    assert step.max() > 0.0


def test_last_steps_of_another_shape_are_refused_and_those_before_stay():
    acceleration, jerk = AccelerationLimit(np.ones(9)), JerkLimit(np.full(9, 100.0))
    last = np.full(9, 1e-3)
    acceleration.set_last_displacement(last)
    jerk.set_last_displacements(last, last)
    solvers = []
    before = step_with(acceleration, solvers=solvers), step_with(jerk, solvers=solvers)
    with pytest.raises(ArgumentError, match=r'displacement must have shape \[9\] or \[1, 9\]'):
        acceleration.set_last_displacement(np.zeros(4))
    with pytest.raises(ArgumentError, match='displacement must have shape'):
        acceleration.set_target_displacement(np.ones((2, 9)))
    with pytest.raises(ArgumentError, match='last must have shape'):
        jerk.set_last_displacements(np.zeros(4), np.zeros(4))
    with pytest.raises(ArgumentError, match='last and before'):
        jerk.set_last_displacements(np.zeros(9), np.zeros(4))
    np.testing.assert_array_equal(acceleration._last_step.host, [last])
    np.testing.assert_array_equal(jerk._last_step.host, [last])
    motion = MotionLimit(np.ones(9), np.ones(9), np.full(9, 100.0))
    motion.set_last_displacements(last, last)
    step_with(motion, solvers=solvers)
    for wrong in ((np.zeros(9), np.zeros(4)), (np.zeros(4), np.zeros(4))):
        with pytest.raises(ArgumentError, match='last'):
            motion.set_last_displacements(*wrong)
        np.testing.assert_array_equal(motion._last_step.host, [last])
    assert all(np.abs(step[:7]).max() > 0.0 for step in before)


FOLLOWING = {
    'acceleration': lambda: AccelerationLimit(np.full(9, 5.0)),
    'jerk': lambda: JerkLimit(np.full(9, 100.0)),
    'motion': lambda: MotionLimit(np.full(9, 2.0), np.full(9, 5.0), np.full(9, 100.0)),
}


def set_steps(limit, steps):
    """Set the last steps of a limit."""
    if isinstance(limit, AccelerationLimit):
        limit.set_last_displacement(steps)
    else:
        limit.set_last_displacements(steps, steps)


@pytest.mark.parametrize('kind', FOLLOWING)
def test_a_caller_may_overwrite_the_array_of_last_steps(kind):
    limit, given, last = FOLLOWING[kind](), FOLLOWING[kind](), np.full(9, 0.01)
    set_steps(limit, np.full(9, 0.01))
    set_steps(given, last)
    last[:] = 0.0
    step = step_with(given)
    np.testing.assert_array_equal(step, step_with(limit))
    assert step[0] > 0.009


def test_a_caller_may_overwrite_the_array_of_a_target_displacement():
    limit, left = AccelerationLimit(np.full(9, 5.0)), np.full(9, 1e-5)
    limit.set_target_displacement(left)
    left[:] = 0.0
    assert step_with(limit)[0] == pytest.approx(1e-5)


@pytest.mark.parametrize('kind', FOLLOWING)
@pytest.mark.parametrize('shape', [(), (1,), (1, 1), (9, 1), (1, 1, 9)])
@pytest.mark.parametrize('solved', [False, True])
def test_last_steps_are_not_broadcast(kind, shape, solved):
    limit, solvers = FOLLOWING[kind](), []
    if solved:
        step_with(limit, solvers=solvers)
    with pytest.raises(ArgumentError, match=r'(displacement|last) must have shape \[9\] or'):
        set_steps(limit, np.zeros(shape))
    if kind == 'acceleration':
        with pytest.raises(ArgumentError, match='displacement must have shape'):
            limit.set_target_displacement(np.zeros(shape))


@pytest.mark.parametrize('kind', FOLLOWING)
def test_last_steps_of_another_number_of_robots_are_named_at_the_first_solve(kind):
    limit = FOLLOWING[kind]()
    set_steps(limit, np.zeros((3, 9)))
    with pytest.raises(ArgumentError, match=r'must have shape \[9\] or \[1, 9\], got \[3, 9\]'):
        step_with(limit)
