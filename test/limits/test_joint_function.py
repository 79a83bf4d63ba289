# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""User-defined limits declared by a Warp function: steps, statuses, errors."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
import warp as wp

from ros_ik import DifferentialIK
from ros_ik import IKObjectiveJointPosition
from ros_ik import JointFunctionLimit
from ros_ik import PositionLimit
from ros_ik import SolveStatus
from ros_ik import Task
from ros_ik import VelocityLimit
from ros_ik.errors import ArgumentError

PANDA = next(path for path in ALL_URDFS if path.stem == 'panda')
CHAIN = 'panda_link0:panda_hand_tcp'
HOME = np.array([0, -0.785, 0, -2.356, 0, 1.571, 0.785, 0.02, 0.02])


@wp.struct
class Range:
    """Range of a joint, and the part of the remaining range that a step may cover."""

    low: wp.float64
    high: wp.float64
    gain: wp.float64


@wp.func
def towards_the_ends(room: Range, q: wp.float64, dt: wp.float64) -> wp.vec2d:
    """Return the steps that PositionLimit allows."""
    return wp.vec2d(room.gain * (room.low - q), room.gain * (room.high - q))


@wp.func
def at_speed(room: Range, q: wp.float64, dt: wp.float64) -> wp.vec2d:
    """Return the steps between two speeds."""
    return wp.vec2d(room.low * dt, room.high * dt)


@wp.func
def no_number(room: Range, q: wp.float64, dt: wp.float64) -> wp.vec2d:
    return wp.vec2d(wp.sqrt(wp.float64(-1.0)), room.high)


@wp.func
def of_three(room: Range, q: wp.float64, dt: wp.float64) -> wp.vec3d:
    return wp.vec3d()


@wp.func
def of_position(room: Range, q: wp.float64) -> wp.vec2d:
    return wp.vec2d()


def ranges(low, high, gain=1.0):
    made = []
    for least, most in np.broadcast(low, high):
        one = Range()
        one.low, one.high, one.gain = float(least), float(most), gain
        made.append(one)
    return made


def solve(limits, joint_q=HOME, away=1.0, **options):
    """Return the status and the step of joints towards a posture."""
    model = load(PANDA)
    task = Task(IKObjectiveJointPosition(model, HOME + away))
    joint_q = np.asarray(joint_q)
    step = np.zeros_like(joint_q)
    solver = DifferentialIK(model, CHAIN, **options)
    return solver.solve_ik(joint_q, [task], limits, (), step), step


@pytest.mark.parametrize('gain', [1.0, 0.3])
@pytest.mark.parametrize('away', [-3.0, 3.0])
def test_steps_are_those_of_the_built_in_limit(gain, away):
    low, high, _, _ = load(PANDA).limits64()
    status, own = solve([JointFunctionLimit(towards_the_ends, ranges(low, high, gain))], away=away)
    _, theirs = solve([PositionLimit(gain=gain)], away=away)
    assert status == SolveStatus.CONVERGED
    np.testing.assert_allclose(own, theirs, atol=1e-12)
    assert np.abs(own[:7]).min() > 1e-3


def test_one_record_serves_all_joints_of_all_robots():
    many = np.tile(HOME, (100, 1))
    status, own = solve([JointFunctionLimit(at_speed, ranges(-0.5, 0.2)[0])], many, n_robots=100)
    _, theirs = solve([VelocityLimit(np.full(9, 0.2))], many, n_robots=100)
    assert (status == SolveStatus.CONVERGED).all()
    np.testing.assert_allclose(own, theirs, atol=1e-12)
    _, back = solve([JointFunctionLimit(at_speed, ranges(-0.5, 0.2)[0])], away=-1.0)
    np.testing.assert_allclose(back[:7], -0.005, atol=1e-12)


@pytest.mark.parametrize('away', [-1.0, 1.0])
def test_a_joint_outside_may_move_inward_and_not_outward(away):
    low, high, _, _ = load(PANDA).limits64()
    low = low.copy()
    low[1] = HOME[1] + 0.1  # outside by 0.1 rad
    limit = JointFunctionLimit(towards_the_ends, ranges(low, high))
    status, step = solve([limit, VelocityLimit()], away=away)
    assert status == SolveStatus.RELAXED
    assert step[1] == 0.0 if away < 0.0 else step[1] > 1e-3
    assert np.sign(step[0]) == np.sign(away)


def test_a_bound_that_is_no_number_lets_nothing_move_that_way():
    status, step = solve([JointFunctionLimit(no_number, ranges(0.0, 0.01)[0])], away=-1.0)
    assert status == SolveStatus.RELAXED and not step.any()


def test_parameters_are_changed_between_solves():
    model, step = load(PANDA), np.zeros(9)
    limit = JointFunctionLimit(at_speed, ranges(-1.0, 1.0)[0])
    solver = DifferentialIK(model, CHAIN)
    task = Task(IKObjectiveJointPosition(model, HOME + 1.0))
    for speed in (1.0, 0.4):
        limit.set_parameters(ranges(-speed, speed)[0])
        assert solver.solve_ik(HOME, [task], [limit], (), step).ok
        np.testing.assert_allclose(step[:7], 0.01 * speed, atol=1e-12)


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        ({'bounds': len}, ['JointFunctionLimit', 'bounds', '@wp.func', 'len']),
        ({'bounds': of_position}, ['of_position', 'wp.float64, wp.float64', 'Range, wp.float64']),
        ({'bounds': of_three}, ['of_three', 'a vector of 2']),
        ({'parameters': 1.0}, ['parameters', 'Range']),
    ],
)
def test_what_does_not_fit_is_named(arguments, words):
    given = {'bounds': at_speed, 'parameters': ranges(-1.0, 1.0)[0], **arguments}
    with pytest.raises(ArgumentError) as caught:
        JointFunctionLimit(**given)
    for word in words:
        assert word in str(caught.value)


def test_another_number_of_parameters_than_of_joints_is_refused():
    limit = JointFunctionLimit(at_speed, ranges([-1.0] * 7, 1.0))
    with pytest.raises(ArgumentError, match=r'each degree of freedom \(9\), got 7'):
        solve([limit])
