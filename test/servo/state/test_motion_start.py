# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Start states of motions: references of controllers, and robots moved by other programs."""

import numpy as np
import pytest
from support.rigs.servo_rig import Rig

from ros_ik.servo import Measurement
from ros_ik.servo.state.measured_state import MeasuredState

FAR = {'max_target_step_linear': 10.0, 'max_target_step_angular': 4.0}
SAG = np.array([0.01, 0.03, -0.02, -0.04, 0.005, 0.02, -0.01])
NOISE = 1e-4


def place_of(rig):
    """Return the positions of the controlled joints as commanded."""
    return rig.q[rig.robot.coords].copy()


def begin(rig):
    """Begin a motion of 0.05 m/s; return its start, and its first velocities."""
    rig.published.clear()
    rig.aim_twist(linear=(0.0, 0.05, 0.0))
    output = rig.tick()
    velocity = output.joint_qd[rig.robot.group.variable_dof]
    return output.joint_q[rig.robot.coords] - velocity * rig.dt, velocity


def test_a_motion_begins_at_the_reference_of_the_controller():
    rig = Rig.shared(**FAR)
    rig.reference = place_of(rig) + SAG, np.zeros(7)
    expected = rig.reference[0]
    np.testing.assert_allclose(begin(rig)[0], expected, atol=1e-12)
    assert rig.outputs[-1].motion_start == 'reference'


@pytest.mark.parametrize('event', ['activation', 'reset', 'pause'])
def test_it_does_so_after_whatever_may_switch_controllers(event):
    rig = Rig.shared(**FAR)
    begin(rig)
    rig.quiet()
    rig.tick(seconds=1.0)
    rig.offset[rig.robot.coords] = SAG
    if event == 'reset':
        rig.change(resets=1)
    else:
        away, back = ({'active': False}, {'active': True})
        if event == 'pause':
            away, back = ({'paused': True}, {'paused': False})
        rig.change(**away)
        rig.tick(5)
        rig.change(**back)
    rig.reference = place_of(rig), np.zeros(7)
    rig.tick(2)
    np.testing.assert_allclose(begin(rig)[0], rig.reference[0], atol=1e-12)


@pytest.mark.parametrize(
    ('wish', 'told', 'expected'),
    [
        ('reference', True, 'reference'), ('reference', False, 'command'),
        ('command', True, 'command'), ('measured', True, 'measured'),
    ],
)  # fmt: skip
def test_synchronise_to_says_which_of_them(wish, told, expected):
    rig = Rig.shared(synchronise_to=wish, **FAR)
    rig.offset[rig.robot.coords] = SAG
    begin(rig)
    rig.quiet()
    rig.tick(seconds=1.0)
    command = place_of(rig)
    rig.reference = (command - SAG, np.zeros(7)) if told else None
    places = {'reference': command - SAG, 'command': command, 'measured': command + SAG}
    np.testing.assert_allclose(begin(rig)[0], places[expected], atol=1e-9)
    assert rig.outputs[-1].motion_start == expected


def test_a_reference_that_is_old_says_nothing():
    rig = Rig.shared(**FAR)
    rig.reference = place_of(rig) + SAG, np.zeros(7)
    heard = rig._heard()
    rig._heard = lambda: heard
    rig.tick(seconds=0.11)
    expected = place_of(rig)
    np.testing.assert_allclose(begin(rig)[0], expected, atol=1e-9)
    assert rig.outputs[-1].motion_start == 'measured'


@pytest.mark.parametrize(
    ('off', 'speed'),
    [(2.0 * np.pi, 0.0), (-1e6, 0.0), (np.array([0.0] * 6 + [4.0]), 0.0), (0.0, 1e8)],
)
def test_a_reference_outside_the_limits_says_nothing(off, speed):
    rig = Rig.shared(**FAR)
    rig.reference = place_of(rig) + off, np.full(7, speed)
    heard = rig._heard()
    rig._heard = lambda: heard
    rig.tick(2)
    expected = place_of(rig)
    np.testing.assert_allclose(begin(rig)[0], expected, atol=1e-9)
    assert rig.outputs[-1].motion_start == 'measured'


def test_a_controller_may_hold_a_robot_outside_its_limits():
    rig = Rig.shared(**FAR)
    first = rig.robot.coords[0]
    rig.q[first] = rig.robot.upper[rig.robot.group.variable_dof[0]] + 0.2
    rig.reference = place_of(rig) - SAG, np.zeros(7)
    rig.tick(2)
    np.testing.assert_allclose(begin(rig)[0], rig.reference[0], atol=1e-2)
    assert rig.outputs[-1].motion_start == 'reference'


def test_a_reference_that_moves_is_carried_on():
    rig = Rig.shared(**FAR)
    speeds = np.array([0.3, -0.2, 0.1, 0.0, 0.4, -0.5, 0.2])
    rig.reference = place_of(rig), speeds
    started, velocity = begin(rig)
    loss = rig.robot.acceleration[rig.robot.group.variable_dof] * rig.dt
    assert np.all(np.abs(velocity - speeds) <= loss + 1e-9)
    np.testing.assert_allclose(started, rig.reference[0], atol=1e-12)


def moving(rate=100.0, speed=0.3, joint=0, noise=NOISE, seed=3, **values):
    """Return a robot one of whose joints another program moves, while the servo is inactive.

    It continues until the servo sends a command.
    """
    rig = Rig.shared(control_rate=rate, activate=False, **FAR, **values)
    rng = np.random.default_rng(seed)
    tick = rig.tick

    def move_and_tick(count=1, seconds=None):
        for _ in range(count if seconds is None else round(seconds / rig.dt)):
            rig.offset[:] = 0.0
            if not rig.published:
                rig.way += speed * rig.dt
                rig.offset[rig.robot.coords] = noise * rng.standard_normal(7)
                rig.offset[rig.robot.coords[joint]] += rig.way
            output = tick()
        return output

    rig.way, rig.tick = 0.0, move_and_tick
    rig.tick(seconds=0.4)
    return rig


@pytest.mark.parametrize('rate', [100.0, 250.0, 500.0])
@pytest.mark.parametrize('speed', [0.3, -0.8])
def test_an_activation_in_motion_goes_on_with_the_velocity_of_the_robot(rate, speed):
    rig = moving(rate, speed)
    goal = rig.q.copy()
    goal[rig.robot.coords[0]] += rig.way + np.sign(speed) * 0.3
    pose, place = rig.pose(goal), place_of(rig)
    rig.change(active=True)
    rig.aim(pose)
    rig.tick(seconds=0.5)
    assert rig.outputs[-1].motion_start == 'measured'
    speeds = rig.speeds()
    loss = rig.robot.acceleration[rig.robot.group.variable_dof] * rig.dt
    # A parabola through n samples: three times its deviation at the end, 14 sigma / T / sqrt(n).
    assert abs(speeds[0, 0] - speed) < loss[0] + 3.0 * 14.0 / 0.1 * NOISE / np.sqrt(0.1 * rate)
    # The posture moves the redundant arm a little once it has arrived.
    assert np.all(np.sign(speed) * speeds[:, 0] > -0.01)
    began = rig.published[0].joint_q[rig.robot.coords] - speeds[0] * rig.dt
    # A fifth of following_error.delay ahead, the possible state of a controller.
    expected = place[0] + rig.way + 0.2 * 0.1 * speed
    np.testing.assert_allclose(began[0], expected, atol=4.0 * NOISE)
    rig.assert_within_limits()


@pytest.mark.parametrize('rate', [100.0, 250.0, 500.0])
@pytest.mark.parametrize('settling', [0.02, 0.03, 0.06])
def test_a_joint_that_a_drive_lets_settle_is_not_taken_to_turn_back(rate, settling):
    robot, rng = Rig.shared(**FAR).robot, np.random.default_rng(3)
    home = robot.model.neutral_joint_q()
    state, found = MeasuredState(robot), []
    for time in np.arange(0.0, 0.4, 1.0 / rate):
        joint_q = home.copy()
        joint_q[robot.coords[0]] += 0.9 * np.exp(-time / settling) + NOISE * rng.standard_normal()
        measurement = Measurement(joint_q, np.full(len(joint_q), time))
        state.observe(time, measurement)
        if time > 0.1:
            found.append(state.state(time, measurement)[1][0])
    # The newest 0.02 s tell the direction, except for noise of their two ends.
    assert np.max(found) <= 2.0 * 3.0 * np.sqrt(2.0) * NOISE / 0.02


def test_joints_that_rest_beside_one_that_moves_begin_at_rest():
    rig = moving()
    rig.change(active=True)
    rig.aim(rig.pose())
    # A servo drops the targets from before its activation.
    assert not rig.tick().publish
    output = rig.tick()
    velocity = output.joint_qd[rig.robot.group.variable_dof]
    loss = rig.robot.acceleration[rig.robot.group.variable_dof] * rig.dt
    assert abs(velocity[0]) > 0.15
    assert np.all(np.abs(velocity[1:]) <= loss[1:] + 1e-12)


# 0.02 is the default.
@pytest.mark.parametrize('margin', [0.02, 0.4])
@pytest.mark.parametrize('end', ['lower', 'upper'])
def test_a_start_in_motion_is_no_faster_than_joints_can_stop(end, margin):
    rig, side = Rig.shared(**FAR), 1.0 if end == 'upper' else -1.0
    rig.set(limits__position_margin=[margin])
    dofs, coords = rig.robot.group.variable_dof, rig.robot.coords
    bound = getattr(rig.robot, end)[dofs[0]] - margin * side
    rig.q[coords[0]] = bound - 0.03 * side
    rig.reference = place_of(rig), np.array([5.0 * side, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    begin(rig)
    rig.quiet()
    rig.tick(seconds=1.0)
    rig.assert_within_limits()
    farthest = max(side * output.joint_q[coords[0]] for output in rig.published)
    assert side * bound - 0.02 < farthest <= side * bound + 1e-9


def test_a_jerk_limit_knows_of_the_velocity_at_the_start():
    rig = Rig.shared(**FAR, **{'joint_limits__panda_joint1__max_jerk': 300.0})
    rig.reference = place_of(rig), np.array([0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    begin(rig)
    rig.tick(seconds=0.5)
    assert rig.speeds()[:, 0].max() < 0.5 + 1e-9


def test_a_refused_target_leaves_a_moving_robot_alone():
    rig = moving(target_jump_policy='reject')
    rig.change(active=True)
    rig.set(max_target_step_linear=0.1)
    rig.aim(rig.moved((0.0, 0.4, 0.2)))
    assert not rig.tick(20).publish
    assert not rig.servo.moving


def test_a_robot_that_is_held_from_its_motion_brakes():
    rig = moving(publish_when_idle=True)
    place = place_of(rig)
    rig.change(active=True)
    rig.tick(seconds=0.5)
    speeds = rig.speeds()[:, 0]
    loss = rig.robot.acceleration[rig.robot.group.variable_dof][0] * rig.dt
    assert abs(speeds[0] - (0.3 - loss)) < 0.02 and speeds[-1] == 0.0
    assert np.all(np.diff(speeds) <= 1e-12) and np.all(np.diff(speeds) >= -loss - 1e-12)
    assert rig.published[-1].joint_q[rig.robot.coords[0]] > place[0] + rig.way


# Before and after the robot is moved elsewhere, on a machine that stalls in between [s].
STALLS = {
    'one before': ([-0.06], [-0.012, -0.009, -0.006, -0.003, 0.0]),
    'one after': ([-0.06, -0.057, -0.054, -0.051, -0.04, -0.03], [0.0]),
    'both': ([-0.06, -0.058, -0.056, -0.054], [-0.008, -0.006, -0.004, -0.002, 0.0]),
    'three places': ([-0.045, -0.043, -0.041, -0.022], [0.0]),
}


@pytest.mark.parametrize('name', STALLS)
def test_a_robot_that_was_put_elsewhere_while_the_machine_stood_still_does_not_move(name):
    rig = Rig.shared()
    before, after = STALLS[name]
    state, q = MeasuredState(rig.robot), rig.q.copy()
    for time in before:
        state.observe(1.0 + time, Measurement(q.copy(), np.full(len(q), 1.0 + time)))
    q[rig.robot.coords] += 0.3
    for time in after:
        measurement = Measurement(q.copy(), np.full(len(q), 1.0 + time))
        state.observe(1.0 + time, measurement)
    positions, velocities = state.state(1.0, measurement)
    np.testing.assert_array_equal(velocities, 0.0)
    np.testing.assert_array_equal(positions, q[rig.robot.coords])
