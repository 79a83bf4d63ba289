# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motions that start while a controller with lag still moves the robot to the last command."""

import numpy as np
import pytest
from support.long_forms import in_turn
from support.robots.simulated_drives import Loop

# Lags of usual controllers, and of the slowest that following_error.delay accepts [s].
LAGS = (0.02, 0.04, 0.06, 0.08, 0.1)
# Largest step of a command that starts at rest where the robot is [rad]: noise, and a tick.
AT_ROBOT = 2e-3
SWAY = np.array([1.2, 0.4, 0.5, 0.5, 0.5, 0.5, 0.5])


class Sway:
    """A robot with lag whose joints are sent to and fro, at up to their velocity limits."""

    def __init__(self, robot='panda', lag=0.08, **values):
        self.loop = Loop(robot, lag=lag, **values)
        self.rig, self._home = self.loop.rig, self.loop.rig.q.copy()
        self._began = self.rig.now

    @property
    def sent(self):
        return self.loop.sent[self.loop.coords]

    @property
    def robot(self):
        return self.loop.drives.q[self.loop.coords]

    def stream(self, seconds):
        """Stream targets that oscillate."""
        rig = self.rig
        for _ in range(max(round(seconds / rig.dt), 0)):
            names = rig.robot.group.joint_names
            places = self._home[self.loop.coords] + SWAY[: len(names)] * np.sin(
                1.2 * (rig.now - self._began)
            )
            rig.aim_joints(**dict(zip(names, places, strict=True)))
            self.loop.tick()
        rig.quiet()

    def change(self, change):
        """Change the command by a function."""
        self.rig.command = change(self.rig.command)

    def brake(self):
        """Let the command come to rest; return its last positions."""
        for _ in range(100):
            if self.loop.tick().still:
                return self.sent.copy()
        raise AssertionError('the command did not come to rest')

    def start(self):
        """Stream until a motion starts; return how far from the robot its first command is."""
        count = len(self.rig.published)
        robot = self.robot.copy()
        for _ in range(5):
            self.stream(self.rig.dt)
            if len(self.rig.published) > count:
                return np.abs(self.sent - robot).max()
            robot = self.robot.copy()
        raise AssertionError('no motion started')


def reset(sway, seconds):
    sway.change(lambda command: command.with_reset())


def stop(sway, seconds):
    sway.change(lambda command: command.with_stop())
    sway.stream(seconds)
    sway.change(lambda command: command.with_reset())


def pause(sway, seconds):
    sway.change(lambda command: command.with_pause(True))
    sway.stream(seconds)
    sway.change(lambda command: command.with_pause(False))


def deactivate(sway, seconds):
    sway.change(lambda command: command.with_activation(False))
    sway.stream(max(seconds, sway.rig.dt))
    sway.change(lambda command: command.with_activation(True))


def lose_states(sway, seconds):
    sway.loop.silent = True
    sway.stream(0.11 + 0.6 * seconds)
    sway.loop.silent = False


EVENTS = {event.__name__: event for event in (reset, stop, pause, deactivate, lose_states)}
CASES = [
    *in_turn(('panda', 'ur5'), LAGS, list(EVENTS)),
    # The distance left is then larger than synchronise_tolerance.
    ('panda', 0.1, 'pause'),
]


@pytest.mark.parametrize(('robot', 'lag', 'event'), CASES)
def test_a_motion_that_starts_before_the_robot_has_arrived_is_smooth(robot, lag, event):
    sway, rng = Sway(robot, lag), np.random.default_rng(11)
    sway.stream(1.5)
    for _ in range(4):
        sway.stream(rng.uniform(0.5, 1.2))
        EVENTS[event](sway, rng.uniform(0.0, 0.5))
        sway.stream(0.4)
        assert sway.rig.outputs[-1].motion_start == 'command'
    sway.loop.assert_smooth()


@pytest.mark.parametrize('rate', [250.0, 1000.0])
def test_so_it_is_in_fast_loops_with_noise(rate):
    sway = Sway(lag=0.06, noise=1e-4, control_rate=rate)
    sway.stream(1.0)
    for seconds in (0.1, 0.3):
        stop(sway, seconds)
        sway.stream(0.3)
        assert sway.rig.outputs[-1].motion_start == 'command'
    sway.loop.assert_smooth()


def test_a_robot_slower_than_its_command_is_waited_for():
    sway = Sway(speed=1.0)
    sway.stream(1.5)
    for _ in range(3):
        sway.stream(0.9)
        stop(sway, 0.15)
        sway.stream(0.4)
        assert sway.rig.outputs[-1].motion_start == 'command'
    sway.loop.assert_smooth()


TAKEN = pytest.mark.parametrize('event', ['reset', 'stop', 'deactivate'])


@TAKEN
@pytest.mark.parametrize('later', [0.12, 0.25, 0.45])
def test_a_robot_that_something_else_holds_is_not_on_its_way(event, later):
    sway = Sway()
    sway.stream(1.9)
    # Another controller holds the robot where it is when the command ends.
    EVENTS[event](sway, 0.0)
    command = sway.brake()
    sway.loop.drives.frozen = True
    sway.loop.tick(seconds=later)
    assert np.abs(command - sway.robot).max() > 0.02
    assert sway.start() < AT_ROBOT
    assert sway.rig.outputs[-1].motion_start == 'measured'


@pytest.mark.parametrize('moved', [0.0, 0.03, -0.03])
def test_a_robot_that_stops_while_its_state_is_not_known_is_not_on_its_way(moved):
    sway = Sway()
    sway.stream(1.9)
    sway.loop.silent = True
    sway.loop.tick(seconds=0.1)
    sway.loop.drives.frozen = True
    sway.loop.tick(seconds=0.2)
    sway.loop.drives.q[sway.loop.coords[4]] += moved
    command, sway.loop.silent = sway.sent.copy(), False
    assert np.abs(command - sway.robot).max() > 0.02
    assert sway.start() < AT_ROBOT
    assert sway.rig.outputs[-1].motion_start == 'measured'


@TAKEN
@pytest.mark.parametrize('joint', [0, 6])
@pytest.mark.parametrize('distance', [-0.03, 0.004])
def test_a_robot_that_was_put_elsewhere_is_not_on_its_way(event, joint, distance):
    sway = Sway(lag=0.02)
    sway.stream(1.9)
    EVENTS[event](sway, 0.0)
    command = sway.brake()
    sway.loop.tick(seconds=0.15)
    drives, coord = sway.loop.drives, sway.loop.coords[joint]
    # Away from the last command, beyond which no command has been.
    drives.frozen = True
    drives.q[coord] = command[joint] + distance * np.sign(drives.q[coord] - sway.loop.sent[coord])
    sway.loop.tick(1)
    assert sway.start() < AT_ROBOT
    assert sway.rig.outputs[-1].motion_start == 'measured'


@TAKEN
def test_a_robot_that_another_program_moves_away_goes_on_with_its_velocity(event):
    sway = Sway(lag=0.02)
    sway.stream(1.9)
    EVENTS[event](sway, 0.0)
    sway.brake()
    drives, coord = sway.loop.drives, sway.loop.coords[0]
    drives.frozen = True
    for _ in range(20):
        drives.q[coord] -= 0.3 * sway.rig.dt
        sway.loop.tick()
    velocity = sway.start() / sway.rig.dt
    assert sway.rig.outputs[-1].motion_start == 'measured'
    # A fifth of following_error.delay ahead, and a tick.
    assert velocity < 0.3 * (0.02 / sway.rig.dt + 2.0)


def test_an_old_command_is_not_new_again_after_the_clock_jumped_back():
    sway = Sway(lag=0.0)
    sway.stream(1.0)
    sway.brake()
    # Back to shortly after the command came to rest.
    sway.loop.tick(seconds=5.0)
    sway.rig.now -= 4.8
    sway.loop.tick(3)
    sway.start()
    assert sway.rig.outputs[-1].motion_start == 'measured'


@pytest.mark.parametrize('event', ['clock', 'failure'])
def test_after_a_jump_of_the_clock_or_a_failed_tick_the_command_is_unknown(event):
    sway = Sway()
    sway.stream(1.9)
    sway.change(lambda command: command.with_pause(True))
    command = sway.brake()
    assert np.abs(command - sway.robot).max() > 0.02
    if event == 'failure':
        sway.rig.servo.interrupt()
    else:
        sway.rig.now -= 1.0
    sway.change(lambda command: command.with_pause(False))
    sway.loop.tick()
    sway.start()
    assert sway.rig.outputs[-1].motion_start == 'measured'
