# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Starts of motions of a robot that rests beside its command: at the command, or measured."""

import numpy as np
import pytest
from support.long_forms import either
from support.motions.state_machines import record_transitions
from support.motions.state_machines import transitions
from support.rigs.servo_rig import Rig

from ros_ik.servo.state.resting_command import RestingCommand
from ros_ik.servo.state.resting_state import RESTING_TRANSITIONS

FAR = {'max_target_step_linear': 10.0, 'max_target_step_angular': 4.0}
NOISE = 1e-4
SAG = np.array([0.01, 0.03, -0.02, -0.04, 0.005, 0.02, -0.01])


@pytest.fixture
def rig():
    """Return a robot that sags at once, as after a long rest."""
    rig = Rig.shared(**FAR)
    rig.offset[rig.robot.coords] = SAG
    return rig


def burst(rig, seconds=0.5, speed=0.05):
    """Command a velocity until it goes stale; return the positions of the commands."""
    rig.published.clear()
    rig.aim_twist(linear=(0.0, speed, 0.0))
    rig.tick(seconds=seconds)
    rig.quiet()
    rig.tick(seconds=1.5)
    assert not rig.outputs[-1].publish
    return np.array([output.joint_q[rig.robot.coords] for output in rig.published])


def start_of(rig):
    """Begin another motion; return how far its first command is from the last one, per joint."""
    last = rig.q[rig.robot.coords].copy()
    rig.published.clear()
    rig.aim_twist(linear=(0.0, 0.05, 0.0))
    rig.tick(2)
    return rig.published[0].joint_q[rig.robot.coords] - last


def test_bursts_of_a_robot_that_sags_do_not_ratchet_down(rig):
    burst(rig)
    begin, loss = rig.q.copy(), rig.robot.acceleration[rig.robot.group.variable_dof]
    for k in range(either(10, 20)):
        last = rig.q[rig.robot.coords].copy()
        commands = burst(rig, speed=0.05 if k % 2 else -0.05)
        steps = np.diff(np.vstack([last, commands]), axis=0)
        assert np.all(np.abs(steps[0]) <= loss * rig.dt**2 + 1e-9)
    # Out and back, ten times: SAG at each start would add up to 0.6 rad.
    assert np.abs(rig.q - begin).max() < 0.01


def test_each_start_as_measured_steps_by_the_sag(rig):
    rig.set(synchronise_to='measured')
    burst(rig)
    np.testing.assert_allclose(start_of(rig), SAG, atol=2e-3)


def test_the_first_motion_after_an_activation_starts_as_measured(rig):
    burst(rig)
    rig.change(active=False)
    rig.tick(5)
    rig.change(active=True)
    np.testing.assert_allclose(start_of(rig), SAG, atol=2e-3)


EVENTS = {
    'reset': lambda rig: rig.change(resets=rig.command.resets + 1),
    'clock': lambda rig: setattr(rig, 'now', rig.now - 1.0),
}


@pytest.mark.parametrize('event', EVENTS)
def test_after_what_may_switch_controllers_motion_starts_as_measured(rig, event):
    burst(rig)
    EVENTS[event](rig)
    rig.tick(5)
    np.testing.assert_allclose(start_of(rig), SAG, atol=2e-3)


@pytest.mark.parametrize('event', EVENTS)
def test_so_it_does_where_that_comes_in_motion(rig, event):
    rig.aim_twist(linear=(0.0, 0.05, 0.0))
    rig.tick(seconds=0.5)
    rig.quiet()
    EVENTS[event](rig)
    rig.tick(seconds=1.0)
    assert not rig.outputs[-1].publish
    np.testing.assert_allclose(start_of(rig), SAG, atol=2e-3)


@pytest.mark.parametrize('in_motion', [False, True])
def test_after_a_pause_motion_starts_at_the_last_command(rig, in_motion):
    burst(rig)
    if in_motion:
        rig.aim_twist(linear=(0.0, 0.05, 0.0))
        rig.tick(seconds=0.5)
        rig.quiet()
    rig.change(paused=True)
    rig.tick(seconds=0.5)
    rig.change(paused=False)
    np.testing.assert_allclose(start_of(rig), 0.0, atol=2e-3)
    assert rig.outputs[-1].motion_start == 'command'


def test_a_robot_that_was_moved_in_a_pause_starts_where_it_is(rig):
    burst(rig)
    rig.change(paused=True)
    rig.tick(seconds=0.5)
    rig.offset[rig.robot.coords[1]] += 0.015
    rig.tick(seconds=0.2)
    rig.change(paused=False)
    expected = rig.offset[rig.robot.coords].copy()
    np.testing.assert_allclose(start_of(rig), expected, atol=2e-3)
    assert rig.outputs[-1].motion_start == 'measured'


def test_a_robot_that_was_not_seen_for_a_while_starts_as_measured(rig):
    burst(rig)
    rig.received = rig.now
    rig.tick(seconds=1.0)
    assert rig.outputs[-1].waiting_for
    rig.received = None
    np.testing.assert_allclose(start_of(rig), SAG, atol=2e-3)


def test_a_failed_tick_makes_the_next_motion_start_as_measured(rig):
    burst(rig)
    rig.servo.interrupt()
    np.testing.assert_allclose(start_of(rig), SAG, atol=2e-3)


@pytest.mark.parametrize('joint', range(7))
def test_a_robot_that_was_moved_since_starts_where_it_is(rig, joint):
    burst(rig)
    # Still within the tolerance of the command.
    rig.offset[rig.robot.coords[joint]] -= 0.0102 * np.sign(SAG[joint])
    rig.tick(2)
    expected = rig.offset[rig.robot.coords].copy()
    np.testing.assert_allclose(start_of(rig), expected, atol=2e-3)


@pytest.mark.parametrize(('tolerance', 'held'), [(0.041, True), (0.039, False)])
def test_the_tolerance_is_that_of_the_joint_that_is_farthest_off(rig, tolerance, held):
    rig.set(synchronise_tolerance=tolerance)
    burst(rig)
    np.testing.assert_allclose(start_of(rig), 0.0 if held else SAG, atol=2e-3)


def test_a_robot_that_still_settles_is_held(rig):
    burst(rig)
    rig.aim_twist(linear=(0.0, 0.05, 0.0))
    rig.tick(seconds=0.4)
    rig.quiet()
    # Silent for a moment only, and nearer to the command than after settling.
    while rig.outputs[-1].publish:
        rig.tick(1)
    rig.offset *= 0.3
    np.testing.assert_allclose(start_of(rig), 0.0, atol=2e-3)


def first_place(rig):
    """Begin a motion; return its start relative to the robot's position without noise."""
    rig.published.clear()
    place = rig.q[rig.robot.coords].copy()
    rig.aim_twist(linear=(0.0, 0.05, 0.0))
    output = rig.tick()
    step = output.joint_qd[rig.robot.group.variable_dof] * rig.dt
    return output.joint_q[rig.robot.coords] - step - place


@pytest.mark.parametrize('rate', [100.0, 500.0])
def test_a_motion_of_a_robot_that_trembles_begins_at_the_mean_of_what_was_measured(rate):
    rng, starts = np.random.default_rng(0), []
    for _ in range(10):
        rig = Rig.shared(synchronise_to='measured', control_rate=rate, **FAR)
        for _ in range(round(0.2 * rate)):
            rig.offset[rig.robot.coords] = rng.normal(0.0, NOISE, 7)
            rig.tick()
        starts.append(first_place(rig))
    # The mean of n samples: 10 in 0.1 s at 100 Hz, 50 at 500 Hz; a third more for 70 draws.
    expected = NOISE / np.sqrt(min(0.1 * rate, 50.0))
    assert np.sqrt(np.mean(np.square(starts))) < 1.33 * expected


def test_a_robot_that_was_pushed_a_moment_ago_begins_where_it_is_now():
    rig = Rig.shared(synchronise_to='measured', **FAR)
    rig.tick(20)
    rig.offset[rig.robot.coords] += 0.02
    rig.tick()
    np.testing.assert_allclose(first_place(rig), 0.02, atol=1e-9)


def test_every_transition_of_the_last_command_is_made(monkeypatch, rig):
    made = record_transitions(monkeypatch)
    command, q = RestingCommand(rig.robot, rig.settings), rig.q.copy()

    def rest():
        command.move()
        command.rest(0.0, q)
        assert command.holds(q)

    def settle():
        rest()
        command.observe(10.0, q)

    command.forget()
    for reach in (lambda: None, command.move, rest, settle):
        reach()
        command.move()
        reach()
        command.forget()
        assert not command.holds(q)
    settle()
    q[rig.robot.coords] += 0.02
    command.observe(11.0, q)
    assert not command.holds(q)
    assert made == transitions(RESTING_TRANSITIONS)


@pytest.mark.parametrize('ticks', [1, 3, 8, 12, 40])
def test_a_pause_of_any_length_ends_without_a_step(rig, ticks):
    rig.aim_joint_velocities(panda_joint1=0.6)
    rig.tick(100)
    rig.change(paused=True)
    rig.tick(ticks)
    rig.change(paused=False)
    rig.tick(100)
    assert rig.outputs[-1].motion_start == 'command'
    q = np.array([output.joint_q for output in rig.published])[2:]
    acceleration = np.abs(np.diff(q, 2, axis=0))[:, rig.robot.coords] / rig.dt**2
    limit = rig.robot.acceleration[rig.robot.group.variable_dof]
    assert np.all(acceleration <= limit * (1.0 + 1e-6))


def test_the_command_is_not_used_after_joint_states_that_came_back_while_it_braked(rig):
    rig.aim_joint_velocities(panda_joint1=0.6)
    rig.tick(100)
    rig.received = rig.now - 10.0
    output = rig.tick()
    assert output.publish and output.waiting_for
    while not output.still:
        output = rig.tick()
    rig.received = None
    rig.tick(2)
    assert rig.outputs[-1].motion_start == 'measured'
