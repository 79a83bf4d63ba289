# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Restarts soon after a motion, with references that are older than the stop.

An ideal controller follows each command, and its setpoints are judged by finite differences.
"""

import functools

import numpy as np
import pytest
from support.long_forms import in_pairs
from support.rigs.servo_rig import Rig

from ros_ik.servo import ControllerReference
from ros_ik.servo import Measurement

EVENTS = ['pause', 'stop', 'activation', 'reset']
JERK = 5000.0
STRICT = {
    'limits__jerk': 'strict',
    **{f'joint_limits__panda_joint{k}__max_jerk': JERK for k in range(1, 8)},
    **{f'joint_limits__panda_joint{k}__has_jerk_limits': True for k in range(1, 8)},
}
SIGNS = np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0])


@functools.cache
def _strict_rig(rate):
    return Rig(activate=False, reports=False, control_rate=rate, **STRICT)


class Restarts:
    """A robot whose controller reports its setpoint now and then."""

    def __init__(self, rate, lag=0.0, *, strict=False):
        if strict:
            self.rig = _strict_rig(rate).renewed(True, {}, False)
        else:
            self.rig = Rig.shared(control_rate=rate)
        self.rate, self.lag = rate, lag
        self.commands = [self._place()] * (4 + round(lag * rate))
        self.dofs = self.rig.robot.group.variable_dof
        self.acceleration = self.rig.robot.acceleration[self.dofs]
        self.told = None
        self.rig._heard = lambda: self.told

    def _place(self):
        return self.rig.q[self.rig.robot.coords].copy()

    def report(self, moved=0.0, velocities=None, age=0.0):
        """Report the setpoint, where the command of some time before ends, or another."""
        newest = len(self.commands) - 1 - round(self.lag * self.rate)
        last, before = self.commands[newest], self.commands[newest - 1]
        given = (last - before) * self.rate if velocities is None else np.asarray(velocities)
        received = np.full(len(last), self.rig.now - age)
        self.told = ControllerReference(last + moved, given, received)

    def aim(self, speed):
        """Stream velocities of all joints [rad/s]."""
        names = self.rig.robot.group.joint_names
        self.rig.aim_joint_velocities(**dict(zip(names, (SIGNS * speed).tolist(), strict=True)))

    def tick(self, count, period=None):
        """Make ticks, with a report in each period."""
        every = None if period is None else max(1, round(period * self.rate))
        for k in range(count):
            self.rig.tick()
            self.commands.append(self._place())
            if every and k % every == every - 1:
                self.report()

    def begin(self, event):
        """Begin an event that ends a motion."""
        command = self.rig.command
        match event:
            case 'pause':
                self.rig.change(paused=True)
            case 'stop':
                self.rig.command = command.with_stop()
            case 'activation':
                self.rig.change(active=False)
            case 'reset':
                self.rig.change(resets=command.resets + 1)

    def end(self, event):
        """End it."""
        match event:
            case 'pause':
                self.rig.change(paused=False)
            case 'stop':
                self.rig.command = self.rig.command.with_reset()
            case 'activation':
                self.rig.change(active=True)

    def stop(self, event='pause'):
        """Begin an event, and wait until the command rests."""
        self.begin(event)
        self.tick(1)
        while self.rig.servo.moving:
            self.tick(1)

    def restart(self, event='pause'):
        """End the event; return the next start."""
        starts = self.rig.servo._starts
        find, found = starts.find, []
        starts.find = lambda *given: found.append(find(*given)) or found[-1]
        try:
            self.end(event)
            while not found:
                self.tick(1)
        finally:
            del starts.find
        return found[0]

    def judge(self, since):
        """Return the largest parts of the acceleration and jerk limits that were used."""
        setpoints = np.array(self.commands[since - 3 :])
        second, third = (np.abs(np.diff(setpoints, n, axis=0)) for n in (2, 3))
        used = (second * self.rate**2 / self.acceleration).max()
        return used, (third * self.rate**3).max() / JERK


@pytest.mark.parametrize(
    ('loop', 'period', 'event', 'lag'),
    in_pairs(
        [(100.0, False), (250.0, False), (1000.0, False), (250.0, True), (1000.0, True)],
        [0.02, 0.05, 0.1], EVENTS, [0.0, 0.02],
    ),
)  # fmt: skip
def test_a_restart_between_two_references_is_no_step(loop, period, event, lag):
    rate, strict = loop
    drive = Restarts(rate, lag, strict=strict)
    # A stop of half a period, which strict jerk limits make longer.
    drive.aim(0.5 * period * drive.acceleration)
    drive.tick(round(0.4 * rate), 1.0 / rate)
    since = len(drive.commands)
    drive.stop(event)
    drive.end(event)
    drive.tick(round(0.3 * rate), period)
    used, jerk = drive.judge(since)
    assert used <= 1.0 + 1e-6
    assert jerk <= 1.0 + 1e-6 or not strict
    assert np.abs(drive.commands[-1] - drive.commands[since]).min() > 1e-3
    assert drive.rig.outputs[-1].motion_start == 'command'


@pytest.mark.parametrize('velocities', ['told', 'unknown'])
def test_a_controller_that_is_late_goes_on_to_the_last_command(velocities):
    drive = Restarts(250.0, lag=0.08)
    drive.aim(0.5)
    drive.tick(100)
    drive.stop()
    drive.report(velocities=None if velocities == 'told' else np.full(7, np.nan))
    assert drive.restart().source == 'command'


def test_a_filter_that_still_settles_goes_on_to_the_last_command():
    drive = Restarts(250.0)
    drive.aim(0.5)
    drive.tick(100)
    drive.stop()
    drive.tick(50)
    drive.report(moved=-2e-3 * SIGNS, velocities=0.05 * SIGNS)
    assert drive.restart().source == 'command'


# Displacement from the last command [rad], and velocity [rad/s], along the motion.
ELSEWHERE = {
    'beside the commands': (0.02, 0.0),
    'at rest between them': (-0.02, 0.0),
    'against them': (-0.02, -0.5),
}


@pytest.mark.parametrize('name', ELSEWHERE)
def test_a_controller_that_does_something_else_does_not_follow(name):
    moved, velocity = ELSEWHERE[name]
    drive = Restarts(250.0)
    drive.aim(0.5)
    drive.tick(100)
    drive.stop()
    # From 0.02 s on a resting reference is no longer on its way.
    drive.tick(12)
    drive.report(moved * SIGNS, velocity * SIGNS)
    place = drive.told.positions
    start = drive.restart()
    assert start.source == 'reference'
    if velocity == 0.0:
        np.testing.assert_allclose(start.positions, place, atol=1e-12)


def test_a_report_from_long_after_the_stop_counts_itself():
    drive = Restarts(250.0)
    drive.aim(0.5)
    drive.tick(100)
    drive.stop()
    drive.tick(200)
    drive.report(moved=1e-5)
    place = drive.told.positions
    start = drive.restart()
    assert start.source == 'reference'
    np.testing.assert_allclose(start.positions, place, atol=1e-12)


@pytest.mark.parametrize('age', [0.0, 0.02, 0.09])
@pytest.mark.parametrize('speed', [0.1, 1.5])
def test_a_reference_of_something_else_may_have_braked_since(speed, age):
    drive = Restarts(100.0)
    speeds = speed * SIGNS
    drive.report(velocities=speeds, age=age - 1.0 / drive.rate)
    place, dt, q = drive.told.positions, 1.0 / drive.rate, drive.rig.q
    now = drive.rig.now + dt
    measurement = Measurement(q.copy(), np.full(len(q), now), lambda: drive.told)
    start = drive.rig.servo._starts.find(now, measurement, q, drive.acceleration)
    time = np.minimum(age, speed / drive.acceleration)
    braked = speed * time - 0.5 * drive.acceleration * time**2
    last = speed - drive.acceleration * time
    assert start.source == 'reference'
    middle = place + 0.5 * SIGNS * (speed * age + braked)
    np.testing.assert_allclose(start.positions, middle, atol=1e-9)
    np.testing.assert_allclose(start.steps, 0.5 * SIGNS * (speed + last) * dt, atol=1e-9)
