# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Robots driven by velocities whose drives start late or stall: they never move the wrong way.

The servo is real and so are its messages. The drives make the velocities of a message exactly,
or stand still, and wake at any moment: before the command halts, while it returns, and later.
"""

import numpy as np
import pytest
from support.long_forms import either
from support.rigs.servo_rig import Rig
from support.robots.simulated_drives import NO_BARRIERS

from ros_ik.node.control.command_messages import output_message
from ros_ik.servo import StatusCode
from ros_ik.servo import trajectory_layout
from ros_ik.servo.state.following_state import FollowingState

# A robot that stands is found after 0.2 s; the command is back after less than 0.7 s.
MOMENTS = either([0.05, 0.26, 0.34, 0.4, 0.5, 0.8], np.arange(0.0, 1.0, 0.02).tolist())
# Drift of drives that make each velocity in the tick after its message [rad].
TOLERANCE = 1e-6


class Velocities:
    """A servo with drives that take velocities, and a record of both."""

    def __init__(self, gain=1.0, **values):
        self.rig = Rig.shared(
            'panda', **NO_BARRIERS, outputs__default__type='float64_multi_array_velocities',
            outputs__default__joints=[f'panda_joint{k}' for k in range(1, 8)],
            outputs__default__position_gain=gain, **values,
        )  # fmt: skip
        rig, robot = self.rig, self.rig.robot
        settings = rig.settings.outputs[0]
        layout = trajectory_layout(robot, 0, settings, rig.dt)
        self.message = output_message(settings, layout)
        self.coords, self.accelerations = layout.coords, robot.acceleration[layout.dofs]
        self.q, self.velocity = rig.q.copy(), np.zeros(len(self.coords))
        self.asleep, self.silent, self.heard = False, False, rig.now
        self.sent, self.positions, self.commands = [], [], []
        self.record()

    def record(self):
        self.sent.append(self.velocity.copy())
        self.positions.append(self.q[self.coords])
        self.commands.append(self.rig.servo.joint_q[self.coords])

    def tick(self, seconds=0.0):
        for _ in range(max(1, round(seconds / self.rig.dt))):
            if not self.asleep:
                self.q[self.coords] += self.velocity * self.rig.dt
            if not self.silent:
                self.heard = self.rig.now + self.rig.dt
                self.seen = self.q.copy()
            self.rig.q, self.rig.received = self.seen.copy(), self.heard
            output = self.rig.tick()
            if output.publish:
                assert self.message.fill(output, 0)
            elif output.still:
                self.message.stop()
            self.velocity = self.message._velocities.copy()
            self.record()
        return output

    def jog(self, speed):
        self.rig.aim_joint_velocities(panda_joint1=speed)

    @property
    def state(self):
        return self.rig.servo.following.state

    def lowest(self):
        """Return how far joint 1 was below the least of its start and its commands [rad]."""
        positions = np.array(self.positions)[:, 0]
        commands = np.minimum.accumulate(np.array(self.commands)[:, 0])
        return float((positions - np.minimum(commands, positions[0])).min())

    def rises(self, since=0):
        """Return the largest rise of a speed in a tick as a part of the acceleration limit."""
        sent = np.array(self.sent[since:])
        rise = np.where(sent[1:] * sent[:-1] < 0.0, np.abs(sent[1:]),
                        np.abs(sent[1:]) - np.abs(sent[:-1]))  # fmt: skip
        return float((rise / (self.accelerations * self.rig.dt)).max())


@pytest.mark.parametrize('gain', [0.0, 1.0, 10.0])
@pytest.mark.parametrize('moment', MOMENTS)
def test_drives_that_start_late_never_move_backwards(moment, gain):
    robot = Velocities(gain)
    robot.asleep = True
    robot.jog(0.3)
    robot.tick(moment)
    robot.asleep = False
    robot.tick(1.2)
    # It was -0.98 rad/s for drives that woke after 0.35 s.
    assert np.array(robot.sent)[:, 0].min() >= -1e-9
    assert np.abs(np.array(robot.positions)[:, 1:] - robot.positions[0][1:]).max() < 1e-3
    assert robot.velocity[0] > 0.29, 'it does not move in the end'
    assert robot.rises() <= 1.0 + 1e-6


@pytest.mark.parametrize('gain', [0.0, 3.0])
@pytest.mark.parametrize('stall', MOMENTS)
def test_drives_that_stall_in_motion_continue_forwards(stall, gain):
    robot = Velocities(gain)
    robot.jog(0.3)
    robot.tick(0.6)
    robot.asleep = True
    robot.tick(stall)
    robot.asleep = False
    robot.tick(1.2)
    assert np.array(robot.sent)[:, 0].min() >= -1e-9
    assert robot.velocity[0] > 0.29
    assert robot.rises() <= 1.0 + 1e-6


EVENTS = ['pause', 'stop', 'inactive', 'stale', 'reset', 'silence']


@pytest.mark.parametrize('mode', ['decelerate', 'hold'])
@pytest.mark.parametrize('event', EVENTS)
def test_an_event_during_the_return_moves_no_drive_that_wakes_then(event, mode):
    robot = Velocities(halt_mode=mode)
    robot.asleep = True
    robot.jog(1.0)
    while robot.state is not FollowingState.RETURNS:
        robot.tick()
    robot.tick(0.05)
    assert robot.rig.outputs[-1].joint_qd[0] < -0.3, 'the command does not return'
    rig = robot.rig
    rig.quiet()
    if event == 'pause':
        rig.command = rig.command.with_pause(True)
    elif event == 'stop':
        rig.command = rig.command.with_stop()
    elif event == 'inactive':
        rig.change(active=False)
    elif event == 'reset':
        rig.command = rig.command.with_reset()
    robot.silent = event == 'stale'
    robot.asleep = False
    robot.tick(1.0)
    assert robot.lowest() >= -TOLERANCE
    assert np.array(robot.sent)[:, 0].min() >= -1e-9


@pytest.mark.parametrize('gain', [0.0, 1.0])
@pytest.mark.parametrize('moment', either([0.17, 0.26], np.arange(0.14, 0.5, 0.03).tolist()))
def test_the_return_of_a_halt_moves_no_robot_that_did_not_come(moment, gain):
    robot = Velocities(gain, halt_mode='hold')
    robot.asleep = True
    robot.jog(1.0)
    robot.tick(0.13)
    halted = robot.commands[-1][0]
    robot.rig.command = robot.rig.command.with_pause(True)
    robot.tick(moment - 0.13)
    robot.asleep = False
    robot.tick(1.0)
    ends = max(command[0] for command in robot.commands)
    assert ends > halted + 0.02 > robot.commands[-1][0] + 0.01, 'the command does not return'
    assert robot.lowest() >= -0.005


def test_the_return_of_a_halt_is_made_by_a_robot_that_came():
    robot = Velocities(halt_mode='hold')
    robot.jog(1.5)
    robot.tick(0.6)
    halted = robot.q[robot.coords[0]]
    robot.rig.command = robot.rig.command.with_pause(True)
    robot.tick(1.0)
    assert max(position[0] for position in robot.positions) > halted + 0.05
    assert robot.q[robot.coords[0]] == pytest.approx(halted, abs=0.02)


@pytest.mark.parametrize('gain', [0.0, 1.0, 10.0])
@pytest.mark.parametrize(
    'moment', either([0.04, 0.16, 0.32, 0.56], np.arange(0.0, 0.6, 0.04).tolist())
)
def test_a_target_that_turns_back_moves_no_robot_that_did_not_come(moment, gain):
    robot = Velocities(gain)
    robot.asleep = True
    robot.jog(0.3)
    robot.tick(0.2)
    robot.jog(-0.3)
    robot.tick(moment)
    robot.asleep = False
    robot.tick(1.2)
    assert robot.lowest() >= -0.005
    assert robot.rises() <= 1.0 + 1e-6
    assert robot.velocity[0] < -0.29, 'it does not move in the end'


@pytest.mark.parametrize('jump', [0.03, 0.3])
def test_a_measured_position_that_jumps_speeds_up_within_the_acceleration_limit(jump):
    robot = Velocities(20.0)
    robot.jog(0.3)
    robot.tick(0.4)
    robot.q[robot.coords[0]] -= jump
    begin = len(robot.sent)
    robot.tick(0.4)
    assert robot.rises(begin - 1) <= 1.0 + 1e-6
    assert StatusCode.OK in {output.code for output in robot.rig.outputs[-40:]}
